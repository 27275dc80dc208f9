"""One line per pod: what became of it. Shared by the pods table, the summary and the findings."""

from collections.abc import Callable
from dataclasses import dataclass, field

from simulations.analysis.words import object_name, of
from simulations.engine.kernel.clock import SimTime
from simulations.engine.kernel.trace import Record


@dataclass(slots=True)
class PodLine:
    """A pod's way through the run. Times are virtual ns; None where it did not happen.

    `initial` pods were there before the run began. `preempted_by` is the last preemptor that chose it as a victim, `victims`
    are those that it chose last. `replaces` is the pod whose leaving made a controller create this one.
    """

    namespace: str
    name: str
    uid: str
    seq: int = 0
    created: SimTime = 0
    initial: bool = False
    priority: int = 0
    owner: str = ""
    scheduler: str = ""
    phase: str = "Pending"
    node: str = ""
    nominated: str = ""
    nominated_at: SimTime | None = None
    nominated_seq: int = 0
    bound: SimTime | None = None
    running: SimTime | None = None
    deletion: SimTime | None = None
    gone: SimTime | None = None
    attempts: int = 0
    first_attempt: SimTime | None = None
    last_attempt: int = 0
    last_message: str = ""
    queue: str = ""
    preemptions: int = 0
    victims: list["PodLine"] = field(default_factory=list)
    preempted_by: str = ""
    preempted_seq: int = 0
    refused: int = 0
    replaces: "PodLine | None" = None

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return object_name(self.namespace, self.name)

    @property
    def pending(self) -> bool:
        """Whether it waits for a node."""
        return self.gone is None and not self.node and self.phase == "Pending" and self.deletion is None

    @property
    def waited(self) -> SimTime | None:
        """From creation to binding; None for a pod that was not bound in the run."""
        return None if self.bound is None else self.bound - self.created


class PodLedger:
    """Feed it the records of a run in order; `lines` are the pods in the order in which they appeared."""

    def __init__(self) -> None:
        self.lines: list[PodLine] = []
        self._by_uid: dict[str, PodLine] = {}
        self._by_name: dict[tuple[str, str], PodLine] = {}
        self._leaving: dict[int, PodLine] = {}
        self._handlers: dict[str, Callable[[PodLine, Record], None]] = {
            "enqueue": self._enqueue,
            "attempt": self._attempt,
            "preempt": self._preempt,
            "nominate": self._nominate,
            "gone": self._gone,
            **dict.fromkeys(("create", "update", "patch", "delete"), self._call),
        }

    def feed(self, record: Record) -> None:
        """Take in a record."""
        if record.resource.partition("/")[0] != "pods":
            return
        handler = self._handlers.get(record.verb)
        if handler is None:
            return
        line = self.find(record.namespace, record.name, record.uid)
        if line is None:
            if record.verb != "create" or record.code >= 400:
                return  # about a pod that was never stored
            line = self._new(record)
        handler(line, record)

    def find(self, namespace: str, name: str, uid: str = "") -> PodLine | None:
        """The line of a pod by uid, or the latest one of that name."""
        return self._by_uid.get(uid) if uid else self._by_name.get((namespace, name))

    def _new(self, record: Record) -> PodLine:
        line = PodLine(record.namespace, record.name, record.uid, record.seq, record.t, record.actor == "setup")
        line.replaces = self._leaving.get(record.cause)
        self.lines.append(line)
        self._by_uid[record.uid] = line
        self._by_name[record.namespace, record.name] = line
        return line

    def _call(self, line: PodLine, record: Record) -> None:
        if record.code >= 400:
            line.refused += 1
            return
        if record.resource == "pods/binding":
            line.bound = record.t
            line.node = of(record.data, "node") or line.node
            line.nominated, line.nominated_at, line.queue = "", None, ""
        after = of(record.data, "after")
        if not after:
            return
        line.priority = after.get("priority", line.priority)
        line.owner = after.get("owner", line.owner)
        line.scheduler = after.get("scheduler", line.scheduler)
        line.phase = after.get("phase", line.phase)
        line.node = after.get("node") or line.node
        if line.phase == "Running" and line.running is None:
            line.running = record.t
        if after.get("deletion") is not None:
            self._leaving[record.seq] = line
            line.deletion = record.t if line.deletion is None else line.deletion

    @staticmethod
    def _enqueue(line: PodLine, record: Record) -> None:
        line.queue = of(record.data, "queue", "")

    @staticmethod
    def _attempt(line: PodLine, record: Record) -> None:
        line.attempts += 1
        line.last_attempt = record.seq
        line.last_message = record.message
        line.queue = ""
        if line.first_attempt is None:
            line.first_attempt = of(record.data, "started", record.t)

    def _preempt(self, line: PodLine, record: Record) -> None:
        line.preemptions += 1
        line.victims = []
        for entry in of(record.data, "victims") or ():
            victim = self.find(entry.get("namespace", ""), entry["name"], entry.get("uid", ""))
            if victim is not None:
                victim.preempted_by = line.key
                victim.preempted_seq = record.seq
                line.victims.append(victim)

    @staticmethod
    def _nominate(line: PodLine, record: Record) -> None:
        node = of(record.data, "node") or ""
        if node and record.reason in ("Set", "Replaced") and of(record.data, "kind", "victims") == "victims":
            line.nominated, line.nominated_at, line.nominated_seq = node, record.t, record.seq
        elif record.reason not in ("Set", "Replaced"):
            line.nominated, line.nominated_at = "", None

    def _gone(self, line: PodLine, record: Record) -> None:
        self._leaving[record.seq] = line
        line.gone = record.t
        line.nominated, line.nominated_at = "", None
