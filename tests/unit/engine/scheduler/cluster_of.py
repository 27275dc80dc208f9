"""A scheduler's cache and framework around a few Nodes and Pods, for tests."""

from collections.abc import Iterable, Mapping
from typing import Any

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.algorithm import ScheduleResult, schedule_pod
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.config import parse_config
from simulations.engine.scheduler.framework.framework import Framework
from simulations.engine.scheduler.framework.plugin import Handle
from tests.builders import NodeBuilder, PodBuilder


class Cluster:
    """Nodes with Pods, and the scheduler of one configuration."""

    def __init__(
        self,
        nodes: Iterable[NodeBuilder],
        pods: Iterable[PodBuilder] = (),
        others: Iterable[Any] = (),
        config: Mapping[str, Any] | None = None,
    ) -> None:
        self.cache = SchedulerCache()
        for other in others:
            self.cache.store(other)
        for node in nodes:
            self.cache.add_node(node.build())
        for pod in pods:
            self.cache.add_pod(pod.build())
        self.framework: Framework = next(iter(parse_config(config).frameworks(Handle(self.cache)).values()))

    def schedule(self, pod: PodBuilder | Pod, start: int = 0) -> ScheduleResult:
        """One cycle's decision."""
        return schedule_pod(self.framework, pod.build() if isinstance(pod, PodBuilder) else pod, start)

    def verdicts(self, pod: PodBuilder) -> dict[str, str]:
        """Per Node the reasons against it; Nodes that fit are left out."""
        result = self.schedule(pod)
        found = {}
        for name, info in self.cache.infos.items():
            status = result.diagnosis.statuses.get(info.row)
            if status is not None:
                found[name] = f"{status.plugin}: {status.message}"
        return found

    def scores(self, pod: PodBuilder, plugin: str) -> dict[str, int]:
        """Per feasible Node the normalized score of a plugin; empty where it was skipped."""
        result = self.schedule(pod)
        assert result.scores is not None, "fewer than two Nodes are feasible"
        for scores in result.scores.plugins:
            if scores.plugin == plugin:
                rows = result.scores.rows.tolist()
                return {self.cache.columns.names[row]: int(s) for row, s in zip(rows, scores.normalized, strict=True)}
        return {}
