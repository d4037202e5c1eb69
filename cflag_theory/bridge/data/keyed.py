"""Random numbers as a function of their purpose, independent of earlier draws."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from cflag_theory.public import Whole, require


def keyed(seed: int, purpose: str, first: int = 0, second: int = 0) -> np.random.Generator:
    """A generator of its own for each (seed, purpose, first, second): NumPy's Philox4x64. The integers lie in [0,
    2^63).

    The key is the seed and 64 bits of the purpose's BLAKE2b hash; `first` and `second` (a task and a client, say) are
    words of the counter, so that no two streams overlap. The bits are Philox's everywhere; what NumPy makes of them (a
    permutation, a Dirichlet draw) may change with its version.
    """
    counter = np.array([0, 0, first, second], dtype=np.uint64)
    # Philox takes any ISeedSequence; its stub names one class of them.
    random = np.random.Philox(_key(as_seed(seed), purpose), counter=counter)  # type: ignore[arg-type]
    return np.random.Generator(random)


class _Key(ISeedSequence):
    """A key in place of a seed: for `key=` NumPy asks the system for entropy all the same, which takes longer."""

    def __init__(self, words: np.ndarray) -> None:
        self._words = words

    def generate_state(self, n_words: int, dtype: object = np.uint64) -> np.ndarray:
        """The key, for which Philox asks."""
        return self._words


@lru_cache(maxsize=256)
def _key(seed: int, purpose: str) -> _Key:
    words = [seed, int.from_bytes(blake2b(purpose.encode(), digest_size=8).digest())]
    return _Key(np.array(words, dtype=np.uint64))


def as_seed(seed: int) -> int:
    """`seed` as a plain integer in [0, 2^63)."""
    require("seed", seed, Whole)
    return int(seed)
