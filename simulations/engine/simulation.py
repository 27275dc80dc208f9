"""Runs a scenario: sets up the cluster, starts the actors, issues the operations, and ends.

The trace is the only result; `Result` counts what is in it.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from simulations.engine.api.encode import format_time
from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.cluster.api_server import ApiServer, ClusterSettings
from simulations.engine.cluster.setup import load
from simulations.engine.cluster.versions import feature_gates
from simulations.engine.controllers.kubelet import Kubelet
from simulations.engine.controllers.registry import start
from simulations.engine.descheduler.descheduler import Descheduler, DeschedulerSettings
from simulations.engine.descheduler.policy import BALANCE, DESCHEDULE
from simulations.engine.evictions.webhook import EvictionWebhook
from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.loop import EventLoop
from simulations.engine.kernel.streams import Streams
from simulations.engine.kernel.trace import Record, Trace
from simulations.engine.limits import stated_limits
from simulations.engine.scenario import Scenario
from simulations.engine.scheduler.schedule_one import Cycle
from simulations.engine.scheduler.scheduler import Scheduler, SchedulerSettings
from simulations.engine.trace_format import FORMAT_VERSION
from simulations.engine.user import User

ENGINE_VERSION: Final = "0.1.0"


@dataclass(slots=True)
class Result:
    """How a run ended: reason (Settled, Duration, Limit, Cancelled), simulated time, number of records, counts of what happened."""

    reason: str
    end: SimTime
    seq: int
    counts: dict[str, int] = field(default_factory=dict)


class Simulation:
    """One run of a scenario with a seed. `on_records` gets the trace in batches; `on_cycle` hears of scheduling cycles."""

    def __init__(
        self,
        scenario: Scenario,
        seed: int | None = None,
        on_records: Callable[[list[Record]], object] | None = None,
        *,
        batch: int = 500,
        on_cycle: Callable[[Cycle], object] | None = None,
    ) -> None:
        self.scenario = scenario
        self._on_cycle = on_cycle
        self.seed = scenario.seed if seed is None else seed
        self.loop = EventLoop(-scenario.warmup)
        self.trace = Trace(on_records, batch=batch)
        gates = dict(scenario.feature_gates) or feature_gates(scenario.kubernetes_version, {})
        self.gates = gates
        settings = ClusterSettings(scenario.epoch, gates, scenario.costs, scenario.faults, scenario.names)
        self.api = ApiServer(self.loop, self.trace, settings, Streams(self.seed))
        self.schedulers: list[Scheduler] = []

    def run(self, should_stop: Callable[[], bool] | None = None, on_progress: Callable[[SimTime], object] | None = None) -> Result:
        """Run to the end, or until `should_stop` says so; `on_progress` hears the simulated time now and then."""
        self._begin()
        load(self.api, self.scenario.initial)
        self._start_actors()
        self.loop.spawn(User(self.api).operate(self.scenario.operations, self.scenario.warmup), "user")
        reason = self._advance(should_stop, on_progress)
        return self._end(reason)

    # ---- set-up

    def _begin(self) -> None:
        scenario = self.scenario
        data = {
            "format": FORMAT_VERSION,
            "engine": ENGINE_VERSION,
            "scenario": scenario.name,
            "description": scenario.description,
            "seed": self.seed,
            "kubernetesVersion": scenario.kubernetes_version,
            "featureGates": dict(sorted(self.gates.items())),
            "startTime": format_time(0, scenario.epoch),
            "warmup": scenario.warmup,
            "duration": scenario.duration,
            "costs": scenario.costs.preset,
            "explanations": scenario.explanations,
            "profiles": _profiles(scenario),
            **(_descheduler(scenario.descheduler) if scenario.descheduler is not None else {}),
            **stated_limits(scenario),
        }
        self.trace.add(self.loop.now, "schedscope", "begin", resource="runs", name=scenario.name, data=data)

    def _start_actors(self) -> None:
        for i, spec in enumerate(self.scenario.schedulers):
            settings = SchedulerSettings(
                spec.config, actor_of(i), spec.qps, spec.burst, self.gates, self.scenario.async_preemption_failure,
                self._on_cycle, self.scenario.explanations,
            )  # fmt: skip
            self.schedulers.append(Scheduler(self.api, settings))
        if self.scenario.descheduler is not None:
            self.loop.at(max(0, self.loop.now), Descheduler, self.api, self.scenario.descheduler)
        Kubelet(self.api, self.scenario.kubelet)
        start(self.api, self.scenario.controllers)
        if self.scenario.eviction_webhook is not None:
            EvictionWebhook(self.api, self.scenario.eviction_webhook)

    # ---- running

    def _advance(self, should_stop: Callable[[], bool] | None, on_progress: Callable[[SimTime], object] | None) -> str:
        scenario, loop = self.scenario, self.loop
        ended_by = ""

        def stop() -> bool:
            nonlocal ended_by
            if len(self.trace) > scenario.max_records:
                ended_by = "Limit"
            elif should_stop is not None and should_stop():
                ended_by = "Cancelled"
            elif on_progress is not None:
                on_progress(loop.now)
            return bool(ended_by)

        loop.run(scenario.duration, stop, until_settled=scenario.until_settled)
        if ended_by:
            return ended_by
        return "Settled" if scenario.until_settled and loop.settled() else "Duration"

    def _end(self, reason: str) -> Result:
        end = self.scenario.duration if reason == "Duration" else self.loop.now
        counts = self._counts()
        self.trace.add(end, "schedscope", "end", resource="runs", name=self.scenario.name, reason=reason, data={"counts": counts})
        self.trace.flush()
        return Result(reason, end, len(self.trace), counts)

    def _counts(self) -> dict[str, int]:
        pods = [p for p in self.api.list("Pod") if isinstance(p, Pod)]
        phases: Counter[str] = Counter(p.phase for p in pods)
        nodes = [n for n in self.api.list("Node") if isinstance(n, Node)]
        pending = sum(1 for p in pods if not p.node_name)
        return {
            "nodes": len(nodes),
            "pods": len(pods),
            "bound": len(pods) - pending,
            "pending": pending,
            "running": phases["Running"],
        }


def _profiles(scenario: Scenario) -> dict[str, Any]:
    """Per scheduler name: which process has it, and its Filter plugins in the order in which they run."""
    return {
        profile.scheduler_name: {"actor": actor_of(i), "filter": [name for name, _weight in profile.points["filter"]]}
        for i, spec in enumerate(scenario.schedulers)
        for profile in spec.config.profiles
    }


def _descheduler(settings: DeschedulerSettings) -> dict[str, Any]:
    """How often the descheduler runs, whether it only tries, its limits, and the strategies of each profile in order."""
    limits = settings.policy.limits
    strategies = [
        {"name": p.name, DESCHEDULE: list(p.points[DESCHEDULE]), BALANCE: list(p.points[BALANCE])} for p in settings.policy.profiles
    ]
    bounds = {"perNode": limits.per_node, "perNamespace": limits.per_namespace, "total": limits.total}
    data = {"interval": settings.interval, "dryRun": settings.dry_run, "limits": bounds, "profiles": strategies}
    return {"descheduler": data}


def actor_of(number: int) -> str:
    """What a scheduler is called in the trace; the first one has no number."""
    return "kube-scheduler" if number == 0 else f"kube-scheduler-{number + 1}"


def final_state(simulation: Simulation) -> Mapping[str, dict[str, Any]]:
    """Node, phase and nomination of every Pod at the end, by name."""
    return {
        p.name: {"node": p.node_name or None, "phase": p.phase, "nominatedNodeName": p.nominated_node_name or None}
        for p in simulation.api.list("Pod")
    }
