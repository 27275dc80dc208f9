"""One descheduler process: cycle after cycle it runs the plugins of a policy's profiles.

Source: pkg/descheduler/descheduler.go, descheduler v0.36
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.priority import SYSTEM_CLASSES
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.client import Client
from simulations.engine.cluster.event_recorder import EventRecorder
from simulations.engine.descheduler.framework.cluster import ClusterView
from simulations.engine.descheduler.framework.node_fit import NodeFit
from simulations.engine.descheduler.framework.notes import Left, Notes
from simulations.engine.descheduler.framework.plugin import AnyPlugin, Handle, Outcome
from simulations.engine.descheduler.framework.pod_evictor import Asked, Decision, EvictorSettings, PodEvictor
from simulations.engine.descheduler.policy import BALANCE, DESCHEDULE, NOT_ALLOWED, Policy
from simulations.engine.descheduler.profile import ProfileEvictor, ProfileRunner
from simulations.engine.evictions import EvictionCalls
from simulations.engine.kernel.clock import MICROSECOND, SECOND, SimTime
from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.kernel.loop import Steps

ACTOR: Final = "descheduler"
DEFAULT_QPS: Final = 5.0
DEFAULT_BURST: Final = 10
"""Of a client whose limits nobody sets; staging/src/k8s.io/client-go/rest/config.go, v1.36."""
LEAST_NODES: Final = 2


@dataclass(frozen=True, slots=True)
class DeschedulerSettings:
    """A descheduler's policy, the time from the start of one cycle to that of the next (0: one cycle), whether it only tries, client
    limits (0 or less: off), and how much of its decisions is recorded (`left_alone`: the pods that it left alone, with why).

    Nodes come in the order of names from `first_node` on, and after the last one those before it. The real descheduler begins anywhere.
    """

    policy: Policy = field(default_factory=Policy)
    interval: int = 0
    dry_run: bool = False
    qps: float = DEFAULT_QPS
    burst: int = DEFAULT_BURST
    left_alone: bool = True
    first_node: str = ""


class Descheduler:
    """Watches from now on; its first cycle begins at once.

    Raises:
        ScenarioError: E0804, the PriorityClass of a priority threshold is not there, or its value is too high.
    """

    def __init__(self, api: ApiServer, settings: DeschedulerSettings) -> None:
        self.api = api
        self.settings = settings
        self.view = ClusterView()
        self.view.watch(api)
        policy = settings.policy
        evictor = EvictorSettings(policy.limits, policy.grace_seconds, policy.failure_events, settings.dry_run)
        calls = EvictionCalls(Client(api, ACTOR, qps=settings.qps, burst=settings.burst))
        events = EventRecorder(Client(api, ACTOR, qps=settings.qps, burst=settings.burst))
        self._pods = PodEvictor(evictor, calls, events, self.view.hide, self._decided)
        handle = Handle(
            self.view,
            NodeFit(self.view),
            ProfileEvictor("", self._pods),
            lambda: api.loop.now,
            self._stamp,
            Notes(),
            self._class_value,
        )
        self._runners = [ProfileRunner(profile, handle, self._pods) for profile in policy.profiles]
        self._cycle = 0
        self._told: dict[tuple[int, str], tuple[int, Left]] = {}
        """Per profile and plugin the record that last told whom it left alone."""
        api.loop.spawn(self._run(), ACTOR)

    def _stamp(self, time: SimTime) -> SimTime:
        """A time as metadata has it, in whole seconds of the calendar."""
        fraction = self.api.settings.epoch.microsecond * MICROSECOND
        return (time + fraction) // SECOND * SECOND - fraction

    def _class_value(self, name: str) -> int:
        found = SYSTEM_CLASSES.get(name) or self.api.classes.get(name)
        if found is None:
            text = f'unable to get priority value from the priority class: priorityclasses.scheduling.k8s.io "{name}" not found'
            raise ScenarioError(NOT_ALLOWED, text, "priorityThreshold.name")
        return found.value

    # ---- cycles

    def _run(self) -> Steps[None]:
        """One cycle; the next begins an interval after this one began, or at once where this one took longer."""
        begun = self.api.loop.now
        yield from self._run_cycle()
        if self.settings.interval:
            wait = max(0, begun + self.settings.interval - self.api.loop.now)
            self.api.loop.after(wait, self._again, periodic=True)

    def _again(self) -> None:
        self.api.loop.spawn(self._run(), ACTOR)

    def _run_cycle(self) -> Steps[None]:
        begun = self.api.loop.now
        self._cycle += 1
        self._pods.reset()
        nodes = self._nodes()
        skipped = len(nodes) < LEAST_NODES
        self._pods.cause = cause = self._record(
            "cycle", reason="Skipped" if skipped else "",
            message=f"Skipping descheduling cycle: requires >=2 nodes, found {len(nodes)}" if skipped else "",
            data={"cycle": self._cycle, "nodes": len(nodes), "dryRun": self.settings.dry_run},
        )  # fmt: skip
        for point in () if skipped else (DESCHEDULE, BALANCE):
            for number, runner in enumerate(self._runners):
                for plugin in runner.at(point):
                    yield from self._run_plugin(number, runner, point, plugin, nodes)
        self.view.restore()
        counts = self._pods.counts
        data = {"cycle": self._cycle, "started": begun, "evicted": counts.total, "dryRun": self.settings.dry_run}
        self._record("cycled", cause=cause, data=data)

    def _nodes(self) -> list[Node]:
        nodes, first = self.view.ready_nodes(self.settings.policy.node_selector), self.settings.first_node
        return [node for node in nodes if node.name >= first] + [node for node in nodes if node.name < first]

    def _run_plugin(self, number: int, runner: ProfileRunner, point: str, plugin: AnyPlugin, nodes: Sequence[Node]) -> Steps[None]:
        begun, before = self.api.loop.now, self._pods.counts.total
        notes = runner.begin()
        yield from plugin.deschedule(nodes) if point == DESCHEDULE else plugin.balance(nodes)
        data: dict[str, Any] = {
            "cycle": self._cycle, "profile": runner.profile.name, "point": point, "started": begun,
            "evicted": self._pods.counts.total - before,
        }  # fmt: skip
        if notes.nodes:
            data["utilization"] = notes.nodes
        key = (number, plugin.NAME)
        left = notes.left() if self.settings.left_alone else []
        if key in self._told and self._told[key][1] == left:
            data["leftAs"] = self._told[key][0]
            self._record("strategy", reason=plugin.NAME, cause=self._pods.cause, data=data)
            return
        data["left"] = left
        self._told[key] = (self._record("strategy", reason=plugin.NAME, cause=self._pods.cause, data=data), left)

    # ---- records

    def _decided(self, pod: Pod, asked: Asked, decision: Decision) -> int:
        data = {"cycle": self._cycle, **decision.data(pod, asked)}
        if self.settings.dry_run:
            data["dryRun"] = True
        return self.api.trace.add(
            self.api.loop.now, ACTOR, "deschedule", resource="pods", namespace=pod.namespace, name=pod.name, uid=pod.uid,
            code=decision.code, reason=decision.outcome.value, message=decision.message, cause=decision.cause, data=data,
        )  # fmt: skip

    def _record(self, verb: str, *, reason: str = "", message: str = "", cause: int = 0, data: dict[str, Any]) -> int:
        return self.api.trace.add(
            self.api.loop.now, ACTOR, verb, resource="nodes", reason=reason, message=message, cause=cause, data=data
        )


__all__ = ["ACTOR", "Descheduler", "DeschedulerSettings", "Outcome"]
