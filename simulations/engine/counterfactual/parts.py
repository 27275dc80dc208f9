"""What a change is called, and how large it is.

Sizes are thousandths: a request by the share that is cut, others by what they ask of people. Who ranks the changes compares the number of
parts first.
"""

from typing import Final

from simulations.engine.api.quantity import format_quantity
from simulations.engine.counterfactual.model import Landing, Part
from simulations.engine.counterfactual.pod_edits import priority_levels
from simulations.engine.counterfactual.trial import Choice, Trial

SIZES: Final = {
    "uncordon": 900, "toleration": 1000, "nodeSelector": 1100, "label": 1150, "hostPort": 1200, "maxSkew": 1300, "spread": 1400,
    "nodeAffinity": 1500, "podAffinity": 1600, "podAntiAffinity": 1700, "priority": 1800, "recover": 2000, "free": 2500, "addNode": 4000,
}  # fmt: skip
"""By kind; of a request it is the share that is cut, 1 to 1000. Each Pod that has to leave adds `VICTIM`."""
VICTIM: Final = 100


def part_of(trial: Trial, choice: Choice, landing: Landing) -> Part:
    """The change in words and numbers."""
    edit, degree = choice
    size = SIZES.get(edit.kind, 0)
    if edit.kind == "request" and edit.dial is not None:
        whole = edit.dial.present
        share = max(1, 1000 * (whole - degree) // whole)
        return Part(
            "request", edit.target, format_quantity(edit.target, whole), format_quantity(edit.target, degree), share, degree
        )
    if edit.kind == "maxSkew" and edit.dial is not None:
        return Part("maxSkew", edit.target, str(edit.dial.present), str(degree), size, degree)
    if edit.kind == "priority":
        level = priority_levels(trial.pod, trial.cycle.framework.cache)[degree]
        return Part("priority", "priority", str(trial.pod.priority), str(level), size + VICTIM * len(landing.victims), level)
    return Part(edit.kind, edit.target, "", edit.like, size, like=edit.like)


def forced_part(landing: Landing) -> Part:
    """Pods that would have to leave a Node, deleted by hand."""
    return Part("free", landing.node, "", "", SIZES["free"] + VICTIM * len(landing.victims))
