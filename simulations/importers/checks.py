"""What an import demands of an object's metadata beyond what `engine.api.validation` looks at.

Source: staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go, IsDNS1123Label, v1.36
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from simulations.engine.api.decode import CLUSTER_SCOPED
from simulations.engine.kernel.errors import ScenarioError

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_DNS_LABEL_KINDS = frozenset({"Namespace", "Service"})
_TEXT = "a lowercase RFC 1123 label of at most 63 characters is needed"


def metadata_errors(value: Mapping[str, Any]) -> Iterator[ScenarioError]:
    """What is wrong with the metadata of a manifest: it is missing, or a name or namespace is no DNS label."""
    metadata = value.get("metadata")
    if not isinstance(metadata, Mapping):
        yield ScenarioError("E0212", "Required value: metadata with a name", "metadata")
        return
    kind = str(value.get("kind"))
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if kind in _DNS_LABEL_KINDS and name and not _is_dns_label(name):
        yield ScenarioError("E0203", f'Invalid value: "{str(name)[:80]}": {_TEXT}', "metadata.name")
    if namespace and kind not in CLUSTER_SCOPED and not _is_dns_label(namespace):
        yield ScenarioError("E0204", f'Invalid value: "{str(namespace)[:80]}": {_TEXT}', "metadata.namespace")


def _is_dns_label(text: object) -> bool:
    return isinstance(text, str) and len(text) <= 63 and _DNS_LABEL.match(text) is not None
