"""ImageLocality: likes Nodes that have the images already.

Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go, v1.36
"""

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.plugin import CycleState, Handle, Plugin, Scope

_MEBI = 1024 * 1024
MIN_THRESHOLD = 23 * _MEBI
MAX_CONTAINER_THRESHOLD = 1000 * _MEBI


class ImageLocality(Plugin):
    """Scores the size of the images on the Node, spread over how many Nodes have them."""

    NAME = "ImageLocality"
    SCORE_SCOPE = Scope.NODES

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    def score(self, state: CycleState, pod: Pod, info: NodeInfo) -> int:
        """The score of one Node."""
        columns = self.handle.cache.columns
        total = 0
        for image in _images(pod):
            if image in info.node.images:
                total += int(float(columns.image_size(image)) * self._spread(columns, image))
        maximum = _maximum(pod)
        return 100 * (min(max(total, MIN_THRESHOLD), maximum) - MIN_THRESHOLD) // (maximum - MIN_THRESHOLD)

    def score_columns(self, state: CycleState, pod: Pod, columns: Columns, rows: Ints) -> Ints:
        """The scores of these rows."""
        sums = np.zeros(len(rows), dtype=np.int64)
        for image in _images(pod):
            sums += columns.has_image(image)[rows] * int(float(columns.image_size(image)) * self._spread(columns, image))
        maximum = _maximum(pod)
        scores: Ints = 100 * (np.clip(sums, MIN_THRESHOLD, maximum) - MIN_THRESHOLD) // (maximum - MIN_THRESHOLD)
        return scores

    def _spread(self, columns: Columns, image: str) -> float:
        """The share of Nodes that have the image."""
        return float(columns.nodes_with_image(image)) / float(len(self.handle.cache.infos))


def _images(pod: Pod) -> list[str]:
    return [_normalized(image) for image in (*pod.spec.images, *pod.spec.image_volumes)]


def _maximum(pod: Pod) -> int:
    return max(MAX_CONTAINER_THRESHOLD * pod.spec.container_count, MIN_THRESHOLD + 1)


def _normalized(image: str) -> str:
    return image if image.rfind(":") > image.rfind("/") else image + ":latest"
