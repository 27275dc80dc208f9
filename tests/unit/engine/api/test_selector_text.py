"""Selectors as command lines write them."""

import pytest

from simulations.engine.api.labels import intern_labels
from simulations.engine.api.selector_text import parse_selector_text
from simulations.engine.kernel.errors import ScenarioError

LABELS = intern_labels({"app": "web", "tier": "front", "size": "5"})


@pytest.mark.parametrize(
    "text, matches",
    [
        ("", True),
        ("app=web", True),
        ("app==web,tier=front", True),
        ("app=web,tier=back", False),
        ("app!=web", False),
        ("other!=web", True),
        ("app in (web, db)", True),
        ("app notin (web,db)", False),
        ("app", True),
        ("!app", False),
        ("!other", True),
        ("size>4", True),
        ("size<4", False),
        ("example.com/app=", False),
    ],
)
def test_what_a_selector_selects(text, matches):
    assert parse_selector_text(text, "x").matches(LABELS) is matches


@pytest.mark.parametrize("text", ["app=web,", "=web", "app in web", "app ~ web", "a b", "app=(x)"])
def test_what_is_no_selector_is_refused_by_its_path(text):
    with pytest.raises(ScenarioError) as caught:
        parse_selector_text(text, "flags[0]")
    assert (caught.value.code, caught.value.path) == ("E0209", "flags[0]")
