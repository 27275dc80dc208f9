"""The StatefulSet controller: Pods with numbers and claims, made in order, replaced only when the old one has disappeared.

Differs: claims always stay, whatever `persistentVolumeClaimRetentionPolicy` says; docs/controllers.md.

Source: pkg/controller/statefulset/{stateful_set_control,stateful_set_utils,stateful_pod_control}.go, v1.36
"""

from typing import Any, ClassVar, Final

from simulations.engine.api.pod import Pod
from simulations.engine.api.workloads import StatefulSet
from simulations.engine.cluster.answers import Answer
from simulations.engine.cluster.api_server import ApiServer, Key
from simulations.engine.controllers.controller import Controller
from simulations.engine.controllers.deployment import template_hash
from simulations.engine.controllers.pod_book import ready
from simulations.engine.kernel.loop import Steps

NAME: Final = "statefulset-controller"
REVISION_LABEL: Final = "controller-revision-hash"
INDEX_LABEL: Final = "apps.kubernetes.io/pod-index"
NAME_LABEL: Final = "statefulset.kubernetes.io/pod-name"


class StatefulSetController(Controller[StatefulSet]):
    """Keeps StatefulSets, one step per sync unless they are Parallel."""

    KIND: ClassVar[str] = "StatefulSet"

    def __init__(self, api: ApiServer) -> None:
        self._first: dict[Key, tuple[str, str]] = {}
        """The hash of the template as it was first seen, and the revision that it had in the dump."""
        super().__init__(api)

    def sync(self, item: StatefulSet, cause: int) -> Steps[None]:
        """Bring up, take down, update: the first that has something to do."""
        pods = {n: p for p in self.pods.get(item.key, {}).values() if (n := ordinal(item, p)) is not None}
        parallel = item.raw.get("spec", {}).get("podManagementPolicy") == "Parallel"
        start = _start(item)
        wanted = range(start, start + item.replicas)
        busy = yield from self._bring_up(item, pods, list(wanted), parallel=parallel, cause=cause)
        if busy:
            return
        extra = sorted((n for n in pods if n not in wanted), reverse=True)
        busy = yield from self._take_down(item, pods, extra, parallel=parallel, cause=cause)
        if not busy:
            yield from self._update(item, pods, list(wanted), cause)

    def may_adopt(self, item: StatefulSet, pod: Pod) -> bool:
        """Only one with the name of one of its Pods."""
        return ordinal(item, pod) is not None

    def status_of(self, item: StatefulSet) -> dict[str, Any]:
        """How many Pods there are, are of the present revision, ready and available."""
        pods = [p for p in self.pods.get(item.key, {}).values() if not p.terminal]
        revision = self._revision(item)
        return {
            "replicas": len(pods),
            "updatedReplicas": sum(1 for p in pods if p.labels.get(REVISION_LABEL, revision) == revision),
            "readyReplicas": sum(1 for p in pods if ready(p)),
            "availableReplicas": sum(1 for p in pods if self.available(item, p)),
        }

    # ---- the three parts; each says whether the sync ends with it

    def _bring_up(self, item: StatefulSet, pods: dict[int, Pod], wanted: list[int], *, parallel: bool, cause: int) -> Steps[bool]:
        missing: list[dict[str, Any]] = []
        claims: list[dict[str, Any]] = []
        for number in wanted:
            pod = pods.get(number)
            if pod is None:
                missing.append(self._manifest(item, number))
                claims += _claims(item, number)
                if not parallel:
                    break
            elif pod.terminal and not pod.terminating:
                yield from self.delete_pods(item, [pod], cause)
                if not parallel:
                    return True
            elif not parallel and (pod.terminating or not self.available(item, pod)):
                return True
        yield from self._create_claims(item, claims, cause)
        yield from self.create_pods(item, missing, [cause] * len(missing))
        return bool(missing) and not parallel

    def _create_claims(self, item: StatefulSet, claims: list[dict[str, Any]], cause: int) -> Steps[None]:
        for claim in claims:
            name = claim["metadata"]["name"]
            if self.api.get("PersistentVolumeClaim", item.namespace, name) is None:
                answer = yield self.client.create(claim, cause=cause)
                if answer.ok:
                    note = f"create Claim {name} Pod {_pod_of(item, name)} in StatefulSet {item.name} success"
                    self.event(item, "SuccessfulCreate", note, answer.seq)

    def _take_down(self, item: StatefulSet, pods: dict[int, Pod], extra: list[int], *, parallel: bool, cause: int) -> Steps[bool]:
        for number in extra:
            pod = pods[number]
            if not pod.terminating:
                yield from self.delete_pods(item, [pod], cause)
            if not parallel:
                return True
        return bool(extra)

    def _update(self, item: StatefulSet, pods: dict[int, Pod], wanted: list[int], cause: int) -> Steps[None]:
        """From the highest number down to the partition, one at a time; a Pod that is not well holds the rest up."""
        strategy = item.raw.get("spec", {}).get("updateStrategy") or {}
        if strategy.get("type") == "OnDelete":
            return
        partition = (strategy.get("rollingUpdate") or {}).get("partition") or 0
        revision = self._revision(item)
        for number in sorted(wanted, reverse=True):
            pod = pods.get(number)
            if pod is None or number < partition:
                return
            if pod.labels.get(REVISION_LABEL, revision) != revision and not pod.terminating:
                yield from self.delete_pods(item, [pod], cause)
                return
            if pod.terminating or not self.available(item, pod):
                return

    # ---- values

    def _revision(self, item: StatefulSet) -> str:
        """The revision of the template; the one of a dump stands for the template that came with it."""
        short = template_hash(item.template)
        status = item.raw.get("status") or {}
        known = self._first.setdefault(item.key, (short, str(status.get("updateRevision") or f"{item.name}-{short}")))
        return known[1] if short == known[0] else f"{item.name}-{short}"

    def _manifest(self, item: StatefulSet, number: int) -> dict[str, Any]:
        name = f"{item.name}-{number}"
        manifest = self.pod_manifest(
            item, name, {REVISION_LABEL: self._revision(item), INDEX_LABEL: str(number), NAME_LABEL: name}
        )  # fmt: skip
        spec = {**manifest["spec"], "hostname": name, "subdomain": item.raw.get("spec", {}).get("serviceName") or ""}
        own = {t["metadata"]["name"]: f"{t['metadata']['name']}-{name}" for t in _claim_templates(item)}
        if own:
            others = [volume for volume in spec.get("volumes") or [] if volume.get("name") not in own]
            spec["volumes"] = [*({"name": v, "persistentVolumeClaim": {"claimName": claim}} for v, claim in own.items()), *others]
        manifest["spec"] = spec
        return manifest

    def created(self, item: StatefulSet, name: str, answer: Answer) -> None:
        """In the words of this controller."""
        if answer.ok:
            self.event(item, "SuccessfulCreate", f"create Pod {name} in StatefulSet {item.name} successful", answer.seq)
        else:
            note = f"create Pod {name} in StatefulSet {item.name} failed error: {answer.message}"
            self.event(item, "FailedCreate", note, answer.seq)

    def deleted(self, item: StatefulSet, name: str, answer: Answer) -> None:
        """In the words of this controller."""
        self.event(item, "SuccessfulDelete", f"delete Pod {name} in StatefulSet {item.name} successful", answer.seq)


def _claim_templates(item: StatefulSet) -> list[dict[str, Any]]:
    return item.raw.get("spec", {}).get("volumeClaimTemplates") or []


def _claims(item: StatefulSet, number: int) -> list[dict[str, Any]]:
    """The claims of a Pod of the set, labelled as the set selects."""
    labels = (item.raw.get("spec", {}).get("selector") or {}).get("matchLabels") or {}
    made = []
    for template in _claim_templates(item):
        metadata = template["metadata"]
        own = {"name": f"{metadata['name']}-{item.name}-{number}", "namespace": item.namespace}
        marks = {**(metadata.get("labels") or {}), **labels}
        made.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {**metadata, **own, "labels": marks},
                "spec": dict(template.get("spec") or {}),
            }
        )
    return made


def _pod_of(item: StatefulSet, claim: str) -> str:
    return f"{item.name}-{claim.rpartition('-')[2]}"


def _start(item: StatefulSet) -> int:
    start = (item.raw.get("spec", {}).get("ordinals") or {}).get("start")
    return start if isinstance(start, int) else 0


def ordinal(item: StatefulSet, pod: Pod) -> int | None:
    """The number of a Pod of the set; None for one with another name."""
    parent, _dash, number = pod.name.rpartition("-")
    return int(number) if parent == item.name and number.isdigit() else None
