"""Documentation under test: what users meet is described, and what is described exists."""

import re
from pathlib import Path

import pytest

from simulations.analysis.catalogue import TABLES
from simulations.analysis.span_types import GhostEnd, LinkKind, SpanKind
from simulations.engine.codes import AREAS, CODES
from simulations.samples import samples

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
CODE = re.compile(r'"([EW]0\d{3})"')


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
