"""Documentation under test: what users meet is described, and what is described exists."""

import re
from pathlib import Path

import pytest
import yaml

from dashboard.environment import VARIABLES
from simulations.analysis.catalogue import TABLES
from simulations.analysis.span_types import GhostEnd, LinkKind, SpanKind
from simulations.engine.codes import AREAS, CODES
from simulations.engine.scenario import parse_scenario
from simulations.engine.scenario.parse import _SPEC as SPEC_FIELDS
from simulations.engine.scenario.parse import LATER
from simulations.engine.simulation import Simulation
from simulations.pipelines.bench import SHAPES
from simulations.samples import samples

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
CODE = re.compile(r'(?<!"")"([EW]0\d{3})[":]')
"""A code in quotes, or at the start of a message; not at the start of a docstring."""


def text(name):
    return (DOCS / name).read_text(encoding="utf-8")


def source_files():
    folders = [ROOT / "simulations", ROOT / "dashboard"]
    return [path for folder in folders if folder.exists() for path in folder.rglob("*.py") if path.name != "codes.py"]


def test_every_code_in_the_source_has_a_meaning():
    unknown = {
        f"{code} in {path.relative_to(ROOT)}"
        for path in source_files()
        for code in CODE.findall(path.read_text(encoding="utf-8"))
        if code not in CODES
    }
    assert not unknown, "give these a line in simulations/engine/codes.py"


def test_every_code_with_a_meaning_is_used():
    used = {code for path in source_files() for code in CODE.findall(path.read_text(encoding="utf-8"))}
    assert not set(CODES) - used, "remove these from simulations/engine/codes.py"


@pytest.mark.parametrize("code", CODES.values(), ids=list(CODES))
def test_every_code_is_documented(code):
    row = f"| {code.code} | {code.meaning} | {code.remedy} |"
    assert row in text("error-codes.md"), "run scripts/write_error_codes.py"
    assert any(code.code.startswith(area) for area in AREAS)


def test_every_documented_code_exists():
    documented = set(re.findall(r"^\| ([EW]\d{4}) \|", text("error-codes.md"), re.MULTILINE))
    assert documented == set(CODES), "run scripts/write_error_codes.py"


@pytest.mark.parametrize("name", TABLES)
def test_every_table_and_column_is_documented_in_order(name):
    section = text("csv-tables.md").partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    documented = re.findall(r"^\| `(\w+)` \| (text|number) \| (.+) \|$", section, re.MULTILINE)
    columns = TABLES[name].COLUMNS
    assert documented == [(column.name, "number" if column.numeric else "text", column.meaning) for column in columns]


@pytest.mark.parametrize("entry", samples(), ids=[entry.slug for entry in samples()])
def test_every_sample_is_documented_with_its_story(entry):
    section = text("samples.md").partition(f"(`{entry.slug}`)\n")[2].partition("\n## ")[0]
    assert entry.story in section
    for line in (*entry.look_at, *entry.change, *entry.references):
        assert line in section


def test_every_kind_of_span_arrow_and_ending_is_documented():
    page = text("timeline.md")
    assert re.findall(r"^\| `([a-z]+)` \|", page, re.MULTILINE) == [*(kind.value for kind in SpanKind), LinkKind.PREEMPTS.value]
    assert f"| `{LinkKind.REPLACED_BY}` |" in page
    assert all(f"`{end}`" in page for end in GhostEnd)


def test_every_setting_is_documented_and_every_documented_one_exists():
    documented = re.findall(r"^\| `([A-Z_]+)` \| .+ \| .+ \|$", text("settings.md"), re.MULTILINE)
    assert sorted(documented) == sorted(VARIABLES)


def test_every_variable_that_is_read_is_a_known_setting():
    read = set()
    for path in source_files():
        read |= set(re.findall(r"""["'](SCHEDSCOPE_[A-Z_]+|REDIS_URL)["']""", path.read_text(encoding="utf-8")))
    assert read == set(VARIABLES)


def test_every_key_is_documented_and_every_documented_one_exists():
    table = (ROOT / "static/js/keys.js").read_text(encoding="utf-8").partition("export const KEYS = [")[2].partition("\n];")[0]
    keys = [key for listed in re.findall(r"keys: \[(.+?)\], action", table) for key in re.findall(r'"([^"]+)"', listed)]
    rows = re.findall(r"^\| (`.+?) \| .+ \| (?:timeline|everywhere) \|$", text("keys.md"), re.MULTILINE)
    documented = [key for row in rows for key in re.findall(r"`([^`]+)`", row)]
    assert keys
    assert sorted(documented) == sorted(keys)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_benchmark_shape_is_documented(shape):
    assert f"`{shape}`:" in text("benchmarks.md")


def test_every_decision_record_is_listed_and_every_listed_one_exists():
    listed = re.findall(r"^\| \[(\d{4})\]\((\1-.+?\.md)\) \|", text("adr/README.md"), re.MULTILINE)
    assert [name for _number, name in listed] == sorted(path.name for path in (DOCS / "adr").glob("0*.md"))


@pytest.mark.parametrize("path", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path):
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_scenario_that_is_documented_runs_and_its_fault_strikes():
    document = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text("scenario-format.md"), re.DOTALL)[1])
    records = []
    Simulation(parse_scenario(document), on_records=records.extend).run()
    assert {"preempt", "gone"} <= {record.verb for record in records}
    assert any(record.code == 422 for record in records)


def test_every_field_of_a_scenario_is_documented():
    rows = re.findall(r"^\| `(\w+)[^|]*\| .+ \|", text("scenario-format.md"), re.MULTILINE)
    mentioned = re.findall(r"`(\w+)(?:: \w+)?`", text("scenario-format.md"))
    assert [field for field in SPEC_FIELDS if field not in {*rows, *mentioned}] == []
    assert [field for field in LATER if f"`{field}`" not in text("scenario-format.md")] == []
