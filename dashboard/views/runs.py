"""All runs, and stopping one."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from dashboard.access import viewer
from dashboard.views.errors import not_found
from simulations import queries, services

COLUMNS = (
    ("name", "Name", False), ("", "Kind", False), ("state", "State", False), ("nodes", "Nodes", True), ("pods", "Pods", True),
    ("pending", "Pending", True), ("preemptions", "Preemptions", True), ("victims", "Victims", True), ("findings", "Findings", False),
    ("age", "Age", True),
)  # fmt: skip
"""Key of the order, word, and whether it is a number."""


@require_GET
def runs(request: HttpRequest) -> HttpResponse:
    """The table of runs, ordered and filtered as the address says, and the clusters."""
    who, words = viewer(request), request.GET.get("q", "").strip().replace("\x00", "")[:200]
    order, number = request.GET.get("order", "-findings"), request.GET.get("page", "1")
    found = queries.runs(who, words, order, int(number) if number.isascii() and number.isdigit() and len(number) < 7 else 1)
    context = {
        "found": found,
        "runs": found.rows,
        "q": words,
        "order": order,
        "columns": COLUMNS,
        "clusters": queries.clusters(who),
    }
    return render(request, "runs.html", context)


@require_POST
def cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    """Ask a run to stop."""
    if queries.run(run_id) is None:
        return not_found(request, f"There is no run {run_id}.")
    services.cancel_run(run_id)
    return redirect("run", run_id)
