"""Failure reasons in plain words."""

import re
from collections.abc import Callable

_Match = re.Match[str]

# reason of a plugin -> how many nodes do what, after "3 of 5 nodes"
_PHRASES: tuple[tuple[re.Pattern[str], Callable[[_Match], str]], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"Insufficient (.+)", lambda m: f"lack {m[1]}"),
        (r"Too many pods", lambda _: "have no pod slot left"),
        (r"node\(s\) had untolerated taint(?:\(s\)| (\{.*\}))?", lambda m: f"have the taint {m[1]}" if m[1] else "are tainted"),
        (r"node\(s\) were unschedulable", lambda _: "are cordoned"),
        (r"node\(s\) didn't match Pod's node affinity/selector", lambda _: "do not match its node selector or affinity"),
        (r"node\(s\) didn't match scheduler-enforced node affinity", lambda _: "are kept from it by the profile's added affinity"),
        (
            r"node\(s\) didn't satisfy plugin(?:\(s\))? \[?(.+?)\]?( simultaneously)?$",
            lambda m: f"are ruled out beforehand by {m[1]}",
        ),
        (r"node\(s\) didn't match the requested node name", lambda _: "are not the node that it names"),
        (r"node\(s\) didn't have free ports", lambda _: "have its host port taken"),
        (r"node\(s\) didn't match pod topology spread constraints \(missing", lambda _: "lack the label that its spread needs"),
        (r"node\(s\) didn't match pod topology spread", lambda _: "would break its topology spread"),
        (r"node\(s\) didn't match pod affinity rules", lambda _: "do not satisfy its pod affinity"),
        (r"node\(s\) didn't match pod anti-affinity rules", lambda _: "hold pods that it must stay away from"),
        (r"node\(s\) didn't satisfy existing pods anti-affinity", lambda _: "hold pods that want it away"),
    )
)

_HELPLESS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"preemptionPolicy=Never", "its preemptionPolicy is Never"),
        (r"terminating pod on the nominated node", "victims on its nominated node are still leaving"),
        (
            r"No preemption victims found for incoming pod.*Preemption is not helpful",
            "no pods of lower priority stand in its way, and on the other nodes removing pods changes nothing",
        ),
        (r"No preemption victims found for incoming pod", "no pods of lower priority stand in its way"),
        (r"Insufficient|didn't|untolerated", "it would not fit even without the pods of lower priority"),
        (r"Preemption is not helpful", "removing pods changes nothing about what keeps it off the nodes"),
    )
)


def rejection(reason: str) -> str:
    """What the nodes do that a reason is about: `lack cpu`, `are cordoned`; the reason itself where it is unknown."""
    for pattern, words in _PHRASES:
        found = pattern.match(reason)
        if found is not None:
            return words(found)
    return f"say \u201c{reason}\u201d"


def helpless(message: str) -> str:
    """Why preemption does not help, from the scheduler's message."""
    for pattern, words in _HELPLESS:
        if pattern.search(message):
            return words
    return message
