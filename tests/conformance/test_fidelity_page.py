"""docs/fidelity.md says what is compared here and what is not modelled; both are written from the sources."""

from pathlib import Path

from scripts.write_fidelity import page

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "fidelity.md"


def test_the_tables_are_those_of_the_recordings_and_of_the_stated_limits():
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "run scripts/write_fidelity.py"
