"""Validating admission webhooks: who may say no to a call before the API server looks at it.

Source: staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/{validating/dispatcher.go,errors/statuserror.go}, v1.36
"""

from dataclasses import dataclass
from typing import Protocol

from simulations.engine.cluster.answers import Answer
from simulations.engine.cluster.call import Call
from simulations.engine.cluster.faults import REASONS


@dataclass(frozen=True, slots=True)
class Denial:
    """What a webhook answers to a call that it refuses."""

    message: str
    code: int = 429


class Webhook(Protocol):
    """Looks at the calls that match ("create pods/eviction"). It sees the call as it was sent, `data` with its options."""

    name: str
    match: str

    def review(self, call: Call) -> Denial | None:
        """Why the call is refused; None lets it pass. Called once for each call, at the instant of its admission."""


class Webhooks:
    """The webhooks of a cluster, asked in the order in which they were added; the first denial is the answer."""

    def __init__(self) -> None:
        self._webhooks: list[Webhook] = []

    def add(self, webhook: Webhook) -> None:
        """Ask this webhook too, from now on."""
        self._webhooks.append(webhook)

    def review(self, call: Call) -> Answer | None:
        """The answer of the first webhook that refuses the call."""
        for webhook in self._webhooks:
            if webhook.match != call.words:
                continue
            denial = webhook.review(call)
            if denial is not None:
                text = f'admission webhook "{webhook.name}" denied the request: {denial.message}'
                return Answer(denial.code, REASONS.get(denial.code, "Forbidden"), text)
        return None
