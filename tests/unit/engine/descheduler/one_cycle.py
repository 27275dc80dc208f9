"""Runs a descheduler over a small cluster that otherwise stands still, and tells what it did."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from simulations.engine.cluster.api_server import ApiServer, ClusterSettings
from simulations.engine.cluster.setup import load
from simulations.engine.descheduler.descheduler import ACTOR, Descheduler, DeschedulerSettings
from simulations.engine.descheduler.policy import parse_policy
from simulations.engine.kernel.clock import SECOND
from simulations.engine.kernel.loop import EventLoop
from simulations.engine.kernel.streams import Streams
from simulations.engine.kernel.trace import Record, Trace
from tests.builders import EPOCH, make_node, make_pod


def policy(*plugins: tuple[str, dict[str, Any]], evictor: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A policy of one profile `p` with these plugins, each at its point, and fields of the policy."""
    balance = ("LowNodeUtilization", "HighNodeUtilization", "RemoveDuplicates", "RemovePodsViolatingTopologySpreadConstraint")
    points = {
        "deschedule": {"enabled": [name for name, _args in plugins if name not in balance]},
        "balance": {"enabled": [name for name, _args in plugins if name in balance]},
    }
    configs = [{"name": name, "args": args} for name, args in plugins]
    profile = {"name": "p", "pluginConfig": [{"name": "DefaultEvictor", "args": evictor or {}}, *configs], "plugins": points}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **more}


@dataclass
class Outcome:
    """What a run left in its trace."""

    records: list[Record] = field(default_factory=list)

    def of(self, verb: str) -> list[Record]:
        """The descheduler's records of a verb."""
        return [record for record in self.records if record.actor == ACTOR and record.verb == verb]

    @property
    def calls(self) -> list[Record]:
        """The eviction calls."""
        return [record for record in self.of("create") if record.resource == "pods/eviction"]

    @property
    def decisions(self) -> list[tuple[str, str]]:
        """Pod and outcome, in order."""
        return [(record.name, record.reason) for record in self.of("deschedule")]

    @property
    def evicted(self) -> list[str]:
        """Pods that were evicted, in order."""
        return [name for name, outcome in self.decisions if outcome == "Evicted"]

    @property
    def events(self) -> list[tuple[str, str, str]]:
        """Type, reason and note of each event."""
        found = [record.data or {} for record in self.of("create") if record.resource == "events"]
        return [(data["type"], data["reason"], data["note"]) for data in found]

    def left(self, strategy: str) -> dict[str, tuple[str, str]]:
        """By pod the filter that said no, and why."""
        record = next(record for record in self.of("strategy") if record.reason == strategy)
        return {name.split("/")[1]: (by, why) for by, why, names in (record.data or {})["left"] for name in names}


def run(document: dict[str, Any], *objects: Any, until: int | None = None, **settings: Any) -> Outcome:
    """Run the cycles of a policy over these objects (builders or manifests) until nothing is due, or for so many seconds."""
    loop, trace = EventLoop(), Trace(keep=True)
    api = ApiServer(loop, trace, ClusterSettings(EPOCH), Streams(1))
    load(api, [item if isinstance(item, dict) else item.manifest() for item in objects])
    Descheduler(api, DeschedulerSettings(parse_policy(document), **settings))
    loop.run(None if until is None else until * SECOND, until_settled=until is None)
    trace.flush()
    return Outcome(trace.records)


def owned(name: str, node: str, owner: str = "web", kind: str = "ReplicaSet", **request: str) -> Any:
    """A running pod of a workload, with its labels."""
    return make_pod(name).labels(app=owner).on(node).controlled_by(kind, owner).request(**request)


def nodes(*names: str) -> list[Any]:
    """Nodes of 4 CPU, 8Gi and 110 pods."""
    return [make_node(name) for name in names]


def status(pod: Any, **fields: Any) -> dict[str, Any]:
    """The manifest of a pod with fields of its status."""
    manifest = pod.manifest()
    return {**manifest, "status": {**manifest["status"], **fields}}


def created(pod: Any, seconds_ago: int) -> dict[str, Any]:
    """The manifest of a pod that was created so many seconds before T+0."""
    manifest = pod if isinstance(pod, dict) else pod.manifest()
    moment = (EPOCH - timedelta(seconds=seconds_ago)).isoformat().replace("+00:00", "Z")
    return {**manifest, "metadata": {**manifest["metadata"], "creationTimestamp": moment}}
