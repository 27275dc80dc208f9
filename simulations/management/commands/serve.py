"""`manage.py serve`: everything on one machine."""

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand

from dashboard.embedded.supervisor import Supervisor


class Command(BaseCommand):
    """Broker, database, worker and web server, until Ctrl+C."""

    help = "Runs everything on one machine: broker, worker and the page on loopback"

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Run until it is stopped."""
        host = os.environ.get("SCHEDSCOPE_HOST", "127.0.0.1")
        port = int(os.environ.get("SCHEDSCOPE_PORT", "8000"))
        sys.exit(Supervisor(host, port, lambda text: self.stdout.write(text, ending="\n") or self.stdout.flush()).run())
