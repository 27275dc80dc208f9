"""Importing a cluster: files, a paste, progress, the receipt."""

from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from dashboard.access import viewer
from dashboard.forms import new_token
from dashboard.views.errors import not_found
from simulations import queries, services
from simulations.services import ScenarioErrors


@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Take in files or a paste."""
    errors: ScenarioErrors | None = None
    if request.method == "POST":
        try:
            name, token = request.POST.get("name", "").strip(), request.POST.get("token") or None
            job = services.create_import(_inputs(request), name, token, viewer(request).user)
            return redirect("import-job", job.pk)
        except ScenarioErrors as found:
            errors = found
    context = {"errors": errors.errors if errors else (), "token": new_token(), "name": request.POST.get("name", "")}
    return render(request, "import.html", context, status=400 if errors else 200)


def _inputs(request: HttpRequest) -> Iterable[tuple[str, Iterable[bytes]]]:
    for uploaded in request.FILES.getlist("files"):
        yield uploaded.name or "file", uploaded.chunks()
    pasted = request.POST.get("paste", "")
    if pasted.strip():
        yield "pasted", [pasted.encode()]


@require_GET
def job(request: HttpRequest, job_id: int) -> HttpResponse:
    """Progress, then the receipt; htmx asks again while it goes on."""
    found = queries.import_job(job_id)
    if found is None:
        return not_found(request, f"There is no import {job_id}.")
    template = "import/_job.html" if request.headers.get("HX-Request") else "import_job.html"
    return render(request, template, {"job": found})
