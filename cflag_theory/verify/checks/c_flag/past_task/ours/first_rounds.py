"""The first rounds: exact averages over the draws on problems where grad g grows along the run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.past_task import runs as symbols
from cflag_theory.claims.c_flag.past_task.ours import first_rounds as claim
from cflag_theory.claims.engine.notation import E, L, alpha, beta, bias2, grad_f2
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.past_task.ours.rates import in_T, met_ratio, past, resting
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.quantities.c_flag import of
from cflag_theory.verify.witnesses.instances import Component, on_the_line, random_runs, slopes
from cflag_theory.verify.witnesses.runs import Exact

_HALF = Fraction(1, 2)


def points() -> Iterator[Point]:
    """f = x^2/2 with inf f = 0; g = -x^2/2 - x drives the model away, g = x^2/2 - 2x towards 2, g = -x steadily.

    Then near the limits of the two constants: one step of gradient descent, and a hundred rounds at rest.
    """
    pulls = (-1, 1), (1, 2), (0, 1)
    for current, scale, start in product(pulls, (Fraction(0), _HALF), (Fraction(0), Fraction(2))):
        for step, W, steps in ((1 / (1 + scale**2), 2, 2), (_HALF, 3, 1)):
            local = (1 - scale) / (8 * W * steps)
            problem = on_the_line([past(scale)], [[current]], start=start, L=1)
            yield from _points(Exact(problem, step, local, steps, W), scale)
    small = Fraction(1, 100)
    step_alone = on_the_line([past(Fraction(0))], [[(0, 1)]], start=Fraction(1), L=1)
    yield from _points(Exact(step_alone, Fraction(1), Fraction(1, 10**9), 1, 1), Fraction(0), small, small)
    yield from _points(resting(Fraction(0), Fraction(1), Fraction(7, 10**5), 1, 100), Fraction(0), small, small)


def in_T_points() -> Iterator[Point]:
    """T = 49 rounds and the largest W that c allows; a flat f, on which grad f decays slowly, comes nearest."""
    flat: list[Component] = [(Fraction(1, 98), 0)]
    kinds = [(Fraction(0), past(Fraction(0))), (_HALF, past(_HALF)), (Fraction(0), flat)]
    rates, starts = (Fraction(1, 100), Fraction(1, 54)), (Fraction(0), Fraction(2))
    for (scale, kept), rate, start in product(kinds, rates, starts):
        problem = on_the_line([kept], [[(0, 1)]], start=start, L=1)
        run = Exact(problem, 1 / (1 + scale**2), rate / 7, 1, 49)
        longest = sp.floor(7 * (1 - scale) / (4 * (sp.exp(sp.Rational(rate)) - 1)))
        known = {claim.W: sp.Min(longest, 49), claim.size_g(0): sp.sympify(abs(slopes(problem)[1]))}
        yield Point({**in_T(run, scale), **known}, part="in T")


def _points(run: Exact, scale: Fraction, delta: Any = claim.SIMPLE[0], eta: Any = claim.SIMPLE[1]) -> Iterator[Point]:
    problem = run.problem
    _, grad_g = slopes(problem)
    entries = run.sums.entries
    lowest = min(range(run.rounds), key=lambda t: run.sums.f[t])
    values = {
        claim.f2(claim.W): entries["grad_f2"],
        symbols.f_mean(0): run.sums.f[0],
        symbols.f_mean(symbols.t): run.sums.f[lowest],
        claim.F: run.f(problem.start),
        claim.size_g(0): abs(grad_g),
        claim.W: run.rounds,
        claim.delta: delta,
        claim.eta: eta,
        symbols.t: lowest,
        symbols.root_m: scale,
        **of(run, L, alpha, beta, E, bias2, grad_f2),
    }
    for part in ("1", "constants"):
        yield Point({key: sp.sympify(value) for key, value in values.items()}, part=part)


def samples(seed: int, count: int) -> Iterator[Sample]:
    """Random runs of W = 5 rounds with small beta, on past data whose f is a mean of non-negative functions."""
    for run in random_runs(seed, count, beta_limit=0.02, alpha_limit=1.0):
        past, trace = run.problem.past, run.trace
        root, fits = met_ratio(trace)
        if not fits.any() or len(past.offsets) or bool((past.weights < 0).any()):
            continue
        yield Sample(
            {
                **of(run, L, alpha, beta, E),
                claim.W: run.rounds,
                symbols.t: 0,
                symbols.root_m: root[fits],
                claim.f2(claim.W): np.sum(trace.column("grad_f2"), axis=1)[fits],
                # f(x_0) - 0 is at least f(x_0) - inf f.
                claim.F: trace.column("f")[:, 0][fits],
                claim.size_g(0): trace.root("grad_g2")[:, 0][fits],
            }
        )


CHECKS = {
    "ours.first_rounds": Check(
        lambda: (*points(), *in_T_points()),
        samples,
    )
}
