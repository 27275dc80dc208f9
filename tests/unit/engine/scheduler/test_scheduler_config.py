"""A KubeSchedulerConfiguration becomes the plugins that upstream would run, or is refused with the field at fault."""

import pytest

from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.config import parse_config
from simulations.engine.scheduler.framework.plugin import Handle, takes_part
from simulations.engine.scheduler.profiles import POINTS
from simulations.engine.scheduler.registry import REGISTRY

METHODS = {
    "preEnqueue": "pre_enqueue", "preFilter": "pre_filter", "filter": "filter", "preScore": "pre_score", "score": "score",
}  # fmt: skip


def points(plugins):
    return parse_config({"profiles": [{"plugins": plugins}]}).profiles[0].points


def names(listed):
    return [name for name, _weight in listed]


def switched(disabled=(), enabled=()):
    return {"disabled": [{"name": n} for n in disabled], "enabled": [{"name": n, "weight": w} for n, w in enabled]}


def test_the_default_profile_runs_every_plugin_in_the_default_order():
    profile = parse_config(None).profiles[0]
    assert profile.scheduler_name == "default-scheduler"
    assert profile.names == tuple(REGISTRY)
    assert names(profile.points["filter"])[:6] == [
        "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
    ]  # fmt: skip
    assert dict(profile.points["score"])["TaintToleration"] == 3
    assert names(profile.points["postFilter"]) == ["DynamicResources", "DefaultPreemption"]


@pytest.mark.parametrize("name", REGISTRY)
def test_a_plugin_overrides_only_points_that_it_is_registered_for(name):
    entry = REGISTRY[name]
    plugin = entry.make({}, Handle(SchedulerCache()))
    assert name == plugin.NAME
    assert set(entry.points) <= set(POINTS)
    assert [p for p, method in METHODS.items() if takes_part(plugin, method) and p not in entry.points] == []
    assert not entry.weight or "score" in entry.points


def test_a_plugin_disabled_at_one_point_keeps_the_others():
    found = points({"score": switched(["NodeResourcesFit"])})
    assert "NodeResourcesFit" not in names(found["score"])
    assert "NodeResourcesFit" in names(found["filter"])


def test_a_plugin_disabled_everywhere_is_gone():
    found = points({"multiPoint": switched(["ImageLocality", "InterPodAffinity"])})
    assert all("InterPodAffinity" not in names(listed) for listed in found.values())


def test_all_but_a_few_score_plugins_can_be_switched_off():
    found = points({"score": switched(["*"], [("ImageLocality", 5)])})
    assert found["score"] == (("ImageLocality", 5),)


def test_a_weight_given_at_one_point_replaces_the_default_and_comes_first():
    found = points({"score": switched((), [("NodeAffinity", 10)])})
    assert found["score"][0] == ("NodeAffinity", 10)
    assert names(found["score"]).count("NodeAffinity") == 1


def test_a_weight_given_for_all_points_keeps_the_plugins_place():
    found = points({"multiPoint": switched((), [("NodeAffinity", 10)])})
    assert found["score"][1] == ("NodeAffinity", 10)


def test_a_weight_of_zero_counts_as_one():
    assert points({"score": switched(["*"], [("ImageLocality", 0)])})["score"] == (("ImageLocality", 1),)


def test_the_share_of_nodes_to_score_is_the_profiles_own_or_the_common_one():
    document = {
        "percentageOfNodesToScore": 30,
        "profiles": [{"schedulerName": "a"}, {"schedulerName": "b", "percentageOfNodesToScore": 70}],
    }
    frameworks = parse_config(document).frameworks(Handle(SchedulerCache()))
    assert {n: f.percentage_of_nodes_to_score for n, f in frameworks.items()} == {"a": 30, "b": 70}


def test_backoff_and_client_limits_are_read():
    document = {"podInitialBackoffSeconds": 2, "podMaxBackoffSeconds": 60, "clientConnection": {"qps": 5, "burst": 10}}
    config = parse_config(document)
    assert (config.initial_backoff_seconds, config.max_backoff_seconds, config.qps, config.burst) == (2, 60, 5, 10)


def args(name, **values):
    return {"profiles": [{"pluginConfig": [{"name": name, "args": values}]}]}


ARGS = "profiles[0].pluginConfig"
SPREAD = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway"}


@pytest.mark.parametrize(
    "document, code, path",
    [
        ({"profile": []}, "E0401", "profile"),
        ({"kind": "Policy"}, "E0401", "kind"),
        ({"extenders": [{}]}, "E0401", "extenders"),
        ({"profiles": {}, "percentageOfNodesToScore": 101}, "E0404", "percentageOfNodesToScore"),
        ({"profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]}, "E0401", "profiles[1].schedulerName"),
        ({"profiles": [{"schedulerName": "a"}, {}]}, "E0401", "profiles[1].schedulerName"),
        ({"profiles": [{"schedulerName": 7}]}, "E0401", "profiles[0].schedulerName"),
        ({"parallelism": 0}, "E0404", "parallelism"),
        ({"podInitialBackoffSeconds": 0}, "E0404", "podInitialBackoffSeconds"),
        ({"clientConnection": {"qps": "fast"}}, "E0404", "clientConnection.qps"),
        ({"clientConnection": {"speed": 1}}, "E0401", "clientConnection.speed"),
        ({"profiles": [{"plugin": {}}]}, "E0401", "profiles[0].plugin"),
        ({"profiles": [{"plugins": {"sorting": {}}}]}, "E0401", "profiles[0].plugins.sorting"),
        ({"profiles": [{"plugins": {"score": switched(["Magic"])}}]}, "E0402", "profiles[0].plugins.score.disabled[0].name"),
        (
            {"profiles": [{"plugins": {"score": switched((), [("NodeName", 1)])}}]},
            "E0401",
            "profiles[0].plugins.score.enabled[0].name",
        ),
        (
            {"profiles": [{"plugins": {"score": switched((), [("ImageLocality", -1)])}}]},
            "E0404",
            "profiles[0].plugins.score.enabled[0].weight",
        ),
        ({"profiles": [{"plugins": {"queueSort": switched(["*"])}}]}, "E0401", "profiles[0].plugins.queueSort"),
        ({"profiles": [{"plugins": {"preFilter": switched(["PodTopologySpread"])}}]}, "E0401", "profiles[0].plugins.preFilter"),
        ({"podInitialBackoffSeconds": 5, "podMaxBackoffSeconds": 2}, "E0404", "podMaxBackoffSeconds"),
        (args("Magic"), "E0402", f"{ARGS}[0].name"),
        (args("ImageLocality", threshold=1), "E0403", f"{ARGS}[ImageLocality].args.threshold"),
        (args("TaintToleration", taints=[]), "E0403", f"{ARGS}[TaintToleration].args.taints"),
        (
            args("NodeResourcesBalancedAllocation", strategy={}),
            "E0403",
            f"{ARGS}[NodeResourcesBalancedAllocation].args.strategy",
        ),
        (args("NodeResourcesFit", scoringStrategy="Best"), "E0404", f"{ARGS}[NodeResourcesFit].args.scoringStrategy"),
        (
            args("NodeResourcesFit", scoringStrategy={"shape": []}),
            "E0403",
            f"{ARGS}[NodeResourcesFit].args.scoringStrategy.shape",
        ),
        (
            args("NodeResourcesFit", scoringStrategy={"resources": [{"name": "cpu", "weight": 101}]}),
            "E0404",
            f"{ARGS}[NodeResourcesFit].args.scoringStrategy.resources[0].weight",
        ),
        (args("NodeResourcesFit", ignoredResources="gpu"), "E0404", f"{ARGS}[NodeResourcesFit].args.ignoredResources"),
        (
            args("NodeResourcesFit", ignoredResourceGroups=["a/b"]),
            "E0404",
            f"{ARGS}[NodeResourcesFit].args.ignoredResourceGroups[0]",
        ),
        (
            args("PodTopologySpread", defaultingType="List", defaultConstraints=[{"maxSkew": 1, "topologyKey": "z"}]),
            "E0404",
            f"{ARGS}[PodTopologySpread].args.defaultConstraints[0].whenUnsatisfiable",
        ),
        (
            args("PodTopologySpread", defaultingType="List", defaultConstraints=[7]),
            "E0404",
            f"{ARGS}[PodTopologySpread].args.defaultConstraints[0]",
        ),
        (
            args("PodTopologySpread", defaultingType="List", defaultConstraints=[SPREAD, SPREAD]),
            "E0404",
            f"{ARGS}[PodTopologySpread].args.defaultConstraints[1]",
        ),
        (args("NodeAffinity", affinity={}), "E0403", f"{ARGS}[NodeAffinity].args.affinity"),
        (args("InterPodAffinity", hardPodAffinityWeight=101), "E0404", f"{ARGS}[InterPodAffinity].args.hardPodAffinityWeight"),
        (
            args("NodeResourcesFit", scoringStrategy={"type": "Best"}),
            "E0404",
            f"{ARGS}[NodeResourcesFit].args.scoringStrategy.type",
        ),
        (
            args(
                "PodTopologySpread", defaultConstraints=[{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway"}]
            ),
            "E0404",
            f"{ARGS}[PodTopologySpread].args.defaultConstraints",
        ),
    ],
)
def test_a_wrong_configuration_is_refused_with_its_field(document, code, path):
    with pytest.raises(ScenarioError) as caught:
        parse_config(document).frameworks(Handle(SchedulerCache()))
    assert (caught.value.code, caught.value.path) == (code, path)


def test_what_a_real_process_needs_and_a_simulated_one_does_not_is_named():
    document = {"leaderElection": {"leaderElect": True}, "parallelism": 8, "profiles": [{"schedulerName": "b"}]}
    assert parse_config(document).ignored == ("parallelism", "leaderElection")
