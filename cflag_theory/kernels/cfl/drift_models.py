"""Problems whose local data change from round to round: the noisy quadratic model, and any problem made to evolve."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.cfl.drifts import INDEPENDENT, NORMAL, Drift
from cflag_theory.kernels.cfl.windows import ALL, FRESH, KINDS, POINTER, SUBSETS, Windows, fresh, pointer, subsets
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.glm import random_glm
from cflag_theory.kernels.problems.problem import UPPER_BOUND, Constant, Problem
from cflag_theory.kernels.problems.quadratic import quadratic
from cflag_theory.kernels.problems.validation import validate
from cflag_theory.public import Count, NotNegative, Positive, Whole, one_of, taking

SPECTRA = ("linear", "geometric", "ends", "uniform")


def evolving(problem: Problem, *, windows: Windows | None = None, drift: Drift | None = None) -> Problem:
    """The problem in which f_{t,i} is drawn from client i's current data of `problem`, by windows and drifts.

    f and g of the new problem are both the objective on all current data, so the columns of a Trace say how far a
    run is from the optimum of all rounds together.

    Raises
    ------
    InvalidInput
        Neither windows nor drift, windows that a client cannot fill, or normal drifts of a `Fraction` problem.
    """
    if windows is None and drift is None:
        raise InvalidInput(f"problem {problem.name!r} is to evolve without windows and drift: give one of them")
    constants = {
        name: Constant(
            problem.constants[name].value,
            UPPER_BOUND,
            f"of {problem.name!r}; drifts scale it by at most 1 + A + B, and a window's L is at most L_component",
        )
        for name in ("L", "L_component")
    }
    return validate(
        replace(
            problem,
            name=f"evolving {problem.name}",
            past=problem.current,
            labels=np.zeros(int(problem.current.counts.sum()), dtype=np.int64),
            constants=constants,
            drift=drift,
            windows=windows,
            notes=(
                *problem.notes,
                "local data change from round to round; f and g are both the objective on all current data",
            ),
        )
    )


@taking
def noisy_quadratic(
    *,
    dimension: Count = 10,
    clients: Count = 10,
    L: Positive = 5.0,
    mu: NotNegative = 1.0,
    spectrum: Annotated[str, one_of(*SPECTRA)] = "linear",
    distance: NotNegative = 1.0,
    rotated: bool = True,
    G: float = 0.1,
    B: float = 0.0,
    D: float = 0.1,
    A: float = 0.0,
    sigma: float = math.sqrt(1e-5),
    law: str = NORMAL,
    correlation: str = INDEPENDENT,
    F: float = 0.0,
    C: float = 0.0,
    alpha: float = 0.0,
    stateless: bool = False,
    seed: Whole = 0,
) -> Problem:
    """The noisy quadratic model of the CFL paper, Sec. 5.1.1: every f_i is (w - w*)^T H (w - w*) / 2, plus drifts.

    grad f(w) = H w + b with b = -H w*, which the paper writes A w + B; L and mu are those of f. The dials of the drift
    are those of `Drift`; by default they are the paper's with small round drift, 𝔼||delta||^2 = 𝔼||xi||^2 = 0.01 and
    𝔼||nu||^2 = 1e-5.

    Parameters
    ----------
    dimension, clients : int
        d and N.
    L, mu : float
        Largest and smallest eigenvalue of H, 0 <= mu <= L; a model of dimension 1 has L alone.
    spectrum : {"linear", "geometric", "ends", "uniform"}
        Eigenvalues from mu to L in equal steps or equal ratios (mu > 0), in two halves mu and L, or drawn uniformly
        between them with both ends present.
    distance : float
        Value of every coordinate of w_0 - w* in the eigenbasis of H; w* is drawn.
    rotated : bool
        Whether the eigenbasis is also drawn; else it is the standard basis.
    seed : int
        Of the construction; runs have their own.

    Raises
    ------
    InvalidInput
        A dial outside its range.
    UnknownName
        No such spectrum, law or correlation.
    """
    d, random = dimension, np.random.default_rng(seed)
    eigenvalues = _eigenvalues(d, L, mu, spectrum, random)
    basis = np.linalg.qr(random.standard_normal((d, d)))[0] if rotated else np.eye(d)
    matrix = (basis.T * eigenvalues) @ basis
    minimiser = random.standard_normal(d)
    return shared_quadratic(
        (matrix + matrix.T) / 2,
        clients=clients,
        minimiser=minimiser,
        start=minimiser + basis.T @ np.full(d, float(distance)),
        drift=Drift(G, B, D, A, sigma, law, correlation, F, C, alpha, stateless),
    )


def shared_quadratic(matrix: Array, *, clients: int, minimiser: Array, start: Array, drift: Drift) -> Problem:
    """All clients have (w - w*)^T H (w - w*) / 2, up to a constant, plus drifts.

    Parameters
    ----------
    matrix : (d, d)
        H, symmetric.
    clients : int
        N.
    minimiser, start : (d,)
        w* and w_0.
    drift : Drift
        Of the clients and rounds.
    """
    task = (np.stack([matrix] * clients), np.stack([matrix @ minimiser] * clients), np.arange(clients))
    named = evolving(quadratic(*task, *task, start=start), drift=drift)
    return replace(named, name="noisy quadratic")


@taking
def random_evolving(
    *,
    clients: int = 5,
    components: int = 60,
    dimension: int = 10,
    heterogeneity: float = 0.5,
    noise: float = 0.1,
    potential: str = "cauchy",
    windows: Annotated[str, one_of(*KINDS)] = SUBSETS,
    size: int = 10,
    shift: int = 5,
    count: int = 6,
    seed: int = 0,
) -> Problem:
    """A synthetic regression; a client sees a part of it in every round.

    Parameters
    ----------
    components : int
        Per client.
    heterogeneity, noise, potential
        As in `random_glm`.
    windows : {"all", "pointer", "subsets", "fresh"}
        Which part: `size` components from a pointer that moves by `shift` (App. C.1.1), one of `count` disjoint subsets
        (Sec. 5.2), or `size` components of all clients together (stateless clients, Sec. 5.3.4).
    seed : int
        Of the construction; runs have their own.

    Raises
    ------
    InvalidInput
        A dial outside its range.
    UnknownName
        No such windows.
    """
    rules = {ALL: Windows(), POINTER: pointer(size, shift), SUBSETS: subsets(count), FRESH: fresh(size)}
    problem = random_glm(
        clients=clients,
        components=components,
        dimension=dimension,
        heterogeneity=heterogeneity,
        conflict=0.0,
        noise=noise,
        potential=potential,
        seed=seed,
    )
    return evolving(problem, windows=rules[windows])


def _eigenvalues(d: int, L: Any, mu: Any, spectrum: str, random: np.random.Generator) -> Array:
    L, mu = float(L), float(mu)
    if mu > L:
        raise InvalidInput(f"mu is {mu!r} and L is {L!r}: use mu <= L")
    if spectrum == "geometric" and mu == 0:
        raise InvalidInput("a geometric spectrum has no eigenvalue 0: use mu > 0 or another spectrum")
    if d == 1:
        return np.array([float(L)])
    if spectrum == "geometric":
        return np.geomspace(mu, L, d)
    if spectrum == "ends":
        return np.repeat([float(mu), float(L)], [d // 2, d - d // 2])
    if spectrum == "uniform":
        return np.sort([mu, *random.uniform(mu, L, d - 2), L]).astype(np.float64)
    return np.linspace(mu, L, d)
