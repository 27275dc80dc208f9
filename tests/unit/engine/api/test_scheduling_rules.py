"""Fields that say where a Pod may run: the right value passes, a wrong one is refused in the API server's words, with its path."""

import pytest

from simulations.engine.api.scheduling_rules import where_it_may_run

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
SELECTOR = {"matchLabels": {"app": "web"}}
TERM = {"topologyKey": "zone", "labelSelector": SELECTOR}
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR}


def spread(**fields):
    return {"topologySpreadConstraints": [{**SPREAD, **fields}]}


def affinity(kind, term):
    return {"affinity": {kind: {REQUIRED: [term]}}}


def preferred(kind, **item):
    return {"affinity": {kind: {PREFERRED: [item]}}}


def toleration(**fields):
    return {"tolerations": [fields]}


def containers(*cpu):
    return [{"name": f"c{i}", "resources": {"requests": {"cpu": value}}} for i, value in enumerate(cpu)]


RIGHT = {
    "spread": spread(minDomains=2, nodeAffinityPolicy="Ignore", nodeTaintsPolicy="Honor", matchLabelKeys=["version"]),
    "two spreads": {"topologySpreadConstraints": [SPREAD, {**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}]},
    "pod affinity": affinity("podAffinity", {**TERM, "namespaces": ["shop"], "matchLabelKeys": ["a"], "mismatchLabelKeys": ["b"]}),
    "weights": preferred("podAntiAffinity", weight=100, podAffinityTerm=TERM),
    "node affinity": {
        "affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{}]}, PREFERRED: [{"weight": 1, "preference": {}}]}}
    },
    "everything tolerated": toleration(operator="Exists"),
    "tolerated for a time": toleration(key="k", value="v", effect="NoExecute", tolerationSeconds=0),
    "gates": {"schedulingGates": [{"name": "a"}, {"name": "b"}]},
    "preemption": {"preemptionPolicy": "Never"},
    "requests of the pod": {"resources": {"requests": {"cpu": "3"}}, "containers": containers("1", "2")},
}
WRONG = [
    (spread(maxSkew=0), "topologySpreadConstraints[0].maxSkew", "Invalid value: 0: must be greater than zero"),
    (spread(maxSkew=None), "topologySpreadConstraints[0].maxSkew", "Invalid value: 0: must be greater than zero"),
    (spread(topologyKey=""), "topologySpreadConstraints[0].topologyKey", "Required value: can not be empty"),
    (
        spread(whenUnsatisfiable="Never"),
        "topologySpreadConstraints[0].whenUnsatisfiable",
        'Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway"',
    ),
    (spread(minDomains=0), "topologySpreadConstraints[0].minDomains", "Invalid value: 0: must be greater than zero"),
    (
        spread(minDomains=2, whenUnsatisfiable="ScheduleAnyway"),
        "topologySpreadConstraints[0].minDomains",
        "Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
    ),
    (
        {"topologySpreadConstraints": [SPREAD, SPREAD]},
        "topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}",
        'Duplicate value: "{zone, DoNotSchedule}"',
    ),
    (
        spread(nodeTaintsPolicy="Maybe"),
        "topologySpreadConstraints[0].nodeTaintsPolicy",
        'Unsupported value: "Maybe": supported values: "Honor", "Ignore"',
    ),
    (
        spread(labelSelector=None, matchLabelKeys=["a"]),
        "topologySpreadConstraints[0].matchLabelKeys",
        "Forbidden: must not be specified when labelSelector is not set",
    ),
    (
        spread(matchLabelKeys=["app"]),
        "topologySpreadConstraints[0].matchLabelKeys[0]",
        'Invalid value: "app": exists in both matchLabelKeys and labelSelector',
    ),
    (
        affinity("podAffinity", {"labelSelector": {}}),
        f"affinity.podAffinity.{REQUIRED}[0].topologyKey",
        "Required value: can not be empty",
    ),
    (
        affinity("podAntiAffinity", {**TERM, "matchLabelKeys": ["a"], "mismatchLabelKeys": ["a"]}),
        f"affinity.podAntiAffinity.{REQUIRED}[0].matchLabelKeys[0]",
        'Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys',
    ),
    (
        affinity("podAffinity", {"topologyKey": "zone", "mismatchLabelKeys": ["a"]}),
        f"affinity.podAffinity.{REQUIRED}[0].mismatchLabelKeys",
        "Forbidden: must not be specified when labelSelector is not set",
    ),
    (
        preferred("podAffinity", weight=0, podAffinityTerm=TERM),
        f"affinity.podAffinity.{PREFERRED}[0].weight",
        "Invalid value: 0: must be in the range 1-100",
    ),
    (
        preferred("nodeAffinity", weight=101, preference={}),
        f"affinity.nodeAffinity.{PREFERRED}[0].weight",
        "Invalid value: 101: must be in the range 1-100",
    ),
    (
        {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}},
        f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms",
        "Required value: must have at least one node selector term",
    ),
    (
        toleration(operator="Equal", value="v"),
        "tolerations[0].operator",
        'Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ),
    (
        toleration(key="k", operator="Exists", value="v"),
        "tolerations[0].operator",
        "Invalid value: \"v\": value must be empty when `operator` is 'Exists'",
    ),
    (
        toleration(key="k", operator="Like"),
        "tolerations[0].operator",
        'Unsupported value: "Like": supported values: "Equal", "Exists"',
    ),
    (
        toleration(key="k", effect="NoSchedule", tolerationSeconds=3),
        "tolerations[0].effect",
        "Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set",
    ),
    (
        toleration(key="k", effect="NoRun"),
        "tolerations[0].effect",
        'Unsupported value: "NoRun": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ),
    ({"schedulingGates": [{"name": "a"}, {"name": "a"}]}, "schedulingGates[1]", 'Duplicate value: "a"'),
    (
        {"preemptionPolicy": "Maybe"},
        "preemptionPolicy",
        'Unsupported value: "Maybe": supported values: "Never", "PreemptLowerPriority"',
    ),
    (
        {"resources": {"requests": {"cpu": "2"}}, "containers": containers("1500m", "1")},
        "resources.requests[cpu]",
        'Invalid value: "2": must be greater than or equal to aggregate container requests of 1500m + 1',
    ),
]


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_passes(name):
    assert list(where_it_may_run(RIGHT[name])) == []


@pytest.mark.parametrize(("spec", "path", "message"), WRONG, ids=[f"{path}: {message[:40]}" for _spec, path, message in WRONG])
def test_what_is_wrong_is_refused_with_its_path(spec, path, message):
    [found] = where_it_may_run(spec)
    assert (found.code, found.path, found.message) == ("E0214", f"spec.{path}", message)
