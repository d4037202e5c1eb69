"""Which choices of what Sec. 5.1 omits reproduce which cell of Table 3 and which sentence, over a grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cflag_theory.claims.cfl.published import PRINTED
from cflag_theory.kernels.cfl.moments import Responses
from cflag_theory.studies.nqm.best_rates import CELLS, G2, METHODS, SIGMA2, Cell, Method, Setting, agree, answers, rates

Array = NDArray[Any]
#: Learning rates of the search; the table itself uses a finer grid.
STEP = 0.005
_WORST = 1e250


@dataclass(frozen=True)
class Grid:
    """The omitted parameters that the search goes through, all combinations; see `Setting`."""

    spectrum: tuple[str, ...] = ("linear", "log")
    dimension: tuple[int, ...] = (10, 20, 50)
    local_steps: tuple[int, ...] = (1, 3, 5, 20)
    proximal: tuple[float, ...] = (0.1, 1.0)
    rounds: tuple[int, ...] = (10, 20, 50, 100)
    criterion: tuple[str, ...] = ("final", "last", "all")
    clients: tuple[int, ...] = (1, 7, 50)
    start: tuple[str, ...] = ("w", "gradient")
    distance: tuple[float, ...] = (0.3, 1.0, 3.0, 10.0)
    per: tuple[str, ...] = ("vector", "coordinate")

    def worlds(self) -> list[Setting]:
        """The settings whose linear responses differ, each for the longest run."""
        return [
            Setting(spectrum=spectrum, dimension=d, local_steps=K, rounds=max(self.rounds), grid=STEP)
            for spectrum, d, K in product(self.spectrum, self.dimension, self.local_steps)
        ]

    def __len__(self) -> int:
        return len(list(product(*asdict(self).values())))


@dataclass(frozen=True)
class Match:
    """One setting of the grid: its best rates (methods, cells), which agree, and which sentences hold."""

    setting: Setting
    rates: Array
    agrees: Array
    sentences: dict[str, bool]


@dataclass(frozen=True)
class Search:
    """What a search found."""

    #: How many settings were tried.
    settings: int
    #: (method, cell) of Table 3 to the number of settings that reproduce it, and one of them (None where none does).
    cells: dict[tuple[str, str], tuple[int, Setting | None]]
    #: Sentence to the number of settings in which it holds, and one in which it does not (None where it always does).
    sentences: dict[str, tuple[int, Setting | None]]
    #: Those with the most cells, at most ten.
    best: tuple[Match, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {
            "settings": self.settings,
            "step": STEP,
            "most_cells": int(self.best[0].agrees.sum()),
            "best": [asdict(match.setting) | {"cells": int(match.agrees.sum())} for match in self.best],
            "cells": [
                {"method": method, "cell": cell, "reproduced_in": count, "for_example": example and asdict(example)}
                for (method, cell), (count, example) in self.cells.items()
            ],
            "sentences": [
                {"sentence": words, "holds_in": count, "fails_for_example_in": example and asdict(example)}
                for words, (count, example) in self.sentences.items()
            ],
        }


def search(grid: Grid | None = None, *, progress: Callable[[str], None] = lambda world: None) -> Search:
    """Recompute Table 3 in every setting of the grid; `progress` is told after each of ``len(grid.worlds())`` pieces.

    The criterion is the root of the mean square of ||A w + B||, which is linear in the sizes of start, drifts and
    noises, so that one run of the recursions serves all of them.
    """
    chosen = grid or Grid()
    tried = 0
    cells: dict[tuple[str, str], tuple[int, Setting | None]] = dict.fromkeys(PRINTED, (0, None))
    held: dict[str, tuple[int, Setting | None]] = {}
    best: list[Match] = []
    for world in chosen.worlds():
        for match in _matches(world, chosen):
            tried += 1
            for key, agrees in zip(PRINTED, match.agrees.ravel(), strict=True):
                if agrees:
                    cells[key] = (cells[key][0] + 1, cells[key][1] or match.setting)
            for words, holds in match.sentences.items():
                count, example = held.get(words, (0, None))
                held[words] = (count + holds, example or (None if holds else match.setting))
            best.append(match)
        # sorted keeps the first of equals, so that the result does not depend on how often it is cut.
        best = sorted(best, key=lambda match: -int(match.agrees.sum()))[:10]
        progress(f"{world.spectrum}, n = {world.dimension}, K = {world.local_steps}")
    return Search(tried, cells, held, tuple(best))


def _matches(world: Setting, grid: Grid) -> Iterator[Match]:
    """All settings that share the linear responses of `world`."""
    shown = [method for method in METHODS if method.information_loss == 0]
    printed = np.array([float(rate) for rate in PRINTED.values()]).reshape(len(shown), len(CELLS))
    # The responses do not depend on 𝔼||xi||^2: without information loss Lemma B.4 gives 1/t whatever D is.
    pairs = list(dict.fromkeys((cell.L, cell.mu) for cell in CELLS))
    rows = [(method, proximal) for method in shown for proximal in (grid.proximal if method.proximal else (None,))]
    sums = {
        (method.name, proximal, L, mu): _sums(
            answers(
                world if proximal is None else replace(world, proximal=proximal),
                Cell("", 1.0, L, mu),
                method,
                rates(world, L),
            )
        )
        for method, proximal in rows
        for L, mu in pairs
    }
    sizes = list(product(grid.clients, grid.start, grid.distance, grid.per))
    factors = {cell.name: np.array([_coefficients(world, cell, *size) for size in sizes]) for cell in CELLS}
    for T, criterion in product(grid.rounds, grid.criterion):
        first = {"final": T, "last": T + 1 - max(1, T // 10), "all": 1}[criterion]
        losses, found = {}, {}
        for method, proximal in rows:
            squares = [
                factors[cell.name] @ sums[method.name, proximal, cell.L, cell.mu][:, :, first : T + 1].mean(axis=2)
                for cell in CELLS
            ]
            grids = [rates(world, cell.L) for cell in CELLS]
            losses[method.name, proximal] = np.array([square.min(axis=1) for square in squares])
            found[method.name, proximal] = np.array(
                [grid_[square.argmin(axis=1)] for grid_, square in zip(grids, squares, strict=True)]
            )
        for proximal in grid.proximal:
            keys = [(method.name, proximal if method.proximal else None) for method in shown]
            rate, loss = np.array([found[key] for key in keys]), np.array([losses[key] for key in keys])
            agrees = agree(rate, printed[:, :, None])
            for place, (clients, start, distance, per) in enumerate(sizes):
                setting = replace(
                    world,
                    proximal=proximal,
                    rounds=T,
                    criterion=criterion,
                    clients=clients,
                    start=start,
                    distance=distance,
                    per=per,
                )
                one = rate[:, :, place]
                yield Match(setting, one, agrees[:, :, place], _sentences(shown, one, loss[:, :, place]))


def _sums(found: Responses) -> Array:
    """(5, n, T + 1): ||A w_t + B||^2 per unit of w_0 - w*, of A w_0 + B, and of the three variances."""
    square = found.eigenvalues**2
    seen = (found.eigenvalues > 0).astype(float)
    with np.errstate(over="ignore", invalid="ignore"):
        parts = np.array(
            [
                (square * found.start**2).sum(axis=2),
                (seen * found.start**2).sum(axis=2),
                *((square * part).sum(axis=2) for part in (found.client, found.time, found.step_noise)),
            ]
        )
    # A rate that overflowed is worse than every other, and stays so in the sums that follow.
    parts[~(parts < _WORST)] = _WORST
    return parts


def _coefficients(world: Setting, cell: Cell, clients: int, start: str, distance: float, per: str) -> list[float]:
    share = (1 if per == "coordinate" else 1 / world.dimension) / clients
    from_w, from_gradient = (distance**2, 0.0) if start == "w" else (0.0, distance**2)
    return [from_w, from_gradient, G2 * share, cell.D2 * share, SIGMA2 * share]


def _sentences(shown: list[Method], found: Array, losses: Array) -> dict[str, bool]:
    """The sentences that need no curves."""
    names = [method.name for method in shown]
    cfl = names.index("CFL")
    others = [row for row in range(len(names)) if row != cfl]
    higher, floor = found[others].max(axis=0), losses[others].min(axis=0)
    return {
        "best learning rates are higher for CFL": bool((found[cfl] > higher).all()),
        "best learning rates are not lower for CFL": bool((found[cfl] >= higher).all()),
        "CFL outperforms other baselines in all settings": bool((losses[cfl] < floor).all()),
    }
