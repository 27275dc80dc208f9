"""All runs, and stopping one."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from dashboard.access import viewer
from dashboard.views.errors import not_found
from simulations import queries, services


@require_GET
def runs(request: HttpRequest) -> HttpResponse:
    """The table of runs and clusters."""
    return render(request, "runs.html", {"runs": queries.runs(viewer(request)), "clusters": queries.clusters(viewer(request))})


@require_POST
def cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    """Ask a run to stop."""
    if queries.run(run_id) is None:
        return not_found(request, f"There is no run {run_id}.")
    services.cancel_run(run_id)
    return redirect("run", run_id)
