"""A scenario that keeps a worker busy for some seconds."""


def crowd(scale: int = 1) -> dict:
    """A cluster of 300 nodes, 1,400 pods of one set and 600 urgent ones that need room; or so many times that."""
    amounts = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    node = {"apiVersion": "v1", "kind": "Node", "status": {"allocatable": amounts, "capacity": amounts}}
    pod = {"cpu": "700m", "memory": "500Mi"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "resources": {"requests": pod}}]}}
    web = {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 1400 * scale, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }  # fmt: skip
    urgent = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "default"},
        "spec": {"priorityClassName": "urgent", "containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]},
    }  # fmt: skip
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 1000}
    generate = [
        {"count": 300 * scale, "namePrefix": "node-", "object": node},
        {"count": 600 * scale, "namePrefix": "urgent-", "object": urgent},
    ]
    spec = {"duration": "120s", "warmup": "0s", "initial": [kind, web], "generate": generate}
    return {"apiVersion": "schedscope/v1alpha1", "kind": "Scenario", "metadata": {"name": "crowd"}, "spec": spec}
