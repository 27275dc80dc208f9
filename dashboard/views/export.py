"""CSV downloads."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from dashboard.views.errors import not_found
from simulations import queries


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
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    name = queries.file_name(f"{run.name}-{run.id}", table, timezone.now())
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
