"""Clusters: all, and one with its nodes and pods in kubectl's columns."""

import msgspec
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from dashboard.presenters import budget_rows, node_rows, pod_rows
from dashboard.views.errors import not_found
from simulations import queries

MOST_PODS = 500


@require_GET
def clusters(_request: HttpRequest) -> HttpResponse:
    """Clusters and runs share one page."""
    return redirect("/runs/#clusters")


@require_GET
def cluster(request: HttpRequest, cluster_id: int) -> HttpResponse:
    """One cluster: what waits comes first."""
    found = queries.cluster(cluster_id)
    if found is None:
        return not_found(request, f"There is no cluster {cluster_id}.")
    objects = queries.cluster_objects(cluster_id)
    pods = pod_rows(objects, found.taken_at)
    text = request.GET.get("q", "").strip()
    shown = [p for p in pods if text.lower() in p.search] if text else pods
    context = {
        "cluster": found, "nodes": node_rows(objects, found.taken_at), "pods": shown[:MOST_PODS], "shown": len(shown[:MOST_PODS]),
        "matching": len(shown), "all": len(pods), "q": text, "budgets": budget_rows(objects, found.taken_at),
    }  # fmt: skip
    return render(request, "cluster.html", context)


@require_GET
def overview(request: HttpRequest, cluster_id: int) -> HttpResponse:
    """What the overview draws of an imported cluster."""
    if queries.cluster(cluster_id) is None:
        return not_found(request, f"There is no cluster {cluster_id}.")
    return HttpResponse(msgspec.json.encode(queries.cluster_overview(cluster_id)), content_type="application/json")
