"""The runs table: findings first, any order, filters with negation, pages."""

import pytest
from django.test import Client

from simulations import queries
from simulations.access import EVERYBODY
from simulations.models import Run, Scenario

pytestmark = pytest.mark.django_db


@pytest.fixture
def many():
    scenario = Scenario.objects.create(name="s", document=b"", sample="busy-shop")
    rows = [
        ("calm", "succeeded", {"nodes": 3, "pods": 9, "pending": 0, "preemptions": 0, "victims": 0}, []),
        (
            "loud",
            "succeeded",
            {"nodes": 1, "pods": 2, "pending": 2, "preemptions": 5, "victims": 7},
            [{"title": "Stuck nomination", "text": "x", "pod": "a/b"}],
        ),
        ("broken", "failed", {}, []),
    ]
    for name, state, summary, findings in rows:
        Run.objects.create(
            name=name, scenario=scenario, state=state, summary=summary, findings=findings, findings_count=len(findings)
        )
    return scenario


def names(*args, **kwargs):
    return [row.name for row in queries.runs(EVERYBODY, *args, **kwargs).rows]


@pytest.mark.parametrize(
    "words, order, expected",
    [
        ("", "-findings", ["loud", "broken", "calm"]),
        ("", "name", ["broken", "calm", "loud"]),
        ("", "-nodes", ["calm", "loud", "broken"]),
        ("", "nonsense", ["broken", "calm", "loud"]),
        ("failed", "name", ["broken"]),
        ("stuck", "name", ["loud"]),
        ("!failed !stuck", "name", ["calm"]),
        ("busy-shop lo", "name", ["loud"]),
        ("nothing", "name", []),
    ],
)
def test_runs_are_ordered_and_filtered(many, words, order, expected):
    found = names(words, order)
    assert found == expected if order != "nonsense" else sorted(found) == expected


def test_a_thousand_runs_come_in_pages(many):
    Run.objects.bulk_create(Run(name=f"r{i}", scenario=many) for i in range(997))
    found = queries.runs(EVERYBODY, page=20)
    assert (len(found.rows), found.page, found.pages, found.matching, found.all) == (50, 20, 20, 1000, 1000)
    assert queries.runs(EVERYBODY, page=10**9).page == 20


def test_the_page_keeps_filter_and_order_in_its_links(many):
    page = Client().get("/runs/?q=loud&order=-pods").content.decode()
    assert "1 of 3 shown" in page
    assert 'aria-sort="descending"' in page
    assert "?q=loud&amp;order=pods" in page
    assert "why=a/b" in page
    assert "No runs match" in Client().get("/runs/?q=nobody").content.decode()
