"""`manage.py replay decisions|timelines|descheduler FILE...`: replay recordings of the real components.

Prints one JSON document per file on stdout and nothing else there; errors go to stderr. Needs no database.
"""

import importlib
import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors

WRONG_CALL = 2
"""Exit code: the call or the input is wrong."""


class Command(BaseCommand):
    """Dispatches to `simulations.pipelines.replay_<what>`, whose `replay_<what>(document, name)` makes the printed document."""

    help = "Replays recorded files and prints one JSON document per line"
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to replay, and the files."""
        parser.add_argument("what", choices=["decisions", "timelines", "descheduler"])
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")

    def handle(self, *_args: object, what: str, files: list[Path], **_options: object) -> None:
        """Replay file by file.

        Raises:
            CommandError: exit code 2, a file cannot be read or replayed.
        """
        name = f"replay_{what}"
        replay = getattr(importlib.import_module(f"simulations.pipelines.{name}"), name)
        for path in files:
            document = _read(path)
            try:
                replayed = replay(document, path.stem)
            except (ScenarioError, ScenarioErrors) as error:
                raise CommandError(f"{path}: {error}", returncode=WRONG_CALL) from None
            if replayed.get("notModelled"):
                self.stderr.write(f"{path}: not modelled: {', '.join(replayed['notModelled'])}")
            self.stdout.write(json.dumps(replayed, separators=(",", ":")))


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"E0115: {path}: {error.strerror}", returncode=WRONG_CALL) from None
    except ValueError as error:
        raise CommandError(f"E0105: {path}: {error}", returncode=WRONG_CALL) from None
    if not isinstance(document, dict):
        raise CommandError(f"E0113: {path}: a recording is an object", returncode=WRONG_CALL)
    return document
