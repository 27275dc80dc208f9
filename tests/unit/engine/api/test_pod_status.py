"""What is read of a Pod's status besides phase and conditions, and when conditions changed last."""

import pytest

from simulations.engine.api.decode import decode_pod
from simulations.engine.api.encode import pod_manifest
from simulations.engine.api.pod import Condition, ContainerStatus
from simulations.engine.cluster.writes import with_condition
from simulations.engine.kernel.clock import SECOND
from tests.builders import EPOCH, make_pod

FAILED = {
    "phase": "Failed",
    "reason": "Evicted",
    "qosClass": "Burstable",
    "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T00:00:05Z"}],
    "containerStatuses": [
        {"name": "main", "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}},
        {"name": "side", "restartCount": 1, "state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}},
    ],
    "initContainerStatuses": [{"name": "first", "state": {"terminated": {"exitCode": 0}}}],
}


def test_container_statuses_and_reason_are_read():
    """Restarts, waiting and terminated reasons, exit codes; 0 is an exit code and None is none."""
    pod = decode_pod({**make_pod("web-1").on("node-a").manifest(), "status": FAILED}, EPOCH)
    assert (pod.details.reason, pod.details.qos_class) == ("Evicted", "Burstable")
    assert pod.details.containers == (
        ContainerStatus("main", 3, "CrashLoopBackOff"),
        ContainerStatus("side", 1, "", "OOMKilled", 137),
    )
    assert pod.details.init_containers == (ContainerStatus("first", 0, "", "", 0),)
    assert pod.conditions[0].since == 5 * SECOND


def test_a_manifest_keeps_what_was_read_of_the_status():
    """A pod that is patched comes back with its container statuses."""
    pod = decode_pod({**make_pod("web-1").on("node-a").manifest(), "status": FAILED}, EPOCH)
    again = decode_pod(pod_manifest(pod, EPOCH), EPOCH)
    assert again.details == pod.details


@pytest.mark.parametrize(
    "status, since",
    [("True", 5 * SECOND), ("False", 9 * SECOND)],
    ids=["the same status keeps its time", "another status gets the present time"],
)
def test_a_condition_changes_its_time_only_with_its_status(status, since):
    """lastTransitionTime is about status, not about reason or message."""
    before = (Condition("Ready", "True", since=5 * SECOND), Condition("PodScheduled", "True", since=1))
    after = with_condition(before, Condition("Ready", status, "Other"), 9 * SECOND)
    assert [(c.type, c.reason, c.since) for c in after] == [("Ready", "Other", since), ("PodScheduled", "", 1)]
