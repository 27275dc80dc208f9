"""Label sets, interned: equal sets are one object, so rules compare and cache them by identity."""

from collections.abc import Iterator, Mapping
from typing import Final


class Labels(Mapping[str, str]):
    """An immutable, interned set of labels with a small integer `id` that is the same for equal sets of this process.

    Make it with `intern_labels`. The id depends on the order of creation: use it as a key, never as data.
    """

    __slots__ = ("_values", "id")

    def __init__(self, values: dict[str, str], label_id: int) -> None:
        self._values = values
        self.id: Final = label_id

    def __getitem__(self, key: str) -> str:
        return self._values[key]

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]  # labels are text
        """The value of `key`, or the default."""
        return self._values.get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Mapping) and self._values == dict(other))

    def __repr__(self) -> str:
        return f"Labels({self._values!r})"


_interned: dict[tuple[tuple[str, str], ...], Labels] = {}


def intern_labels(values: Mapping[str, str] | None) -> Labels:
    """Return the one `Labels` object for these labels."""
    if isinstance(values, Labels):
        return values
    key = tuple(sorted(values.items())) if values else ()
    labels = _interned.get(key)
    if labels is None:
        labels = _interned[key] = Labels(dict(key), len(_interned))
    return labels


EMPTY_LABELS: Final = intern_labels(None)
