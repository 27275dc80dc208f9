"""The gallery: every sample is whole and says what it is for."""

from pathlib import Path

import pytest

import simulations.samples
from simulations.samples import first_sample, sample, samples

SLUGS = [entry.slug for entry in samples()]
FOLDER = Path(simulations.samples.__file__).parent


def pods_of(slug):
    """All pods that a sample brings, initial and later ones."""
    spec = sample(slug).document()["spec"]
    later = [operation["createOperation"]["object"] for operation in spec["operations"] if "createOperation" in operation]
    return [(value["metadata"], value["spec"]) for value in [*spec["initial"], *later] if value["kind"] == "Pod"]


def test_the_gallery_lists_every_scenario_file_once():
    files = {path.stem for path in FOLDER.glob("*.yaml")} - {"catalogue"}
    assert sorted(entry.slug for entry in samples() if not entry.openb) == sorted(files)
    assert len(SLUGS) == len(set(SLUGS))


@pytest.mark.parametrize("slug", SLUGS)
def test_a_sample_has_title_story_things_to_see_and_to_change_and_its_sources(slug):
    entry = sample(slug)
    assert entry.title
    assert len(entry.story.split()) > 30
    assert entry.look_at
    assert entry.change
    assert entry.references
    assert all(isinstance(line, str) for line in (*entry.look_at, *entry.change, *entry.references))
    assert entry.pace > 0 or entry.openb


@pytest.mark.parametrize("slug", SLUGS)
def test_a_sample_is_a_scenario_of_its_own_name(slug):
    document = sample(slug).document()
    assert (document["kind"], document["metadata"]["name"]) == ("Scenario", slug)
    assert document["spec"]["description"]


def test_a_sample_can_be_changed_without_changing_the_next():
    document = sample("busy-shop").document()
    document["spec"]["operations"].clear()
    assert sample("busy-shop").document()["spec"]["operations"]


def test_pairs_point_at_each_other():
    paired = [entry for entry in samples() if entry.pair]
    assert paired
    assert all(sample(entry.pair).pair == entry.slug for entry in paired)


def test_the_two_kinds_of_preemption_have_the_same_pods():
    assert pods_of("async-preemption") == pods_of("sync-preemption")
    gates = [sample(slug).document()["spec"]["featureGates"] for slug in ("async-preemption", "sync-preemption")]
    assert gates == [{"SchedulerAsyncPreemption": True}, {"SchedulerAsyncPreemption": False}]


def test_the_landing_page_starts_a_lively_one():
    spec = first_sample().document()["spec"]
    kinds = [value["kind"] for value in spec["initial"]]
    replicas = sum(value["spec"]["replicas"] for value in spec["initial"] if value["kind"] == "ReplicaSet")
    assert (kinds.count("Node"), replicas, spec["duration"]) == (12, 60, "60s")


def test_an_unknown_sample_is_none():
    assert sample("nothing") is None
