"""Default plugins that take no part in filtering or scoring here, but have a name and a place in every profile.

PrioritySort orders activeQ (see `scheduler.queue`), DefaultBinder binds (see `scheduler.binding`). DynamicResources and
NodeDeclaredFeatures act on Pods with claims or required features, which are not modelled: the run states it.
"""

from simulations.engine.scheduler.framework.plugin import Plugin


class PrioritySort(Plugin):
    """QueueSort: higher priority first, then the longer wait."""

    NAME = "PrioritySort"


class DefaultBinder(Plugin):
    """Bind: POST pods/binding."""

    NAME = "DefaultBinder"


class DynamicResources(Plugin):
    """Resource claims are not modelled; its place in failure messages is (`no new claims to deallocate`)."""

    NAME = "DynamicResources"


class NodeDeclaredFeatures(Plugin):
    """Declared features are not modelled."""

    NAME = "NodeDeclaredFeatures"


class VolumeRestrictions(Plugin):
    """Volumes are not modelled."""

    NAME = "VolumeRestrictions"


class NodeVolumeLimits(Plugin):
    """Volumes are not modelled."""

    NAME = "NodeVolumeLimits"


class VolumeBinding(Plugin):
    """Volumes are not modelled."""

    NAME = "VolumeBinding"


class VolumeZone(Plugin):
    """Volumes are not modelled."""

    NAME = "VolumeZone"
