"""`manage.py simulate SCENARIO`: run a scenario here and now, without a database."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simulations.analysis.catalogue import TABLES
from simulations.analysis.metrics import MetricsFold
from simulations.analysis.tables import table_rows
from simulations.engine.kernel.errors import ScenarioErrors
from simulations.engine.kernel.trace import Record
from simulations.engine.trace_format import encode
from simulations.engine.whatif import apply_what_if, parse_settings
from simulations.exporters.csv import write_csv
from simulations.exporters.prometheus import write_metrics
from simulations.management.output import CodedCommand, read_file, wrong
from simulations.pipelines.prepare import scenario_of_document, scenario_of_text
from simulations.pipelines.simulate import Batch, Hooks, Outcome, simulate


class Command(CodedCommand):
    """Simulates a scenario file (or a recorded timeline)."""

    help = "Simulates a scenario and prints its summary; with --out writes the trace, all CSV tables and the scheduler metrics"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The scenario, and what to do with what comes out."""
        parser.add_argument("scenario", type=Path)
        parser.add_argument("--seed", type=int)
        parser.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE", dest="changes", help="a change, as `run` takes it"
        )
        parser.add_argument("--out", type=Path, metavar="DIR")
        parser.add_argument("--json", action="store_true")

    def handle(self, *_args: Any, scenario: Path, seed: int | None, out: Path | None, **options: Any) -> None:
        """Run it.

        Raises:
            CommandError: exit code 2, the scenario is wrong.
        """
        records: list[Record] = []
        try:
            parsed, document = scenario_of_text(read_file(scenario), str(scenario))
            if options["changes"]:
                parsed = scenario_of_document(apply_what_if(document, parse_settings(options["changes"])).document)
            chosen = parsed.seed if seed is None else seed
            outcome = simulate(parsed, chosen, Hooks(lambda batch: _keep(records, batch, keep=out is not None)))
        except ScenarioErrors as errors:
            raise wrong(errors) from None
        if out is not None:
            _write(out, records)
        if options["json"]:
            self.print_json(
                {"scenario": parsed.name, "seed": chosen, "ended": outcome.reason, **outcome.summary, "findings": outcome.findings}
            )
        else:
            self._tell(parsed.name, chosen, outcome)

    def _tell(self, name: str, seed: int, outcome: Outcome) -> None:
        summary = outcome.summary
        self.say(f"{name}, seed {seed}: ended by {outcome.reason} at T+{outcome.sim_time / 1e9:g} s, {outcome.seq:,} records")
        for key in (
            "nodes",
            "pods",
            "placed",
            "pending",
            "running",
            "preemptions",
            "victims",
            "budget_violations",
            "refused_calls",
        ):
            self.say(f"  {key.replace('_', ' ')}: {summary[key]}")
        for finding in outcome.findings:
            self.say(f"  finding: {finding['text']}")


def _keep(records: list[Record], batch: Batch, *, keep: bool) -> None:
    if keep:
        records.extend(batch.records)


def _write(folder: Path, records: Sequence[Record]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "trace.jsonl").open("wb") as trace:
        for record in records:
            trace.write(encode(record).rstrip(b"\n") + b"\n")
    metrics = MetricsFold()
    for record in records:
        metrics.feed(record)
    (folder / "metrics.prom").write_bytes(write_metrics(metrics.metrics()))
    for name, table in TABLES.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            file.writelines(write_csv(table.COLUMNS, table_rows(table(), records)))
