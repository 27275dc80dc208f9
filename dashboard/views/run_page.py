"""The timeline of a run, and the data that it is drawn from."""

from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dashboard.access import looks_only, viewer
from dashboard.views.errors import not_found
from simulations import access, queries


@looks_only
@require_GET
def run_page(request: HttpRequest, run_id: int) -> HttpResponse:
    """The page; its spans come by socket."""
    run = queries.run(run_id)
    if run is None:
        return not_found(request, f"There is no run {run_id}.")
    sample = queries.sample(run.sample) if run.sample else None
    context: dict[str, Any] = {"run": run, "sample": sample, "facts": queries.facts(run_id).begin, "tables": queries.table_names()}
    context["mine"] = access.is_theirs(viewer(request), "run_id", run_id)
    context |= _pair(request, run)
    return render(request, "run.html", context)


@looks_only
@require_GET
def header(request: HttpRequest, run_id: int) -> HttpResponse:
    """The figures above the timeline, again once the run has ended."""
    run = queries.run(run_id)
    if run is None:
        return not_found(request, f"There is no run {run_id}.")
    mine = access.is_theirs(viewer(request), "run_id", run_id)
    context = {"run": run, "facts": queries.facts(run_id).begin, "mine": mine, **_pair(request, run)}
    return render(request, "run/_figures.html", context)


def _pair(request: HttpRequest, run: queries.RunRow) -> dict[str, Any]:
    """The sample that the run's is best compared with, and the runs whose loops stand side by side: this one, then its pair's."""
    sample = queries.sample(run.sample) if run.sample else None
    pair = queries.run_of_pair(run, viewer(request))
    return {"pair": queries.sample(sample.pair) if sample is not None else None, "loops": [run] if pair is None else [run, pair]}


@looks_only
@require_GET
def spans(request: HttpRequest, run_id: int) -> HttpResponse:
    """What changed after `?after=S`: the socket's twin for where sockets do not pass."""
    text = request.GET.get("after", "0")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        return JsonResponse({"code": "E0624", "message": "after must be a record number"}, status=400)
    batch = queries.spans_after(run_id, int(text))
    if batch is None:
        return JsonResponse({"code": "E0622", "message": f"there is no run {run_id}"}, status=404)
    return HttpResponse(batch.as_json(), content_type="application/json")


@looks_only
@require_GET
def overview(request: HttpRequest, run_id: int) -> HttpResponse:
    """What nodes offer and pods ask for; where pods are is in the spans."""
    if queries.run(run_id) is None:
        return JsonResponse({"code": "E0622", "message": f"there is no run {run_id}"}, status=404)
    return HttpResponse(msgspec.json.encode(queries.run_overview(run_id)), content_type="application/json")
