"""For load balancers and compose."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse

from dashboard.access import open_to_all


@open_to_all
def healthz(_request: HttpRequest) -> HttpResponse:
    """200 while the database answers, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("the database does not answer\n", content_type="text/plain", status=503)
    return HttpResponse("ok\n", content_type="text/plain")
