"""What Sec. 5.1 of the CFL paper says of the noisy quadratic model, and, as parameters, what it omits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from cflag_theory.claims.cfl.published import SETTINGS
from cflag_theory.public import Rule, require_fields
from cflag_theory.reading import integer, is_number

Array = NDArray[Any]
#: 𝔼||delta||^2 and 𝔼||nu||^2.
G2, SIGMA2 = 0.01, 1e-5


@dataclass(frozen=True)
class Method:
    """A column of Figure 2: whether past rounds and the proximal term count, and I."""

    name: str
    past: bool = False
    proximal: bool = False
    information_loss: float = 0.0


METHODS = (
    Method("FedAvg"),
    Method("FedProx", proximal=True),
    Method("CFL", past=True),
    Method("CFL-0.001", past=True, information_loss=0.001),
    Method("CFL-0.01", past=True, information_loss=0.01),
)


def _one_of(*known: str) -> Rule:
    return Rule(lambda value: value in known, f"one of {', '.join(known)}")


def _within(low: float, high: float) -> Rule:
    return Rule(lambda value: is_number(value) and low <= value <= high, f"a number from {low:g} to {high:g}")


@dataclass(frozen=True)
class Setting:
    """What Sec. 5.1 omits. The defaults are a plain choice among those that reproduce most cells of Table 3."""

    #: n, N (all of whom take part: App. C.1 uses 7 of 7), K and T.
    dimension: Annotated[int, integer(2, 500)] = 50
    clients: Annotated[int, integer(1, 10**6)] = 7
    local_steps: Annotated[int, integer(1, 1000)] = 3
    rounds: Annotated[int, integer(1, 2000)] = 20
    #: Eigenvalues of A: "linear", evenly spaced from mu to L, or "log", evenly spaced in the logarithm from mu (from
    #: L/1000 for mu = 0) to L. Along an eigenvalue 0 the loss sees nothing; B has no part there, else it could not
    #: reach 0.
    spectrum: Annotated[str, _one_of("linear", "log")] = "linear"
    #: Every coordinate of w_0 - w* ("w") or of A w_0 + B ("gradient") has this size in the eigenbasis.
    start: Annotated[str, _one_of("w", "gradient")] = "w"
    distance: Annotated[float, _within(0.0, 1e6)] = 1.0
    #: 𝔼||xi||^2, 𝔼||delta||^2 and 𝔼||nu||^2 are those of the vector, as written, or of each coordinate.
    per: Annotated[str, _one_of("vector", "coordinate")] = "vector"
    #: What the best rate minimises: 𝔼||A w_T + B|| at the end, or its mean over the last tenth, or over all rounds.
    criterion: Annotated[str, _one_of("final", "last", "all")] = "final"
    #: Lemma B.4 with D^2 = 𝔼||xi||^2 and R^2 = 𝔼||N(I, I/1000)||^2, which is 1/t for I = 0; or 1/t throughout.
    weights: Annotated[str, _one_of("lemma B.4", "uniform")] = "lemma B.4"
    #: Weight of (proximal/2) ||w - w_t||^2 in FedProx; 0.1 as in App. C.1.1.
    proximal: Annotated[float, _within(0.0, 1e3)] = 0.1
    #: Learning rates are the multiples of this below 2/L, where gradient descent on A w + B stops being stable.
    grid: Annotated[float, _within(0.0005, 0.01)] = 0.0025

    def __post_init__(self) -> None:
        require_fields(self)

    def eigenvalues(self, L: float, mu: float) -> Array:
        """Of A, (d,)."""
        if self.spectrum == "linear":
            return np.linspace(mu, L, self.dimension)
        return np.geomspace(mu or L / 1000, L, self.dimension)

    def displacement(self, eigenvalues: Array) -> Array:
        """w_0 - w* in the eigenbasis, (d,)."""
        if self.start == "w":
            return np.full(len(eigenvalues), self.distance)
        seen = eigenvalues > 0
        return np.where(seen, self.distance / np.where(seen, eigenvalues, 1.0), 0.0)

    def size(self, square: float) -> float:
        """𝔼||.||^2 of a vector from the number that the paper prints."""
        return square * (self.dimension if self.per == "coordinate" else 1)


@dataclass(frozen=True)
class Cell:
    """One of the eight experiments: its printed name, 𝔼||xi||^2, L and mu."""

    name: str
    D2: float
    L: float
    mu: float


CELLS = tuple(Cell(name, *map(float, numbers)) for name, numbers in SETTINGS.items())
