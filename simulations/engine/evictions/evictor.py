"""The seam between who wants a Pod to leave and how it is made to leave."""

from typing import Final, Protocol

from simulations.engine.api.pod import Pod
from simulations.engine.cluster.answers import Answer
from simulations.engine.cluster.client import Client
from simulations.engine.cluster.eviction import Eviction
from simulations.engine.kernel.loop import Future

DEFAULT: Final = Eviction()


class Evictor(Protocol):
    """Evicts Pods for one requester. Limits, filters and retries are the requester's own affair."""

    def evict(self, pod: Pod, asked: Eviction = DEFAULT, *, cause: int = 0) -> Future[Answer]:
        """Ask once that a Pod leaves; the answer says whether it will (below 300), or why not. `cause` is the record that led to it."""
        ...


class EvictionCalls:
    """Evicts by the eviction call (policy/v1), which honours budgets and webhooks; the client's actor is who asks."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def evict(self, pod: Pod, asked: Eviction = DEFAULT, *, cause: int = 0) -> Future[Answer]:
        """See `Evictor`; the answers are those of `cluster.eviction.evict`."""
        return self._client.evict(pod.namespace, pod.name, asked, cause=cause)
