"""Policies go in unchanged; what is wrong with one is told in the descheduler's words, with the field."""

import pytest
import yaml

from simulations.engine.descheduler.policy import parse_policy
from simulations.engine.descheduler.registry import REGISTRY
from simulations.engine.kernel.errors import ScenarioErrors
from tests.unit.engine.descheduler.one_cycle import policy

README_POLICY = """
apiVersion: "descheduler/v1alpha2"
kind: "DeschedulerPolicy"
nodeSelector: "node=node1"
maxNoOfPodsToEvictPerNode: 10
maxNoOfPodsToEvictPerNamespace: 5
maxNoOfPodsToEvictTotal: 50
gracePeriodSeconds: 60
metricsProviders:
- source: KubernetesMetrics
profiles:
  - name: ProfileName
    pluginConfig:
    - name: "DefaultEvictor"
      args:
        podProtections:
          defaultDisabled: ["PodsWithLocalStorage"]
          extraEnabled: ["PodsWithPVC"]
          config:
            PodsWithPVC:
              protectedStorageClasses:
              - name: fast
        nodeFit: true
        minReplicas: 2
        minPodAge: 10m
    - name: "RemoveDuplicates"
      args:
        excludeOwnerKinds: ["DaemonSet"]
    plugins:
      balance:
        enabled: ["RemoveDuplicates"]
"""


def findings(document):
    """(code, path, message) of each finding."""
    with pytest.raises(ScenarioErrors) as caught:
        parse_policy(document)
    return [(error.code, error.path, error.message) for error in caught.value.errors]


def test_a_policy_as_people_write_it_is_read_whole():
    """Limits, selector, grace, protections, arguments; DefaultEvictor is at both filters without being named."""
    read = parse_policy(yaml.safe_load(README_POLICY))
    assert (read.limits.per_node, read.limits.per_namespace, read.limits.total, read.grace_seconds) == (10, 5, 50, 60)
    profile = read.profiles[0]
    assert profile.points["filter"] == profile.points["preEvictionFilter"] == ("DefaultEvictor",)
    evictor = profile.args["DefaultEvictor"]
    assert evictor.protections == ("SystemCriticalPods", "FailedBarePods", "DaemonSetPods", "PodsWithPVC")
    assert evictor.protected_storage_classes == ("fast",)
    assert evictor.min_pod_age == 600 * 10**9
    assert profile.args["RemoveDuplicates"].exclude_owner_kinds == ("DaemonSet",)
    assert read.ignored == ("metricsProviders",)


@pytest.mark.parametrize("name", REGISTRY)
def test_unknown_arguments_are_refused_by_name(name):
    """Arguments are read strictly."""
    found = findings(policy((name, {"nosuch": 1})))
    assert ("E0803", "profiles[0].pluginConfig[1].args.nosuch") in [(code, path) for code, path, _message in found]


LOW = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}}
ARGS = "profiles[0].pluginConfig[1].args"


@pytest.mark.parametrize(
    "plugin, args, path, message",
    [
        (
            "LowNodeUtilization",
            {**LOW, "thresholds": {"cpu": 120}},
            "thresholds.cpu",
            "thresholds config is not valid: cpu threshold not in [0, 100] range",
        ),
        (
            "LowNodeUtilization",
            {**LOW, "targetThresholds": {"cpu": -1}},
            "targetThresholds.cpu",
            "targetThresholds config is not valid: cpu threshold not in [0, 100] range",
        ),
        (
            "LowNodeUtilization",
            {**LOW, "thresholds": {"cpu": 60}},
            "thresholds.cpu",
            "thresholds' cpu percentage is greater than targetThresholds'",
        ),
        (
            "LowNodeUtilization",
            {**LOW, "thresholds": {"cpu": 20, "memory": 20}},
            "targetThresholds.memory",
            "thresholds and targetThresholds configured different resources",
        ),
        (
            "LowNodeUtilization",
            {"targetThresholds": {"cpu": 50}},
            "thresholds",
            "thresholds config is not valid: no resource threshold is configured",
        ),
        (
            "LowNodeUtilization",
            {**LOW, "evictableNamespaces": {"include": ["a"]}},
            "evictableNamespaces.include",
            "only Exclude namespaces can be set, inclusion is not supported",
        ),
        ("HighNodeUtilization", {"thresholds": {"cpu": 101}}, "thresholds.cpu", "cpu threshold not in [0, 100] range"),
        (
            "HighNodeUtilization",
            {"thresholds": {"cpu": 1}, "evictionModes": ["All"]},
            "evictionModes[0]",
            "invalid eviction mode All",
        ),
        (
            "RemoveDuplicates",
            {"namespaces": {"include": ["a"], "exclude": ["b"]}},
            "namespaces",
            "only one of Include/Exclude namespaces can be set",
        ),
        ("RemovePodsViolatingNodeAffinity", {}, "nodeAffinityType", "nodeAffinityType needs to be set"),
        (
            "RemovePodsViolatingNodeTaints",
            {"excludedTaints": ["a"], "includedTaints": ["b"]},
            "includedTaints",
            "either includedTaints or excludedTaints can be set, but not both",
        ),
        ("RemovePodsHavingTooManyRestarts", {}, "podRestartThreshold", "invalid PodsHavingTooManyRestarts threshold"),
        (
            "RemovePodsHavingTooManyRestarts",
            {"podRestartThreshold": 1, "states": ["Failed"]},
            "states",
            "states must be one of [CrashLoopBackOff Running]",
        ),
        (
            "PodLifeTime",
            {},
            "",
            "at least one filtering criterion must be specified (maxPodLifeTimeSeconds, states, conditions, or exitCodes)",
        ),
        (
            "PodLifeTime",
            {"conditions": [{}]},
            "conditions[0]",
            "conditions[0]: at least one of type, status, reason, or minTimeSinceLastTransitionSeconds must be set",
        ),
        (
            "PodLifeTime",
            {"states": ["Running"], "ownerKinds": {"include": ["Job"], "exclude": ["Job"]}},
            "ownerKinds",
            "only one of Include/Exclude ownerKinds can be set",
        ),
        (
            "RemoveFailedPods",
            {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}},
            "labelSelector.matchExpressions[0].operator",
            'failed to get label selectors from strategy\'s params: Invalid value: "Is": not a valid selector operator',
        ),
        (
            "RemovePodsViolatingTopologySpreadConstraint",
            {"constraints": ["Never"]},
            "constraints[0]",
            "constraint Never is not one of DoNotSchedule, ScheduleAnyway",
        ),
    ],
)
def test_arguments_are_checked_as_upstream_checks_them(plugin, args, path, message):
    """One finding each, with the profile in front and the field beside it."""
    where = f"{ARGS}.{path}" if path else ARGS
    assert findings(policy((plugin, args))) == [("E0804", where, f"in profile p: {message}")]


@pytest.mark.parametrize(
    "evictor, path, message",
    [
        (
            {"podProtections": {"extraEnabled": ["PodsWithPVC"]}, "evictDaemonSetPods": True},
            "podProtections",
            "cannot use Deprecated fields alongside PodProtections.ExtraEnabled or PodProtections.DefaultDisabled",
        ),
        (
            {"podProtections": {"extraEnabled": ["DaemonSetPods"]}},
            "podProtections.extraEnabled",
            'invalid pod protection policy in ExtraEnabled: "DaemonSetPods". '
            "Valid options are: [PodsWithPVC PodsWithoutPDB PodsWithResourceClaims]",
        ),
        (
            {"podProtections": {"defaultDisabled": ["DaemonSetPods", "DaemonSetPods"]}},
            "podProtections.defaultDisabled",
            "PodProtections.DefaultDisabled contains duplicate entries",
        ),
        (
            {"priorityThreshold": {"value": 1, "name": "high"}},
            "priorityThreshold",
            "priority threshold misconfigured, only one of priorityThreshold fields can be set",
        ),
        (
            {"priorityThreshold": {"value": 2_000_000_001}},
            "priorityThreshold.value",
            "priority threshold can't be greater than 2000000000",
        ),
        ({"noEvictionPolicy": "Always"}, "noEvictionPolicy", 'noEvictionPolicy accepts only ["Preferred" "Mandatory"] values'),
        (
            {"podProtections": {"extraEnabled": ["PodsWithPVC"], "config": {"PodsWithPVC": {"protectedStorageClasses": [{}]}}}},
            "podProtections.config.PodsWithPVC.protectedStorageClasses[0].name",
            "PodProtections.Config.PodsWithPVC.ProtectedStorageClasses[0] name cannot be empty",
        ),
    ],
)
def test_the_options_of_default_evictor_are_checked(evictor, path, message):
    """New and deprecated options do not mix; names, numbers and classes are looked at."""
    found = findings(policy(evictor=evictor))
    assert found == [("E0804", f"profiles[0].pluginConfig[0].args.{path}", f"in profile p: {message}")]


def test_unknown_plugins_and_points_are_refused():
    """A plugin that is not registered, one at a point that it has not, one without a configuration, a field that there is not."""
    document = policy(("RemoveDuplicates", {}))
    profile = document["profiles"][0]
    profile["pluginConfig"].append({"name": "RemoveAll"})
    profile["plugins"]["deschedule"]["enabled"] = ["RemoveDuplicates", "PodLifeTime"]
    document["maxNoOfPodsToEvictPerNod"] = 3
    found = {(code, path): message for code, path, message in findings(document)}
    assert found["E0802", "profiles[0].pluginConfig[2].name"] == "in profile p: plugin RemoveAll in pluginConfig not registered"
    assert found["E0802", "profiles[0].plugins.deschedule.enabled"].startswith(
        'profile "p" configures deschedule extension point of non-existing plugins: RemoveDuplicates'
    )
    assert found["E0805", "profiles[0].plugins.deschedule.enabled"] == (
        'unable to build PodLifeTime plugin: unable to find "PodLifeTime" plugin config'
    )
    assert "unknown field" in found["E0801", "maxNoOfPodsToEvictPerNod"]


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "policy",
        {"profiles": {}},
        {"profiles": [3]},
        {"profiles": [{"pluginConfig": [None], "plugins": []}]},
        {"nodeSelector": "a in"},
    ],
)
def test_misshapen_policies_are_refused_and_never_break(document):
    """Whatever stands where a policy should, the answer is a finding; no policy at all is an empty one."""
    if document is None:
        assert parse_policy(document).profiles == ()
    else:
        assert all(code.startswith("E08") for code, _path, _message in findings(document))


def test_real_use_is_refused_since_there_is_none():
    """A simulated cluster has no metrics server."""
    found = findings(policy(("LowNodeUtilization", {**LOW, "metricsUtilization": {"source": "KubernetesMetrics"}})))
    assert [(code, path) for code, path, _message in found] == [("E0806", f"{ARGS}.metricsUtilization")]


def test_several_faults_of_a_policy_are_told_at_once():
    """Nobody has to send a policy again and again."""
    wrong = policy(
        ("PodLifeTime", {}), ("RemovePodsHavingTooManyRestarts", {}), evictor={"noEvictionPolicy": "x"}, maxNoOfPodsToEvictTotal=-1
    )
    assert len(findings(wrong)) == 4
