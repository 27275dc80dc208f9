"""Explanations as JSON: the names of fields in camelCase, what Kubernetes or a person named as it is."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from pydantic.alias_generators import to_camel


def wire(value: Any) -> Any:
    """Dataclasses as objects, tuples as lists; mappings keep their keys."""
    if is_dataclass(value) and not isinstance(value, type):
        return {to_camel(field.name): wire(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): wire(each) for key, each in value.items()}
    return [wire(each) for each in value] if isinstance(value, list | tuple) else value
