"""Replays a recorded timeline and prints the API calls in the form of the recordings."""

from typing import Any

from simulations.engine.kernel.clock import SECOND
from simulations.engine.kernel.trace import Record
from simulations.engine.scenario import from_recorded
from simulations.engine.simulation import Simulation, final_state

Document = dict[str, Any]
VERBS = ("create", "patch", "update", "delete")
NO_CLIENTS = ("setup", "schedscope", "kube-apiserver")
"""Actors whose records are no calls: what the API server writes itself on the way of a call is in no recording."""


def replay_timelines(recorded: Document, name: str) -> Document:
    """Our calls for one recorded file; `notModelled` names what was left out of it.

    Raises:
        ScenarioErrors: the file cannot be read.
    """
    scenario = from_recorded(recorded)
    calls: list[Document] = []
    simulation = Simulation(scenario, on_records=lambda records: calls.extend(_calls(records)))
    simulation.run()
    document: Document = {"file": name, "calls": calls, "final": dict(final_state(simulation))}
    if scenario.not_modelled:
        document["notModelled"] = list(scenario.not_modelled)
    return document


def _calls(records: list[Record]) -> list[Document]:
    return [_call(r) for r in records if r.t >= 0 and r.verb in VERBS and r.actor not in NO_CLIENTS]


def _call(record: Record) -> Document:
    data = record.data or {}
    call: Document = {"t": data.get("requested", record.t) / SECOND, "actor": record.actor, "verb": record.verb}
    call |= {"resource": record.resource, "code": record.code}
    if record.resource == "events":
        regarding = data["regarding"]["name"]
        related = (data.get("related") or {}).get("name")
        return {
            **call,
            "reason": data["reason"],
            "note": data["note"],
            "type": data["type"],
            "regarding": regarding,
            "related": related,
        }
    call["name"] = record.name
    for key in ("node", "status"):
        if key in data:
            call[key] = data[key]
    if record.verb == "delete":
        call["gracePeriodSeconds"] = data.get("gracePeriodSeconds")
    return call
