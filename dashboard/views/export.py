"""Downloads: CSV tables and scheduler metrics."""

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from dashboard.access import looks_only
from dashboard.views.errors import not_found
from simulations import queries


@looks_only
@require_GET
def table(request: HttpRequest, run_id: int, table: str) -> HttpResponse | StreamingHttpResponse:
    """Stream one table of a run; `?raw=1` leaves text that looks like a formula as it is."""
    run = queries.run(run_id)
    if run is None:
        return not_found(request, f"There is no run {run_id}.")
    try:
        lines = queries.table_lines(run_id, table, raw=request.GET.get("raw") == "1")
    except queries.UnknownTableError as error:
        return not_found(request, str(error))
    streamed = _in_pieces(lines) if isinstance(request, ASGIRequest) else lines
    response = StreamingHttpResponse(streamed, content_type="text/csv; charset=utf-8")
    name = queries.file_name(f"{run.name}-{run.id}", table, timezone.now())
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@looks_only
@require_GET
def metrics(request: HttpRequest, run_id: int) -> HttpResponse:
    """What the run's schedulers would have shown to Prometheus."""
    run = queries.run(run_id)
    if run is None:
        return not_found(request, f"There is no run {run_id}.")
    name = queries.file_name(f"{run.name}-{run.id}", "metrics", timezone.now()).removesuffix(".csv")
    response = HttpResponse(queries.metrics_text(run_id), content_type=queries.METRICS_TYPE)
    response["Content-Disposition"] = f'attachment; filename="{name}.prom"'
    return response


async def _in_pieces(lines: Iterator[str]) -> AsyncIterator[str]:
    """Read the table piece by piece beside the event loop, so that a large one is never whole in memory."""
    following = sync_to_async(lambda: next(lines, None))
    while (piece := await following()) is not None:
        yield piece
