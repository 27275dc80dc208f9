"""Writes the tables of docs/fidelity.md: what is compared with recordings, and what is not modelled."""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from simulations.engine.limits import LIMITS  # noqa: E402 - the path comes first
from tests.conformance.points import CASES, counted, stretches  # noqa: E402

PAGE = ROOT / "docs" / "fidelity.md"


def recordings() -> str:
    """A row for each family of recorded clusters, and one for each recorded timeline; sums below."""
    known = json.loads((CASES / "known-differences.json").read_text(encoding="utf-8"))
    rows = ["| recordings | files | points | equal |", "|---|---|---|---|"]
    for kind in ("decisions", "exact", "descheduler"):
        families = counted(kind, known)
        rows += [f"| {kind}/{name} | {files} | {points:,} | {equal:,} |" for name, files, points, equal in families]
        files, points, equal = (sum(row[i] for row in families) for i in (1, 2, 3))
        rows.append(f"| **{kind}** | **{files}** | **{points:,}** | **{equal:,}** |")
    lines = timelines()
    rows += [f"| timelines/{name} | 1 | {points} | {points} |" for name, points in lines]
    whole = sum(points for _name, points in lines)
    rows.append(f"| **timelines** | **{len(lines)}** | **{whole:,}** | **{whole:,}** |")
    return "\n".join(rows)


def timelines() -> list[tuple[str, int]]:
    """The timelines that are held to, all of them equal: a test fails where one is not."""
    expected = json.loads((CASES / "v1.36.2" / "timeline-expectations.json").read_text(encoding="utf-8"))
    files = sorted((CASES / "v1.36.2" / "timelines").glob("*.json"))
    return [(f.stem, stretches(json.loads(f.read_text(encoding="utf-8")), expected.get(f.stem, {}))) for f in files]


def limits() -> str:
    """What is not modelled, one line each."""
    return "\n".join(f"- {limit.about}" for limit in LIMITS)


def page(text: str) -> str:
    """The page with its tables as they should be."""
    for name, table in (("recordings", recordings()), ("limits", limits())):
        text = re.sub(rf"(<!-- {name} -->\n).*?(\n<!-- end -->)", lambda m, t=table: m[1] + t + m[2], text, flags=re.DOTALL)  # type: ignore[misc]
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
