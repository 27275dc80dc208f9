"""Pages for what is not there."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt


def not_found(request: HttpRequest, message: str) -> HttpResponse:
    """404 with a sentence and a way on."""
    return render(request, "not_found.html", {"message": message}, status=404)


@csrf_exempt
def no_such_call(_request: HttpRequest, rest: str) -> HttpResponse:
    """404 as the API answers it."""
    return JsonResponse({"errors": [{"code": "E0654", "message": f"there is no call /api/{rest[:100]}"}]}, status=404)
