"""Our bounds along whole runs: exact averages over the draws of the memory, rest points that attain them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.past_task import runs as symbols
from cflag_theory.claims.c_flag.past_task.ours import rates as claim
from cflag_theory.claims.engine.notation import E, L, alpha, beta, bias2, grad_f2, m
from cflag_theory.kernels import Problem, Trace
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.quantities.c_flag import SUMS, of
from cflag_theory.verify.witnesses.instances import Component, exact_run, on_the_line, random_runs, visited
from cflag_theory.verify.witnesses.runs import Exact

_HALF = Fraction(1, 2)


def past(scale: Fraction) -> list[Component]:
    """x^2/2 as the mean of (1 + scale) x^2/2 and (1 - scale) x^2/2: a memory of one has b = +-scale grad f."""
    return [(1 + scale, 0), (1 - scale, 0)]


def point(run: Exact, scale: Fraction) -> Point:
    """A run averaged over its draws, with m = scale^2."""
    return Point({**of(run, *SUMS, L, alpha, beta, E, bias2, grad_f2), symbols.root_m: scale, m: scale**2}, part="1")


def _line(scale: Fraction, current: list[Component], start: Fraction) -> Problem:
    return on_the_line([past(scale)], [current], start=start, L=1)


def resting(scale: Fraction, step: Fraction, local: Fraction, steps: int, rounds: int) -> Exact:
    """f = x^2/2, g = -x^2/2 - x, the memory with b = -scale grad f, started where the model rests."""
    grown = (1 + local) ** steps - 1
    start = grown / (step * (1 - scale) - grown)
    return Exact(_line(scale, [(-1, 1)], start), step, local, steps, rounds, only=((1,),))


def drawn_once_points() -> Iterator[Point]:
    """Runs at rest, which attain the bound, and runs with one of two memories."""
    for scale, steps, rounds in product((Fraction(0), _HALF, Fraction(4, 5)), (1, 3), (1, 4)):
        yield point(resting(scale, _HALF, Fraction(1, 40), steps, rounds), scale)
    # The first constant: one step of gradient descent that is barely disturbed.
    tiny = Fraction(1, 10**9)
    yield point(Exact(_line(Fraction(0), [(0, 1)], Fraction(1)), Fraction(1), tiny, 1, 1), Fraction(0))
    for scale, slope, step in product((Fraction(0), _HALF), (Fraction(1), Fraction(-3)), (_HALF, Fraction(1))):
        for steps, rounds in ((1, 3), (2, 4)):
            problem = _line(scale, [(_HALF, slope), (-_HALF, slope)], Fraction(1))
            yield point(Exact(problem, step, Fraction(1, 8), steps, rounds), scale)


def in_T(run: Exact, scale: Fraction) -> dict[sp.Expr, sp.Expr]:
    """What the parts "in T" need besides, with beta = c/sqrt(T) and f = x^2/2, so that inf f = 0; T is a square."""
    sums, root = run.sums, sp.sqrt(run.rounds)
    lowest = min(range(run.rounds + 1), key=lambda t: sums.f[t])
    values = {
        symbols.root_m: scale,
        symbols.t: lowest,
        symbols.f_mean(symbols.t): sums.f[lowest],
        claim.F: run.f(run.problem.start),
        claim.c: run.beta * root,
        claim.w: 1 / root,
        **of(run, *SUMS, L, alpha, beta, E, bias2, grad_f2),
    }
    return {key: sp.sympify(value) for key, value in values.items()}


def drawn_once_in_T() -> Iterator[Point]:
    """A long run at rest, which comes near to the bound, and runs from above and below it."""
    found = [(resting(Fraction(0), Fraction(1), Fraction(1, 1000), 1, 100), Fraction(0))]
    for scale, start, steps in product((Fraction(0), _HALF), (Fraction(0), Fraction(2)), (1, 2)):
        problem = _line(scale, [(-1, 1)], start)
        found.append((Exact(problem, 1 / (1 + scale**2), Fraction(1, 20), steps, 4), scale))
    for run, scale in found:
        values = in_T(run, scale)
        gradients = sp.sqrt(values[symbols.grad_g2_sum] / run.rounds)
        yield Point({**values, claim.G: gradients}, part="in T")


def redrawn_points() -> Iterator[Point]:
    """All draws of fresh memories over up to four rounds, with m below, at and above 1."""
    for scale, steps, rounds in product((Fraction(0), _HALF, Fraction(1), Fraction(2)), (1, 2), (1, 4)):
        for step in (1 / (1 + scale**2), 1 / (2 + 2 * scale**2)):
            local = Fraction(1, 40)
            grown = (1 + local) ** steps - 1
            rest = grown / (step - grown)
            for start in (rest, Fraction(1)):
                problem = _line(scale, [(-1, 1)], start)
                yield point(Exact(problem, step, local, steps, rounds, redraw=True), scale)


def rate_points() -> Iterator[Point]:
    """Exact runs on f = x^2/2, g = -x, every round of them, with T a square so that c/sqrt(T) is rational."""
    for steps, root, step, scale in product((1, 3), (1, 2, 3), (_HALF, Fraction(1)), (Fraction(1), Fraction(1, 10))):
        rounds = root * root
        local = scale / root
        rest = local * steps / step
        for start in (rest, rest + 1):
            problem = on_the_line([[(1, 0)]], [[(0, 1)]], start=start, L=1)
            trace = exact_run(problem, alpha=step, beta=local, local_steps=steps, rounds=rounds)
            found = visited(trace)
            for index in range(rounds + 1):
                later = {claim.x(symbols.t + 1): found[index + 1]} if index < rounds else {}
                values = {
                    alpha: step,
                    beta: local,
                    E: steps,
                    symbols.T: rounds,
                    claim.c: scale,
                    claim.x(0): start,
                    claim.x(symbols.t): found[index],
                    **later,
                }
                yield Point(values)


def met_ratio(trace: Trace) -> tuple[Array, Array]:
    """The largest sqrt(m) that each replica met, and where it is below 1 in a run that did not break off."""
    rounds = trace.column("f").shape[1]
    root = np.sqrt(np.max(np.where(trace.column("b2") > 0, trace.column("m_met"), 0.0), axis=1, initial=0.0))
    return root, np.isfinite(root) & (root < 1) & (trace.rounds_done == rounds) & (rounds > 0)


def drawn_once_samples(seed: int, count: int) -> Iterator[Sample]:
    """Whole random runs with the memory ratio that they met, where it is below 1 and alpha <= 1/L."""
    for run in random_runs(seed, count, beta_limit=1.0, alpha_limit=1.0):
        trace = run.trace
        root, fits = met_ratio(trace)
        if not fits.any():
            continue
        yield Sample(
            {
                **of(run, L, alpha, beta, E, symbols.T),
                symbols.root_m: root[fits],
                symbols.grad_f2_sum: np.sum(trace.column("grad_f2"), axis=1)[fits],
                symbols.grad_g2_sum: np.sum(trace.column("grad_g2"), axis=1)[fits],
                symbols.f_mean(0): trace.column("f")[:, 0][fits],
                symbols.f_mean(symbols.T): trace.at_end("f")[fits],
            }
        )


CHECKS = {
    "ours.drawn_once": Check(lambda: (*drawn_once_points(), *drawn_once_in_T()), drawn_once_samples),
    "ours.drawn_once_rate": Check(rate_points),
    "ours.redrawn": Check(redrawn_points),
}
