"""Every call of the API. The access middleware has looked at numbers in the address before a call is made."""

from typing import Any, NoReturn

import yaml
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import File, NinjaAPI, UploadedFile
from ninja.errors import HttpError, ValidationError

from dashboard.access import viewer
from dashboard.api.origin import same_site
from dashboard.api.schemas import ClusterOut, Finding, FitQuestion, ImportOut, NewRun, Refusal, RunOut, SampleOut
from dashboard.api.wire import wire
from simulations import access, fit, queries, services
from simulations.queries import RunRow
from simulations.services import ScenarioErrors, read_changes

api = NinjaAPI(title="Schedscope", version="1", docs_url=None, auth=same_site)
PER_PAGE = 100


# -- errors --------------------------------------------------------------------------------------------------------


def _refuse(request: HttpRequest, status: int, *findings: Finding) -> HttpResponse:
    return api.create_response(request, Refusal(errors=list(findings)).model_dump(by_alias=True), status=status)


@api.exception_handler(ScenarioErrors)
def wrong_input(request: HttpRequest, error: ScenarioErrors) -> HttpResponse:
    """400 with everything that is wrong."""
    found = [Finding(code=e.code, message=e.message, path=e.path, line=e.line, file=e.file) for e in error.errors]
    return _refuse(request, 400, *found)


@api.exception_handler(ValidationError)
def wrong_shape(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """422 with the fields that have another shape than they should."""
    found = [Finding(code="E0654", message=str(e.get("msg")), path=".".join(map(str, e.get("loc", ())))) for e in error.errors]
    return _refuse(request, 422, *found)


@api.exception_handler(HttpError)
def other_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    """What the framework refuses, such as a body that is no JSON."""
    return _refuse(request, error.status_code, Finding(code="E0654", message=str(error)))


@api.exception_handler(RequestDataTooBig)
def too_large(request: HttpRequest, _error: RequestDataTooBig) -> HttpResponse:
    """413: the body is over the limit of uploads."""
    return _refuse(request, 413, Finding(code="E0101", message="the body is over the limit of uploads"))


def _missing(what: str, number: int) -> NoReturn:
    raise HttpError(404, f"there is no {what} {number}, or it is not yours")


# -- runs ----------------------------------------------------------------------------------------------------------


def _run_out(row: RunRow) -> RunOut:
    tables = {name: reverse("export", args=[row.id, name]) for name in queries.table_names()}
    return RunOut(
        id=row.id, name=row.name, state=row.state, seed=row.seed, pace=row.pace, progress=row.progress, records=row.seq,
        sim_seconds=row.sim_time / 1e9, created=row.created, finished=row.finished, error_code=row.error_code,
        error_message=row.error_message, summary=row.summary, findings=list(row.findings), changes=list(row.changes), tables=tables,
        metrics=reverse("metrics", args=[row.id]), page=reverse("run", args=[row.id]),
    )  # fmt: skip


ERRORS = {400: Refusal, 401: Refusal, 403: Refusal, 404: Refusal, 413: Refusal, 422: Refusal}


@api.get("/runs", response={200: list[RunOut], **ERRORS}, by_alias=True)
def list_runs(request: HttpRequest) -> list[RunOut]:
    """Your newest runs."""
    return [_run_out(row) for row in queries.recent_runs(viewer(request), PER_PAGE)]


@api.post("/runs", response={201: RunOut, **ERRORS}, by_alias=True)
def create_run(request: HttpRequest, wanted: NewRun) -> tuple[int, RunOut]:
    """Make a run of one base, with changes; the same token gives the same run."""
    base = _base(request, wanted)
    changes = read_changes(yaml.safe_dump(wanted.changes, sort_keys=False)) if wanted.changes else services.WhatIf()
    made = services.RunRequest(changes, wanted.name, wanted.pace, wanted.token, viewer(request).user)
    row = queries.run(services.create_run(base, made).pk)
    assert row is not None, "it was just made"
    return 201, _run_out(row)


def _base(request: HttpRequest, wanted: NewRun) -> services.Base:
    given = [name for name in ("scenario", "sample", "cluster", "run") if getattr(wanted, name) is not None]
    if len(given) != 1:
        raise HttpError(400, f"give one of scenario, sample, cluster, run; got {', '.join(given) or 'none'}")
    if wanted.scenario is not None:
        return services.base_of_text(yaml.safe_dump(wanted.scenario, sort_keys=False).encode(), "scenario")
    if wanted.sample is not None:
        return services.base_of_sample(wanted.sample)
    name, number = ("cluster", wanted.cluster) if wanted.cluster is not None else ("run", wanted.run)
    if number is None or not access.is_theirs(viewer(request), f"{name}_id", number):
        _missing(name, number or 0)
    return services.base_of_cluster(number) if name == "cluster" else services.base_of_run(number)


@api.post("/runs/scenario", response={201: RunOut, **ERRORS}, by_alias=True)
def run_scenario(request: HttpRequest) -> tuple[int, RunOut]:
    """Run the scenario that is the body: YAML or JSON, or a recorded timeline."""
    base = services.base_of_text(request.body, "body")
    row = queries.run(services.create_run(base, services.RunRequest(owner=viewer(request).user)).pk)
    assert row is not None, "it was just made"
    return 201, _run_out(row)


@api.get("/runs/{int:run_id}", response={200: RunOut, **ERRORS}, by_alias=True)
def get_run(request: HttpRequest, run_id: int) -> RunOut:
    """One run; ask again until its state is succeeded, failed or cancelled."""
    row = queries.run(run_id)
    if row is None:
        _missing("run", run_id)
    return _run_out(row)


@api.post("/runs/{int:run_id}/cancel", response={200: RunOut, **ERRORS}, by_alias=True)
def cancel_run(request: HttpRequest, run_id: int) -> RunOut:
    """Ask a run to stop; what it did so far stays."""
    if queries.run(run_id) is None:
        _missing("run", run_id)
    services.cancel_run(run_id)
    return get_run(request, run_id)


# -- explanations --------------------------------------------------------------------------------------------------


@api.get("/runs/{int:run_id}/why", response={200: dict[str, Any], **ERRORS})
def why(request: HttpRequest, run_id: int, pod: str, seq: int | None = None) -> Any:
    """Why a pod (`namespace/name`) is where it is, as of a record or as of now; docs/explanations.md says what is in it."""
    if queries.run(run_id) is None:
        _missing("run", run_id)
    found = queries.why(run_id, pod, seq)
    if found is None:
        raise HttpError(404, f"run {run_id} has no record of a pod {pod!r}")
    return wire(found)


@api.post("/runs/{int:run_id}/fit", response={202: dict[str, Any], **ERRORS})
def search_fit(request: HttpRequest, run_id: int, wanted: FitQuestion) -> Any:
    """Search for the smallest changes that a pod would have fitted with, at its last refused attempt up to a record."""
    if queries.run(run_id) is None:
        _missing("run", run_id)
    return 202, wire(fit.ask(run_id, wanted.pod, wanted.seq, viewer(request).user))


@api.get("/runs/{int:run_id}/fit/{int:seq}", response={200: dict[str, Any], **ERRORS})
def get_fit(request: HttpRequest, run_id: int, seq: int) -> Any:
    """The search about the attempt with this record; ask again until its state is succeeded, failed or cancelled."""
    found = fit.of_attempt(run_id, seq)
    if found is None:
        _missing("search about the record", seq)
    return wire(found)


# -- clusters and samples ------------------------------------------------------------------------------------------


@api.get("/clusters", response={200: list[ClusterOut], **ERRORS}, by_alias=True)
def list_clusters(request: HttpRequest) -> list[Any]:
    """Your newest clusters."""
    return [ClusterOut.from_orm(row) for row in queries.clusters(viewer(request), PER_PAGE)]


@api.post("/clusters", response={202: ImportOut, **ERRORS}, by_alias=True)
def import_cluster(request: HttpRequest, files: File[list[UploadedFile]]) -> tuple[int, ImportOut]:
    """Import what kubectl wrote; all of it, or nothing."""
    sources = ((uploaded.name or "file", uploaded.chunks()) for uploaded in files)
    return 202, get_import(request, services.create_import(sources, owner=viewer(request).user).pk)


@api.get("/imports/{int:job_id}", response={200: ImportOut, **ERRORS}, by_alias=True)
def get_import(request: HttpRequest, job_id: int) -> ImportOut:
    """One import, with its receipt when it has ended."""
    row = queries.import_job(job_id)
    if row is None:
        _missing("import", job_id)
    return ImportOut(
        id=row.id, name=row.name, state=row.state, step=row.step, progress=row.progress, cluster=row.cluster_id,
        error_code=row.error_code, error_message=row.error_message, receipt=row.receipt,
    )  # fmt: skip


@api.get("/samples", response={200: list[SampleOut], **ERRORS}, by_alias=True)
def list_samples(request: HttpRequest) -> list[Any]:
    """The gallery."""
    return [SampleOut(slug=entry.slug, title=entry.title, story=entry.story) for entry in queries.samples()]
