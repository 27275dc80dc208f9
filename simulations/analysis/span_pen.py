"""Opens, closes and links spans, and keeps what the record at hand has changed."""

from dataclasses import dataclass, field

from simulations.analysis.span_types import LinkKind, Span, SpanKind
from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.trace import Record


@dataclass(slots=True)
class PodTrack:
    """What the fold knows of one pod, by uid: its open spans, and what its next ones will say.

    `arrows` is the span that the arrows to its victims start from. `preemptor` is the pod that chose it as a victim.
    """

    key: str
    uid: str
    priority: int = 0
    node: str = ""
    waiting: Span | None = None
    ghost: Span | None = None
    binding: Span | None = None
    life: Span | None = None
    stopping: Span | None = None
    attempt: Span | None = None
    arrows: Span | None = None
    victim_spans: list[Span] = field(default_factory=list)
    preemptor: "PodTrack | None" = None
    disruption: str = ""
    replaces: Span | None = None
    stop_announced: bool = False
    gone: bool = False


class SpanPen:
    """Writes spans for one record after the other."""

    def __init__(self) -> None:
        self._next_id = 1
        self._changed: dict[int, Span] = {}
        self._seq = 0
        self.now: SimTime = 0

    def begin(self, record: Record) -> None:
        """Write for this record from now on."""
        self._seq, self.now = record.seq, record.t
        self._changed = {}

    def changed(self) -> list[Span]:
        """The spans that the record opened or changed, in the order of the changes."""
        return list(self._changed.values())

    def open(self, kind: SpanKind, pod: PodTrack, start: SimTime, node: str = "", reason: str = "", text: str = "") -> Span:
        """Begin a span. The first one of a replacement ends the arrow from the pod that it replaces."""
        span = Span(
            id=self._next_id,
            kind=kind.value,
            pod=pod.key,
            uid=pod.uid,
            node=node,
            start=start,
            end=None,
            seq=self._seq,
            cause=self._seq,
            reason=reason,
            text=text,
            priority=pod.priority,
            links=[],
        )
        self._next_id += 1
        self._changed[span.id] = span
        if pod.replaces is not None and kind is not SpanKind.EVENT:
            self.link(pod.replaces, LinkKind.REPLACED_BY, span)
            pod.replaces = None
        return span

    def mark(self, kind: SpanKind, pod: PodTrack, start: SimTime, node: str = "", reason: str = "", text: str = "") -> Span:
        """Draw a span that ends with the record."""
        span = self.open(kind, pod, start, node, reason, text)
        span.end = self.now
        return span

    def touch(self, span: Span) -> None:
        """Note that the record changed the span."""
        span.seq = self._seq
        self._changed[span.id] = span

    def close(self, span: Span | None, end: SimTime, reason: str | None = None) -> None:
        """End a span that is still open; None and ended ones are left alone."""
        if span is None or span.end is not None:
            return
        span.end = max(end, span.start)
        if reason is not None:
            span.reason = reason
        self.touch(span)

    def link(self, source: Span, kind: LinkKind, target: Span) -> None:
        """Draw an arrow, once."""
        link = (kind.value, target.id)
        if link not in source.links:
            source.links.append(link)
            self.touch(source)
