"""Builds traces by hand for the tests of folds: a pod's way through scheduling and preemption, record by record."""

from simulations.engine.kernel.clock import MILLISECOND
from simulations.engine.kernel.trace import Trace


class Story:
    """Writes the records of a made-up run; times are milliseconds since T+0."""

    def __init__(self):
        self.trace = Trace(keep=True)
        self.add(
            0,
            "schedscope",
            "begin",
            resource="runs",
            data={"format": 1, "scenario": "story", "seed": 1, "startTime": "2026-01-01T00:00:00Z"},
        )

    @property
    def records(self):
        self.trace.flush()
        return self.trace.records

    def add(self, ms, actor, verb, **fields):
        return self.trace.add(int(ms * MILLISECOND), actor, verb, **fields)

    def of_pod(self, ms, actor, verb, name, resource="pods", **fields):
        namespace, _, name = name.rpartition("/")
        namespace = namespace or "shop"
        return self.add(ms, actor, verb, resource=resource, namespace=namespace, name=name, uid=f"uid-{name}", **fields)

    def node(self, ms, name, row, **after):
        manifest = {
            "metadata": {"labels": {"topology.kubernetes.io/zone": "a"}},
            "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}},
        }
        data = {"row": row, "object": manifest, "after": {"ready": True} | after}
        return self.add(ms, "setup", "create", resource="nodes", name=name, uid=f"uid-{name}", code=201, data=data)

    def running(self, ms, name, node, priority=0, owner=""):
        after = {"phase": "Running", "node": node, "priority": priority} | ({"owner": owner} if owner else {})
        return self.of_pod(ms, "setup", "create", name, code=201, data={"after": after})

    def create(self, ms, name, priority=0, actor="user", cause=0, owner=""):
        after = {"phase": "Pending", "priority": priority} | ({"owner": owner} if owner else {})
        return self.of_pod(ms, actor, "create", name, code=201, cause=cause, data={"after": after})

    def enqueue(self, ms, name, queue="active", event="PodAdd", cause=0, **data):
        return self.of_pod(ms, "scheduler", "enqueue", name, cause=cause, data={"queue": queue, "event": event} | data)

    def attempt(self, ms, name, cause, reason="Unschedulable", message="", took=2, **data):
        data = {
            "attempt": 1,
            "started": int((ms - took) * MILLISECOND),
            "profile": "default-scheduler",
            "nodes": 2,
            "evaluated": 2,
            "feasible": 0,
        } | data
        return self.of_pod(ms, "scheduler", "attempt", name, reason=reason, message=message, cause=cause, data=data)

    def preempt(self, ms, name, cause, node, *victims, executor="async", violated=()):
        entries = [
            {
                "namespace": "shop",
                "name": victim,
                "uid": f"uid-{victim}",
                "priority": 0,
                "pdb_violated": victim in violated,
                "terminating": False,
            }
            for victim in victims
        ]
        candidate = {
            "row": 0,
            "node": node,
            "violations": len(violated),
            "highest": 0,
            "sum": 0,
            "victims": len(victims),
            "start": 0,
            "names": list(victims),
        }
        data = {
            "node": node,
            "executor": executor,
            "rule": "only one candidate",
            "victims": entries,
            "candidates": [candidate],
            "none": [],
        }
        return self.of_pod(ms, "scheduler", "preempt", name, cause=cause, data=data)

    def nominate(self, ms, name, reason, node="", cause=0, kind="victims"):
        return self.of_pod(
            ms, "scheduler", "nominate", name, reason=reason, cause=cause, data={"node": node, "previous": "", "kind": kind}
        )

    def delete(self, ms, name, node, cause, actor="kube-scheduler", grace=30, code=200, message="", priority=0, owner=""):
        if code >= 400:
            return self.of_pod(ms, actor, "delete", name, code=code, reason="Invalid", message=message, cause=cause)
        after = {
            "phase": "Running",
            "node": node,
            "deletion": int((ms + grace * 1000) * MILLISECOND),
            "grace": grace,
            "priority": priority,
        }
        after["conditions"] = [["DisruptionTarget", "True", "PreemptionByScheduler"]]
        after |= {"owner": owner} if owner else {}
        return self.of_pod(ms, actor, "delete", name, code=code, cause=cause, data={"after": after})

    def gone(self, ms, name, cause=0):
        return self.of_pod(ms, "kube-apiserver", "gone", name, cause=cause, data={})

    def bind(self, ms, name, node, cause, priority=0):
        assumed = self.of_pod(ms, "scheduler", "assume", name, cause=cause, data={"node": node})
        after = {"phase": "Pending", "node": node, "priority": priority}
        return self.of_pod(
            ms + 3, "kube-scheduler", "create", name, "pods/binding", code=201, cause=assumed, data={"node": node, "after": after}
        )

    def starts(self, ms, name, node, cause, priority=0):
        after = {"phase": "Running", "node": node, "ready": True, "priority": priority}
        return self.of_pod(ms, "kubelet", "patch", name, "pods/status", code=200, cause=cause, data={"after": after})

    def event(self, ms, reason, note, name, cause=0, type_="Warning"):
        regarding = {"kind": "Pod", "namespace": "shop", "name": name, "uid": f"uid-{name}"}
        data = {"type": type_, "reason": reason, "note": note, "regarding": regarding}
        return self.add(
            ms, "kube-scheduler", "create", resource="events", namespace="shop", name=f"{name}.1", code=201, cause=cause, data=data
        )


LACKS_CPU = "0/2 nodes are available: 2 Insufficient cpu."
VERDICTS = [["NodeResourcesFit", "Unschedulable", ["Insufficient cpu"], [[0, 2]]]]


def descheduler_story():
    """A cycle in which web-1 is evicted, web-2 is refused by its budget, web-3 meets a limit and web-4 is left alone; then another."""
    story = Story()
    for number in (1, 2, 3, 4):
        story.running(0, f"web-{number}", "node-1")
    told = 0
    for cycle, ms in ((1, 1000), (2, 2000)):
        begun = story.add(ms, "descheduler", "cycle", resource="nodes", data={"cycle": cycle, "nodes": 2, "dryRun": False})
        if cycle == 1:
            for name, code, reason, message in (
                ("web-1", 201, "Evicted", ""),
                ("web-2", 429, "Failed", 'error when evicting pod (ignoring) "web-2": no'),
                ("web-3", 0, "NodeLimit", "maximum number of evicted pods per node reached"),
            ):
                data = {"cycle": cycle, "profile": "p", "strategy": "PodLifeTime", "node": "node-1", "why": "it is 9 s old"}
                story.of_pod(
                    ms + 5, "descheduler", "deschedule", name, code=code, reason=reason, message=message, cause=begun, data=data
                )
        data = {"cycle": cycle, "profile": "p", "point": "deschedule", "started": ms * MILLISECOND, "evicted": 2 - cycle}
        left = {"left": [["Filter", "pod is a mirror pod", ["shop/web-4"]]]} if cycle == 1 else {"leftAs": told}
        told = story.add(ms + 20, "descheduler", "strategy", resource="nodes", reason="PodLifeTime", cause=begun, data=data | left)
        data = {"cycle": cycle, "started": ms * MILLISECOND, "evicted": 2 - cycle, "dryRun": False}
        story.add(ms + 20, "descheduler", "cycled", resource="nodes", cause=begun, data=data)
    return story


def preemption_story(executor="async", refuse=0):
    """urgent-1 needs the room of web-1 on node-1; web-1's ReplicaSet makes web-2, which goes to node-2."""
    story = Story()
    story.node(0, "node-1", 0)
    story.node(0, "node-2", 1)
    story.running(0, "web-1", "node-1", owner="ReplicaSet/web")
    created = story.create(1000, "urgent-1", priority=1000)
    woken = story.enqueue(1002, "urgent-1", cause=created)
    tried = story.attempt(1005, "urgent-1", woken, message=LACKS_CPU, verdicts=VERDICTS)
    story.event(1006, "FailedScheduling", LACKS_CPU, "urgent-1", cause=tried)
    chosen = story.preempt(1005, "urgent-1", tried, "node-1", "web-1", executor=executor, violated=("web-1",))
    if executor == "async":
        story.nominate(1005, "urgent-1", "Set", "node-1", cause=chosen)
        story.enqueue(1006, "urgent-1", "gated", "ScheduleAttemptFailure", cause=tried, plugin="DefaultPreemption")
    for index in range(refuse):
        story.delete(1010 + index, "web-1", "node-1", chosen, code=422, message="refused by policy")
    deleted = story.delete(1050, "web-1", "node-1", chosen, owner="ReplicaSet/web")
    if executor == "sync":
        story.nominate(1052, "urgent-1", "Set", "node-1", cause=chosen)
        story.enqueue(1052, "urgent-1", "unschedulable", "ScheduleAttemptFailure", cause=tried)
    again = story.create(1060, "web-2", actor="controller-manager", cause=deleted, owner="ReplicaSet/web")
    queued = story.enqueue(1062, "web-2", cause=again)
    placed = story.attempt(1064, "web-2", queued, reason="Scheduled", feasible=1, node="node-2")
    story.starts(2000, "web-2", "node-2", story.bind(1064, "web-2", "node-2", placed))
    left = story.gone(3000, "web-1", cause=deleted)
    woken = story.enqueue(3002, "urgent-1", "active", "AssignedPodDelete", cause=left)
    tried = story.attempt(3005, "urgent-1", woken, reason="Scheduled", attempt=2, feasible=1, node="node-1", nominatedFirst=True)
    bound = story.bind(3005, "urgent-1", "node-1", tried, priority=1000)
    story.nominate(3008, "urgent-1", "Bound", "node-1", cause=bound)
    story.starts(4000, "urgent-1", "node-1", bound, priority=1000)
    story.add(5000, "schedscope", "end", resource="runs", reason="Duration", data={"counts": {"pods": 3}})
    return story
