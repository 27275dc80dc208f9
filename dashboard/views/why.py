"""The pod inspector: why is it where it is."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dashboard.access import looks_only
from dashboard.views.errors import not_found
from simulations import fit, queries


@looks_only
@require_GET
def why(request: HttpRequest, run_id: int) -> HttpResponse:
    """The panel for one pod as of one record; a whole page when it is opened by itself."""
    pod = request.GET.get("pod", "")
    at = request.GET.get("seq", "")
    if queries.run(run_id) is None:
        return not_found(request, f"There is no run {run_id}.")
    answer = queries.why(run_id, pod, int(at) if at.isascii() and at.isdigit() and len(at) < 19 else None)
    if answer is None:
        return render(request, "run/_why_unknown.html", {"pod": pod}, status=404)
    template = "run/_why.html" if request.headers.get("HX-Request") else "why.html"
    return render(request, template, {"why": answer, "run_id": run_id, "refused": fit.refused(answer)})
