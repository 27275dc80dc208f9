"""Writes the tables of docs/error-codes.md from simulations/engine/codes.py."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from simulations.engine.codes import AREAS, CODES  # noqa: E402 - the path comes first

MARK = "<!-- codes: written by scripts/write_error_codes.py -->\n"
PAGE = ROOT / "docs" / "error-codes.md"


def tables() -> str:
    """A table of codes per area."""
    parts = []
    for area, title in AREAS.items():
        rows = [f"| {code.code} | {code.meaning} | {code.remedy} |" for code in CODES.values() if code.code.startswith(area)]
        if rows:
            parts.append("\n".join([f"\n## {title}\n", "| Code | Meaning | What helps |", "|---|---|---|", *rows]) + "\n")
    return "".join(parts)


def page(text: str) -> str:
    """The page with its tables as they should be."""
    return text.partition(MARK)[0] + MARK + tables()


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
