"""The ASGI application: HTTP to Django, WebSockets to the consumers."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.conf import settings
from django.core.asgi import get_asgi_application

from dashboard.upload_limit import UploadLimit

http = get_asgi_application()

from dashboard.routing import websocket_urlpatterns  # noqa: E402  # models can be imported once Django is set up

sockets = AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))
limited = UploadLimit(http, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
application = ProtocolTypeRouter({"http": limited, "websocket": sockets})
