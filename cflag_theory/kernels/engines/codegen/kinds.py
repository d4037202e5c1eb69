"""What the parameters of a sweep stand for, and what it returns."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

#: What a parameter of a sweep stands for: a vector that is read, one that is read and written, a number, and a vector
#: that a later sweep will read.
Read: TypeAlias = Any
Write: TypeAlias = Any
Number: TypeAlias = Any
Later: TypeAlias = Any
#: What a sweep returns that sums up, one that does so in float64, one that leaves a line to be summed up, one that does
#: so line after line, which is quicker where another order may be, and one that does none of it.
Summed: TypeAlias = Any
Measured: TypeAlias = Any
Lined: TypeAlias = Any
Chained: TypeAlias = Any
Written: TypeAlias = Any

LINES = ("Lined", "Chained")

#: Lanes of a group at most, and lines whose sums are taken together.
GROUP = 8
#: What the compiler may do where sums keep their order, in generated and in plain loops alike: a product may be fused
#: with the sum that it goes into, and the sign of zero means nothing.
FLAGS = ("contract", "nsz")


class Formula(NamedTuple):
    """A sweep's formula for one place of its vectors."""

    #: The formula; a `Later` vector is None in it.
    body: Callable[..., Any]
    #: The kind of each of its parameters, by name and in order.
    kinds: dict[str, str]
    returned: str
    #: Parameters of the compiled function: an array and a row of it for each vector, the numbers, and for `LINES` also
    #: the array and the row where the sum goes.
    names: list[str]

    @property
    def vectors(self) -> list[str]:
        """The parameters that are vectors."""
        return [name for name, kind in self.kinds.items() if kind != "Number"]

    @property
    def written(self) -> list[str]:
        """The parameters that are written."""
        return [name for name, kind in self.kinds.items() if kind == "Write"]


def formula_of(body: Callable[..., Any]) -> Formula:
    """Read the kinds of a sweep's parameters, which are its annotations."""
    signature = inspect.signature(body)
    kinds = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    names: list[str] = []
    for name, kind in kinds.items():
        names += [name] if kind == "Number" else [name, f"{name}_row"]
    if signature.return_annotation in LINES:
        names += ["lines", "lines_row"]
    return Formula(body, kinds, signature.return_annotation, names)
