"""What is kept: clusters and their snapshots, scenarios, runs, and what a run produced.

Fields, constraints and names only; rules live in `services`, `results` and `tasks`. Times inside a run are
virtual nanoseconds since T+0 (they may be negative during the warmup); other times are UTC.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models


class JobState(models.TextChoices):
    """Where a run or an import stands."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    SUCCEEDED = "succeeded", "Succeeded"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


FINISHED_STATES = (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED)


class Owned(models.Model):
    """What belongs to whoever made it; without an owner (embedded mode, the command line) only operators see it in production."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        abstract = True


class Cluster(Owned):
    """A cluster somebody looks at: made up here, imported from files, or watched live."""

    class Kind(models.TextChoices):
        """Where the cluster's objects come from."""

        SIMULATED = "simulated", "Simulated"
        IMPORTED = "imported", "Imported"
        LIVE = "live", "Live"

    name = models.CharField(max_length=253)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    created = models.DateTimeField(auto_now_add=True)
    counts = models.JSONField(default=dict, help_text="Objects by kind.")
    receipt = models.JSONField(default=dict, help_text="What the import read, ignored and refused.")

    class Meta:
        ordering: ClassVar = ["-created", "-id"]

    def __str__(self) -> str:
        return self.name


class Snapshot(models.Model):
    """A cluster's objects at one moment; never changed once written."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="snapshots")
    objects_blob = models.BinaryField(help_text="The manifests as a JSON list, compressed with zlib.")
    taken_at = models.DateTimeField(help_text="The moment that the objects' ages are counted from.")
    nodes = models.PositiveIntegerField(default=0)
    pods = models.PositiveIntegerField(default=0)
    pending = models.PositiveIntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-created", "-id"]

    def __str__(self) -> str:
        return f"{self.cluster} at {self.taken_at:%Y-%m-%dT%H:%M:%SZ}"


class Scenario(models.Model):
    """A scenario document. With a snapshot, that snapshot's objects are its first initial objects."""

    name = models.CharField(max_length=253)
    document = models.BinaryField(help_text="The document as JSON, compressed with zlib.")
    source_text = models.TextField(blank=True, help_text="The YAML as it was written, where a person wrote it.")
    sample = models.SlugField(max_length=100, blank=True)
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, null=True, blank=True, related_name="scenarios")
    base = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="variants")
    changes = models.JSONField(default=dict, help_text="What was changed against the base.")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-created", "-id"]

    def __str__(self) -> str:
        return self.name


class LeasedJob(Owned):
    """Work that one worker does at a time, under a lease that it renews while it lives."""

    state = models.CharField(max_length=16, choices=JobState.choices, default=JobState.QUEUED)
    attempt = models.PositiveIntegerField(default=0, help_text="Counts starts; rows of an older attempt are void.")
    lease_owner = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat = models.DateTimeField(null=True, blank=True)
    announced = models.DateTimeField(null=True, blank=True, help_text="When the task queue last took it; empty: never.")
    progress = models.FloatField(default=0.0, help_text="0 to 1.")
    error_code = models.CharField(max_length=32, blank=True)
    error_message = models.TextField(blank=True)
    cancel_requested = models.BooleanField(default=False)
    token = models.CharField(max_length=64, null=True, blank=True, unique=True, help_text="Set by a form: one submit, one job.")
    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True, blank=True)
    finished = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(state__in=JobState.values), name="%(class)s_state_is_known"),
            models.CheckConstraint(condition=models.Q(progress__gte=0.0, progress__lte=1.0), name="%(class)s_progress_in_range"),
        ]
        indexes: ClassVar = [models.Index(fields=["state", "lease_until"], name="%(class)s_by_lease")]


class Run(LeasedJob):
    """One simulation: a scenario, a seed, and how far it has come."""

    name = models.CharField(max_length=253)
    scenario = models.ForeignKey(Scenario, on_delete=models.PROTECT, related_name="runs")
    seed = models.BigIntegerField(default=1)
    pace = models.FloatField(default=0.0, help_text="Virtual seconds per real second; 0: as fast as it goes.")
    seq = models.PositiveBigIntegerField(default=0, help_text="The last record that is stored.")
    sim_time = models.BigIntegerField(default=0, help_text="Virtual time reached, ns since T+0.")
    summary = models.JSONField(default=dict)
    findings = models.JSONField(default=list)
    findings_count = models.PositiveIntegerField(default=0)

    class Meta(LeasedJob.Meta):
        ordering: ClassVar = ["-created", "-id"]
        constraints: ClassVar = [
            *LeasedJob.Meta.constraints,
            models.CheckConstraint(condition=models.Q(pace__gte=0.0), name="run_pace_is_not_negative"),
        ]
        indexes: ClassVar = [
            *LeasedJob.Meta.indexes,
            models.Index(fields=["-created"], name="run_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.name} #{self.pk}"


class FitSearch(LeasedJob):
    """What would have let a pod fit at one attempt of a run: asked, searched for, answered."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="fit_searches")
    pod = models.CharField(max_length=600, help_text="namespace/name")
    uid = models.CharField(max_length=64)
    seq = models.PositiveBigIntegerField(help_text="The record of the attempt.")
    started_at = models.BigIntegerField(help_text="When its cycle began: virtual time, ns since T+0.")
    answer = models.JSONField(null=True, help_text="The suggestions; empty until they are found.")

    class Meta(LeasedJob.Meta):
        ordering: ClassVar = ["-created", "-id"]
        constraints: ClassVar = [
            *LeasedJob.Meta.constraints,
            models.UniqueConstraint(fields=["run", "seq"], name="fit_search_once_an_attempt"),
        ]

    def __str__(self) -> str:
        return f"run {self.run_id}, {self.pod} at {self.seq}"


class ShareLink(models.Model):
    """A link that lets whoever has it look at a run. Only the digest of its secret is kept."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="links")
    digest = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)
    revoked = models.DateTimeField(null=True, blank=True)
    opened = models.PositiveIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["-created", "-id"]

    def __str__(self) -> str:
        return f"link {self.pk} to {self.run_id}"


class TraceRecord(models.Model):
    """One record of a run's trace. `body` is the record in the trace format, without its line end."""

    pk = models.CompositePrimaryKey("run_id", "attempt", "seq")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="records", db_index=False)
    attempt = models.PositiveIntegerField()
    seq = models.PositiveBigIntegerField()
    t = models.BigIntegerField(help_text="Virtual time, ns since T+0.")
    subject = models.CharField(max_length=600, help_text="What it is about: resource/namespace/name.")
    verb = models.CharField(max_length=32)
    cause = models.PositiveBigIntegerField(default=0, help_text="The record that led to it; 0: none.")
    body = models.BinaryField()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["run", "attempt", "subject", "seq"], name="record_by_subject"),
            models.Index(fields=["run", "attempt", "cause"], name="record_by_cause"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(seq__gte=1), name="record_seq_from_one"),
        ]

    def __str__(self) -> str:
        return f"run {self.run_id} record {self.seq}"


class Span(models.Model):
    """One bar or mark of a run's timeline; `body` is its wire form, rewritten when the span changes."""

    pk = models.CompositePrimaryKey("run_id", "attempt", "span_id")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="spans", db_index=False)
    attempt = models.PositiveIntegerField()
    span_id = models.PositiveBigIntegerField()
    changed_seq = models.PositiveBigIntegerField(help_text="The record that changed it last.")
    start = models.BigIntegerField(help_text="Virtual time, ns since T+0.")
    end = models.BigIntegerField(null=True, help_text="Virtual time; empty while it is open.")
    body = models.BinaryField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["run", "attempt", "changed_seq"], name="span_by_change")]

    def __str__(self) -> str:
        return f"run {self.run_id} span {self.span_id}"


class ImportJob(LeasedJob):
    """Files on their way to becoming a cluster: all of them, or nothing."""

    name = models.CharField(max_length=253, blank=True)
    step = models.CharField(max_length=200, blank=True, help_text="What is being done, for people.")
    receipt = models.JSONField(default=dict)
    cluster = models.ForeignKey(Cluster, on_delete=models.SET_NULL, null=True, blank=True, related_name="imports")

    class Meta(LeasedJob.Meta):
        ordering: ClassVar = ["-created", "-id"]

    def __str__(self) -> str:
        return f"import {self.pk} {self.name}".rstrip()


class ImportFile(models.Model):
    """One file of an import, compressed; removed when the import has finished."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=1024)
    size = models.PositiveBigIntegerField(help_text="Bytes before compression.")
    content = models.BinaryField(help_text="Compressed with zlib.")

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return self.name
