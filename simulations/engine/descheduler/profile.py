"""A profile at work: its plugins, and the evictor that they share.

Source: pkg/framework/profile/profile.go, descheduler v0.36
"""

from collections.abc import Sequence
from dataclasses import replace

from simulations.engine.api.pod import Pod
from simulations.engine.descheduler.framework.notes import Notes
from simulations.engine.descheduler.framework.plugin import AnyPlugin, EvictorPlugin, Handle, Outcome
from simulations.engine.descheduler.framework.pod_evictor import Asked, PodEvictor
from simulations.engine.descheduler.policy import Profile
from simulations.engine.descheduler.registry import FILTER, PRE_EVICTION_FILTER, REGISTRY
from simulations.engine.kernel.loop import Steps


class ProfileEvictor:
    """The filters of a profile, all of which have to let a pod pass, and the eviction in its name."""

    def __init__(self, profile: str, pods: PodEvictor) -> None:
        self.filters: Sequence[EvictorPlugin] = ()
        self.pre_eviction_filters: Sequence[EvictorPlugin] = ()
        self.notes = Notes()
        self._profile = profile
        self._pods = pods

    def filter(self, pod: Pod) -> str:
        """What the first Filter plugin that protects the pod says."""
        return next((why for plugin in self.filters if (why := plugin.filter(pod))), "")

    def pre_eviction_filter(self, pod: Pod) -> str:
        """What the first PreEvictionFilter plugin that holds the pod back says."""
        return next((why for plugin in self.pre_eviction_filters if (why := plugin.pre_eviction_filter(pod))), "")

    def evict(self, pod: Pod, strategy: str, why: str) -> Steps[Outcome]:
        """Evict the pod for a strategy of this profile."""
        self.notes.chosen(pod)
        return (yield from self._pods.evict(pod, Asked(self._profile, strategy, why)))


class ProfileRunner:
    """The plugins of a profile, made once; they keep nothing from one cycle to the next."""

    def __init__(self, profile: Profile, handle: Handle, pods: PodEvictor) -> None:
        self.profile = profile
        self._evictor = ProfileEvictor(profile.name, pods)
        self._handle = replace(handle, evictor=self._evictor)
        self._plugins = {name: REGISTRY[name].make(profile.args[name], self._handle) for name in profile.plugins}
        self._evictor.filters = self.at(FILTER)
        self._evictor.pre_eviction_filters = self.at(PRE_EVICTION_FILTER)

    def at(self, point: str) -> list[AnyPlugin]:
        """The plugins of an extension point, in the order in which they are enabled."""
        return [self._plugins[name] for name in self.profile.points[point]]

    def begin(self) -> Notes:
        """A plugin begins: nothing is noted yet."""
        self._handle.notes = self._evictor.notes = Notes()
        return self._handle.notes
