"""Filters for times, ages and numbers."""

import shlex
from datetime import datetime
from typing import Any

import yaml as pyyaml
from django import template
from django.utils import timezone

from dashboard.presenters import age

SECOND = 1_000_000_000

register = template.Library()


@register.filter
def sim_time(ns: int | None) -> str:
    """T+12.345s; nothing for None."""
    if ns is None:
        return ""
    sign = "-" if ns < 0 else "+"
    text = f"{abs(ns) / SECOND:.3f}".rstrip("0").rstrip(".")
    return f"T{sign}{text}s"


@register.filter
def duration(ns: int | None) -> str:
    """12.3 ms, 4.2 s, 3m20s."""
    if ns is None:
        return ""
    if ns < 1_000_000:
        return f"{ns / 1000:.3g} µs"
    if ns < SECOND:
        return f"{ns / 1_000_000:.3g} ms"
    if ns < 120 * SECOND:
        return f"{ns / SECOND:.3g} s"
    return age(ns / SECOND)


@register.filter
def seconds(value: float | None) -> str:
    """Seconds in the unit that suits them; nothing for None."""
    return "" if value is None else duration(round(value * SECOND))


@register.filter
def milliseconds(value: float | None) -> str:
    """The same for milliseconds."""
    return "" if value is None else seconds(value / 1000)


@register.filter
def since(moment: datetime | None) -> str:
    """How long ago, as kubectl writes ages."""
    return "" if moment is None else age((timezone.now() - moment).total_seconds())


@register.filter
def thousands(value: Any) -> str:
    """12,345."""
    return f"{value:,}" if isinstance(value, int) else str(value)


@register.filter
def percent(value: float) -> str:
    """A fraction as whole percent."""
    return f"{round(value * 100)}"


@register.filter
def words(value: str) -> str:
    """pdb_samples as pdb samples."""
    return value.replace("_", " ")


@register.simple_tag
def kubectl(*parts: str) -> str:
    """A read-only kubectl line with its names quoted for a shell."""
    return " ".join(["kubectl", *(shlex.quote(part) for part in parts)])


@register.filter
def namespace_of(pod: str) -> str:
    """The namespace of `namespace/name`."""
    return pod.partition("/")[0]


@register.filter
def name_of(pod: str) -> str:
    """The name of `namespace/name`."""
    return pod.partition("/")[2]


@register.filter
def get(mapping: Any, key: str) -> Any:
    """A key of a mapping, nothing where it has none."""
    return mapping.get(key) if hasattr(mapping, "get") else None


@register.filter
def yaml(value: Any) -> str:
    """A manifest as YAML."""
    return str(pyyaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100))
