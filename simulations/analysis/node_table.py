"""The nodes table: what each node offers, and what went on on it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from simulations.analysis.columns import TIME_COLUMNS, Column, Row, number, seconds
from simulations.analysis.tables import Table
from simulations.analysis.words import of, taint_text
from simulations.engine.api.quantity import parse_quantity, resource_value
from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.kernel.trace import Record

_ZONE = "topology.kubernetes.io/zone"


@dataclass(slots=True)
class _NodeLine:
    name: str
    created: SimTime
    seq: int
    zone: str = ""
    amounts: dict[str, int] = field(default_factory=dict)
    unschedulable: bool = False
    ready: bool = True
    taints: tuple[str, ...] = ()
    gone: SimTime | None = None
    bound: int = 0
    victims: int = 0
    pods: set[str] = field(default_factory=set)


class NodesTable(Table):
    """A row per node that the run knew, in the order in which they appeared."""

    NAME = "nodes"
    COLUMNS = (
        *TIME_COLUMNS,
        Column("name", "of the node"),
        Column("zone", "its label topology.kubernetes.io/zone"),
        number("cpu_millicores", "allocatable CPU"),
        number("memory_bytes", "allocatable memory"),
        number("pods_allocatable", "how many pods it takes"),
        number("unschedulable", "whether it is cordoned at the end"),
        number("ready", "whether it is Ready at the end"),
        Column("taints", "at the end, separated by a space"),
        number("gone_sim_seconds", "when it left, in seconds since T+0"),
        number("pods", "pods on it at the end"),
        number("bound", "pods that the scheduler bound to it in the run"),
        number("victims", "pods preempted on it"),
    )

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[_NodeLine] = []
        self._by_name: dict[str, _NodeLine] = {}
        self._places: dict[str, _NodeLine] = {}

    def rows(self, record: Record) -> Iterable[Row]:
        """Nothing yet: a node's row is complete at the end."""
        kind = record.resource.partition("/")[0]
        if kind == "nodes" and record.code < 400:
            self._node(record)
        elif kind == "pods" and record.code < 400:
            self._pod(record)
        return ()

    def _node(self, record: Record) -> None:
        if record.verb == "gone":
            line = self._by_name.pop(record.name, None)
            if line is not None:
                line.gone = record.t
            return
        if record.verb not in ("create", "update", "patch"):
            return
        line = self._by_name.get(record.name)
        if line is None:
            line = self._by_name[record.name] = _NodeLine(record.name, record.t, record.seq)
            self._lines.append(line)
        self._offer(line, of(record.data, "object"))
        after = of(record.data, "after")
        if after is not None:
            line.unschedulable = bool(after.get("unschedulable"))
            line.ready = after.get("ready", True) is not False
            line.taints = tuple(map(taint_text, after.get("taints") or ()))

    @staticmethod
    def _offer(line: _NodeLine, manifest: dict[str, Any] | None) -> None:
        if manifest is None:
            return
        status = manifest.get("status") or {}
        line.zone = ((manifest.get("metadata") or {}).get("labels") or {}).get(_ZONE, "")
        for resource, amount in (status.get("allocatable") or status.get("capacity") or {}).items():
            try:
                line.amounts[resource] = resource_value(resource, parse_quantity(amount))
            except ScenarioError:
                continue  # it was refused when it was loaded; nothing to show

    def _pod(self, record: Record) -> None:
        if record.verb == "preempt":
            line = self._by_name.get(of(record.data, "node") or "")
            if line is not None:
                line.victims += len(of(record.data, "victims") or ())
            return
        after = of(record.data, "after") or {}
        name = after.get("node") or (of(record.data, "node") if record.resource == "pods/binding" else "") or ""
        if record.resource == "pods/binding" and name in self._by_name:
            self._by_name[name].bound += 1
        if record.verb == "gone" or after.get("phase") in ("Succeeded", "Failed"):
            place = self._places.pop(record.uid, None)
            if place is not None:
                place.pods.discard(record.uid)
        elif name in self._by_name and record.uid not in self._places:
            self._places[record.uid] = self._by_name[name]
            self._by_name[name].pods.add(record.uid)

    def finish(self) -> Iterator[Row]:
        """A row per node."""
        for line in self._lines:
            yield (
                self.calendar.utc(line.created),
                seconds(line.created),
                line.seq,
                line.name,
                line.zone or None,
                line.amounts.get("cpu"),
                line.amounts.get("memory"),
                line.amounts.get("pods"),
                line.unschedulable,
                line.ready,
                " ".join(line.taints) or None,
                seconds(line.gone),
                len(line.pods),
                line.bound,
                line.victims,
            )
