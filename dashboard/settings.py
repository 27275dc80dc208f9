"""Settings, all from the environment (see docs/settings.md)."""

import os
from datetime import timedelta
from pathlib import Path

from csp.constants import NONE, SELF

from dashboard import environment

BASE_DIR = Path(__file__).resolve().parent.parent
SCHEDSCOPE_MODE = environment.mode()
EMBEDDED = SCHEDSCOPE_MODE != environment.PRODUCTION

DEBUG = False
SECRET_KEY = os.environ.get("SCHEDSCOPE_SECRET_KEY") or ("embedded-mode-signs-nothing-secret" if EMBEDDED else "")
ALLOWED_HOSTS = [h for h in os.environ.get("SCHEDSCOPE_ALLOWED_HOSTS", "").split(",") if h] or (
    ["127.0.0.1", "localhost", "[::1]"] if EMBEDDED else []
)
CSRF_TRUSTED_ORIGINS = [] if EMBEDDED else [f"https://{host}" for host in ALLOWED_HOSTS if host != "*"]
if not SECRET_KEY:
    SECRET_KEY = "unset"  # noqa: S105  # the check schedscope.E001 stops production before it is used

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "django_htmx",
    *(() if EMBEDDED else ("allauth", "allauth.account", "axes")),
    "dashboard.apps.DashboardConfig",
    "simulations.apps.SimulationsConfig",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    *(
        ()
        if EMBEDDED
        else (
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "allauth.account.middleware.AccountMiddleware",
            "axes.middleware.AxesMiddleware",
        )
    ),
    "dashboard.access.AccessMiddleware",
]
ROOT_URLCONF = "dashboard.urls"
ASGI_APPLICATION = "dashboard.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "dashboard.access.context",
            ]
        },
    }
]

DATABASES = {"default": environment.database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-us"

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = EMBEDDED
WHITENOISE_AUTOREFRESH = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if EMBEDDED
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

MAX_UPLOAD_BYTES = int(os.environ.get("SCHEDSCOPE_MAX_UPLOAD_MB", "64")) * 1_000_000
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_UPLOAD_BYTES + 1_000_000
FILE_UPLOAD_MAX_MEMORY_SIZE = 2_500_000

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF, "ws:", "wss:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not EMBEDDED
SESSION_ENGINE = f"django.contrib.sessions.backends.{'signed_cookies' if EMBEDDED else 'db'}"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_HSTS_SECONDS = 0 if EMBEDDED else 30 * 24 * 3600

# Sign-in: production only. Embedded mode listens on loopback and has one user, who is never asked.
if not EMBEDDED:
    AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = ACCOUNT_LOGOUT_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "dashboard.sign_in.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": None}  # axes counts failures, in the database and so for all servers together
SIGN_UP_IS_OPEN = environment.sign_up_is_open()
AXES_ENABLED = not EMBEDDED
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "account/locked.html"
AXES_USERNAME_CALLABLE = "dashboard.sign_in.name_tried"
AXES_IPWARE_META_PRECEDENCE_ORDER = ["REMOTE_ADDR"]  # uvicorn puts there what a trusted proxy says
AXES_VERBOSE = False

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        # Without socket_timeout None every idle WebSocket would die after five seconds.
        "CONFIG": {"hosts": [{"address": environment.channels_url(), "socket_timeout": None}]},
    }
}

CELERY_BROKER_URL = environment.celery_broker_url()
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 12 * 3600,  # longer than any run: leases, not this, bring back what a dead worker had
    "socket_timeout": 30,
    "socket_connect_timeout": 5,
    "queue_order_strategy": "priority",
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_DEFAULT_QUEUE = "runs"
CELERY_TASK_DEFAULT_PRIORITY = 6  # 0 is taken first; a person waits for an import, and housekeeping must not wait behind runs
CELERY_TASK_ROUTES = {
    "simulations.run_import": {"queue": "runs", "priority": 3},
    "simulations.find_fit": {"queue": "runs", "priority": 3},
    "simulations.reap": {"queue": "runs", "priority": 0},
    "simulations.sweep*": {"queue": "sweeps"},
    "simulations.watch*": {"queue": "live"},
}
CELERY_BEAT_SCHEDULE = {"reap": {"task": "simulations.reap", "schedule": 5.0, "options": {"expires": 5.0}}}
CELERY_BEAT_SCHEDULE_FILENAME = str(environment.beat_file())
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_TASK_PUBLISH_RETRY = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
