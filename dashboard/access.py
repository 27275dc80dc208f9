"""Who looks, and whether they may: one gate before every view.

In embedded mode everything is everybody's. In production a page needs somebody signed in, except those marked otherwise, and a number of a
run, a cluster or an import in the address must be theirs. A run may also be looked at by whoever opened a link to it.
"""

from typing import Any, Final

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse

from dashboard.views.errors import not_found
from simulations import access
from simulations.access import EVERYBODY, Viewer

SHARED: Final = "shared_links"
"""In the session: the numbers of the links that were opened."""
OPEN_TO_ALL: Final = "open_to_all"
LOOKS_ONLY: Final = "looks_only"


def open_to_all(view: Any) -> Any:
    """Mark a view that needs nobody signed in."""
    view.open_to_all = True
    return view


def looks_only(view: Any) -> Any:
    """Mark a view of a run that changes nothing: whoever has a link to the run may use it."""
    view.looks_only = True
    return view


def viewer_of(user: Any, session: Any) -> Viewer:
    """The viewer of a request or a socket; `user` is None in embedded mode.

    A superuser operates the site and sees everything.
    """
    if settings.EMBEDDED:
        return EVERYBODY
    opened = session.get(SHARED, []) if session is not None else []
    links = tuple(number for number in opened if isinstance(number, int))
    if user is None or not user.is_authenticated:
        return Viewer(links=links)
    return Viewer(user.pk, bool(user.is_superuser), links)


def viewer(request: HttpRequest) -> Viewer:
    """The viewer of a request."""
    return viewer_of(getattr(request, "user", None), request.session)


class AccessMiddleware:
    """Asks before every view; what one may not see is answered as what is not there."""

    def __init__(self, get_response: Any) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Nothing here: the view is known only later."""
        response: HttpResponse = self.get_response(request)
        return response

    def process_view(self, request: HttpRequest, view: Any, _args: Any, numbers: dict[str, Any]) -> HttpResponse | None:
        """Answer for the view where it must not be reached."""
        if settings.EMBEDDED or _marked(view, OPEN_TO_ALL) or view.__module__.startswith("allauth."):
            return None
        who = viewer(request)
        looks = "run_id" in numbers and _marked(view, LOOKS_ONLY) and request.method in ("GET", "HEAD")
        if looks and access.may_see_run(who, numbers["run_id"]):
            return None
        if who.user is None:
            return _sign_in(request)
        for name, number in numbers.items():
            if name in access.OWNED and not access.is_theirs(who, name, number):
                return not_found(request, "There is no such thing here, or it is not yours.")
        return None


def _marked(view: Any, mark: str) -> bool:
    return bool(getattr(view, mark, False))


def _sign_in(request: HttpRequest) -> HttpResponse:
    if request.path.startswith("/api/"):
        return JsonResponse({"code": "E0650", "message": "sign in first"}, status=401)
    if request.headers.get("HX-Request"):
        return HttpResponse(status=401, headers={"HX-Redirect": reverse("account_login")})
    return redirect_to_login(request.get_full_path())


def context(request: HttpRequest) -> dict[str, Any]:
    """For every template: whether there are accounts here, who is signed in, and whether a page is only looked at."""
    if settings.EMBEDDED:
        return {"accounts": False, "signed_in": None}
    user = getattr(request, "user", None)
    return {"accounts": True, "signed_in": user if user is not None and user.is_authenticated else None}
