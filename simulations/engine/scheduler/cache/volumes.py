"""What the scheduler knows of volumes: claims and volumes as they are or are assumed to become, classes, and what drivers say.

Source: pkg/scheduler/util/assumecache/assume_cache.go; pkg/scheduler/framework/plugins/volumebinding/assume_cache.go, v1.36
"""

from typing import Any, Generic, TypeVar

from simulations.engine.api.pod import Pod
from simulations.engine.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    StorageObject,
    VolumeAttachment,
)
from simulations.engine.api.workloads import ApiObject

Key = tuple[str, str]
T = TypeVar("T", bound=ApiObject)


class AssumeCache(Generic[T]):
    """Objects of the informer, and in place of some the ones that they are assumed to become; a newer one of the informer wins."""

    def __init__(self) -> None:
        self._seen: dict[Key, T] = {}
        self._assumed: dict[Key, T] = {}

    def get(self, key: Key) -> T | None:
        """The object as it is assumed to be."""
        return self._assumed.get(key) or self._seen.get(key)

    def seen(self, key: Key) -> T | None:
        """The object as the informer has it."""
        return self._seen.get(key)

    def all(self) -> list[T]:
        """All objects as they are assumed to be, in order of arrival."""
        return [self._assumed.get(key, item) for key, item in self._seen.items()]

    def store(self, item: T) -> None:
        """Take in what the informer says."""
        self._seen[item.key] = item
        self._assumed.pop(item.key, None)

    def discard(self, item: T) -> None:
        """Forget an object that is gone."""
        self._seen.pop(item.key, None)
        self._assumed.pop(item.key, None)

    def assume(self, item: T) -> str:
        """Put an object in place of the present one; returns why that cannot be done, empty where it was."""
        present = self.get(item.key)
        name = "/".join(part for part in item.key if part)
        if present is None:
            return f'could not find {item.kind} "{name}"'
        if item.resource_version < present.resource_version:
            versions = f"stored: {present.resource_version}, assume: {item.resource_version}"
            return f'{item.kind} "{name}" is out of sync ({versions})'
        self._assumed[item.key] = item
        return ""

    def restore(self, key: Key) -> None:
        """Take back what was assumed."""
        self._assumed.pop(key, None)


class Volumes:
    """The listers around volumes, and which claims Pods on Nodes use."""

    def __init__(self) -> None:
        self.claims: AssumeCache[PersistentVolumeClaim] = AssumeCache()
        self.volumes: AssumeCache[PersistentVolume] = AssumeCache()
        self.classes: dict[str, StorageClass] = {}
        self.csi_nodes: dict[str, CSINode] = {}
        self.drivers: dict[str, CSIDriver] = {}
        self.capacities: dict[Key, CSIStorageCapacity] = {}
        self._attachments: dict[str, dict[str, VolumeAttachment]] = {}
        self._users: dict[Key, int] = {}

    def store(self, item: StorageObject) -> None:
        """Take in an object in place of an older one."""
        if isinstance(item, PersistentVolumeClaim):
            self.claims.store(item)
        elif isinstance(item, PersistentVolume):
            self.volumes.store(item)
        elif isinstance(item, VolumeAttachment):
            self._attachments.setdefault(item.node_name, {})[item.name] = item
        else:
            known, key = self._plain(item)
            known[key] = item

    def discard(self, item: StorageObject) -> None:
        """Forget an object."""
        if isinstance(item, PersistentVolumeClaim):
            self.claims.discard(item)
        elif isinstance(item, PersistentVolume):
            self.volumes.discard(item)
        elif isinstance(item, VolumeAttachment):
            self._attachments.get(item.node_name, {}).pop(item.name, None)
        else:
            known, key = self._plain(item)
            known.pop(key, None)

    def of_class(self, name: str) -> list[PersistentVolume]:
        """The volumes of a class (empty: of none) as they are assumed to be, in order of arrival."""
        return [volume for volume in self.volumes.all() if volume.storage_class == name]

    def attached_to(self, node: str) -> list[VolumeAttachment]:
        """The attachments of a Node."""
        return list(self._attachments.get(node, {}).values())

    def count(self, pod: Pod, sign: int) -> None:
        """A Pod came to a Node, or (with sign -1) left it: count the claims that it names."""
        for name in pod.spec.claims:
            key = (pod.namespace, name)
            left = self._users.get(key, 0) + sign
            if left:
                self._users[key] = left
            else:
                self._users.pop(key, None)

    def in_use(self, key: Key) -> bool:
        """Whether a Pod on a Node uses the claim."""
        return key in self._users

    def _plain(self, item: StorageClass | CSINode | CSIDriver | CSIStorageCapacity) -> tuple[dict[Any, Any], Any]:
        if isinstance(item, StorageClass):
            return self.classes, item.name
        if isinstance(item, CSINode):
            return self.csi_nodes, item.name
        if isinstance(item, CSIDriver):
            return self.drivers, item.name
        return self.capacities, item.key
