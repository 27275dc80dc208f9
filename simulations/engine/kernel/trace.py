"""The trace: everything that happens, as records with their causes. The only source of screens, exports and comparisons."""

from collections.abc import Callable
from typing import Any

import msgspec

from simulations.engine.kernel.clock import SimTime


class Record(msgspec.Struct, omit_defaults=True):
    """One thing that happened. The words are those of ``docs/trace-format.md``, and so is the order of the fields.

    Attributes:
        seq: place in the trace, from 1, without gaps.
        t: when, in nanoseconds since T+0.
        actor: who did it: ``kube-scheduler``, ``controller-manager``, ``kubelet``, ``user`` ...
        verb: what was done: ``create``, ``attempt``, ``enqueue`` ...
        resource: to what kind of object, in plural, with the subresource: ``pods``, ``pods/binding``.
        namespace: of the object; empty for a cluster-wide one.
        name: of the object.
        uid: of the object; empty where the object was never stored.
        code: HTTP code of an API call; 0 for anything else.
        reason: a word; Status reason of a refused call.
        message: a sentence, as the real component words it.
        cause: ``seq`` of the record that led to this one; 0 when nothing did.
        data: what else belongs to the verb; JSON values, in a fixed order of keys.
    """

    seq: int
    t: SimTime
    actor: str
    verb: str
    resource: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    code: int = 0
    reason: str = ""
    message: str = ""
    cause: int = 0
    data: dict[str, Any] | None = None


class Trace:
    """Takes records, numbers them and hands them on in batches.

    Args:
        on_records: called with each batch, in order; the list belongs to it. None: records are only numbered (or kept).
        batch: how many records make a batch.
        keep: whether to hold all records in ``records`` as well.
    """

    __slots__ = ("_batch", "_keep", "_last", "_on_records", "_pending", "records")

    def __init__(self, on_records: Callable[[list[Record]], object] | None = None, *, batch: int = 512, keep: bool = False) -> None:
        self._on_records = on_records
        self._batch = batch
        self._keep = keep
        self._pending: list[Record] = []
        self._last = 0
        self.records: list[Record] = []

    def __len__(self) -> int:
        return self._last

    def add(
        self,
        t: SimTime,
        actor: str,
        verb: str,
        *,
        resource: str = "",
        namespace: str = "",
        name: str = "",
        uid: str = "",
        code: int = 0,
        reason: str = "",
        message: str = "",
        cause: int = 0,
        data: dict[str, Any] | None = None,
    ) -> int:
        """Add one record and return its sequence number. The fields are those of ``Record``."""
        self._last = seq = self._last + 1
        self._pending.append(Record(seq, t, actor, verb, resource, namespace, name, uid, code, reason, message, cause, data))
        if len(self._pending) >= self._batch:
            self.flush()
        return seq

    def flush(self) -> None:
        """Hand on what has come since the last batch."""
        if not self._pending:
            return
        records, self._pending = self._pending, []
        if self._keep:
            self.records.extend(records)
        if self._on_records is not None:
            self._on_records(records)
