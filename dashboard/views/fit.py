"""What would have let a pod fit: asked by a button, searched for by a worker, shown in the panel."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from dashboard.access import looks_only, viewer
from dashboard.views.errors import not_found
from dashboard.what_if_values import form_values
from simulations import access, queries
from simulations import fit as fits
from simulations.services import ScenarioErrors, read_changes


@looks_only
@require_http_methods(["GET", "POST"])
def fit(request: HttpRequest, run_id: int) -> HttpResponse:
    """The part of the panel about one attempt: a button, the search on its way, or what it found. POST asks."""
    values = request.POST if request.method == "POST" else request.GET
    pod, text = values.get("pod", ""), values.get("seq", "")
    seq = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
    if queries.run(run_id) is None:
        return not_found(request, f"There is no run {run_id}.")
    context = {"run_id": run_id, "pod": pod, "seq": seq, "may_ask": access.is_theirs(viewer(request), "run_id", run_id)}
    try:
        found = fits.ask(run_id, pod, seq, viewer(request).user) if request.method == "POST" else fits.of_attempt(run_id, seq)
    except ScenarioErrors as errors:
        return render(request, "run/_fit.html", {**context, "errors": errors.errors}, status=400)
    links = [_try_link(run_id, each.changes) for each in (found.suggestions or ())] if found is not None else []
    shown = list(zip(found.suggestions or (), links, strict=True)) if found is not None else []
    return render(request, "run/_fit.html", {**context, "fit": found, "suggestions": shown})


def _try_link(run_id: int, changes: str) -> str:
    """The what-if form with the changes in it; empty where there are none."""
    if not changes:
        return ""
    values = {key: value for key, value in form_values(read_changes(changes)).items() if value not in (None, "", False)}
    values = {key: "on" if value is True else value for key, value in values.items()}
    return f"{reverse('what-if')}?{urlencode({'run': run_id, 'add_pods': '', **values})}"
