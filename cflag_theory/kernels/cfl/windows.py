"""Which of a client's current components are its local data in a round, and the choices drawn without replacement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import draws
from cflag_theory.kernels.draws import below, lane, words
from cflag_theory.kernels.numbers import Ints
from cflag_theory.public import Whole, one_of, require_fields

ALL, POINTER, SUBSETS, FRESH = KINDS = ("all", "pointer", "subsets", "fresh")
# The compiled loop knows kinds by their positions.
_POINTER, _SUBSETS, _FRESH = 1, 2, 3


@dataclass(frozen=True)
class Windows:
    """A rule for the local data of a round; made by the constructors below.

    Attributes
    ----------
    kind : str
        "all", "pointer", "subsets" or "fresh".
    size : int
        Components of a round ("pointer", "fresh").
    shift : int
        Components by which the pointer moves a round ("pointer").
    count : int
        Subsets of a client's data ("subsets").
    """

    kind: Annotated[str, one_of(*KINDS)] = ALL
    size: Whole = 0
    shift: Whole = 0
    count: Whole = 0

    def __post_init__(self) -> None:
        require_fields(self)
        for name, read, smallest in (
            ("size", (POINTER, FRESH), 1),
            ("shift", (POINTER,), 0),
            ("count", (SUBSETS,), 1),
        ):
            value = getattr(self, name)
            if self.kind in read:
                if value < smallest:
                    raise InvalidInput(f"{name} of the windows is {value}: use an integer of at least {smallest}")
            elif value != 0:
                raise InvalidInput(f"{name} is not a dial of windows of kind {self.kind!r}: leave it out")


def pointer(size: int, shift: int) -> Windows:
    """`size` consecutive components, from a place that moves by `shift` a round (App. C.1.1).

    If fewer than `size` components are left, the pointer returns to the start. So consecutive rounds overlap by
    max(size - shift, 0) components, except where the pointer returns.

    Raises
    ------
    InvalidInput
        A size below 1 or a negative shift.
    """
    return Windows(POINTER, size=size, shift=shift)


def subsets(count: int) -> Windows:
    """One of `count` disjoint runs of a client's components, equal up to one component, drawn every round (Sec. 5.2).

    Raises
    ------
    InvalidInput
        A count below 1.
    """
    return Windows(SUBSETS, count=count)


def fresh(size: int) -> Windows:
    """`size` distinct components of all clients together, drawn every round: stateless clients (Sec. 5.3.4).

    What is remembered for a client's number then belongs to the earlier clients with that number.

    Raises
    ------
    InvalidInput
        A size below 1.
    """
    return Windows(FRESH, size=size)


def longest(windows: Windows, counts: Ints) -> int:
    """The largest number of components in a window, where client i has counts[i] of them."""
    smallest, largest = int(counts.min()), int(counts.max())
    total = int(counts.sum())
    if windows.kind == POINTER and windows.size > smallest:
        raise InvalidInput(f"windows take {windows.size} components and a client has {smallest}: take fewer")
    if windows.kind == SUBSETS and windows.count > smallest:
        raise InvalidInput(f"{windows.count} subsets of the {smallest} components of a client: make fewer")
    if windows.kind == FRESH and windows.size > total:
        raise InvalidInput(f"windows take {windows.size} components and there are {total} in all: take fewer")
    if windows.kind == SUBSETS:
        return -(-largest // windows.count)
    return largest if windows.kind == ALL else windows.size


def choose(seed: int, purpose: int, replica: int, client: int, round_: int, order: Ints, count: int, size: int) -> None:
    """Bring `size` of order[:count], drawn without replacement, to the front: a shuffle that stops early."""
    four = words(seed, purpose, replica, client, round_, 0)
    for k in range(size):
        if k > 0 and k & 3 == 0:
            four = words(seed, purpose, replica, client, round_, k >> 2)
        other = k + below(lane(four, k), count - k)
        order[k], order[other] = order[other], order[k]


def draw_window(
    kind: int,
    size: int,
    shift: int,
    count: int,
    seed: int,
    replica: int,
    client: int,
    t: int,
    first: int,
    n: int,
    order: Ints,
    out: Ints,
) -> int:
    """Component indices of a client's local data in round t into `out`, and their number.

    `kind` is a position in `KINDS`; the client owns first, ..., first + n - 1; `order`, as long as there are components
    in all, is overwritten.
    """
    start, length = 0, n
    if kind == _FRESH:
        for j in range(len(order)):
            order[j] = j
        choose(seed, draws.WINDOW, replica, client, t, order, len(order), size)
        for k in range(size):
            out[k] = order[k]
        return size
    if kind == _POINTER:
        places = 1 if shift == 0 else (n - size) // shift + 1
        start, length = t % places * shift, size
    elif kind == _SUBSETS:
        chosen = below(words(seed, draws.WINDOW, replica, client, t, 0)[0], count)
        start = n * chosen // count
        length = n * (chosen + 1) // count - start
    for k in range(length):
        out[k] = first + start + k
    return length
