"""What the descheduler decided, pod by pod: whom it evicted or tried to, and whom it left alone, and why."""

from collections.abc import Iterator
from typing import Any

from simulations.analysis.columns import TIME_COLUMNS, Column, Row, number
from simulations.analysis.ledger import PodLedger
from simulations.analysis.tables import Table
from simulations.engine.kernel.trace import Record

DECISIONS = {
    "Evicted": "evicted",
    "Failed": "refused",
    "NodeLimit": "node limit",
    "NamespaceLimit": "namespace limit",
    "TotalLimit": "total limit",
}
"""What became of a pod that was chosen, by the word of the trace."""
LEFT_ALONE = "left alone"


class DeschedulerDecisionsTable(Table):
    """A row per pod and strategy of each cycle: chosen pods when they were, pods left alone when the strategy ended."""

    NAME = "descheduler_decisions"
    COLUMNS = (
        *TIME_COLUMNS,
        number("cycle", "the cycle, from 1"),
        Column("profile", "the profile of the policy"),
        Column("strategy", "the plugin"),
        Column("namespace", "of the pod"),
        Column("name", "of the pod"),
        Column("node", "of the pod"),
        Column("decision", "evicted, refused, node limit, namespace limit, total limit, or left alone"),
        Column("filter", "what left it alone: Filter, PreEvictionFilter, namespaces, labelSelector, or the strategy's own rule"),
        Column("why", "why it was chosen, or left alone"),
        number("code", "the answer to the eviction; empty where no call was made"),
        Column("message", "why it was refused"),
        number("dry_run", "whether the descheduler only tried"),
    )

    def __init__(self) -> None:
        super().__init__()
        self._ledger = PodLedger()
        self._left: dict[int, list[list[Any]]] = {}
        self._dry_run = False

    def rows(self, record: Record) -> Iterator[Row]:
        """One row per choice, and at the end of a strategy one per pod that it left alone."""
        self._ledger.feed(record)
        data = record.data or {}
        if record.verb == "cycle" and record.resource == "nodes":
            self._dry_run = bool(data.get("dryRun"))
        elif record.verb == "deschedule":
            yield (
                *self.when(record), data.get("cycle"), data.get("profile"), data.get("strategy"), record.namespace, record.name,
                data.get("node") or None, DECISIONS.get(record.reason, record.reason), None, data.get("why"), record.code or None,
                record.message or None, bool(data.get("dryRun")),
            )  # fmt: skip
        elif record.verb == "strategy":
            yield from self._left_alone(record, data)

    def _left_alone(self, record: Record, data: dict[str, Any]) -> Iterator[Row]:
        if "left" in data:
            self._left[record.seq] = data["left"]
        for by, why, names in self._left.get(data.get("leftAs", record.seq), []):
            for key in names:
                namespace, _, name = key.partition("/")
                line = self._ledger.find(namespace, name)
                node = line.node if line is not None else None
                yield (
                    *self.when(record), data.get("cycle"), data.get("profile"), record.reason, namespace, name, node or None,
                    LEFT_ALONE, by, why, None, None, self._dry_run,
                )  # fmt: skip
