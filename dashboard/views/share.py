"""Sharing a run by link: to look at, until it is revoked."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dashboard.access import SHARED, open_to_all
from dashboard.views.errors import not_found
from simulations import access, queries

MOST_OPEN = 50


@never_cache
@require_http_methods(["GET", "POST"])
def links(request: HttpRequest, run_id: int) -> HttpResponse:
    """The links of a run; a POST makes one more, whose secret is shown this once."""
    run = queries.run(run_id)
    if run is None:
        return not_found(request, f"There is no run {run_id}.")
    address = ""
    if request.method == "POST":
        address = request.build_absolute_uri(reverse("open-link", args=[access.share(run_id)]))
    return render(request, "share.html", {"run": run, "links": access.links_of(run_id), "address": address})


@require_POST
def revoke(_request: HttpRequest, run_id: int, link_id: int) -> HttpResponse:
    """End a link."""
    access.revoke(run_id, link_id)
    return redirect("share", run_id)


@open_to_all
@never_cache
@require_GET
def open_link(request: HttpRequest, token: str) -> HttpResponse:
    """Remember the link in the session and go to its run, with the view that the address describes."""
    found = access.open_link(token)
    if found is None:
        return not_found(request, "This link does not open anything: it was revoked, or it is not complete.")
    link_id, run_id = found
    others = [number for number in request.session.get(SHARED, []) if number != link_id]
    request.session[SHARED] = [link_id, *others][:MOST_OPEN]
    query = request.GET.urlencode()
    return redirect(reverse("run", args=[run_id]) + (f"?{query}" if query else ""))


@open_to_all
def ask_the_operator(request: HttpRequest) -> HttpResponse:
    """There is no mail here that could reset a password."""
    return render(request, "account/ask_the_operator.html")
