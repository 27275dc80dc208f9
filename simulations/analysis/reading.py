"""How folds that answer questions reach the records they need: by sequence, by cause, by object."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from simulations.analysis.words import of
from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.trace import Record

DEFAULT_FILTERS = (
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
)
"""The modelled Filter plugins of the default profile, in the order in which they run.

Source: pkg/scheduler/apis/config/v1/default_plugins.go, v1.36
"""


class TraceReader(Protocol):
    """A stored trace."""

    def record(self, seq: int) -> Record | None:
        """The record with this sequence number."""

    def effects(self, seq: int) -> Sequence[Record]:
        """The records whose cause is `seq`, in order."""

    def about(self, subject: str) -> Sequence[Record]:
        """The records about an object (see `subject_of`), in order."""


def subject_of(record: Record) -> str:
    """What a record is about, as `pods/namespace/name`: an event is about the object it regards.

    The subresource does not count; a cluster-wide object has an empty namespace: `nodes//node-1`.
    """
    kind = record.resource.partition("/")[0]
    if kind == "events":
        about = of(record.data, "regarding") or {}
        plural = _PLURALS.get(about.get("kind", ""), "")
        if plural:
            return f"{plural}/{'' if plural == 'nodes' else about.get('namespace', '')}/{about.get('name', '')}"
    return f"{kind}/{record.namespace}/{record.name}"


_PLURALS = {"Pod": "pods", "Node": "nodes", "ReplicaSet": "replicasets"}


class MemoryTrace:
    """A trace that is a list of records."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._by_seq: dict[int, Record] = {}
        self._effects: dict[int, list[Record]] = {}
        self._about: dict[str, list[Record]] = {}
        for record in records:
            self._by_seq[record.seq] = record
            if record.cause:
                self._effects.setdefault(record.cause, []).append(record)
            self._about.setdefault(subject_of(record), []).append(record)

    def record(self, seq: int) -> Record | None:
        """The record with this sequence number."""
        return self._by_seq.get(seq)

    def effects(self, seq: int) -> Sequence[Record]:
        """The records whose cause is `seq`, in order."""
        return self._effects.get(seq, ())

    def about(self, subject: str) -> Sequence[Record]:
        """The records about an object, in order."""
        return self._about.get(subject, ())


@dataclass(slots=True)
class RunFacts:
    """What holds for the whole run: its first record, and the names of the node rows.

    `begin` is the data of the `begin` record. `nodes` maps a node's row number, which is never reused, to its name; `born` and
    `gone` to the records of its creation and of its leaving. `now` is how far the run has come, where that is known. `wants`
    says which records matter here.
    """

    begin: Mapping[str, Any] = field(default_factory=dict)
    nodes: dict[int, str] = field(default_factory=dict)
    born: dict[int, int] = field(default_factory=dict)
    gone: dict[int, int] = field(default_factory=dict)
    now: SimTime | None = None
    _rows: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def wants(record: Record) -> bool:
        """Whether `feed` does anything with the record."""
        return record.verb in ("begin", "end") or (record.resource == "nodes" and record.verb in ("create", "gone"))

    def feed(self, record: Record) -> None:
        """Take in a record; only `begin`, `end` and the coming and going of nodes matter."""
        if record.verb == "begin":
            self.begin = record.data or {}
        elif record.verb == "end":
            self.now = record.t
        elif record.verb == "create" and record.resource == "nodes" and record.code < 400:
            row = of(record.data, "row")
            if row is not None:
                self.nodes[row] = record.name
                self.born[row] = record.seq
                self._rows[record.name] = row
        elif record.verb == "gone" and record.resource == "nodes" and record.name in self._rows:
            self.gone[self._rows.pop(record.name)] = record.seq

    @classmethod
    def of(cls, records: Iterable[Record]) -> "RunFacts":
        """The facts of a run from its records, or from those that matter."""
        facts = cls()
        for record in records:
            facts.feed(record)
        return facts

    def node_name(self, row: int) -> str:
        """The name of the node of a row."""
        return self.nodes.get(row, f"row {row}")

    def rows_at(self, seq: int) -> list[int]:
        """The rows of the nodes that were there at a record, in order."""
        return [row for row in sorted(self.nodes) if self.born[row] <= seq and self.gone.get(row, seq) >= seq]

    def filters(self, profile: str) -> tuple[str, ...]:
        """The Filter plugins of a profile in the order in which they run."""
        profiles = self.begin.get("profiles") or {}
        return tuple((profiles.get(profile) or {}).get("filter") or DEFAULT_FILTERS)


def rows_of(runs: Iterable[Sequence[int]]) -> Iterable[int]:
    """The node rows of a run-length list `[[first, count], ...]`."""
    for first, count in runs:
        yield from range(first, first + count)
