"""The what-if form: a base, a few changes, a run. The form and its YAML fill each other."""

from dataclasses import dataclass, replace

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.access import viewer
from dashboard.forms import WhatIfForm, new_token
from dashboard.views.errors import not_found
from dashboard.what_if_values import count_without_fields, form_values
from simulations import access, queries, services
from simulations.services import ScenarioErrors, WhatIf, read_changes, write_changes


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


@dataclass(slots=True)
class _Filled:
    """A form with the changes that it asks for, and what is wrong with them."""

    form: WhatIfForm
    what_if: WhatIf | None = None
    errors: ScenarioErrors | None = None


def _filled(request: HttpRequest, base: services.Base) -> _Filled:
    """Read what was sent: the YAML where it was edited since the form wrote it, else the fields."""
    written, edited = request.POST.get("yaml_written", ""), request.POST.get("yaml", "")
    try:
        if _lines(edited) != _lines(written):
            what_if = read_changes(edited)
            values = {**{k: v for k, v in request.POST.items() if k in ("name", "pace", "token")}, **form_values(what_if)}
            form = WhatIfForm(values, base=base)
            form.is_valid()
            return _Filled(form, what_if)
        form = WhatIfForm(request.POST, base=base)
        return _Filled(form, form.what_if() if form.is_valid() else None)
    except ScenarioErrors as errors:
        return _Filled(WhatIfForm(request.POST, base=base), None, errors)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


@require_http_methods(["GET", "POST"])
def what_if(request: HttpRequest) -> HttpResponse:
    """Choose a base, then change it and start."""
    try:
        base = _base(request)
    except ScenarioErrors as errors:
        return not_found(request, str(errors))
    if base is None:
        return _choose(request)
    if request.method == "GET":
        given = {key: value for key, value in request.GET.items() if key in WhatIfForm.base_fields}
        return _page(request, base, _Filled(WhatIfForm(None, base=base, initial=given)), 200)
    filled = _filled(request, base)
    if filled.what_if is not None and filled.form.is_valid():
        try:
            run = services.create_run(base, replace(filled.form.request(filled.what_if), owner=viewer(request).user))
            return redirect("run", run.pk)
        except ScenarioErrors as errors:
            filled.errors = errors
    return _page(request, base, filled, 400)


def _page(request: HttpRequest, base: services.Base, filled: _Filled, status: int) -> HttpResponse:
    if filled.errors is not None:
        filled.form.is_valid()
        filled.form.add_scenario_errors(filled.errors)
    written = write_changes(filled.what_if) if filled.what_if is not None else ""
    context = {
        "form": filled.form,
        "base": base,
        "query": _base_query(request),
        "written": written,
        "yaml": request.POST.get("yaml", written),
    }
    return render(request, "what_if.html", context, status=status)


def _base_query(request: HttpRequest) -> str:
    kept = request.GET.copy()
    for key in list(kept):
        if key not in ("sample", "cluster", "run"):
            del kept[key]
    return kept.urlencode()


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
    """What differs from the base and what the run will take, while the form is filled in; and the other side of form and YAML."""
    context: dict[str, object] = {"changes": (), "errors": []}
    try:
        base = _base(request)
        if base is not None:
            context |= _preview(request, base)
    except ScenarioErrors as found:
        context["errors"] = [f"{e.code} {f'line {e.line} ' if e.line else ''}{e.path}: {e.message}" for e in found.errors]
    return render(request, "what_if/_preview.html", context)


def _preview(request: HttpRequest, base: services.Base) -> dict[str, object]:
    filled = _filled(request, base)
    if filled.errors is not None:
        raise filled.errors
    if filled.what_if is None:
        return {"errors": [str(e) for messages in filled.form.errors.values() for e in messages]}
    found: dict[str, object] = {
        "cost": services.expected_cost(base, filled.what_if),
        "hidden": count_without_fields(filled.what_if),
    }
    found["changes"] = services.preview(base, filled.what_if)
    from_yaml = request.POST.get("side") == "yaml"
    written = write_changes(filled.what_if)
    if from_yaml:
        return {**found, "form": filled.form, "written": request.POST.get("yaml", "")}
    return {**found, "yaml": written, "written": written}
