"""ImageLocality: likes Nodes that have the images already.

Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go, v1.36
"""

import numpy as np

from simulations.engine.api.pod import Pod
from simulations.engine.scheduler.cache.columns import Columns, Ints
from simulations.engine.scheduler.cache.node_info import NodeInfo
from simulations.engine.scheduler.framework.plugin import CycleState, Handle, Plugin

_MEBI = 1024 * 1024
MIN_THRESHOLD = 23 * _MEBI
MAX_CONTAINER_THRESHOLD = 1000 * _MEBI


class ImageLocality(Plugin):
    """Scores the size of the images on the Node, spread over how many Nodes have them."""

    NAME = "ImageLocality"
    SCORE_DEPENDS_ON_PODS = False

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    def score(self, state: CycleState, pod: Pod, info: NodeInfo) -> int:
        """The score of one Node."""
        columns = self.handle.cache.columns
        return int(self.score_columns(state, pod, columns, np.array([info.row]))[0])

    def score_columns(self, state: CycleState, pod: Pod, columns: Columns, rows: Ints) -> Ints:
        """The scores of these rows."""
        total_nodes = len(self.handle.cache.infos)
        sums = np.zeros(len(rows), dtype=np.int64)
        for image in (*pod.spec.images, *pod.spec.image_volumes):
            sizes = columns.image(_normalized(image))
            spread = float(np.count_nonzero((sizes >= 0) & columns.valid)) / float(total_nodes)
            here = sizes[rows]
            sums += np.where(here >= 0, (here.astype(np.float64) * spread).astype(np.int64), 0)
        maximum = max(MAX_CONTAINER_THRESHOLD * pod.spec.container_count, MIN_THRESHOLD + 1)
        clamped = np.clip(sums, MIN_THRESHOLD, maximum)
        scores: Ints = 100 * (clamped - MIN_THRESHOLD) // (maximum - MIN_THRESHOLD)
        return scores


def _normalized(image: str) -> str:
    return image if image.rfind(":") > image.rfind("/") else image + ":latest"
