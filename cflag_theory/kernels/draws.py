"""Counter-based random numbers: Philox4x32-10 and the integers drawn from it.

A draw is a pure function of (seed, purpose, replica, client, round, step), so results do not depend on the number
of threads, on the batch or on the device. The functions are plain Python on plain integers; the compiled loop uses
the same text. Products of two 32-bit words wrap in a signed 64-bit register, but the masks recover the right
words either way, so Python's unbounded integers and the machine's agree.

Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

MASK = 0xFFFFFFFF
# What a draw is for; each purpose has its own stream.
COMPONENT, MEMORY, SIGN, STOCHASTIC = 0, 1, 2, 3
# Of the CFL framework: drifts with the signs of their multiplicative parts, noise of a step, and choices.
CLIENT_DRIFT, TIME_DRIFT, COMMON_DRIFT, CLIENT_SIGN, TIME_SIGN, COMMON_SIGN, NOISE = 4, 5, 6, 7, 8, 9, 10
LOSS, WINDOW, CORE_SET, PARTICIPANTS = 11, 12, 13, 14
# Of task sequences: what a reservoir keeps, and a seed for each transition.
RESERVOIR, TRANSITION = 15, 16
#: Replicas, rounds and steps fill a 32-bit word each; client and purpose share one.
MAX_CLIENTS = 1 << 24


def philox(c0: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> tuple[int, int, int, int]:
    """Ten rounds of Philox4x32: four 32-bit words for a 128-bit counter and a 64-bit key."""
    for _ in range(10):
        left = c0 * 0xD2511F53
        right = c2 * 0xCD9E8D57
        left_high = (left >> 32) & MASK
        right_high = (right >> 32) & MASK
        c0, c1, c2, c3 = right_high ^ c1 ^ k0, right & MASK, left_high ^ c3 ^ k1, left & MASK
        k0 = (k0 + 0x9E3779B9) & MASK
        k1 = (k1 + 0xBB67AE85) & MASK
    return c0, c1, c2, c3


def words(seed: int, purpose: int, replica: int, client: int, round_: int, block: int) -> tuple[int, int, int, int]:
    """Four words for steps 4 block, ..., 4 block + 3 of a client's round; `seed` in [0, 2^63)."""
    return philox(block, round_, client + (purpose << 24), replica, seed & MASK, (seed >> 32) & MASK)


def below(word: int, n: int) -> int:
    """An integer in [0, n) from a 32-bit word; each value is within n / 2^32 of its fair share."""
    return (word * n) >> 32


def lane(four: tuple[int, int, int, int], step: int) -> int:
    """The word of `step` within its block of four."""
    position = step & 3
    if position == 0:
        return four[0]
    if position == 1:
        return four[1]
    if position == 2:
        return four[2]
    return four[3]
