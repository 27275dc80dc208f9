"""The parts of a scenario that make Pods leave: evictions, drains, cordons, the eviction webhook."""

from simulations.engine.api.durations import parse_duration
from simulations.engine.evictions.drain_flags import DrainFlags, parse_flags
from simulations.engine.evictions.webhook import MESSAGE, WebhookSettings
from simulations.engine.scenario.fields import Fields
from simulations.engine.scenario.model import Operation


def evict(fields: Fields, at: int) -> Operation | None:
    """`evictOperation: {name, namespace, gracePeriodSeconds, dryRun}`."""
    fields.only(("name", "namespace", "gracePeriodSeconds", "dryRun"))
    name = fields.text("name")
    if not name:
        fields.wrong("name", "E0302", "Required value")
        return None
    return Operation(
        at, "evict", "Pod", fields.text("namespace", "default"), name, grace_seconds=_grace(fields), dry_run=fields.flag("dryRun")
    )


def evict_nth(fields: Fields, at: int) -> Operation | None:
    """`evictNth: {app, n, namespace, gracePeriodSeconds}`."""
    fields.only(("app", "n", "namespace", "gracePeriodSeconds"))
    app = fields.text("app")
    if not app:
        fields.wrong("app", "E0302", "Required value: the value of the label app")
        return None
    number = fields.integer("n", 0, 0, 2**31)
    return Operation(at, "evict-nth", "Pod", fields.text("namespace", "default"), app, grace_seconds=_grace(fields), number=number)


def _grace(fields: Fields) -> int | None:
    return None if fields.value.get("gracePeriodSeconds") is None else fields.integer("gracePeriodSeconds", 0, 0, 2**31)


def drain(fields: Fields, at: int) -> Operation | None:
    """`drainOperation: {node | nodes, flags}`."""
    fields.only(("node", "nodes", "flags"))
    one, several = fields.text("node"), fields.items("nodes")
    if not all(isinstance(name, str) and name for name in several):
        fields.wrong("nodes", "E0302", "expected names of nodes")
        return None
    names = ([one] if one else []) + [str(name) for name in several]
    flags = fields.attempt(lambda: parse_flags(fields.items("flags"), fields.at("flags")), DrainFlags())
    if one and several:
        fields.wrong("nodes", "E0302", "give node or nodes, not both")
    elif names and flags.node_selector is not None:
        fields.wrong("flags", "E0309", "cannot specify both a node name and a --selector option")
    elif not names and flags.node_selector is None:
        fields.wrong("node", "E0302", "Required value: a node, several nodes, or the flag --selector")
    return Operation(at, "drain", "Node", "", ", ".join(names), nodes=tuple(dict.fromkeys(names)), drain=flags)


def webhook(spec: Fields) -> WebhookSettings | None:
    """`evictionWebhook: {annotate, migrate, target, message}`."""
    if spec.value.get("evictionWebhook") is None:
        return None
    fields = spec.sub("evictionWebhook")
    fields.only(("annotate", "migrate", "target", "message"))
    annotate, migrate = _wait(fields, "annotate"), _wait(fields, "migrate")
    target = fields.text("target")
    if migrate is not None and not target:
        fields.wrong("target", "E0302", "Required value: the node that pods are moved to")
    if migrate is not None and annotate is None:
        fields.wrong("migrate", "E0302", "a pod that is never marked is never moved: set annotate too")
    return WebhookSettings(annotate, migrate, target, fields.text("message", MESSAGE))


def _wait(fields: Fields, name: str) -> int | None:
    value = fields.value.get(name)
    return None if value is None else fields.attempt(lambda: parse_duration(value, fields.at(name)), 0)
