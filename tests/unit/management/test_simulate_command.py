"""`manage.py simulate --out`: the folder holds the trace, every table and the metrics, all of the same run."""

from django.core.management import call_command
from prometheus_client.parser import text_string_to_metric_families

from simulations.analysis.catalogue import TABLES
from simulations.samples import sample


def test_the_folder_holds_everything_about_the_run(tmp_path):
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(sample("race-higher-takes").text, encoding="utf-8")
    call_command("simulate", str(scenario), "--out", str(tmp_path / "out"))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "trace.jsonl",
        "metrics.prom",
        *(f"{name}.csv" for name in TABLES),
    }
    rows = (tmp_path / "out" / "attempts.csv").read_text(encoding="utf-8").splitlines()[1:]
    families = text_string_to_metric_families((tmp_path / "out" / "metrics.prom").read_text(encoding="utf-8"))
    attempts = next(family for family in families if family.name == "scheduler_schedule_attempts")
    assert sum(sample.value for sample in attempts.samples) == len(rows) > 0
