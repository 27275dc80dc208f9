"""How commands answer: text or one JSON line last on stdout, coded messages on stderr, exit codes 0, 1 and 2."""

import json
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors

REFUSED = 1
WRONG = 2


class CodedCommand(BaseCommand):
    """A command whose wrong input ends with exit code 2 and a coded message."""

    requires_system_checks = ()

    def say(self, text: str) -> None:
        """A line for people, on stderr when stdout is for programs."""
        self.stdout.write(text)

    def print_json(self, value: dict[str, Any]) -> None:
        """The one JSON line of `--json`."""
        self.stdout.write(json.dumps(value, separators=(",", ":"), default=str))


def wrong(errors: ScenarioError | ScenarioErrors | str) -> CommandError:
    """The error of exit code 2."""
    return CommandError(str(errors), returncode=WRONG)


def read_file(path: Path) -> bytes:
    """A file's content.

    Raises:
        CommandError: E0115, it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise wrong(f"{path}: E0115: the file cannot be read: {error.strerror}") from None


def owner_of(name: str) -> int | None:
    """The id of a user by name; None without a name.

    Raises:
        CommandError: E0652, there is no such user.
    """
    if not name:
        return None
    found: int | None = get_user_model().objects.filter(username=name).values_list("pk", flat=True).first()
    if found is None:
        raise wrong(f"E0652: there is no user {name!r}: make one with manage.py createsuperuser, or leave --owner out")
    return found
