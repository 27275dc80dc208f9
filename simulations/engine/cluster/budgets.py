"""How the status of PodDisruptionBudgets is written, by the disruption controller and by evictions."""

from dataclasses import replace
from typing import Final

from simulations.engine.api.budgets import budget_status
from simulations.engine.api.workloads import PodDisruptionBudget
from simulations.engine.cluster.answers import Answer, conflict, not_found
from simulations.engine.cluster.api_server import ApiServer
from simulations.engine.cluster.call import Call
from simulations.engine.cluster.writes import STALE, record, store_answer

RESOURCE: Final = "poddisruptionbudgets.policy"


def put_status(api: ApiServer, call: Call, changed: PodDisruptionBudget) -> Answer:
    """Write the status of `changed`; 409 when the stored budget is newer than the one that it was made from."""
    stored: PodDisruptionBudget | None = api.get("PodDisruptionBudget", call.namespace, call.name)
    if stored is None:
        return record(api, call, not_found(RESOURCE, call.name))
    call.uid = stored.uid
    if stored.resource_version != changed.resource_version:
        return record(api, call, conflict(f'Operation cannot be fulfilled on {RESOURCE} "{call.name}": {STALE}'))
    raw = {**stored.raw, "status": budget_status(changed, api.settings.epoch)}
    return store_answer(api, call, api.store(replace(changed, raw=raw)), stored)
