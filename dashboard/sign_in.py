"""Accounts: django-allauth with our rules."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Sign-up is closed unless the operator opens it; no mail is ever sent."""

    def is_open_for_signup(self, _request: HttpRequest) -> bool:
        """Whether strangers may make themselves an account."""
        return bool(settings.SIGN_UP_IS_OPEN)


def name_tried(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """The user name of a try to sign in, by which failures are counted."""
    return str((credentials or {}).get("username") or request.POST.get("login") or "")[:150]
