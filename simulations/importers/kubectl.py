"""Reads what `kubectl get ... -o yaml|json` wrote: a `List`, several documents, several files, folders.

All or nothing: one error, and no object is kept. The receipt is complete in both cases.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from simulations.engine.api.decode import API_VERSIONS, CLUSTER_SCOPED, decode_object
from simulations.engine.api.validation import validate
from simulations.engine.documents import Document, Limits, find_files, load_documents, parts_of, read_files
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.importers.checks import metadata_errors
from simulations.importers.kinds import why_ignored
from simulations.importers.receipt import Receipt
from simulations.importers.reservations import note_reservations

Progress = Callable[[int, int], None]
"""Told how many objects are checked, and of how many."""

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_PROGRESS_STEP = 200


@dataclass(frozen=True, slots=True)
class Import:
    """Manifests in the order of the input, ready to be the `initial` of a scenario; empty when the receipt has errors.

    `newest` is the latest time in the objects: when the cluster was, at the earliest, as it is here.
    """

    objects: list[dict[str, Any]]
    receipt: Receipt
    newest: datetime | None = None


@dataclass(slots=True)
class _Reading:
    receipt: Receipt = field(default_factory=Receipt)
    kept: list[Document] = field(default_factory=list)
    seen: dict[tuple[str, str, str], Document] = field(default_factory=dict)
    newest: str = ""


def import_paths(
    paths: Iterable[str | Path], limits: Limits | None = None, on_progress: Progress | None = None
) -> Import:  # fmt: skip
    """Import files and folders. What is wrong is in the receipt; nothing is raised."""
    try:
        sources = read_files(find_files(paths, limits), limits)
    except ScenarioErrors as found:
        receipt = Receipt()
        for error in found.errors:
            receipt.refuse(error)
        return Import([], receipt)
    return import_objects(sources, limits, on_progress)


def import_objects(
    sources: Iterable[tuple[str, bytes]], limits: Limits | None = None, on_progress: Progress | None = None
) -> Import:
    """Import named contents, such as uploaded files. What is wrong is in the receipt; nothing is raised."""
    limits = limits or Limits()
    reading = _Reading()
    documents = _documents(sources, limits, reading.receipt)
    for done, document in enumerate(documents):
        if on_progress is not None and done % _PROGRESS_STEP == 0:
            on_progress(done, len(documents))
        _take(document, reading)
    receipt = reading.receipt
    if documents and not reading.kept and not receipt.errors:
        first = documents[0]
        message = f"none of the {len(documents):,} objects is of a kind that is read: {', '.join(API_VERSIONS)}"
        receipt.refuse(ScenarioError("E0118", message, line=first.line, file=first.file))
    if receipt.errors:
        return Import([], receipt)
    note_reservations(reading.kept, receipt)
    if on_progress is not None:
        on_progress(len(documents), len(documents))
    return Import([_trimmed(document.value) for document in reading.kept], receipt, _moment(reading.newest))


def _documents(sources: Iterable[tuple[str, bytes]], limits: Limits, receipt: Receipt) -> list[Document]:
    documents: list[Document] = []
    total = 0
    for name, content in sources:
        receipt.files += 1
        total += len(content)
        if total > limits.total_bytes:
            message = f"all files together are over {limits.total_bytes / 1e6:,.1f} MB"
            receipt.refuse(ScenarioError("E0101", message, file=name))
            break
        try:
            found = load_documents(content, name, limits, split_lists=False)
            if not found:
                receipt.refuse(ScenarioError("E0114", "the file has no objects, not even an empty List", file=name))
            for document in found:
                documents += parts_of(document)
        except ScenarioErrors as errors:
            for error in errors.errors:
                receipt.refuse(error)
    if not receipt.files:
        receipt.refuse(ScenarioError("E0114", "no file was given"))
    return documents


def _take(document: Document, reading: _Reading) -> None:
    """Check one object and keep, ignore or refuse it."""
    value = document.value
    kind, version = value.get("kind"), value.get("apiVersion")
    errors = list(_kind_errors(value))
    if not errors:
        why = why_ignored(str(kind), str(version))
        if why:
            reading.receipt.ignore(str(kind), _full_name(value), why, document.file, document.line)
            return
        errors = list(metadata_errors(value)) or list(_decoding_errors(value))
    for error in errors:
        located = ScenarioError(error.code, error.message, error.path, document.position(error.path), document.file)
        reading.receipt.refuse(located, f"{kind or 'object'} {_full_name(value)}".strip())
    if not errors:
        _keep(document, reading)


def _kind_errors(value: Mapping[str, Any]) -> Iterator[ScenarioError]:
    kind, version = value.get("kind"), value.get("apiVersion")
    if kind == "Scenario" or "timeline" in value or "operations" in value:
        message = "this is a scenario, not objects of a cluster: run it instead of importing it"
        yield ScenarioError("E0119", message, "kind")
        return
    if not isinstance(kind, str) or not kind:
        yield ScenarioError("E0201", "Required value: every object has a kind", "kind")
    if not isinstance(version, str) or not version:
        yield ScenarioError("E0202", "Required value: every object has an apiVersion", "apiVersion")


def _decoding_errors(value: Mapping[str, Any]) -> Iterator[ScenarioError]:
    """What the API server would say, as the engine knows it."""
    try:
        decode_object(value, epoch=_EPOCH)
        yield from validate(value)
    except ScenarioError as error:
        yield error
    except ScenarioErrors as found:
        yield from found.errors
    except (TypeError, ValueError, AttributeError, KeyError, ArithmeticError) as error:
        # Whatever shape an upload has, it is answered with a code.
        yield ScenarioError("E0213", f"has a value of a wrong type: {error}", "")


def _keep(document: Document, reading: _Reading) -> None:
    value = document.value
    kind, metadata = value["kind"], value["metadata"]
    namespace = "" if kind in CLUSTER_SCOPED else metadata.get("namespace") or "default"
    key = (kind, namespace, metadata["name"])
    first = reading.seen.setdefault(key, document)
    if first is not document:
        where = f"{first.file}:{first.line}" if first.file else f"line {first.line}"
        message = f"{kind} {_full_name(value)} is already defined at {where}"
        line = document.position("metadata.name")
        reading.receipt.refuse(ScenarioError("E0210", message, "metadata.name", line, document.file), f"{kind} {key[2]}")
        return
    reading.kept.append(document)
    reading.receipt.count(kind)
    if kind == "Pod":
        spec, status = value.get("spec") or {}, value.get("status") or {}
        if not spec.get("nodeName") and status.get("phase", "Pending") == "Pending":
            reading.receipt.pending += 1
    for time in _times(value):
        if isinstance(time, str) and time > reading.newest and _moment(time) is not None:
            reading.newest = time


def _times(value: Mapping[str, Any]) -> Iterator[object]:
    """Times at which the object changed, as they are written; all of one form in a dump, so that they compare as text."""
    metadata, status = value["metadata"], value.get("status") or {}
    yield metadata.get("creationTimestamp")
    if isinstance(status, Mapping):
        yield status.get("startTime")
        for condition in status.get("conditions") or ():
            yield condition.get("lastTransitionTime")


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _trimmed(value: dict[str, Any]) -> dict[str, Any]:
    """The manifest without bookkeeping that nothing reads."""
    metadata = value["metadata"]
    if "managedFields" not in metadata:
        return value
    return value | {"metadata": {key: part for key, part in metadata.items() if key != "managedFields"}}


def _full_name(value: Mapping[str, Any]) -> str:
    metadata = value.get("metadata")
    if not isinstance(metadata, Mapping):
        return ""
    namespace, name = metadata.get("namespace"), str(metadata.get("name") or metadata.get("generateName") or "")[:253]
    return f"{str(namespace)[:63]}/{name}" if namespace else name
