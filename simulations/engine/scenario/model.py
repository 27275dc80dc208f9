"""A scenario as the engine runs it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from simulations.engine.cluster.costs import Costs
from simulations.engine.cluster.faults import Fault
from simulations.engine.controllers.kubelet import KubeletSettings
from simulations.engine.controllers.registry import CONTROLLERS
from simulations.engine.descheduler.descheduler import DeschedulerSettings
from simulations.engine.evictions.drain_flags import DrainFlags
from simulations.engine.evictions.webhook import WebhookSettings
from simulations.engine.kernel.clock import SECOND, SimTime
from simulations.engine.scheduler.config import DEFAULT_CONFIG, SchedulerConfig

DEFAULT_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
DEFAULT_CONTROLLERS = tuple(CONTROLLERS)


@dataclass(frozen=True, slots=True)
class Operation:
    """Something the user does at an instant: create, delete, patch (`manifest` is the object or the patch), evict, evict-nth (`number`
    of the Pods whose label app is `name`), cordon, uncordon, drain (`nodes`, `drain`); or that befalls a Node's kubelet: fail, recover.
    """

    at: SimTime
    verb: str
    kind: str
    namespace: str
    name: str
    manifest: Mapping[str, Any] = field(default_factory=dict)
    grace_seconds: int | None = None
    propagation: str = ""
    dry_run: bool = False
    number: int = 0
    nodes: tuple[str, ...] = ()
    drain: DrainFlags = field(default_factory=DrainFlags)


@dataclass(frozen=True, slots=True)
class SchedulerSpec:
    """One scheduler process and its client limits (None: off)."""

    config: SchedulerConfig = DEFAULT_CONFIG
    qps: float | None = None
    burst: int | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything that a run depends on but its seed. Times are ns since T+0; `duration` is exclusive.

    With `until_settled` the run ends as soon as nothing is due but periodic events, at the latest at `duration`. `names` are those that
    will be generated, by their base, where they are known. `not_modelled` names parts that were read and are left out, for the run's
    stated limits.
    """

    name: str
    description: str = ""
    epoch: datetime = DEFAULT_EPOCH
    kubernetes_version: str = "1.36"
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    seed: int = 1
    warmup: int = 0
    duration: int = 60 * SECOND
    until_settled: bool = False
    schedulers: tuple[SchedulerSpec, ...] = (SchedulerSpec(),)
    controllers: tuple[str, ...] = DEFAULT_CONTROLLERS
    kubelet: KubeletSettings = field(default_factory=KubeletSettings)
    costs: Costs = field(default_factory=Costs)
    faults: tuple[Fault, ...] = ()
    initial: tuple[Mapping[str, Any], ...] = ()
    operations: tuple[Operation, ...] = ()
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    eviction_webhook: WebhookSettings | None = None
    async_preemption_failure: str = "observed"
    explanations: str = "usual"
    descheduler: DeschedulerSettings | None = None
    not_modelled: tuple[str, ...] = ()
    max_records: int = 5_000_000
