"""The Django app that keeps clusters, scenarios and runs."""

from django.apps import AppConfig


class SimulationsConfig(AppConfig):
    """Registers the models; the engine below it is plain Python and knows nothing of Django."""

    name = "simulations"
    default_auto_field = "django.db.models.BigAutoField"
