"""The openb trace: Alibaba's GPU cluster of 2023 as two CSV files, read and mapped to Nodes and Pods.

A card is 1000 of the extended resource `alibabacloud.com/gpu-milli`; a Node offers the sum of its cards, a Pod asks for the sum of its
shares. Everything else is as the trace says; the phases at its end are not imported, every row is demand.

Source: hkust-adsl/kubernetes-scheduler-simulator, data/csv; docs/openb.md has the mapping
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors

GPU: Final = "alibabacloud.com/gpu-milli"
MODEL_LABEL: Final = "alibabacloud.com/gpu-card-model"
NAMESPACE: Final = "paib-gpu"
CARD: Final = 1000
MOST_CARDS: Final = 1024
MOST_ROWS: Final = 200_000
LARGEST: Final = 2**53
NODE_COLUMNS: Final = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
POD_COLUMNS: Final = (
    "name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time",
    "scheduled_time",
)  # fmt: skip
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_LABEL: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class OpenbNode:
    """A row of the node list: milliCPU, MiB, whole cards; `model` is empty for a Node without cards."""

    name: str
    cpu_milli: int
    memory_mib: int
    cards: int
    model: str


@dataclass(frozen=True, slots=True)
class OpenbPod:
    """A row of the pod list: milliCPU, MiB, cards, milli per card; times in seconds, `scheduled` None where it never was."""

    name: str
    cpu_milli: int
    memory_mib: int
    cards: int
    card_milli: int
    models: tuple[str, ...]
    qos: str
    created: int
    deleted: int
    scheduled: int | None

    @property
    def gpu_milli(self) -> int:
        """What it asks for in all."""
        return self.cards * self.card_milli


def read_nodes(content: bytes, file: str) -> list[OpenbNode]:
    """Read a node list.

    Raises:
        ScenarioErrors: E0102, E0640 to E0642, everything that is wrong with line and column.
    """
    return _read(content, file, NODE_COLUMNS, _node)


def read_pods(content: bytes, file: str) -> list[OpenbPod]:
    """Read a pod list, in the order of the file.

    Raises:
        ScenarioErrors: E0102, E0640 to E0642, everything that is wrong with line and column.
    """
    return _read(content, file, POD_COLUMNS, _pod)


# ---- rows


class _Row:
    """One row; what is wrong in it is collected."""

    def __init__(self, values: Mapping[str, str], line: int, findings: list[ScenarioError]) -> None:
        self.values, self.line, self.findings = values, line, findings

    def wrong(self, column: str, code: str, message: str) -> None:
        self.findings.append(ScenarioError(code, message, column, self.line))

    def number(self, column: str, largest: int = LARGEST) -> int:
        text = self.values[column]
        if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= largest):
            self.wrong(column, "E0641", f"{text[:40]!r} is not a whole number from 0 to {largest}")
            return 0
        return int(text)

    def name(self, column: str) -> str:
        text = self.values[column]
        if not _NAME.fullmatch(text):
            self.wrong(column, "E0203", f"{text[:80]!r} is not a name: small letters, digits, '-' and '.', at most 253 characters")
        return text

    def label(self, column: str, text: str) -> str:
        if text and not _LABEL.fullmatch(text):
            self.wrong(column, "E0641", f"{text[:80]!r} is not a label value")
            return ""
        return text


def _node(row: _Row) -> OpenbNode:
    node = OpenbNode(
        row.name("sn"), row.number("cpu_milli"), row.number("memory_mib"), row.number("gpu", MOST_CARDS),
        row.label("model", row.values["model"]),
    )  # fmt: skip
    if bool(node.cards) != bool(node.model):
        row.wrong("model", "E0641", "a node with cards names their model, and one without names none")
    return node


def _pod(row: _Row) -> OpenbPod:
    models = tuple(row.label("gpu_spec", part) for part in row.values["gpu_spec"].split("|") if part)
    pod = OpenbPod(
        row.name("name"), row.number("cpu_milli"), row.number("memory_mib"), row.number("num_gpu", MOST_CARDS),
        row.number("gpu_milli", CARD), models, row.label("qos", row.values["qos"]), row.number("creation_time"),
        row.number("deletion_time"), row.number("scheduled_time") if row.values["scheduled_time"] else None,
    )  # fmt: skip
    if pod.cards != 1 and pod.card_milli not in (0, CARD):
        row.wrong("gpu_milli", "E0641", "only a pod of one card may ask for a share of it")
    if bool(pod.cards) != bool(pod.card_milli):
        row.wrong("gpu_milli", "E0641", "a pod with cards says how much of each, and one without asks for none")
    if pod.deleted < pod.created or not pod.created <= (pod.created if pod.scheduled is None else pod.scheduled) <= pod.deleted:
        row.wrong("deletion_time", "E0641", "times are out of order: creation, scheduling, deletion")
    return pod


# ---- files


def _read(content: bytes, file: str, columns: Sequence[str], make: Any) -> list[Any]:
    findings: list[ScenarioError] = []
    found: list[Any] = []
    try:
        for values, line in _rows(content, columns):
            found.append(make(_Row(values, line, findings)))
            if len(found) > MOST_ROWS:
                raise ScenarioError("E0110", f"more than {MOST_ROWS:,} rows", line=line)
    except ScenarioError as error:
        findings.append(error)
    counts = Counter(item.name for item in found)
    findings += [ScenarioError("E0642", f"{name!r} stands in {n} rows", columns[0]) for name, n in counts.items() if n > 1]
    if not found and not findings:
        findings.append(ScenarioError("E0640", "there are no rows"))
    if findings:
        raise ScenarioErrors([error.located(file=file) for error in findings[:100]])
    return found


def _rows(content: bytes, columns: Sequence[str]) -> Iterator[tuple[dict[str, str], int]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError("E0102", f"byte {error.start} is not UTF-8") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head = next(reader, [])
        if tuple(head) != tuple(columns):
            raise ScenarioError("E0640", f"the first line must be {','.join(columns)}", line=1)
        for row in reader:
            if len(row) != len(columns):
                raise ScenarioError("E0640", f"{len(row)} columns where there must be {len(columns)}", line=reader.line_num)
            yield dict(zip(columns, row, strict=True)), reader.line_num
    except csv.Error as error:
        raise ScenarioError("E0640", f"not CSV: {error}", line=reader.line_num) from None


# ---- manifests


def node_manifest(node: OpenbNode) -> dict[str, Any]:
    """The Node; 110 Pods fit on it by number, as on a kubelet by default."""
    amounts = {"cpu": f"{node.cpu_milli}m", "memory": f"{node.memory_mib}Mi", "pods": "110"}
    labels = {"kubernetes.io/hostname": node.name}
    if node.cards:
        amounts[GPU] = str(node.cards * CARD)
        labels[MODEL_LABEL] = node.model
    status = {"allocatable": amounts, "capacity": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node.name, "labels": labels}, "status": status}


def pod_manifest(pod: OpenbPod, *, priorities: bool) -> dict[str, Any]:
    """The Pod, Guaranteed as upstream has it; with `priorities` LS counts more than BE."""
    amounts = {"cpu": f"{pod.cpu_milli}m", "memory": f"{pod.memory_mib}Mi"}
    if pod.gpu_milli:
        amounts[GPU] = str(pod.gpu_milli)
    container = {"name": "main", "image": "registry.example/openb:1", "resources": {"requests": amounts, "limits": amounts}}
    spec: dict[str, Any] = {"containers": [container], "terminationGracePeriodSeconds": 0}
    if priorities:
        spec["priorityClassName"] = priority_class(pod.qos)
    if pod.models:
        wanted = {"key": MODEL_LABEL, "operator": "In", "values": list(pod.models)}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    labels = {"app": "openb", "qos": pod.qos or "none", "cards": str(pod.cards)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": pod.name, "namespace": NAMESPACE, "labels": labels},
        "spec": spec,
    }


def priority_class(qos: str) -> str:
    """The trace has no priorities; that LS counts more and BE less is our choice."""
    return {"LS": "openb-high", "BE": "openb-low"}.get(qos, "openb-normal")
