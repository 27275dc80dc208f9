"""What the API takes and gives. Names are camelCase on the wire, as in scenarios."""

from datetime import datetime
from typing import Any

from ninja import Field, Schema
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel


class Wire(Schema):
    """camelCase on the wire; unknown fields are refused."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class NewRun(Wire):
    """A run to make: of one base (a scenario, a sample, a cluster, another run), with changes as in docs/what-if.md."""

    scenario: dict[str, Any] | None = Field(None, description="A scenario document.")
    sample: str | None = Field(None, max_length=100)
    cluster: int | None = Field(None, ge=1, le=2**31)
    run: int | None = Field(None, ge=1, le=2**31)
    changes: dict[str, Any] = Field(default_factory=dict, description="What differs from the base.")
    name: str = Field("", max_length=200)
    pace: float = Field(0.0, ge=0, le=10_000, allow_inf_nan=False)
    token: str | None = Field(None, max_length=64, description="The same token gives the same run.")


class FitQuestion(Wire):
    """A pod that found no node: the attempt is its last one up to the record `seq`, or its last one at all."""

    pod: str = Field(max_length=600, description="namespace/name")
    seq: int | None = Field(None, ge=1, le=2**62)


class Finding(Wire):
    """One thing that is wrong with the input."""

    code: str
    message: str
    path: str = ""
    line: int | None = None
    file: str = ""


class Refusal(Wire):
    """Everything that is wrong."""

    errors: list[Finding]


class RunOut(Wire):
    """A run: where it stands, what it comes to."""

    id: int
    name: str
    state: str
    seed: int
    pace: float
    progress: float
    records: int
    sim_seconds: float
    created: datetime
    finished: datetime | None
    error_code: str
    error_message: str
    summary: dict[str, Any]
    findings: list[dict[str, Any]]
    changes: list[dict[str, str]]
    tables: dict[str, str] = Field(description="Where each table is to be had as CSV.")
    metrics: str = Field(description="Where the metrics of its schedulers are, as Prometheus reads them.")
    page: str


class ImportOut(Wire):
    """An import on its way, and its cluster when it is there."""

    id: int
    name: str
    state: str
    step: str
    progress: float
    cluster: int | None
    error_code: str
    error_message: str
    receipt: dict[str, Any]


class ClusterOut(Wire):
    """A cluster."""

    id: int
    name: str
    kind: str
    nodes: int
    pods: int
    pending: int
    created: datetime


class SampleOut(Wire):
    """A sample of the gallery."""

    slug: str
    title: str
    story: str
