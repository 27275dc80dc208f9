"""Writes docs/samples.md from the gallery's catalogue."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from simulations.samples import Sample, samples  # noqa: E402 - the path comes first

HEAD = """# Samples

Scenarios that need no input. The landing page starts the first one; each is a starting point for a what-if. Their files are in
`simulations/samples/`, and run from the command line too:

    .venv/bin/python manage.py simulate simulations/samples/busy-shop.yaml
"""


def _bullets(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def section(entry: Sample) -> str:
    """A sample's part of the page."""
    parts = [
        f"## {entry.title} (`{entry.slug}`)",
        entry.story,
        f"**What to look at**\n\n{_bullets(entry.look_at)}",
        f"**What to change**\n\n{_bullets(entry.change)}",
        *([f"**Compare with** `{entry.pair}`."] if entry.pair else []),
        f"**Upstream**: {'; '.join(entry.references)}",
    ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    page = HEAD + "\n" + "\n\n".join(section(entry) for entry in samples()) + "\n"
    (ROOT / "docs" / "samples.md").write_text(page, encoding="utf-8")
