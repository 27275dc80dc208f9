"""From what a person gave (text, document, recorded file) to a scenario that runs."""

from collections.abc import Mapping
from typing import Any

from simulations.engine.documents import load_documents
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors
from simulations.engine.scenario import Scenario, from_recorded, is_recorded, parse_scenario


def scenario_of_text(text: bytes, file: str = "") -> tuple[Scenario, dict[str, Any]]:
    """Read a scenario (or a recorded timeline) from YAML or JSON; return it with its document.

    Raises:
        ScenarioErrors: what is wrong, with file, line and field.
    """
    documents = load_documents(text, file)
    if len(documents) != 1:
        raise ScenarioErrors([ScenarioError("E0304", f"expected one document, found {len(documents)}", file=file)])
    document = documents[0]
    if is_recorded(document.value):
        return from_recorded(document.value), document.value
    return parse_scenario(document.value, line_of=document.position, file=file), document.value


def scenario_of_document(document: Mapping[str, Any]) -> Scenario:
    """Read a scenario from its document.

    Raises:
        ScenarioErrors: what is wrong, with the field.
    """
    return from_recorded(document) if is_recorded(document) else parse_scenario(document)
