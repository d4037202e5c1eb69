"""The plane of eta_l and eta_g at a given K: where a theorem is proved."""

from __future__ import annotations

from itertools import chain

import numpy as np

from cflag_theory.claims.cfl.symbols import eta_g, eta_l
from cflag_theory.studies.stepsize.cfl_conditions import CFLStepSizes
from cflag_theory.studies.stepsize.cfl_predicted import RELATIONS, cfl_theorems
from cflag_theory.studies.stepsize.region import Axes, Region, drawable, edges_of, grid_of

CFL: Axes = (eta_l, eta_g)


def cfl_region(found: CFLStepSizes) -> Region:
    """The plane of eta_l and eta_g around those of `found`, and where its answer's theorem is proved."""
    values, unit = found.values(), 1 / (found.L * found.K)
    along = (min(found.eta_l, unit / 300) / 3, max(found.eta_l, 2 * unit) * 2)
    up = (min(found.eta_g, 0.1) / 3, max(found.eta_g, 10.0) * 3)
    drawable(along, up)
    offered = {(one.claim, one.name) for one in found.answer.choices if one.claim == found.answer.claim}
    needs = [
        [RELATIONS[name] for name in one.conditions if name in RELATIONS]
        for one in cfl_theorems()
        if (one.claim, one.note) in offered
    ]
    grid = grid_of(chain.from_iterable(needs), values, CFL, along)
    safe = [edges_of(relations, values, CFL, grid, up) for relations in needs]
    nowhere = (float("nan"),) * len(grid)
    return Region(
        axes=(("eta_l", "local step size"), ("eta_g", "global step size")),
        numbers={"L": found.L, "mu": found.mu, "K": found.K, "T": found.T, "c": found.c_O, "p_t": found.p_t},
        x_range=along,
        y_range=up,
        x=tuple(grid),
        safe=max(safe, key=lambda edges: np.isfinite(edges).sum(), default=(nowhere, nowhere)),
        answer=found.answer.words.partition(". ")[0],
        point=(found.eta_l, found.eta_g),
    )
