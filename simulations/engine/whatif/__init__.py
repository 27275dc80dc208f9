"""What if: a base scenario document and a few changes give a new scenario document.

Pure: mappings in, a new mapping out; the base is never touched. The form of the web page, its YAML and `run --set key=value` all speak in
`WhatIf`; every wrong value is refused with a code and the path of the field, all of them at once.
"""

from simulations.engine.whatif.apply import apply_what_if, compose, import_document, present_objects
from simulations.engine.whatif.changes_yaml import read_changes, write_changes
from simulations.engine.whatif.model import (
    MAX_ADDED_NODES,
    MAX_ADDED_PODS,
    MAX_PACE,
    AddNodes,
    AddPods,
    Change,
    Changed,
    NodeChange,
    ObjectChange,
    WhatIf,
    WorkloadChange,
)
from simulations.engine.whatif.settings import known_settings, parse_settings
from simulations.engine.whatif.texts import parse_duration

__all__ = [
    "MAX_ADDED_NODES", "MAX_ADDED_PODS", "MAX_PACE", "AddNodes", "AddPods", "Change", "Changed", "NodeChange", "ObjectChange", "WhatIf",
    "WorkloadChange", "apply_what_if", "compose", "import_document", "known_settings", "parse_duration", "parse_settings",
    "present_objects", "read_changes", "write_changes",
]  # fmt: skip
