"""`manage.py import-cluster PATH...`: read kubectl's output into a cluster."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.db import transaction

from dashboard.embedded.supervisor import migrate
from simulations.importers.kubectl import import_paths
from simulations.importers.receipt import Receipt
from simulations.management.output import REFUSED, WRONG, CodedCommand, owner_of
from simulations.tasks import keep_import


class Command(CodedCommand):
    """Imports files and folders, all or nothing."""

    help = "Imports what `kubectl get ... -o yaml|json` wrote, and prints a receipt"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The files and folders."""
        parser.add_argument("paths", nargs="+", type=Path)
        parser.add_argument("--name", default="")
        parser.add_argument("--owner", default="", help="the user whose it is (production)")
        parser.add_argument("--json", action="store_true")

    def handle(self, *_args: Any, paths: list[Path], name: str, json: bool, owner: str, **_options: Any) -> None:
        """Import, and exit with 2 where the input is wrong."""
        found = import_paths(paths)
        receipt = found.receipt
        cluster_id = None
        if not receipt.refused:
            migrate()
            with transaction.atomic():
                cluster_id = keep_import(name or paths[0].stem, found, owner_of(owner)).pk
        if json:
            self.print_json({"cluster": cluster_id, **receipt.as_dict()})
        else:
            self._tell(receipt, cluster_id)
        for error in receipt.errors:
            place = f"{error.file}:{error.line}" if error.line else error.file
            self.stderr.write(": ".join(part for part in (place, error.code, error.field, error.message) if part))
        if receipt.refused:
            raise SystemExit(WRONG if receipt.errors else REFUSED)

    def _tell(self, receipt: Receipt, cluster_id: int | None) -> None:
        if cluster_id is None:
            self.say("nothing was imported")
            return
        self.say(f"cluster {cluster_id}:")
        for kind, count in sorted(receipt.counts.items()):
            self.say(f"  {count:>6} {kind}")
        for warning in receipt.warnings:
            self.say(f"  note {warning.code}: {warning.message} ({warning.count})")
        for ignored in receipt.ignored:
            self.say(f"  ignored: {ignored.count} {ignored.kind}: {ignored.why}")
