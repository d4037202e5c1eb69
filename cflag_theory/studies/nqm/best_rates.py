"""The noisy quadratic model of the CFL paper, Sec. 5.1, by exact moments: best learning rates, Table 3, its sentences.

The paper fixes L, mu and the sizes of the drifts and omits the rest, which `Setting` says. `nqm.search`
asks which choices reproduce which cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from cflag_theory.claims.cfl.published import PRINTED, SETTINGS
from cflag_theory.kernels.cfl.moments import Moments, Responses, moments, responses
from cflag_theory.kernels.cfl.round_weights import RoundWeights
from cflag_theory.public import one_of, require_fields, within
from cflag_theory.reading import integer

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
    spectrum: Annotated[str, one_of("linear", "log")] = "linear"
    #: Every coordinate of w_0 - w* ("w") or of A w_0 + B ("gradient") has this size in the eigenbasis.
    start: Annotated[str, one_of("w", "gradient")] = "w"
    distance: Annotated[float, within(0.0, 1e6)] = 1.0
    #: 𝔼||xi||^2, 𝔼||delta||^2 and 𝔼||nu||^2 are those of the vector, as written, or of each coordinate.
    per: Annotated[str, one_of("vector", "coordinate")] = "vector"
    #: What the best rate minimises: 𝔼||A w_T + B|| at the end, or its mean over the last tenth, or over all rounds.
    criterion: Annotated[str, one_of("final", "last", "all")] = "final"
    #: Lemma B.4 with D^2 = 𝔼||xi||^2 and R^2 = 𝔼||N(I, I/1000)||^2, which is 1/t for I = 0; or 1/t throughout.
    weights: Annotated[str, one_of("lemma B.4", "uniform")] = "lemma B.4"
    #: Weight of (proximal/2) ||w - w_t||^2 in FedProx; 0.1 as in App. C.1.1.
    proximal: Annotated[float, within(0.0, 1e3)] = 0.1
    #: Learning rates are the multiples of this below 2/L, where gradient descent on A w + B stops being stable.
    grid: Annotated[float, within(0.0005, 0.01)] = 0.0025

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


#: Two learning rates agree within half a unit of the printed digits, or within this part of the printed one.
ROUNDING, TOLERANCE = 0.005, 0.1
#: Steps of the grids of learning rates over which the agreement with Table 3 is counted.
STEPS = (0.01, 0.005, 0.0025, 0.001)


@dataclass(frozen=True)
class Best:
    """The best learning rate of a method in a cell."""

    cell: str
    method: str
    #: On the grid, and what the criterion says there.
    rate: float
    loss: float
    #: The lowest and highest rate whose loss is within 1 % of the best.
    flat: tuple[float, float]
    #: The entry of Table 3 and the criterion there; None for methods that the table has not.
    printed: float | None
    printed_loss: float | None

    @property
    def ratio(self) -> float | None:
        """Reproduced over printed rate."""
        return None if self.printed is None else self.rate / self.printed

    @property
    def agrees(self) -> bool | None:
        """Whether the two rates agree, see `agree`."""
        return None if self.printed is None else bool(agree(self.rate, self.printed))

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {**asdict(self), "flat": list(self.flat), "ratio": self.ratio, "agrees": self.agrees}


def agree(rate: Any, printed: Any) -> Any:
    """Whether rates agree with printed ones, within 0.005 or within 10 %."""
    gap = np.abs(np.asarray(rate) - printed)
    return gap <= np.maximum(ROUNDING, TOLERANCE * np.asarray(printed)) * (1 + 1e-9)


def rates(setting: Setting, L: float) -> Array:
    """The grid of learning rates below 2/L."""
    count = math.ceil(2 / (L * setting.grid) * (1 - 1e-12)) - 1
    return np.asarray(setting.grid * np.arange(1, count + 1))


def round_weights(setting: Setting, cell: Cell, method: Method, *, window: int | None = None) -> RoundWeights:
    """The weights of rounds of a method."""
    if not method.past:
        return RoundWeights("current")
    lost = method.information_loss
    if setting.weights == "uniform":
        return RoundWeights("uniform", window=window)
    R2 = setting.dimension * (lost**2 + lost / 1000)
    return RoundWeights("lemma B.4", D2=setting.size(cell.D2), R2=R2, window=window)


def answers(
    setting: Setting, cell: Cell, method: Method, steps: Array, *, weights: RoundWeights | None = None
) -> Responses:
    """Linear responses of a method at these step sizes, (n,) or (n, T)."""
    return responses(
        setting.eigenvalues(cell.L, cell.mu),
        steps,
        rounds=setting.rounds,
        local_steps=setting.local_steps,
        weights=weights or round_weights(setting, cell, method),
        proximal=setting.proximal if method.proximal else 0.0,
    )


def law(setting: Setting, cell: Cell, method: Method, found: Responses) -> Moments:
    """Mean and variance of w_t - w* in a cell."""
    return moments(
        found,
        setting.displacement(found.eigenvalues),
        clients=setting.clients,
        G2=setting.size(G2),
        D2=setting.size(cell.D2),
        sigma2=setting.size(SIGMA2),
        information_loss=method.information_loss,
    )


def criterion(setting: Setting, found: Moments) -> Array:
    """What the best rate minimises, (n,)."""
    T = setting.rounds
    first = {"final": T, "last": T + 1 - max(1, T // 10), "all": 1}[setting.criterion]
    return np.asarray(found.norm(slice(first, T + 1)).mean(axis=1))


def best(setting: Setting, cell: Cell, method: Method) -> Best:
    """The learning rate with the smallest criterion, and what the printed one would give."""
    grid = rates(setting, cell.L)
    printed = PRINTED.get((method.name, cell.name))
    # The printed rate need not lie on the grid: it is tried as a last entry.
    tried = grid if printed is None else np.append(grid, float(printed))
    losses = criterion(setting, law(setting, cell, method, answers(setting, cell, method, tried)))
    on_grid = losses[: len(grid)]
    place = int(on_grid.argmin())
    flat = grid[on_grid <= 1.01 * on_grid[place]]
    return Best(
        cell=cell.name,
        method=method.name,
        rate=float(grid[place]),
        loss=float(on_grid[place]),
        flat=(float(flat[0]), float(flat[-1])),
        printed=None if printed is None else float(printed),
        printed_loss=None if printed is None else float(losses[-1]),
    )


def curve(setting: Setting, cell: Cell, method: Method, rate: float) -> dict[str, Array]:
    """𝔼||A w_t + B|| and its standard deviation over runs, both (T + 1,), exactly."""
    found = law(setting, cell, method, answers(setting, cell, method, np.array([rate])))
    mean, square = found.norm()[0], found.square()[0]
    return {"mean": mean, "deviation": np.sqrt(np.maximum(square - mean**2, 0.0))}


@dataclass(frozen=True)
class Study:
    """Table 3 recomputed in one setting."""

    setting: Setting
    #: One for each cell and method, cells outermost.
    bests: tuple[Best, ...]
    #: (cell, method) to `curve` at the best rate.
    curves: dict[tuple[str, str], dict[str, Array]]

    def at(self, cell: str, method: str) -> Best:
        """The entry of one cell and method."""
        return next(entry for entry in self.bests if (entry.cell, entry.method) == (cell, method))

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {
            "setting": {field.name: getattr(self.setting, field.name) for field in fields(Setting)},
            "table": [entry.to_json() for entry in self.bests],
            "sentences": sentences(self),
        }


def study(setting: Setting | None = None, *, progress: Callable[[str], None] = lambda cell: None) -> Study:
    """Best rates of all methods in the eight cells, and their curves."""
    chosen = setting or Setting()
    bests, curves = [], {}
    for cell in CELLS:
        for method in METHODS:
            bests.append(best(chosen, cell, method))
            curves[cell.name, method.name] = curve(chosen, cell, method, bests[-1].rate)
        progress(cell.name)
    return Study(chosen, tuple(bests), curves)


def over_grids(setting: Setting) -> list[dict[str, Any]]:
    """How many printed rates a setting reproduces, by how fine the grid of learning rates is: "grid", "entries", those
    that Table 3 prints, "agree", how many of them agree (`agree`), and "near", at how many printed rates the criterion
    is within 1% of its best.
    """
    rows = []
    for grid in STEPS:
        fine = replace(setting, grid=grid)
        found = [best(fine, cell, method) for cell in CELLS for method in METHODS]
        losses = [(one.printed_loss, one.loss) for one in found if one.printed_loss is not None]
        agreeing = sum(bool(one.agrees) for one in found)
        near = sum(printed <= 1.01 * least for printed, least in losses)
        rows.append({"grid": grid, "entries": len(losses), "agree": agreeing, "near": near})
    return rows


def sentences(found: Study) -> list[dict[str, Any]]:
    """The sentences of Sec. 5.1.2 in one setting: for each, the cells where it fails."""
    first = 1 + found.setting.rounds // 2

    def rate(cell: str, method: str) -> float:
        return found.at(cell, method).rate

    def loss(cell: str, method: str) -> float:
        return found.at(cell, method).loss

    def spread(cell: str, method: str) -> float:
        return float(found.curves[cell, method]["deviation"][first:].mean())

    baselines = ("FedAvg", "FedProx")

    def below(cell: str) -> bool:
        mean = {name: found.curves[cell, name]["mean"][1:] for name in (*baselines, "CFL")}
        return all(bool((mean["CFL"] < mean[other]).all()) for other in baselines)

    tests: list[tuple[str, str, Callable[[str], bool]]] = [
        (
            "best learning rates are higher for CFL",
            "the best rate of CFL exceeds those of FedAvg and FedProx",
            lambda cell: rate(cell, "CFL") > max(rate(cell, other) for other in baselines),
        ),
        (
            "best learning rates are not lower for CFL",
            "the best rate of CFL is at least those of FedAvg and FedProx",
            lambda cell: rate(cell, "CFL") >= max(rate(cell, other) for other in baselines),
        ),
        (
            "CFL outperforms other baselines in all settings",
            "each at its best rate, the criterion of CFL is below those of FedAvg and FedProx",
            lambda cell: loss(cell, "CFL") < min(loss(cell, other) for other in baselines),
        ),
        (
            "CFL outperforms other baselines in all settings",
            "the curve of CFL, as drawn in Figure 2, is below those of FedAvg and FedProx after every round",
            below,
        ),
        (
            "the loss curves of CFL are smoother",
            "the standard deviation of ||A w_t + B|| over runs, averaged over the second half, is smallest for CFL",
            lambda cell: spread(cell, "CFL") < min(spread(cell, other) for other in baselines),
        ),
        (
            "larger information loss is worse",
            "the criterion rises from CFL to CFL-0.001 to CFL-0.01",
            lambda cell: loss(cell, "CFL") < loss(cell, "CFL-0.001") < loss(cell, "CFL-0.01"),
        ),
    ]
    rows = []
    for words, reading, holds in tests:
        fails = [cell.name for cell in CELLS if not holds(cell.name)]
        rows.append({"sentence": words, "reading": reading, "holds": not fails, "fails_in": fails})
    return rows
