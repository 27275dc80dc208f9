"""Replays one recorded cycle of the real descheduler and prints our own evictions for comparison.

The cluster stands still but for the evictions: no scheduler, no controller and no kubelet, as it was recorded. The real descheduler
goes through the nodes in the order of their names, but begins with any of them: the recorded beginning is taken over.
"""

from datetime import UTC, datetime
from typing import Any

from simulations.engine.cluster.api_server import ApiServer, ClusterSettings
from simulations.engine.cluster.setup import load
from simulations.engine.descheduler.descheduler import ACTOR, Descheduler, DeschedulerSettings
from simulations.engine.descheduler.policy import parse_policy
from simulations.engine.kernel.loop import EventLoop
from simulations.engine.kernel.streams import Streams
from simulations.engine.kernel.trace import Record, Trace

Document = dict[str, Any]


def replay_descheduler(recorded: Document, name: str) -> Document:
    """Our evictions for one recorded file, with the answers, in the form that the comparison reads.

    Raises:
        ScenarioErrors: the policy, or an object, cannot be read.
    """
    policy = parse_policy(recorded["policy"], "policy")
    epoch = datetime.fromisoformat(recorded["recordedAt"]).astimezone(UTC)
    loop, trace = EventLoop(), Trace(keep=True)
    api = ApiServer(loop, trace, ClusterSettings(epoch), Streams(recorded.get("seed") or 0))
    load(api, recorded["objects"])
    Descheduler(api, DeschedulerSettings(policy, qps=0, left_alone=False, first_node=_first_node(recorded)))
    loop.run(until_settled=True)
    trace.flush()
    return {"file": name, "evictions": [_eviction(r) for r in trace.records if r.actor == ACTOR and r.resource == "pods/eviction"]}


def _first_node(recorded: Document) -> str:
    """The node of the pod that was asked to leave first; empty where none was."""
    first = next((eviction["pod"] for eviction in recorded["evictions"]), None)
    nodes = (o["spec"].get("nodeName", "") for o in recorded["objects"] if o["kind"] == "Pod" and o["metadata"]["name"] == first)
    return next(nodes, "")


def _eviction(record: Record) -> Document:
    eviction: Document = {"pod": record.name, "code": record.code}
    if record.message:
        eviction["message"] = record.message
    return eviction
