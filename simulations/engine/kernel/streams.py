"""Named random streams of a run: what one actor draws never changes what another draws."""

import hashlib
import random


class Streams:
    """The random streams of one run.

    Each name has a generator of its own, seeded by a hash of the run's seed and the name, so that it depends neither on the order in
    which streams are asked for nor on ``PYTHONHASHSEED``.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._streams: dict[str, random.Random] = {}

    def stream(self, name: str) -> random.Random:
        """Return the stream of that name; the same object each time."""
        found = self._streams.get(name)
        if found is None:
            digest = hashlib.sha256(f"{self.seed}\x00{name}".encode()).digest()
            found = self._streams[name] = random.Random(int.from_bytes(digest[:16], "big"))
        return found
