"""The fold from records to the spans of a timeline.

A pod has at most one open span of each of: a queue of the scheduler, a nomination (its ghost), a binding, its life
(starting or running), its termination. What is still open when the trace ends was still so then.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from simulations.analysis.span_pen import PodTrack, SpanPen
from simulations.analysis.span_types import GhostEnd, LinkKind, Span, SpanKind
from simulations.analysis.words import duration, moment, object_name, of, taint_text
from simulations.engine.api.encode import DEFAULT_SCHEDULER
from simulations.engine.kernel.clock import SECOND
from simulations.engine.kernel.trace import Record

VICTIM = "victim"
DELETED = "deleted"
CORDONED = "cordoned"
NOT_READY = "not ready"

_API_VERBS = ("create", "update", "patch", "delete")
_QUEUES = {
    "active": SpanKind.QUEUED,
    "backoff": SpanKind.BACKOFF,
    "unschedulable": SpanKind.UNSCHEDULABLE,
    "gated": SpanKind.GATED,
}
_ENDED_PHASES = ("Succeeded", "Failed")


@dataclass(slots=True)
class _Node:
    span: Span
    state: tuple[str, str]


class SpanFold:
    """Feed it the records of a run in order; it says which spans each of them opened or changed."""

    def __init__(self) -> None:
        self._pen = SpanPen()
        self._pods: dict[str, PodTrack] = {}
        self._by_name: dict[str, PodTrack] = {}
        self._nodes: dict[str, _Node] = {}
        self._ghosts: dict[str, dict[str, PodTrack]] = {}
        self._removals: dict[int, Span] = {}
        self._schedulers: frozenset[str] = frozenset()
        self._handlers: dict[str, Callable[[Record], None]] = {
            "begin": self._begin,
            "enqueue": self._enqueue,
            "attempt": self._attempt,
            "preempt": self._preempt,
            "nominate": self._nominate,
            "assume": self._assume,
            "forget": self._forget,
            "gone": self._gone,
            **dict.fromkeys(_API_VERBS, self._call),
        }

    def feed(self, record: Record) -> list[Span]:
        """The spans that `record` opened or changed, in the order of the changes.

        They are the fold's own objects and change again: encode them before feeding the next record.
        """
        handler = self._handlers.get(record.verb)
        if handler is None:
            return []
        self._pen.begin(record)
        handler(record)
        return self._pen.changed()

    # Pods by record

    def _pod(self, namespace: str, name: str, uid: str) -> PodTrack:
        key = object_name(namespace, name)
        found = self._pods.get(uid) if uid else self._by_name.get(key)
        if found is None:
            found = PodTrack(key, uid)
            self._pods[uid or key] = found
            known = self._by_name.get(key)
            if known is None or known.gone:
                self._by_name[key] = found
        return found

    def _pod_of(self, record: Record) -> PodTrack:
        return self._pod(record.namespace, record.name, record.uid)

    def _begin(self, record: Record) -> None:
        self._schedulers = frozenset(of(record.data, "profiles") or ())

    # The scheduler's own records

    def _enqueue(self, record: Record) -> None:
        pod = self._pod_of(record)
        kind = _QUEUES.get(of(record.data, "queue", "active"))
        if kind is None or pod.gone:
            return  # the scheduler does not know yet that the pod is gone
        event = of(record.data, "event", "")
        self._pen.close(pod.waiting, record.t)
        until = of(record.data, "until")
        plugin = of(record.data, "plugin", "")
        text = ""
        if until is not None:
            text = f"waits until {moment(until)}"
        elif plugin:
            text = f"held by {plugin}"
        pod.waiting = self._pen.open(kind, pod, record.t, reason=event, text=text)

    def _attempt(self, record: Record) -> None:
        pod = self._pod_of(record)
        started = of(record.data, "started", record.t)
        self._pen.close(pod.waiting, started)
        pod.waiting = None
        node = of(record.data, "node") or ""
        text = record.message or (f"chose {node}" if node else "")
        pod.attempt = self._pen.mark(SpanKind.ATTEMPT, pod, started, node, record.reason, text)

    def _preempt(self, record: Record) -> None:
        pod = self._pod_of(record)
        pod.victim_spans = []
        pod.arrows = None
        for entry in of(record.data, "victims", ()):
            victim = self._pod(entry.get("namespace", ""), entry["name"], entry.get("uid", ""))
            victim.preemptor = pod
            if victim.stopping is not None and victim.stopping.end is None:
                self._announce_victim(victim)

    def _announce_victim(self, victim: PodTrack) -> None:
        """Say on the victim's termination who caused it, and draw the arrow."""
        span, preemptor = victim.stopping, victim.preemptor
        if span is None or preemptor is None:
            return
        preemptor.victim_spans.append(span)
        if not victim.stop_announced:
            victim.stop_announced = True
            span.reason = VICTIM
            text = f"preempted by {preemptor.key} (priority {preemptor.priority})"
            span.text = f"{text}; {span.text}" if span.text else text
            self._pen.touch(span)
        source = preemptor.ghost or preemptor.attempt
        if source is not None:
            preemptor.arrows = source
            self._pen.link(source, LinkKind.PREEMPTS, span)

    def _nominate(self, record: Record) -> None:
        pod = self._pod_of(record)
        node = of(record.data, "node") or ""
        if record.reason == "Set" or (record.reason == "Replaced" and node):
            self._open_ghost(pod, node, of(record.data, "kind", "victims"))
        elif record.reason == "Bound":
            self._end_ghost(pod, self._bound_word(pod, pod.node or node))
        elif record.reason == "Deleted":
            self._end_ghost(pod, GhostEnd.DELETED)
        else:
            self._end_ghost(pod, self._cleared_word(pod))

    def _open_ghost(self, pod: PodTrack, node: str, why: str) -> None:
        if pod.ghost is not None:
            if pod.ghost.node == node and pod.ghost.reason == why:
                return
            self._end_ghost(pod, GhostEnd.REPLACED)
        text = "waits for its victims to leave" if why == "victims" else "binding is under way"
        ghost = self._pen.open(SpanKind.NOMINATED, pod, self._pen.now, node, why, text)
        pod.ghost = ghost
        self._ghosts.setdefault(node, {})[pod.uid or pod.key] = pod
        if pod.arrows is not None:
            # The synchronous executor deletes before it nominates; the arrows start at the ghost all the same.
            pod.arrows.links = [link for link in pod.arrows.links if link[0] != LinkKind.PREEMPTS]
            self._pen.touch(pod.arrows)
            pod.arrows = None
        for span in pod.victim_spans:
            self._pen.link(ghost, LinkKind.PREEMPTS, span)

    def _end_ghost(self, pod: PodTrack, end: GhostEnd) -> None:
        ghost = pod.ghost
        if ghost is None:
            return
        self._pen.close(ghost, self._pen.now, end.value)
        self._ghosts.get(ghost.node, {}).pop(pod.uid or pod.key, None)
        pod.ghost = None
        pod.arrows = None
        pod.victim_spans = []

    def _bound_word(self, pod: PodTrack, node: str) -> GhostEnd:
        here = pod.ghost is not None and (not node or pod.ghost.node == node)
        return GhostEnd.BOUND_HERE if here else GhostEnd.BOUND_ELSEWHERE

    def _cleared_word(self, pod: PodTrack) -> GhostEnd:
        gone = pod.ghost is not None and self._nodes and pod.ghost.node not in self._nodes
        return GhostEnd.NODE_GONE if gone else GhostEnd.CLEARED

    def _assume(self, record: Record) -> None:
        pod = self._pod_of(record)
        self._pen.close(pod.waiting, record.t)
        pod.waiting = None
        self._pen.close(pod.binding, record.t)
        pod.binding = self._pen.open(SpanKind.BINDING, pod, record.t, of(record.data, "node") or "", "assumed")

    def _forget(self, record: Record) -> None:
        pod = self._pod_of(record)
        if pod.binding is not None:
            pod.binding.text = record.message
        self._pen.close(pod.binding, record.t, "forgotten")
        pod.binding = None

    # API calls

    def _call(self, record: Record) -> None:
        kind = record.resource.partition("/")[0]
        if record.code >= 400:
            self._refused(record, kind)
        elif kind == "pods":
            self._pod_call(record)
        elif kind == "events":
            self._event(record)
        elif kind == "nodes":
            self._node_call(record)

    def _refused(self, record: Record, kind: str) -> None:
        if kind == "pods":
            pod = self._pod_of(record)
        elif kind == "events" and of(of(record.data, "regarding"), "kind") == "Pod":
            pod = self._regarding(record)
        else:
            pod = PodTrack("", record.uid)
        node = pod.node or (record.name if kind == "nodes" else "")
        text = f"{record.actor}: {record.verb} {record.resource} answered {record.code}"
        if record.message:
            text += f": {record.message}"
        self._pen.mark(SpanKind.REFUSED, pod, record.t, node, record.reason or str(record.code), text)

    def _pod_call(self, record: Record) -> None:
        pod = self._pod_of(record)
        after: dict[str, Any] = of(record.data, "after") or {}
        pod.priority = after.get("priority", pod.priority)
        if record.verb == "create" and record.resource == "pods":
            pod.replaces = self._removals.get(record.cause)
            self._wait_for_nobody(pod, after)
        elif record.resource == "pods/binding":
            pod.node = of(record.data, "node") or after.get("node", "")
            self._pen.close(pod.binding, record.t, "bound")
            pod.binding = None
            self._pen.close(pod.waiting, record.t)
            pod.waiting = None
            self._end_ghost(pod, self._bound_word(pod, pod.node))
            after = after or {"phase": "Pending", "node": pod.node}
        self._follow(pod, after, str((of(record.data, "status") or {}).get("reason") or ""))
        if pod.stopping is not None or record.verb == "delete" or after.get("phase") in _ENDED_PHASES:
            span = pod.stopping or pod.life or pod.waiting
            if span is not None:
                self._removals[record.seq] = span

    def _wait_for_nobody(self, pod: PodTrack, after: dict[str, Any]) -> None:
        """A pod whose scheduler does not run here is in no queue, and waits all the same."""
        name = after.get("scheduler", DEFAULT_SCHEDULER)
        if self._schedulers and name not in self._schedulers and not after.get("node") and pod.waiting is None:
            text = f"no scheduler here is called {name}"
            pod.waiting = self._pen.open(SpanKind.QUEUED, pod, self._pen.now, reason="no scheduler", text=text)

    def _follow(self, pod: PodTrack, after: dict[str, Any], why: str) -> None:
        """Bring the spans of a pod's life in line with its stored state; `why` it ended, where its kubelet says so."""
        if not after:
            return
        t = self._pen.now
        pod.node = after.get("node") or pod.node
        for type_, status, *reason in after.get("conditions", ()):
            if type_ == "DisruptionTarget" and status == "True":
                pod.disruption = reason[0] if reason else ""
        phase = after.get("phase", "")
        if phase in _ENDED_PHASES:
            self._pen.close(pod.life, t, why or phase)
        if after.get("deletion") is not None:
            self._stop(pod, after)
            if phase in _ENDED_PHASES:
                self._pen.close(pod.stopping, t)  # its containers have stopped: it takes no room any more
        elif pod.node and phase == "Pending" and pod.life is None:
            pod.life = self._pen.open(SpanKind.STARTING, pod, t, pod.node)
        elif phase == "Running" and (pod.life is None or pod.life.kind != SpanKind.RUNNING):
            self._pen.close(pod.life, t, "started")
            pod.life = self._pen.open(SpanKind.RUNNING, pod, t, pod.node)

    def _stop(self, pod: PodTrack, after: dict[str, Any]) -> None:
        if pod.stopping is not None:
            return
        t = self._pen.now
        self._pen.close(pod.life, t, "terminating")
        grace = after.get("grace")
        text = f"grace {duration(grace * SECOND)}" if isinstance(grace, int) else ""
        pod.stopping = self._pen.open(SpanKind.TERMINATING, pod, t, pod.node, pod.disruption or DELETED, text)
        if pod.preemptor is not None:
            self._announce_victim(pod)

    def _regarding(self, record: Record) -> PodTrack:
        about = of(record.data, "regarding") or {}
        return self._pod(about.get("namespace", ""), about.get("name", ""), about.get("uid", ""))

    def _event(self, record: Record) -> None:
        about = of(record.data, "regarding") or {}
        reason = of(record.data, "reason") or ""
        note = of(record.data, "note") or ""
        if about.get("kind") == "Pod":
            pod = self._regarding(record)
            self._pen.mark(SpanKind.EVENT, pod, record.t, pod.node, reason, note)
        elif about.get("kind") == "Node":
            self._pen.mark(SpanKind.EVENT, PodTrack("", about.get("uid", "")), record.t, about.get("name", ""), reason, note)

    # Nodes

    def _node_call(self, record: Record) -> None:
        if record.verb == "delete":
            return
        after: dict[str, Any] = of(record.data, "after") or {}
        state = _node_state(after)
        known = self._nodes.get(record.name)
        if known is not None:
            if not after or known.state == state:
                return
            self._pen.close(known.span, record.t)
        pod = PodTrack("", record.uid or (known.span.uid if known is not None else ""))
        span = self._pen.open(SpanKind.NODE, pod, record.t, record.name, *state)
        self._nodes[record.name] = _Node(span, state)

    def _gone(self, record: Record) -> None:
        kind = record.resource.partition("/")[0]
        if kind == "nodes":
            node = self._nodes.pop(record.name, None)
            if node is not None:
                self._pen.close(node.span, record.t)
            for pod in list(self._ghosts.get(record.name, {}).values()):
                self._end_ghost(pod, GhostEnd.NODE_GONE)
        elif kind == "pods":
            self._pod_gone(record)

    def _pod_gone(self, record: Record) -> None:
        pod = self._pod_of(record)
        last = pod.stopping or pod.life or pod.waiting
        self._pen.close(pod.waiting, record.t, DELETED)
        self._end_ghost(pod, GhostEnd.DELETED)
        self._pen.close(pod.life, record.t, DELETED)
        self._pen.close(pod.stopping, record.t)
        if last is not None:
            self._removals[record.seq] = last
        pod.waiting = pod.life = pod.stopping = None
        pod.gone = True


def _node_state(after: dict[str, Any]) -> tuple[str, str]:
    """Reason and text of a node's span."""
    word = ""
    if after.get("unschedulable"):
        word = CORDONED
    elif after.get("ready") is False:
        word = NOT_READY
    taints = after.get("taints") or ()
    return word, "taints: " + ", ".join(map(taint_text, taints)) if taints else ""
