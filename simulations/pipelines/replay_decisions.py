"""Replays recorded decisions of the real scheduler, pod by pod, and prints our own for comparison.

The form is that of the recordings: each Pod arrives when the one before it is settled; before the next attempt the recorded outcome
is adopted, so that one difference does not spoil what follows.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random
from typing import Any

from simulations.engine.api.decode import AnyObject, decode_object
from simulations.engine.api.labels import intern_labels
from simulations.engine.api.node import Node
from simulations.engine.api.pod import Pod
from simulations.engine.api.priority import admit_priority
from simulations.engine.api.storage import StorageObject
from simulations.engine.api.workloads import AnyWorkload, Namespace, PodDisruptionBudget, PriorityClass, Service
from simulations.engine.kernel.clock import MINUTE, SECOND
from simulations.engine.scheduler.algorithm import ScheduleResult, schedule_pod
from simulations.engine.scheduler.cache.cache import SchedulerCache
from simulations.engine.scheduler.config import parse_config
from simulations.engine.scheduler.framework.plugin import Handle
from simulations.engine.scheduler.preemption.evaluator import PreemptionOutcome, evaluate

Document = dict[str, Any]
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
FIRST_START = 50 * MINUTE
"""Bound pods start at 00:50:00 plus their step in seconds."""


class DecisionReplay:
    """One recorded cluster and the Pods that arrive in it."""

    def __init__(self, recorded: Document) -> None:
        self.recorded = recorded
        self.cache = SchedulerCache()
        self.classes: dict[str, PriorityClass] = {}
        self.frameworks = parse_config(recorded.get("schedulerConfig")).frameworks(Handle(self.cache))
        self.start = 0
        self.next_uid = 0
        self._load()

    def _load(self) -> None:
        for name, labels in (self.recorded.get("namespaces") or {}).items():
            self.cache.store(Namespace(name=name, labels=intern_labels({**labels, "kubernetes.io/metadata.name": name})))
        for document in self.recorded["objects"]:
            if document["kind"] != "Pod":
                self._store(decode_object(document, epoch=EPOCH))
        for document in self.recorded["objects"]:
            if document["kind"] == "Pod":
                self.cache.add_pod(self._pod(document))

    def _store(self, item: AnyObject) -> None:
        if isinstance(item, Node):
            self.cache.add_node(item)
        elif isinstance(item, PriorityClass):
            self.classes[item.name] = item
        elif isinstance(item, PodDisruptionBudget | Service | Namespace | AnyWorkload | StorageObject):
            self.cache.store(item)

    def _pod(self, document: Document) -> Pod:
        admitted = {**document, "spec": admit_priority(document["spec"], self.classes)}
        pod = decode_object(admitted, epoch=EPOCH)
        assert isinstance(pod, Pod), "a Pod's manifest decodes to a Pod"
        self.next_uid += 1
        pod.uid = f"uid-{self.next_uid}"
        return pod

    def steps(self) -> Iterator[Document]:
        """Our attempts for each recorded step."""
        for number, step in enumerate(self.recorded["steps"]):
            pod = self._pod(step["pod"])
            yield {"pod": pod.name, "attempts": self._attempts(pod, step["decision"], number)}

    def _attempts(self, pod: Pod, decision: Document, number: int) -> list[Document]:
        recorded = [a for a in decision["attempts"] if a.keys() & {"node", "message"}]
        ours = []
        for attempt in recorded:
            ours.append(self._attempt(pod, attempt))
            pod = self._adopt(pod, attempt)
        node = decision.get("node")
        for victim in [p for p in self._all_pods() if p.name in decision.get("deleted", ())]:
            self.cache.remove_pod(victim.uid)
        self.cache.nominator.delete(pod.uid)
        if node:
            start = FIRST_START + number * SECOND
            self.cache.add_pod(pod.replace(node_name=node, phase="Running", start_time=start, nominated_node_name=""))
        return ours if len(ours) < 2 else [ours[0], ours[-1]]

    def _all_pods(self) -> list[Pod]:
        return [pod for _row, pod in self.cache.placed()]

    def _attempt(self, pod: Pod, recorded: Document) -> Document:
        framework = self.frameworks[pod.spec.scheduler_name]
        result = schedule_pod(framework, pod, self.start)
        self.start = result.next_start
        outcome = None
        if not result.node:
            outcome = evaluate(framework, pod, result, 2 * FIRST_START, Random(0))
            result.diagnosis.post_filter_message = outcome.message
        return _document(result, outcome, self.cache)

    def _adopt(self, pod: Pod, attempt: Document) -> Pod:
        """Take over what the real scheduler did in this attempt: the nomination, and the victims, which are gone at once."""
        nominated = attempt.get("nominatedNode")
        if nominated:
            for victim in [p for p in self._all_pods() if p.name in (attempt.get("victims") or [])]:
                self.cache.remove_pod(victim.uid)
            pod = pod.replace(nominated_node_name=nominated)
            self.cache.nominator.add(pod, nominated)
        elif not attempt.get("node") and pod.nominated_node_name and "not eligible" not in (attempt.get("message") or ""):
            self.cache.nominator.delete(pod.uid)
            pod = pod.replace(nominated_node_name="")
        return pod


def _document(result: ScheduleResult, outcome: PreemptionOutcome | None, cache: SchedulerCache) -> Document:
    document: Document = {"feasible": len(result.feasible), "node": result.node or None, "message": None, "nominated": None}
    document["victimsByNode"] = {}
    if result.scores is not None:
        document["scores"] = _scores(result, cache)
    if outcome is not None:
        document["message"] = result.diagnosis.message()
        if outcome.winner is not None:
            document["nominated"] = outcome.winner.node
            document["victimsByNode"] = {c.node: sorted(v.name for v in c.victims) for c in outcome.equals}
    return document


def _scores(result: ScheduleResult, cache: SchedulerCache) -> dict[str, dict[str, int]]:
    table = result.scores
    assert table is not None, "only asked for with scores"
    scores: dict[str, dict[str, int]] = {}
    for i, row in enumerate(table.rows):
        by_plugin = {p.plugin: int(p.normalized[i]) * p.weight for p in table.plugins}
        scores[cache.columns.names[row]] = {**by_plugin, "total": int(table.total[i])}
    return scores


def replay_decisions(recorded: Document, name: str) -> Document:
    """Our decisions for one recorded file, in the form that the comparison reads.

    Raises:
        ScenarioError: an object in it cannot be read.
    """
    return {"file": name, "steps": list(DecisionReplay(recorded).steps())}
