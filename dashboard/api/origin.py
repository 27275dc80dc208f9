"""No other site may make a browser call this one. Programs send neither header."""

from urllib.parse import urlsplit

from django.http import HttpRequest
from ninja.errors import HttpError

SAFE = ("GET", "HEAD", "OPTIONS")


def same_site(request: HttpRequest) -> bool:
    """Let a call through that does not come from a page of another site.

    Raises:
        HttpError: 403, it does.
    """
    if request.method in SAFE:
        return True
    origin = request.headers.get("Origin")
    foreign = origin is not None and urlsplit(origin).netloc != request.get_host()
    if foreign or request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site"):
        raise HttpError(403, "E0653: this call comes from a page of another site")
    return True
