"""The what-if form: a base, a few changes, a run."""

from dataclasses import replace

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.access import viewer
from dashboard.forms import WhatIfForm, new_token
from dashboard.views.errors import not_found
from simulations import access, queries, services
from simulations.services import ScenarioErrors


def _base(request: HttpRequest) -> services.Base | None:
    """The base that the address names; None: none is named.

    Raises:
        ScenarioErrors: what is named is not there.
    """
    values = request.GET
    if values.get("sample"):
        return services.base_of_sample(values["sample"])
    for key, load in (("cluster", services.base_of_cluster), ("run", services.base_of_run)):
        text = values.get(key, "")
        if text:
            number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
            return load(number if access.is_theirs(viewer(request), f"{key}_id", number) else -1)
    return None


@require_http_methods(["GET", "POST"])
def what_if(request: HttpRequest) -> HttpResponse:
    """Choose a base, then change it and start."""
    try:
        base = _base(request)
    except ScenarioErrors as errors:
        return not_found(request, str(errors))
    if base is None:
        return _choose(request)
    form = WhatIfForm(request.POST if request.method == "POST" else None, base=base)
    if request.method == "POST" and form.is_valid():
        try:
            run = services.create_run(base, replace(form.request(), owner=viewer(request).user))
            return redirect("run", run.pk)
        except ScenarioErrors as errors:
            form.add_scenario_errors(errors)
    status = 400 if form.is_bound else 200
    return render(request, "what_if.html", {"form": form, "base": base, "query": request.GET.urlencode()}, status=status)


def _choose(request: HttpRequest, errors: ScenarioErrors | None = None) -> HttpResponse:
    """The page of all bases; with what is wrong in a file that was tried."""
    who = viewer(request)
    context = {
        "samples": queries.samples(), "clusters": queries.clusters(who), "runs": queries.recent_runs(who, 20), "token": new_token(),
        "errors": errors.errors if errors else (),
    }  # fmt: skip
    return render(request, "what_if_base.html", context, status=400 if errors else 200)


@require_POST
def from_file(request: HttpRequest) -> HttpResponse:
    """Run a scenario or a recorded timeline that was uploaded or pasted."""
    uploaded = request.FILES.get("scenario")
    try:
        if uploaded is not None:
            base = services.base_of_text(uploaded.read(settings.MAX_UPLOAD_BYTES + 1), uploaded.name or "file")
        else:
            base = services.base_of_text(request.POST.get("paste", "").encode(), "pasted")
        run = services.create_run(base, services.RunRequest(token=request.POST.get("token") or None, owner=viewer(request).user))
    except ScenarioErrors as errors:
        return _choose(request, errors)
    return redirect("run", run.pk)


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """What differs from the base, while the form is filled in."""
    try:
        base = _base(request)
        form = WhatIfForm(request.POST, base=base)
        changes = services.preview(base, form.request().what_if) if base is not None and form.is_valid() else ()
        errors: list[str] = [str(e) for messages in form.errors.values() for e in messages]
    except ScenarioErrors as found:
        changes, errors = (), [f"{e.code} {e.path}: {e.message}" for e in found.errors]
    return render(request, "what_if/_preview.html", {"changes": changes, "errors": errors})
