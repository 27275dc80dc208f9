"""Pages for what is not there."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def not_found(request: HttpRequest, message: str) -> HttpResponse:
    """404 with a sentence and a way on."""
    return render(request, "not_found.html", {"message": message}, status=404)
