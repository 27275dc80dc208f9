"""The `costs` and `faults` of a scenario."""

from typing import Any

from simulations.engine.api.durations import parse_duration
from simulations.engine.cluster.costs import PRESETS, Costs, CycleCost, Latency
from simulations.engine.cluster.faults import Fault
from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.scenario.fields import Fields

_VERBS = ("create", "update", "patch", "delete")


def parse_costs(fields: Fields) -> Costs:
    """Read the cost model; findings go to the fields' list."""
    fields.only(("preset", "apiServer", "watchDelay", "schedulingCycle"))
    preset = fields.text("preset", "lab")
    if preset not in PRESETS:
        fields.wrong("preset", "E0302", f"{preset!r} is not a preset ({', '.join(PRESETS)})")
        preset = "lab"
    api = dict(PRESETS[preset])
    for call, value in fields.sub("apiServer").value.items():
        path = f"{fields.path}.apiServer[{call}]"
        latency = fields.attempt(lambda v=value, p=path: _latency(v, p), None)  # type: ignore[misc]
        if call != "default" and str(call).split(" ")[0] not in _VERBS:
            fields.wrong(f"apiServer[{call}]", "E0302", "a call is written as `delete pods`, or default")
        elif latency is not None:
            if call == "default":
                api = dict.fromkeys(api, latency)
            api[str(call)] = latency
    cycle = fields.sub("schedulingCycle")
    cycle.only(("base", "perNode", "perDryRun"))
    default = CycleCost()
    return Costs(
        api,
        fields.duration("watchDelay", Costs().watch_delay),
        CycleCost(
            cycle.duration("base", default.base),
            cycle.duration("perNode", default.per_node),
            cycle.duration("perDryRun", default.per_dry_run),
        ),
        preset,
    )


def _latency(value: object, path: str) -> Latency:
    if isinstance(value, dict):
        unknown = [k for k in value if k not in ("median", "p95")]
        if unknown or "median" not in value:
            raise ScenarioError("E0302", "a distribution has median and p95", path)
        p95 = value.get("p95")
        return Latency(
            parse_duration(value["median"], f"{path}.median"), None if p95 is None else parse_duration(p95, f"{path}.p95")
        )
    return Latency(parse_duration(value, path))


def parse_faults(spec: Fields) -> tuple[Fault, ...]:
    """Read the fault rules."""
    found = []
    for i, item in enumerate(spec.items("faults")):
        fields = Fields(item, f"{spec.path}.faults[{i}]", spec.findings)
        fields.only(("match", "names", "actor", "code", "message", "between", "probability"))
        match = fields.text("match")
        if len(match.split(" ")) != 2 or match.split(" ")[0] not in _VERBS:
            fields.wrong("match", "E0302", f"{match!r} does not name a call such as `delete pods`")
        window = _window(fields)
        probability = fields.number("probability", 0, 1)
        found.append(
            Fault(
                match,
                fields.integer("code", 500, 400, 599),
                fields.text("message"),
                tuple(str(n) for n in fields.items("names")),
                fields.text("actor"),
                window[0],
                window[1],
                1.0 if probability is None else probability,
            )
        )
    return tuple(found)


def _window(fields: Fields) -> tuple[Any, Any]:
    between = fields.items("between")
    if not between:
        return None, None
    if len(between) != 2:
        fields.wrong("between", "E0302", "a window has a start and an end")
        return None, None
    start, end = (fields.attempt(lambda v=v, j=j: parse_duration(v, fields.at(f"between[{j}]")), 0) for j, v in enumerate(between))  # type: ignore[misc]
    if end <= start:
        fields.wrong("between", "E0302", "a window ends after it starts")
    return start, end
