"""What an import demands of an object beyond that it can be decoded.

Source: staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go, v1.36
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from simulations.engine.api.decode import CLUSTER_SCOPED
from simulations.engine.kernel.errors import ScenarioError

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\Z")
_DNS_LABEL_KINDS = frozenset({"Namespace", "Service"})


def metadata_errors(value: Mapping[str, Any]) -> Iterator[ScenarioError]:
    """What is wrong with name, namespace and labels of a manifest, as the API server would say it."""
    metadata = value.get("metadata")
    if not isinstance(metadata, Mapping):
        yield ScenarioError("E0212", "Required value: metadata with a name", "metadata")
        return
    kind = str(value.get("kind"))
    yield from _name_errors(metadata.get("name"), kind)
    namespace = metadata.get("namespace")
    if namespace and kind not in CLUSTER_SCOPED and not _is_dns_label(namespace):
        text = f"Invalid value: {str(namespace)[:80]!r}: a lowercase RFC 1123 label of at most 63 characters is needed"
        yield ScenarioError("E0204", text, "metadata.namespace")
    labels = metadata.get("labels")
    if isinstance(labels, Mapping):
        yield from _label_errors(labels)


def _name_errors(name: object, kind: str) -> Iterator[ScenarioError]:
    path = "metadata.name"
    if not isinstance(name, str) or not name:
        yield ScenarioError("E0203", "Required value: name", path)
    elif kind in _DNS_LABEL_KINDS and not _is_dns_label(name):
        text = f"Invalid value: {name[:80]!r}: a lowercase RFC 1123 label of at most 63 characters is needed"
        yield ScenarioError("E0203", text, path)
    elif len(name) > 253:
        text = f"Invalid value: {name[:40] + '…'!r}: must be no more than 253 characters, has {len(name):,}"
        yield ScenarioError("E0203", text, path)
    elif not _SUBDOMAIN.match(name):
        text = (
            f"Invalid value: {name[:80]!r}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric"
            " characters, '-' or '.', and must start and end with an alphanumeric character"
        )
        yield ScenarioError("E0203", text, path)


def _label_errors(labels: Mapping[Any, Any]) -> Iterator[ScenarioError]:
    for key, value in labels.items():
        path = f"metadata.labels[{key}]" if re.search(r"[./\[\]]", str(key)) else f"metadata.labels.{key}"
        if not _is_label_key(str(key)):
            yield ScenarioError("E0205", f"Invalid value: {str(key)[:80]!r}: not a label key", path)
        elif not isinstance(value, str):
            yield ScenarioError("E0205", f"a label is text; put {value!r} in quotes", path)
        elif len(value) > 63:
            yield ScenarioError("E0205", f"Invalid value: {value[:80]!r}: must be no more than 63 bytes", path)
        elif value and not _QUALIFIED.match(value):
            text = (
                f"Invalid value: {value[:80]!r}: a valid label must be an empty string or consist of alphanumeric"
                " characters, '-', '_' or '.', and must start and end with an alphanumeric character"
            )
            yield ScenarioError("E0205", text, path)


def _is_dns_label(text: object) -> bool:
    return isinstance(text, str) and len(text) <= 63 and _DNS_LABEL.match(text) is not None


def _is_label_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > 253 or not _SUBDOMAIN.match(prefix)):
        return False
    return len(name) <= 63 and _QUALIFIED.match(name) is not None
