"""What the web may read, as typed rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import F, Q, QuerySet

from simulations import results
from simulations.access import Viewer, visible
from simulations.analysis import overview
from simulations.analysis.catalogue import TABLES
from simulations.analysis.metrics import MetricsFold
from simulations.analysis.overview import Overview
from simulations.analysis.reading import RunFacts, subject_of
from simulations.analysis.tables import table_rows
from simulations.analysis.why.explain import explain
from simulations.analysis.why.types import Why
from simulations.engine.kernel.errors import ScenarioError
from simulations.engine.kernel.trace import Record
from simulations.engine.trace_format import decode
from simulations.exporters.csv import file_name, write_csv
from simulations.exporters.prometheus import CONTENT_TYPE as METRICS_TYPE
from simulations.exporters.prometheus import write_metrics
from simulations.models import FINISHED_STATES, Cluster, ImportJob, Run, Snapshot, Span, TraceRecord
from simulations.samples import Sample, first_sample, sample, samples

SPANS_AT_ONCE = 4000
RECORDS_AT_ONCE = 2000
NO_SUCH_TABLE = "E0504"
__all__ = ["METRICS_TYPE", "Sample", "file_name", "first_sample", "sample", "samples"]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the tables and its own page show it."""

    id: int
    name: str
    state: str
    seed: int
    pace: float
    progress: float
    seq: int
    attempt: int
    sim_time: int
    created: datetime
    finished: datetime | None
    error_code: str
    error_message: str
    sample: str
    cluster_id: int | None
    recorded: bool
    changes: tuple[dict[str, str], ...]
    summary: dict[str, Any]
    findings: tuple[dict[str, Any], ...]
    cancel_requested: bool
    queued_without_worker: bool

    @property
    def active(self) -> bool:
        """Whether it is still to come or going on."""
        return self.state not in FINISHED_STATES

    @property
    def preemptions(self) -> int:
        """Decisions to preempt."""
        return int(self.summary.get("preemptions", 0))


def _run_row(run: Run) -> RunRow:
    scenario = run.scenario
    return RunRow(
        run.pk, run.name, run.state, run.seed, run.pace, run.progress, run.seq, run.attempt, run.sim_time, run.created, run.finished,
        run.error_code, run.error_message, scenario.sample, scenario.snapshot.cluster_id if scenario.snapshot else None, False,
        tuple(scenario.changes.get("changes", ())), run.summary, tuple(run.findings), run.cancel_requested,
        run.state == "queued" and run.announced is None,
    )  # fmt: skip


def _runs() -> QuerySet[Run]:
    return Run.objects.select_related("scenario__snapshot").defer("scenario__document", "scenario__snapshot__objects_blob")


RUN_ORDERS: dict[str, str] = {
    "findings": "findings_count", "name": "name", "state": "state", "nodes": "summary__nodes", "pods": "summary__pods",
    "pending": "summary__pending", "preemptions": "summary__preemptions", "victims": "summary__victims", "age": "created",
}  # fmt: skip
"""What runs can be ordered by."""
RUNS_ON_A_PAGE = 50


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page of the runs table: its rows, which page of how many, how many runs match and how many there are."""

    rows: list[RunRow]
    page: int
    pages: int
    matching: int
    all: int


def runs(viewer: Viewer, words: str = "", order: str = "-findings", page: int = 1) -> RunPage:
    """The runs of the viewer whose name, state, sample or findings have the words; the newest first among equals.

    `order` is a key of `RUN_ORDERS`, with a dash in front for descending; anything else orders by findings.
    """
    mine = visible(_runs(), viewer)
    found = mine
    for word in words.split()[:8]:
        bare = word[1:] if word.startswith("!") and len(word) > 1 else word
        hit = Q(name__icontains=bare) | Q(state__iexact=bare) | Q(scenario__sample__icontains=bare) | Q(findings__icontains=bare)
        found = found.exclude(hit) if bare is not word else found.filter(hit)
    column = RUN_ORDERS.get(order.removeprefix("-"), "findings_count")
    direction = F(column).desc(nulls_last=True) if order.startswith("-") else F(column).asc(nulls_last=True)
    matching = found.count()
    pages = max(1, -(-matching // RUNS_ON_A_PAGE))
    page = min(max(1, page), pages)
    rows = found.order_by(direction, "-created", "-id")[(page - 1) * RUNS_ON_A_PAGE : page * RUNS_ON_A_PAGE]
    return RunPage([_run_row(r) for r in rows], page, pages, matching, mine.count())


def recent_runs(viewer: Viewer, limit: int = 6) -> list[RunRow]:
    """The newest runs of the viewer."""
    return [_run_row(r) for r in visible(_runs(), viewer)[:limit]]


def run(run_id: int) -> RunRow | None:
    """One run."""
    found = _runs().filter(pk=run_id).first()
    return None if found is None else _run_row(found)


def run_of_pair(found: RunRow, viewer: Viewer) -> RunRow | None:
    """The viewer's newest finished run of the sample that the run's sample is compared with: same seed, same changes."""
    entry = sample(found.sample)
    if entry is None or not entry.pair:
        return None
    rows = visible(_runs(), viewer).filter(scenario__sample=entry.pair, seed=found.seed, state="succeeded")[:RUNS_ON_A_PAGE]
    return next((row for row in map(_run_row, rows) if row.changes == found.changes), None)


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """A cluster as the tables show it."""

    id: int
    name: str
    kind: str
    created: datetime
    nodes: int
    pods: int
    pending: int
    counts: dict[str, int] = field(default_factory=dict)
    receipt: dict[str, Any] = field(default_factory=dict)
    taken_at: datetime | None = None


def _cluster_row(cluster: Cluster) -> ClusterRow:
    snapshot = Snapshot.objects.filter(cluster=cluster).defer("objects_blob").first()
    numbers = (0, 0, 0) if snapshot is None else (snapshot.nodes, snapshot.pods, snapshot.pending)
    taken = None if snapshot is None else snapshot.taken_at
    return ClusterRow(cluster.pk, cluster.name, cluster.kind, cluster.created, *numbers, cluster.counts, cluster.receipt, taken)


def clusters(viewer: Viewer, limit: int = 200) -> list[ClusterRow]:
    """The newest clusters of the viewer."""
    return [_cluster_row(c) for c in visible(Cluster.objects.all(), viewer)[:limit]]


def cluster(cluster_id: int) -> ClusterRow | None:
    """One cluster."""
    found = Cluster.objects.filter(pk=cluster_id).first()
    return None if found is None else _cluster_row(found)


def cluster_objects(cluster_id: int) -> list[dict[str, Any]]:
    """The manifests of a cluster's newest snapshot."""
    snapshot = Snapshot.objects.filter(cluster_id=cluster_id).first()
    return [] if snapshot is None else results.decompress(snapshot.objects_blob)


@dataclass(frozen=True, slots=True)
class ImportRow:
    """An import on its way."""

    id: int
    name: str
    state: str
    step: str
    progress: float
    receipt: dict[str, Any]
    cluster_id: int | None
    error_code: str
    error_message: str

    @property
    def active(self) -> bool:
        """Whether it is still to come or going on."""
        return self.state not in FINISHED_STATES


def import_job(job_id: int) -> ImportRow | None:
    """One import."""
    job = ImportJob.objects.filter(pk=job_id).first()
    if job is None:
        return None
    return ImportRow(
        job.pk, job.name, job.state, job.step, job.progress, job.receipt, job.cluster_id, job.error_code, job.error_message
    )


# -- spans and records by cursor -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SpanBatch:
    """What changed after a cursor: spans in their newest form up to the record `to_seq`; `state` and `progress` of the run."""

    run: int
    attempt: int
    from_seq: int
    to_seq: int
    state: str
    sim_time: int
    progress: float
    more: bool
    spans: tuple[bytes, ...]

    def as_json(self) -> bytes:
        """The wire form; the spans are JSON already."""
        head = (
            f'{{"type":"spans","run":{self.run},"attempt":{self.attempt},"from":{self.from_seq},"to":{self.to_seq},'
            f'"state":"{self.state}","sim":{self.sim_time},"progress":{self.progress:.4f},"more":{str(self.more).lower()},"spans":['
        )
        return head.encode() + b",".join(self.spans) + b"]}"


def spans_after(run_id: int, after: int, limit: int = SPANS_AT_ONCE) -> SpanBatch | None:
    """The spans that records after `after` opened or changed, whole records only; None: no such run."""
    state = Run.objects.filter(pk=run_id).values_list("attempt", "seq", "state", "sim_time", "progress").first()
    if state is None:
        return None
    attempt, reached, word, sim_time, progress = state
    of_run = Span.objects.filter(run_id=run_id, attempt=attempt)
    newer = of_run.filter(changed_seq__gt=after, changed_seq__lte=reached).order_by("changed_seq", "span_id")
    rows = list(newer.values_list("changed_seq", "body")[: limit + 1])
    to_seq, more = reached, len(rows) > limit
    if more:
        last = rows[-1][0]
        rows, to_seq = [row for row in rows if row[0] < last], last - 1
    if more and not rows:
        rows, to_seq = list(of_run.filter(changed_seq=last).values_list("changed_seq", "body")), last
        more = last < reached
    bodies = tuple(bytes(body) for _seq, body in rows)
    return SpanBatch(run_id, attempt, after, max(to_seq, after), word, sim_time, progress, more, bodies)


def _attempt_of(run_id: int) -> int:
    return Run.objects.values_list("attempt", flat=True).get(pk=run_id)


class StoredTrace:
    """A run's trace in the database, for folds that look things up."""

    def __init__(self, run_id: int) -> None:
        self._records = TraceRecord.objects.filter(run_id=run_id, attempt=_attempt_of(run_id))

    def record(self, seq: int) -> Record | None:
        """The record with this number."""
        body = self._records.filter(seq=seq).values_list("body", flat=True).first()
        return None if body is None else decode(bytes(body))

    def effects(self, seq: int) -> Sequence[Record]:
        """The records that it led to."""
        return self._decoded(self._records.filter(cause=seq).order_by("seq"))

    def about(self, subject: str) -> Sequence[Record]:
        """The records about an object."""
        return self._decoded(self._records.filter(subject=subject).order_by("seq"))

    def all(self) -> Iterator[Record]:
        """Every record in order, read a piece at a time."""
        after = 0
        while True:
            piece = self._decoded(self._records.filter(seq__gt=after).order_by("seq")[:RECORDS_AT_ONCE])
            yield from piece
            if len(piece) < RECORDS_AT_ONCE:
                return
            after = piece[-1].seq

    def overview(self) -> Overview:
        """What Nodes offer and Pods ask for."""
        made = Q(verb="create") & (Q(subject__startswith="pods/") | Q(subject__startswith="nodes/"))
        changed = Q(verb__in=("patch", "update"), subject__startswith="nodes/")
        bodies = self._records.filter(made | changed).order_by("seq").values_list("body", flat=True)
        return overview.fold(decode(bytes(body)) for body in bodies.iterator(chunk_size=RECORDS_AT_ONCE))

    def facts(self) -> RunFacts:
        """What holds for the whole run."""
        wanted = self._records.filter(Q(verb="begin") | Q(subject__startswith="nodes/", verb__in=("create", "gone")))
        return RunFacts.of(self._decoded(wanted.order_by("seq")))

    @staticmethod
    def _decoded(rows: QuerySet[TraceRecord]) -> list[Record]:
        return [decode(bytes(body)) for body in rows.values_list("body", flat=True)]


def facts(run_id: int) -> RunFacts:
    """The facts of a run: stated limits, versions, node names."""
    return StoredTrace(run_id).facts()


def run_overview(run_id: int) -> dict[str, Any]:
    """What the cluster overview of a run needs besides its spans."""
    return StoredTrace(run_id).overview().as_dict()


def cluster_overview(cluster_id: int) -> dict[str, Any]:
    """The same for an imported cluster, with the spans of its moment in wire form."""
    found, spans = overview.of_snapshot(cluster_objects(cluster_id))
    return {**found.as_dict(), "spans": spans}


def why(run_id: int, pod: str, at: int | None = None) -> Why | None:
    """Explain a pod (`namespace/name`) as of a record; None: the run has no such pod."""
    if "\0" in pod:  # no name has it, and PostgreSQL does not take it
        return None
    trace = StoredTrace(run_id)
    known = trace.facts()
    known.now = Run.objects.values_list("sim_time", flat=True).get(pk=run_id)
    return explain(pod, trace, known, at)


def record(run_id: int, seq: int) -> Record | None:
    """One record of a run."""
    return StoredTrace(run_id).record(seq)


def subject(found: Record) -> str:
    """What a record is about."""
    return subject_of(found)


class UnknownTableError(ScenarioError):
    """E0504: there is no table of that name."""


def table_lines(run_id: int, name: str, *, raw: bool = False) -> Iterator[str]:
    """A CSV table of a run, some hundred lines at a time.

    Raises:
        UnknownTableError: there is no such table.
    """
    found = TABLES.get(name)
    if found is None:
        raise UnknownTableError(NO_SUCH_TABLE, f"there is no table {name!r}; there are {', '.join(TABLES)}", "table")
    return write_csv(found.COLUMNS, table_rows(found(), StoredTrace(run_id).all()), raw=raw)


def metrics_text(run_id: int) -> bytes:
    """The metrics of a run's schedulers, as Prometheus reads them."""
    fold = MetricsFold()
    for found in StoredTrace(run_id).all():
        fold.feed(found)
    return write_metrics(fold.metrics())


def table_names() -> tuple[str, ...]:
    """The CSV tables in the order in which they are offered."""
    return tuple(TABLES)
