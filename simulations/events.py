"""The one live event: a run has reached a record.

A message is only a hint to look; whoever misses it finds the same by its cursor.
"""

import logging
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

logger = logging.getLogger(__name__)
RUN_ADVANCED = "run.advanced"


def group_of(run_id: int) -> str:
    """The group that everybody joins who watches a run."""
    return f"run.{run_id}"


def run_advanced(run_id: int, seq: int) -> None:
    """Tell the watchers of a run how far it is; an absent broker is no failure of the run."""
    layer = get_channel_layer()
    message: dict[str, Any] = {"type": RUN_ADVANCED, "run": run_id, "seq": seq}
    try:
        async_to_sync(layer.group_send)(group_of(run_id), message)
    except Exception:  # whatever the broker's client raises
        logger.warning("run %s: nobody could be told of record %s", run_id, seq, exc_info=True)
