"""`manage.py run SCENARIO|--cluster ID`: make a run through the pipeline."""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from dashboard.embedded.supervisor import migrate, services_for_a_command
from simulations import queries, services
from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.whatif import parse_settings
from simulations.management.output import REFUSED, CodedCommand, owner_of, read_file, wrong

LOOK_EVERY = 0.1


class Command(CodedCommand):
    """Queues a run; with --wait waits for its end."""

    help = "Makes a run of a scenario or of an imported cluster, with changes"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to run, and what to change."""
        parser.add_argument("scenario", type=Path, nargs="?")
        parser.add_argument("--cluster", type=int)
        parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes")
        parser.add_argument("--name", default="")
        parser.add_argument("--wait", action="store_true")
        parser.add_argument("--owner", default="", help="the user whose it is (production)")
        parser.add_argument("--json", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Make the run.

        Raises:
            CommandError: exit code 2, the input is wrong. SystemExit: 1, the run failed or was cancelled.
        """
        migrate()
        try:
            base = self._base(options["scenario"], options["cluster"])
            request = services.RunRequest(parse_settings(options["changes"]), options["name"], owner=owner_of(options["owner"]))
            with services_for_a_command(wanted=options["wait"]):
                run_id = services.create_run(base, request).pk
                row = self._wait(run_id) if options["wait"] else queries.run(run_id)
        except ScenarioErrors as errors:
            raise wrong(errors) from None
        assert row is not None, "the run was just made"
        if options["json"]:
            failure = {"error_code": row.error_code, "error_message": row.error_message} if row.error_code else {}
            self.print_json({"run": row.id, "state": row.state, "seed": row.seed, "records": row.seq, **failure, **row.summary})
        else:
            self.say(f"run {row.id}: {row.state}")
            for key in ("pods", "placed", "pending", "preemptions", "victims") if row.summary else ():
                self.say(f"  {key}: {row.summary[key]}")
        if row.state in ("failed", "cancelled"):
            self.stderr.write(f"{row.error_code}: {row.error_message}" if row.error_code else f"run {row.id} was {row.state}")
            raise SystemExit(REFUSED)

    @staticmethod
    def _base(scenario: Path | None, cluster: int | None) -> services.Base:
        if (scenario is None) == (cluster is None):
            raise wrong("E0623: give a scenario file or --cluster ID, one of the two")
        if cluster is not None:
            return services.base_of_cluster(cluster)
        assert scenario is not None, "one of the two is there"
        return services.base_of_text(read_file(scenario), str(scenario))

    @staticmethod
    def _wait(run_id: int) -> queries.RunRow | None:
        row = queries.run(run_id)
        while row is not None and row.active:
            time.sleep(LOOK_EVERY)
            row = queries.run(run_id)
        return row
