"""The first page: what this is, one click to a sample, what was run lately."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from dashboard.access import viewer
from dashboard.forms import new_token
from dashboard.views.errors import not_found
from simulations import queries, services
from simulations.services import ScenarioErrors


@require_GET
def landing(request: HttpRequest) -> HttpResponse:
    """Show samples and recent runs."""
    recent = queries.recent_runs(viewer(request))
    context = {"first": queries.first_sample(), "samples": queries.samples(), "runs": recent, "token": new_token()}
    return render(request, "landing.html", context)


@require_POST
def start_sample(request: HttpRequest, slug: str) -> HttpResponse:
    """Run a sample at its pace and go to its timeline."""
    sample = queries.sample(slug)
    try:
        base = services.base_of_sample(slug)
        pace = sample.pace if sample is not None else 1.0
        run = services.create_run(
            base, services.RunRequest(pace=pace, token=request.POST.get("token") or None, owner=viewer(request).user)
        )
    except ScenarioErrors as errors:
        return not_found(request, str(errors))
    return redirect(reverse("run", args=[run.pk]))
