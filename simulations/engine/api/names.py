"""Generated names, in Kubernetes' own alphabet.

Source: staging/src/k8s.io/apiserver/pkg/storage/names/generate.go; apimachinery/pkg/util/rand/rand.go, v1.36
"""

from random import Random
from typing import Final

_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX: Final = 5
_MAX_BASE: Final = 63 - _SUFFIX


def generate_name(base: str, rng: Random) -> str:
    """`base` cut to 58 characters, and five random ones."""
    return base[:_MAX_BASE] + "".join(rng.choice(_ALPHABET) for _ in range(_SUFFIX))
