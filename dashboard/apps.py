"""The Django app of the web face: its templates' tags and the checks of the settings."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    """Registers the system checks."""

    name = "dashboard"

    def ready(self) -> None:
        """Import the checks, which register themselves."""
        from dashboard import checks  # noqa: F401  # imported for what it registers
