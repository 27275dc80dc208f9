"""What the timeline draws: spans, and the words for them."""

from enum import StrEnum
from typing import Final

import msgspec

from simulations.engine.kernel.clock import SimTime


class SpanKind(StrEnum):
    """What a span shows. Marks have no length unless the thing itself took time."""

    QUEUED = "queued"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"
    ATTEMPT = "attempt"
    NOMINATED = "nominated"
    BINDING = "binding"
    STARTING = "starting"
    RUNNING = "running"
    TERMINATING = "terminating"
    REFUSED = "refused"
    EVENT = "event"
    NODE = "node"


MARKS: Final = frozenset({SpanKind.ATTEMPT, SpanKind.REFUSED, SpanKind.EVENT})
"""Kinds that are complete when they appear; every one is shown, none is merged."""

WAITING: Final = frozenset({SpanKind.QUEUED, SpanKind.BACKOFF, SpanKind.UNSCHEDULABLE, SpanKind.GATED})
"""Kinds of a pod that waits in one of the scheduler's queues; a pod has at most one open."""


class LinkKind(StrEnum):
    """Why an arrow goes from one span to another."""

    PREEMPTS = "preempts"
    REPLACED_BY = "replaced by"


class GhostEnd(StrEnum):
    """Why a nomination ended; every ghost that has ended states one."""

    BOUND_HERE = "bound here"
    BOUND_ELSEWHERE = "bound elsewhere"
    CLEARED = "cleared"
    REPLACED = "replaced"
    NODE_GONE = "node gone"
    DELETED = "deleted"


class Span(msgspec.Struct, array_like=True):
    """One bar or mark. On the wire it is an array of these fields, in this order.

    Attributes:
        id: from 1 in the order of appearance; the same in every fold of the same trace.
        kind: a `SpanKind`.
        pod: `namespace/name`; empty for a node.
        uid: of the pod or node.
        node: where it is drawn in the mode by node; empty when it has no node.
        start: virtual time in ns.
        end: virtual time in ns; None while it lasts. What still lasts at the end of a run stays None.
        seq: the record that changed it last.
        cause: the record that opened it; its own cause leads on.
        reason: one word or a few, as the API or the scheduler says them: `PodAdd`, `Unschedulable`, `victim`; of a
            nomination why it is there (`victims`, `binding`), and when it has ended how (`GhostEnd`).
        text: a sentence for people: the failure message, the note of an event, by whom a victim was preempted.
        priority: of the pod.
        links: pairs of a `LinkKind` and the id of the span that the arrow points to.
    """

    id: int
    kind: str
    pod: str
    uid: str
    node: str
    start: SimTime
    end: SimTime | None
    seq: int
    cause: int
    reason: str = ""
    text: str = ""
    priority: int = 0
    links: list[tuple[str, int]] = []


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Span)


def encode_span(span: Span) -> bytes:
    """The span as a JSON array."""
    return _ENCODER.encode(span)


def decode_span(body: bytes) -> Span:
    """The span that `encode_span` wrote."""
    return _DECODER.decode(body)
