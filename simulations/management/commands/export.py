"""`manage.py export RUN --table NAME`: one CSV table of a run."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from dashboard.embedded.supervisor import migrate
from simulations import queries
from simulations.management.output import CodedCommand, wrong


class Command(CodedCommand):
    """Writes a table to a file or to stdout."""

    help = "Exports one table of a run as CSV"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The run and the table."""
        parser.add_argument("run", type=int)
        parser.add_argument("--table", required=True, metavar="NAME")
        parser.add_argument("--out", type=Path)
        parser.add_argument("--raw", action="store_true", help="leave text that looks like a formula as it is")

    def handle(self, *_args: Any, run: int, table: str, out: Path | None, raw: bool, **_options: Any) -> None:
        """Export.

        Raises:
            CommandError: exit code 2, there is no such run or table.
        """
        migrate()
        if queries.run(run) is None:
            raise wrong(f"E0622: there is no run {run}")
        try:
            lines = queries.table_lines(run, table, raw=raw)
        except queries.UnknownTableError as error:
            raise wrong(error) from None
        if out is None:
            sys.stdout.reconfigure(newline="")  # type: ignore[union-attr]  # CRLF as the format wants it
            sys.stdout.writelines(lines)
            return
        with out.open("w", encoding="utf-8", newline="") as file:
            file.writelines(lines)
        self.say(str(out))
