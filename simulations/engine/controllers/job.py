"""The Job controller: Pods until enough of them have succeeded, or too many failed.

Differs: backoff per index, success policies and the deletion of finished Jobs are not modelled; docs/controllers.md.

Source: pkg/controller/job/{job_controller,backoff_utils,pod_failure_policy,indexed_job_utils}.go, v1.36
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from simulations.engine.api.pod import FAILED, SUCCEEDED, Pod
from simulations.engine.api.workloads import Job
from simulations.engine.cluster.answers import DELETED, Answer, WatchEvent
from simulations.engine.cluster.api_server import ApiServer, Key
from simulations.engine.controllers.controller import Controller
from simulations.engine.controllers.pod_book import active, ready
from simulations.engine.kernel.clock import MINUTE, SECOND, SimTime
from simulations.engine.kernel.loop import Future, Steps, all_of

NAME: Final = "job-controller"
FINALIZER: Final = "batch.kubernetes.io/job-tracking"
INDEX: Final = "batch.kubernetes.io/job-completion-index"
FIRST_BACKOFF: Final = 10 * SECOND
LONGEST_BACKOFF: Final = 10 * MINUTE
BACKOFF_LIMIT: Final = 6


@dataclass(slots=True)
class Progress:
    """What is known of a Job: counted Pods by uid, numbers, when the last failure was, how it ended."""

    counted: set[str] = field(default_factory=set)
    succeeded: int = 0
    failed: int = 0
    indexes: set[int] = field(default_factory=set)
    last_failure: SimTime | None = None
    started: SimTime | None = None
    done: str = ""
    fails: bool = False
    """A rule of the failure policy ends the Job."""


class JobController(Controller[Job]):
    """Runs Jobs."""

    KIND: ClassVar[str] = "Job"

    def __init__(self, api: ApiServer) -> None:
        self.progress: dict[Key, Progress] = {}
        super().__init__(api)

    def on_item(self, event: WatchEvent) -> None:
        """A Job changed; one of a dump goes on from its status."""
        item: Job = event.object
        if event.type == DELETED:
            self.progress.pop(item.key, None)
            for pod in self.pods.get(item.key, {}).values():
                self._release(pod, event.cause)
        elif item.key not in self.progress:
            self.progress[item.key] = _from_status(item)
        super().on_item(event)

    def pod_changed(self, key: Key, event: WatchEvent) -> None:
        """A Pod whose Job is gone has nobody to count it: its finalizer must not hold it."""
        pod: Pod = event.object
        if key not in self.items and event.type != DELETED and (pod.terminating or pod.terminal):
            self._release(pod, event.cause)
        super().pod_changed(key, event)

    def _release(self, pod: Pod, cause: int) -> Future[Answer] | None:
        if FINALIZER not in pod.finalizers:
            return None
        rest = [name for name in pod.finalizers if name != FINALIZER]
        return self.client.patch("Pod", pod.namespace, pod.name, {"metadata": {"finalizers": rest}}, cause=cause)

    # ---- syncs

    def status_of(self, item: Job) -> dict[str, Any]:
        """How many Pods run, and how many have ended either way."""
        known = self.progress[item.key]
        running = [p for p in self.pods.get(item.key, {}).values() if active(p)]
        counts = {"active": len(running), "ready": sum(1 for p in running if ready(p))}
        return counts | {"succeeded": known.succeeded, "failed": known.failed} if not known.done else {}

    def sync_terminating(self, item: Job, cause: int) -> Steps[None]:
        """Its Pods are still counted, and let go."""
        yield from self._count(item, self.progress[item.key], list(self.pods.get(item.key, {}).values()), cause)

    def sync(self, item: Job, cause: int) -> Steps[None]:
        """Count what ended, then start, stop or finish."""
        known = self.progress[item.key]
        pods = list(self.pods.get(item.key, {}).values())
        yield from self._count(item, known, pods, cause)
        if known.done:
            return
        running = [p for p in pods if active(p)]
        if _spec(item).get("suspend"):
            yield from self.delete_pods(item, running, cause)
            return
        if known.started is None:
            known.started = self.api.loop.now
            self._watch_deadline(item, cause)
        end = self._end(item, known)
        if end[0]:
            yield from self._finish(item, known, running, end, cause)
        else:
            yield from self._adjust(item, known, pods, cause)

    def _count(self, item: Job, known: Progress, pods: list[Pod], cause: int) -> Steps[None]:
        """Ended Pods are counted once, and then let go by their finalizer."""
        calls = []
        for pod in sorted(pods, key=lambda p: (p.created, p.name)):
            over = pod.terminal or (pod.terminating and _replaced_early(item))
            if over and pod.uid not in known.counted:
                known.counted.add(pod.uid)
                self._judge(item, known, pod)
            if (pod.terminal or pod.terminating) and pod.uid in known.counted:
                calls.append(self._release(pod, cause))
        yield all_of(self.api.loop, [call for call in calls if call is not None])

    def _judge(self, item: Job, known: Progress, pod: Pod) -> None:
        if pod.phase == SUCCEEDED:
            known.succeeded += 1
            index = pod.annotations.get(INDEX, "")
            if index.isdigit():
                known.indexes.add(int(index))
            return
        action = failure_action(_spec(item).get("podFailurePolicy"), pod)
        if action == "FailJob":
            known.fails = True
        if action != "Ignore":
            known.failed += 1
            known.last_failure = self.api.loop.now

    def _end(self, item: Job, known: Progress) -> tuple[str, str, str]:
        """How the Job ends now: type of the condition, reason, message; empty while it goes on."""
        spec = _spec(item)
        limit, completions = spec.get("backoffLimit", BACKOFF_LIMIT), spec.get("completions")
        if known.fails:
            return "Failed", "PodFailurePolicy", "a pod failed in a way that the policy lets fail the job"
        if known.failed > limit:
            return "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
        deadline = spec.get("activeDeadlineSeconds")
        if isinstance(deadline, int) and known.started is not None and self.api.loop.now >= known.started + deadline * SECOND:
            return "Failed", "DeadlineExceeded", "Job was active longer than specified deadline"
        left = any(active(p) for p in self.pods.get(item.key, {}).values())
        enough = known.succeeded > 0 and not left if completions is None else known.succeeded >= completions
        return ("Complete", "CompletionsReached", "Reached expected number of succeeded pods") if enough else ("", "", "")

    def _watch_deadline(self, item: Job, cause: int) -> None:
        deadline = _spec(item).get("activeDeadlineSeconds")
        if isinstance(deadline, int):
            self.api.loop.after(deadline * SECOND, self.enqueue, item.key, cause)

    def _finish(self, item: Job, known: Progress, running: list[Pod], end: tuple[str, str, str], cause: int) -> Steps[None]:
        kind, reason, message = end
        known.done = known.done or reason
        yield from self.delete_pods(item, running, cause)
        condition = {"type": kind, "status": "True", "reason": reason, "message": message}
        counts = {"succeeded": known.succeeded, "failed": known.failed, "active": 0, "ready": 0}
        status = {"conditions": [condition], **counts}
        answer: Answer = yield self.client.update_status("Job", item.namespace, item.name, status, cause=cause)
        word = ("Completed", "Job completed", "Normal") if kind == "Complete" else (reason, message, "Warning")
        self.event(item, word[0], word[1], answer.seq, word[2])

    def _adjust(self, item: Job, known: Progress, pods: list[Pod], cause: int) -> Steps[None]:
        """As many Pods as may run at once and are still needed; none sooner after a failure than its backoff allows."""
        running = [p for p in pods if active(p)]
        leaving = [] if _replaced_early(item) else [p for p in pods if p.terminating and not p.terminal]
        completions = _spec(item).get("completions")
        left = max(0, completions - known.succeeded) if completions is not None else (0 if known.succeeded else item.replicas)
        wanted = min(item.replicas, left) if completions is not None else max(left, 0)
        if len(running) > wanted and completions is not None:
            extra = sorted(running, key=lambda p: (bool(p.node_name), ready(p), -p.created))[: len(running) - wanted]
            yield from self.delete_pods(item, extra, cause)
            return
        missing = wanted - len(running) - len(leaving)
        if missing <= 0:
            return
        wait = self._backoff(known)
        if wait > 0:
            self.api.loop.after(wait, self.enqueue, item.key, cause)
            return
        manifests = self._manifests(item, known, running, missing)
        yield from self.create_pods(item, manifests, [cause] * len(manifests))

    def _backoff(self, known: Progress) -> int:
        if known.last_failure is None or not known.failed:
            return 0
        wait = min(LONGEST_BACKOFF, FIRST_BACKOFF << min(known.failed - 1, 10))
        return max(0, known.last_failure + wait - self.api.loop.now)

    def _manifests(self, item: Job, known: Progress, running: list[Pod], number: int) -> list[dict[str, Any]]:
        labels = {"batch.kubernetes.io/job-name": item.name, "job-name": item.name, "batch.kubernetes.io/controller-uid": item.uid}
        indexes: list[int | None] = [None] * number
        if _spec(item).get("completionMode") == "Indexed":
            taken = known.indexes | {int(p.annotations[INDEX]) for p in running if p.annotations.get(INDEX, "").isdigit()}
            indexes = [i for i in range(_spec(item).get("completions") or 0) if i not in taken][:number]  # type: ignore[assignment]
        found = []
        for index in indexes:
            name = "" if index is None else self.api.new_name(f"{item.name}-{index}-", self.rng)
            manifest = self.pod_manifest(item, name, {**labels, **({} if index is None else {INDEX: str(index)})})
            manifest["metadata"]["finalizers"] = [FINALIZER]
            if index is not None:
                manifest["metadata"]["annotations"] = {**manifest["metadata"].get("annotations", {}), INDEX: str(index)}
            found.append(manifest)
        return found


# ---- values


def _spec(item: Job) -> dict[str, Any]:
    found = item.raw.get("spec")
    return found if isinstance(found, dict) else {}


def _replaced_early(item: Job) -> bool:
    """TerminatingOrFailed: a Pod that is being deleted counts as failed at once. A failure policy forces the other."""
    spec = _spec(item)
    return spec.get("podReplacementPolicy", "TerminatingOrFailed") == "TerminatingOrFailed" and not spec.get("podFailurePolicy")


def _from_status(item: Job) -> Progress:
    status = item.raw.get("status") or {}
    over = [c for c in status.get("conditions") or [] if c.get("status") == "True" and c.get("type") in ("Complete", "Failed")]
    ended = next((c.get("reason") or c["type"] for c in over), "")
    return Progress(succeeded=status.get("succeeded") or 0, failed=status.get("failed") or 0, done=str(ended or ""))


def failure_action(policy: Mapping[str, Any] | None, pod: Pod) -> str:
    """What the first matching rule of a podFailurePolicy says of a Pod that did not succeed: Ignore, Count, FailJob; Count without one."""
    for rule in (policy or {}).get("rules") or []:
        if _rule_matches(rule, pod):
            return str(rule.get("action") or "Count")
    return "Count"


def _rule_matches(rule: Mapping[str, Any], pod: Pod) -> bool:
    codes = rule.get("onExitCodes")
    if codes:
        code = exit_code(pod)
        values = codes.get("values") or []
        return pod.phase == FAILED and code != 0 and ((code in values) == (codes.get("operator") == "In"))
    for wanted in rule.get("onPodConditions") or []:
        condition = pod.condition(str(wanted.get("type")))
        if condition is not None and condition.status == wanted.get("status", "True"):
            return True
    return False


EXIT_ANNOTATION: Final = "schedscope/exit-code"
"""How the containers of a Pod end, where it ends by itself; 0 without it."""


def exit_code(pod: Pod) -> int:
    """The exit code that the Pod's annotation says."""
    text = pod.annotations.get(EXIT_ANNOTATION, "0")
    return int(text) if text.isdigit() else 1
