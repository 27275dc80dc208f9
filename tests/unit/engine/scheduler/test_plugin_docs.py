"""docs/plugins.md names every registered plugin, its extension points and its weight, in order."""

import re
from pathlib import Path

from simulations.engine.scheduler.registry import REGISTRY

TEXT = (Path(__file__).resolve().parents[4] / "docs" / "plugins.md").read_text(encoding="utf-8")


def test_every_plugin_has_its_row():
    table = TEXT.partition("\n## ")[0]
    rows = re.findall(r"^\| (\w+) \| ([\w, ]+) \| (\d*) ?\| (.+) \|$", table, re.MULTILINE)
    documented = [(name, tuple(points.split(", ")), int(weight or 0)) for name, points, weight, _text in rows[0:]]
    assert [row for row in documented if row[0] != "Plugin"] == [(n, e.points, e.weight) for n, e in REGISTRY.items()]


def test_what_is_not_modelled_says_so():
    for name, entry in REGISTRY.items():
        row = re.search(rf"^\| {name} \|.*$", TEXT, re.MULTILINE)
        assert row is not None
        assert ("not modelled" in row[0]) is not entry.modelled
