"""System checks: settings that would be unsafe or cannot work are refused at start."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from dashboard import environment


@register()
def check_environment(**_kwargs: Any) -> list[CheckMessage]:
    """Production needs a secret key and its host names; the mode must be one of the two."""
    found: list[CheckMessage] = []
    if settings.SCHEDSCOPE_MODE not in (environment.EMBEDDED, environment.PRODUCTION):
        found.append(Error("SCHEDSCOPE_MODE must be embedded or production.", id="schedscope.E003"))
    if settings.SCHEDSCOPE_MODE == environment.PRODUCTION:
        if settings.SECRET_KEY == "unset":  # noqa: S105  # the placeholder of settings.py
            found.append(Error("Production needs SCHEDSCOPE_SECRET_KEY.", id="schedscope.E001"))
        if not settings.ALLOWED_HOSTS:
            found.append(Error("Production needs SCHEDSCOPE_ALLOWED_HOSTS.", id="schedscope.E002"))
    return found
