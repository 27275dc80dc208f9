"""What is thrown at the doors: broken text, values of the wrong kind in the right places, whole scenarios with a wound."""

import copy
import json
from functools import cache

from hypothesis import strategies as st

from simulations.samples import sample

SMALL = ("race-higher-takes", "gated-pods", "cordon-and-uncordon", "two-schedulers", "api-refuses-deletions")
NUMBERS = (0, -1, 1, 2**31, 2**63 - 1, 2**63, -(2**63), 10**400, 1e308, -1e308, float("inf"), float("nan"), 0.1)
WORDS = (
    "", " ", "\x00", "a\x00b", "\ud7ff", "\u202e", "\U0001f4a5", "../../etc/passwd", "<script>", "%s%n", "'; --", "a" * 300, "A" * 10_000,
    "1e999999999", "9" * 400, "0x10", "1_000", "-0", "500m", "-500m", "1Ei", "16E", "9223372036854775807Gi", "NaN", "1h", "-1s", "1e9h",
    "999999999999h", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-13-45", "default-scheduler", "NoExecute", "100%", "101%", "-1%",
)  # fmt: skip
SHAPES = ([], {}, [[]], [None], {"a": None}, {"": ""}, [{}] * 50, {"matchLabels": 3}, {"name": {"name": {}}})
HOSTILE = st.sampled_from([None, True, False, *NUMBERS, *WORDS, *SHAPES])
PLAIN = st.recursive(
    HOSTILE | st.text(max_size=20) | st.integers() | st.floats() | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@cache
def base(slug):
    return sample(slug).document()


def places(value, at=()):
    """Every place in a document, as a path of keys."""
    yield at
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*at, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from places(item, (*at, i))


@cache
def places_of(slug):
    return [path for path in places(base(slug)) if path]


def wound(document, path, action, value):
    """Replace, remove or double what is at a path, or give it a neighbour."""
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    last = path[-1]
    if action == "replace":
        holder[last] = value
    elif action == "remove":
        del holder[last]
    elif action == "double" and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[last]))
    elif isinstance(holder, dict):
        holder[str(value)[:40]] = copy.deepcopy(holder[last])


@st.composite
def scenarios(draw):
    """A sample with one to three wounds."""
    slug = draw(st.sampled_from(SMALL))
    document = copy.deepcopy(base(slug))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places_of(slug)))
        try:
            wound(
                document, path, draw(st.sampled_from(["replace", "replace", "remove", "double", "rename"])), draw(HOSTILE | PLAIN)
            )
        except (KeyError, IndexError, TypeError):
            continue  # an earlier wound took the place away
    return document


def as_text(document):
    """JSON, with what JSON has no word for as Python writes it."""
    return json.dumps(document, default=str)


LAUGHS = b"&a [1,1,1,1,1,1,1,1,1]\n" + b"".join(b"- &%c [*%c,*%c,*%c]\n" % (98 + i, 97 + i, 97 + i, 97 + i) for i in range(20))
BROKEN_TEXTS = st.sampled_from(
    [
        b"\x00", b"\xff\xfea\x00", b"\xef\xbb\xbfkind: List", b"[" * 5000, b"{" * 5000, b"a: " * 5000, b"- " * 5000, b"&a [*a]",
        b"a: &b {c: *b}", b"!!python/object/apply:os.system ['x']", b"kind: Scenario\n\tspec: 1", b"---\n---\n---\n",
        b"%YAML 9.9\n---\na: 1", b'{"a": 1, "a": 2}', b"a: 1\na: 2\n", b"'" * 999, b'"\\ud800"', b"? " * 500, b"a: >\n" + b" x\n" * 999,
        b"\r\r\r", b"=" * 100_000, b"kind: List\nitems: 3\n", b"NaN", b"1e999999", LAUGHS,
    ]
)  # fmt: skip
TEXTS = BROKEN_TEXTS | st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "surrogatepass"))
