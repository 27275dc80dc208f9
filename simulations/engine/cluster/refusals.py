"""How the API server says no to a manifest: which code, and the words around its findings.

Source: staging/src/k8s.io/apimachinery/pkg/api/errors/errors.go, v1.36
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from simulations.engine.api.decode import API_VERSIONS
from simulations.engine.api.validation import validate
from simulations.engine.cluster.answers import Answer
from simulations.engine.kernel.errors import ScenarioError

if TYPE_CHECKING:
    from simulations.engine.cluster.call import Call

Decoder = Callable[[Mapping[str, Any]], Any]
AT_ONCE: Final = ("E0201", "E0202", "E0203", "E0205", "E0206", "E0208", "E0211", "E0212", "E0213")
"""Codes after which a manifest is not looked at any further."""
_QUANTITY: Final = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"


def group_kind(kind: str) -> str:
    """A kind with its group, as messages name it: `Pod`, `PodDisruptionBudget.policy`."""
    group = API_VERSIONS.get(kind, "v1").rpartition("/")[0]
    return f"{kind}.{group}" if group else kind


def group_resource(kind: str, resource: str) -> str:
    """A resource with its group, as messages name it: `pods`, `priorityclasses.scheduling.k8s.io`."""
    group = API_VERSIONS.get(kind, "v1").rpartition("/")[0]
    return f"{resource}.{group}" if group else resource


def forbidden(call: "Call", kind: str, text: str) -> Answer:
    """403."""
    return Answer(403, "Forbidden", f'{group_resource(kind, call.resource)} "{call.name}" is forbidden: {text}')


def invalid(kind: str, name: str, texts: Sequence[str]) -> Answer:
    """422 with one text, or several in brackets."""
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return Answer(422, "Invalid", f'{group_kind(kind)} "{name}" is invalid: {joined}')


def read(call: "Call", document: Mapping[str, Any], decode: Decoder, more: Sequence[ScenarioError] = ()) -> Any:
    """The object of a manifest, or the answer that refuses it: what has no shape at once, the rest with all that is wrong, `more`
    first.
    """
    try:
        item = decode(document)
    except ScenarioError as error:
        findings = [error] if error.code in AT_ONCE else validate(document) or [error]
        return refusal(call, document, findings)
    found = [*more, *validate(document)]
    return refusal(call, document, found) if found else item


def refusal(call: "Call", document: Mapping[str, Any], findings: Sequence[ScenarioError]) -> Answer:
    """The answer for what is wrong with a manifest: 403 for its priority, 400 for what cannot be read, 422 for the rest."""
    kind, first = str(document.get("kind")), findings[0]
    if first.code == "E0212":
        return forbidden(call, kind, first.message)
    if first.code in ("E0206", "E0208"):
        version = API_VERSIONS.get(kind, "v1").rpartition("/")[2]
        text = f'{kind} in version "{version}" cannot be handled as a {kind}: quantities must match the regular expression'
        return Answer(400, "BadRequest", f"{text} '{_QUANTITY}' ({first.path}: {first.message})")
    return invalid(kind, call.name, [f"{e.path}: {e.message}" if e.path else e.message for e in findings])
