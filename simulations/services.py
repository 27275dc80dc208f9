"""What the web and the command line may do: import, create runs, cancel."""

import logging
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from simulations import results
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.engine.scenario import from_recorded, is_recorded, parse_scenario
from simulations.engine.whatif import (
    MAX_ADDED_NODES,
    MAX_ADDED_PODS,
    MAX_PACE,
    AddNodes,
    AddPods,
    Change,
    NodeChange,
    WhatIf,
    WorkloadChange,
    apply_what_if,
    import_document,
    present_objects,
    read_changes,
    write_changes,
)
from simulations.engine.whatif.estimate import Cost, estimate
from simulations.engine.whatif.model import NODE_ACTIONS, PRESETS, SCORING
from simulations.engine.whatif.workloads import names as workload_names
from simulations.models import FINISHED_STATES, Cluster, ImportFile, ImportJob, JobState, LeasedJob, Run, Scenario, Snapshot
from simulations.pipelines.prepare import scenario_of_text
from simulations.samples import Sample, sample
from simulations.tasks import execute_run, run_import

logger = logging.getLogger(__name__)
__all__ = [
    "MAX_ADDED_NODES", "MAX_ADDED_PODS", "MAX_PACE", "NODE_ACTIONS", "PRESETS", "SCORING", "AddNodes", "AddPods", "Base", "NodeChange",
    "RunRequest", "ScenarioErrors", "WhatIf", "WorkloadChange", "read_changes", "write_changes",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Base:
    """What a run starts from: a scenario document, and for an import its snapshot's objects besides."""

    name: str
    document: dict[str, Any]
    snapshot: Snapshot | None = None
    scenario: Scenario | None = None
    sample: str = ""
    source_text: str = ""
    objects: list[dict[str, Any]] = field(default_factory=list)


# -- bases ---------------------------------------------------------------------------------------------------------


def base_of_sample(slug: str) -> Base:
    """A sample as a base.

    Raises:
        ScenarioErrors: E0620, there is no such sample.
    """
    found: Sample | None = sample(slug)
    if found is None:
        raise ScenarioErrors([ScenarioError("E0620", f"there is no sample {slug!r}", "sample")])
    return Base(found.title, found.document(), sample=slug, source_text=found.text)


def base_of_cluster(cluster_id: int) -> Base:
    """The newest snapshot of a cluster as a base.

    Raises:
        ScenarioErrors: E0621, there is no such cluster.
    """
    snapshot = Snapshot.objects.filter(cluster_id=cluster_id).select_related("cluster").first()
    if snapshot is None:
        raise ScenarioErrors([ScenarioError("E0621", f"there is no cluster {cluster_id} with a snapshot", "cluster")])
    moment = snapshot.taken_at.replace(microsecond=0).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = import_document(snapshot.cluster.name, moment)
    return Base(snapshot.cluster.name, document, snapshot, objects=results.decompress(snapshot.objects_blob))


def base_of_run(run_id: int) -> Base:
    """The scenario of another run as a base.

    Raises:
        ScenarioErrors: E0622, there is no such run.
    """
    run = Run.objects.filter(pk=run_id).select_related("scenario__snapshot").first()
    if run is None:
        raise ScenarioErrors([ScenarioError("E0622", f"there is no run {run_id}", "run")])
    scenario = run.scenario
    objects = results.decompress(scenario.snapshot.objects_blob) if scenario.snapshot else []
    document = results.decompress(scenario.document)
    return Base(run.name, document, scenario.snapshot, scenario, scenario.sample, scenario.source_text, objects)


def base_of_text(text: bytes, file: str) -> Base:
    """A scenario (or a recorded timeline) that a person wrote, as YAML or JSON, as a base.

    Raises:
        ScenarioErrors: E0101, it is over the limit; or what is wrong in it, with file, line and field.
    """
    if len(text) > settings.MAX_UPLOAD_BYTES:
        limit = f"the file is over the limit of {settings.MAX_UPLOAD_BYTES // 1_000_000} MB"
        raise ScenarioErrors([ScenarioError("E0101", limit, file=file)])
    scenario, document = scenario_of_text(text, file)
    return Base(scenario.name, document, source_text=text.decode("utf-8", "replace"))


# -- runs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run to make: pace in virtual seconds per real second (0: as fast as it goes), a form's token, the user whose it is."""

    what_if: WhatIf = field(default_factory=WhatIf)
    name: str = ""
    pace: float = 0.0
    token: str | None = None
    owner: int | None = None


@dataclass(frozen=True, slots=True)
class Inside:
    """What a base has, for the form's choices: nodes, workloads (`Kind/namespace/name`), priority classes with their values."""

    nodes: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    classes: tuple[tuple[str, int], ...] = ()


def _spec_of(base: Base) -> dict[str, Any]:
    """The scenario's spec; of a recorded timeline the document itself is it."""
    found = base.document.get("spec")
    return found if isinstance(found, dict) else base.document


def inside(base: Base) -> Inside:
    """Look into a base."""
    present = [o for o in present_objects({"spec": _spec_of(base)}, base.objects) if isinstance(o.get("metadata"), dict)]
    classes = {str(o["metadata"].get("name")): int(o.get("value") or 0) for o in present if o.get("kind") == "PriorityClass"}
    nodes = tuple(str(o["metadata"].get("name")) for o in present if o.get("kind") == "Node")
    return Inside(nodes, tuple(workload_names(present)), tuple(sorted(classes.items(), key=lambda item: -item[1])))


def expected_cost(base: Base, what_if: WhatIf) -> Cost:
    """Estimate a run with its changes from what it will have: nodes, pods that come, room for them, duration.

    Raises:
        ScenarioErrors: a value is out of its limits.
    """
    document = base.document if is_recorded(base.document) else apply_what_if(base.document, what_if, base.objects).document
    return estimate(document, base.objects)


def preview(base: Base, what_if: WhatIf) -> tuple[Change, ...]:
    """What would differ from the base.

    Raises:
        ScenarioErrors: a value is out of its limits.
    """
    return apply_what_if(base.document, what_if, base.objects).changes


def create_run(base: Base, request: RunRequest) -> Run:
    """Store the scenario and a run of it, and queue the run; the same token gives the same run.

    Raises:
        ScenarioErrors: a value is out of its limits, or the document is wrong.
    """
    if not 0 <= request.pace <= MAX_PACE:
        raise ScenarioErrors([ScenarioError("E0722", f"the pace must be from 0 to {MAX_PACE:g}", "pace")])
    recorded = is_recorded(base.document)
    changed = None if recorded else apply_what_if(base.document, request.what_if, base.objects)
    document = base.document if changed is None else changed.document
    scenario = from_recorded(document) if recorded else parse_scenario(document)
    changes = [] if changed is None else [{"field": c.field, "before": c.before, "after": c.after} for c in changed.changes]
    try:
        with transaction.atomic():
            stored = Scenario.objects.create(
                name=base.name, document=results.compress(document), source_text="" if changes else base.source_text,
                sample=base.sample, snapshot=base.snapshot, base=base.scenario, changes={"changes": changes},
            )  # fmt: skip
            run = Run.objects.create(
                name=request.name or _run_name(base, changes),
                scenario=stored,
                seed=scenario.seed,
                pace=request.pace,
                token=request.token,
                owner_id=request.owner,
            )
            transaction.on_commit(lambda: _announce(run, execute_run))
    except IntegrityError:
        before: Run = _of_token(Run, request.token, request.owner)
        return before
    return run


def _of_token(model: type[LeasedJob], token: str | None, owner: int | None) -> Any:
    """What the same form made before.

    Raises:
        ScenarioErrors: E0651, it was somebody else's form.
    """
    found = model._default_manager.filter(token=token, owner_id=owner).first()
    if found is None:
        raise ScenarioErrors([ScenarioError("E0651", "this form was sent before, by somebody else: load the page again", "token")])
    return found


def _run_name(base: Base, changes: list[dict[str, str]]) -> str:
    return base.name if not changes else f"{base.name}, what if"


def cancel_run(run_id: int) -> Run:
    """Ask a run to stop; one that nobody does is cancelled at once.

    Raises:
        Run.DoesNotExist: there is no such run.
    """
    run = Run.objects.get(pk=run_id)
    if run.state not in FINISHED_STATES:
        Run.objects.filter(pk=run_id).update(cancel_requested=True)
        now = timezone.now()
        idle = Q(state=JobState.QUEUED) | Q(state=JobState.RUNNING, lease_until__lt=now)
        Run.objects.filter(idle, pk=run_id).update(state=JobState.CANCELLED, finished=now, lease_until=None)
    run.refresh_from_db()
    return run


def _announce(job: LeasedJob, task: Any) -> None:
    """Hand a job to the workers; without a broker it stays queued, and a worker that comes up takes it."""
    try:
        task.apply_async((job.pk,), retry=False)
    except Exception:  # whatever the broker's client raises
        logger.warning("%s %s waits: no broker answers", type(job).__name__, job.pk)
        return
    type(job)._default_manager.filter(pk=job.pk).update(announced=timezone.now())


# -- imports -------------------------------------------------------------------------------------------------------


def create_import(
    files: Iterable[tuple[str, Iterable[bytes]]], name: str = "", token: str | None = None, owner: int | None = None
) -> ImportJob:
    """Take in files (name and chunks) and queue their import; nothing is kept of input over the limit.

    Raises:
        ScenarioErrors: E0101, a file or all together are over the limit; E0114, there are none.
    """
    limit = settings.MAX_UPLOAD_BYTES
    left = limit
    taken: list[tuple[str, int, bytes]] = []
    for file_name, chunks in files:
        packer, parts, size = zlib.compressobj(1), [], 0
        for chunk in chunks:
            size += len(chunk)
            if size > left:
                text = f"the files are over the limit of {limit // 1_000_000} MB"
                raise ScenarioErrors([ScenarioError("E0101", text, file=file_name)])
            parts.append(packer.compress(chunk))
        parts.append(packer.flush())
        left -= size
        taken.append((file_name[:1024], size, b"".join(parts)))
    if not taken:
        raise ScenarioErrors([ScenarioError("E0114", "there is nothing to read")])
    try:
        with transaction.atomic():
            job = ImportJob.objects.create(name=(name or taken[0][0])[:253], token=token, owner_id=owner)
            ImportFile.objects.bulk_create(ImportFile(job=job, name=n, size=s, content=c) for n, s, c in taken)
            transaction.on_commit(lambda: _announce(job, run_import))
    except IntegrityError:
        found: ImportJob = _of_token(ImportJob, token, owner)
        return found
    return job


def delete_cluster(cluster_id: int) -> None:
    """Forget an imported cluster that no run stands on.

    Raises:
        Cluster.DoesNotExist: there is no such cluster.
        django.db.models.ProtectedError: runs were made from it.
    """
    Cluster.objects.get(pk=cluster_id).delete()
