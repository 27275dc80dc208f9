"""The web face of Schedscope: a Django project over `simulations`."""

from dashboard.celery import app as celery_app

__all__ = ["celery_app"]
