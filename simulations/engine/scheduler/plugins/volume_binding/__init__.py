"""VolumeBinding: Pods go where their volumes are, where free volumes are, or where volumes can be provisioned; and these are bound.

`finding` says what a Node offers, `columns` the same over all Nodes, `binding` makes it so, `hints` which events matter.
"""

from simulations.engine.scheduler.plugins.volume_binding.plugin import VolumeBinding, VolumeBindingArgs

__all__ = ["VolumeBinding", "VolumeBindingArgs"]
