"""(161)-(165), (177) and (178): exact rounds, and exact values over the stated range of step sizes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from cflag_theory.claims.c_flag.forgetting import bounds as claim
from cflag_theory.claims.c_flag.forgetting.terms import Gamma, grad_union, memory, omega2
from cflag_theory.claims.engine.notation import E, L, alpha, beta, grad_g, m, r
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.problems.problem import Problem
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.forgetting.terms import omega_squared
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.c_flag import ExactRound, of
from cflag_theory.verify.witnesses.instances import exact_run, on_the_line, root

_SMOOTHNESS = (Fraction(1), Fraction(7, 3))
_BIAS = (Fraction(0), Fraction(1, 4), Fraction(1), Fraction(3))
# The last is large enough that the constant term cannot hide a slope which is too small.
_RATIO = (Fraction(0), Fraction(1), Fraction(2), Fraction(10), Fraction(10**6))
# Shares of the open range (0, 2/(L(1+m))), near both ends.
_SHARE = (Fraction(1, 1000), Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000))


def points() -> Iterator[Point]:
    """A grid over L, m, r and alpha at the step size of Lemma 18."""
    for smoothness, bias, ratio, share in product(_SMOOTHNESS, _BIAS, _RATIO, _SHARE):
        step = share * 2 / (smoothness * (1 + bias))
        words = (
            f"L = {smoothness}, m = {bias}, r = {ratio}, alpha = {step}, E = 5, beta = 1/(60LE): the left side is the "
            "exact value, the right side the printed bound."
        )
        yield Point({L: smoothness, m: bias, r: ratio, alpha: step, E: 5, beta: 1 / (300 * smoothness)}, (words,))


def _tug_of_war(slope: int) -> Problem:
    """Past x^2/2 against current x^2/2 - slope x, from x = 1: grad f = 1 and grad g = 1 - slope."""
    return on_the_line([[(1, 0)]], [[(1, slope)]], start=1, L=1)


def eq161_points() -> Iterator[Point]:
    """First rounds in which the memory step raises h~ while the local steps forget, and milder ones."""
    for slope, step, (steps, local) in product(
        (4, 3, 2), (Fraction(1, 2), Fraction(1, 60)), ((1, Fraction(1, 60)), (3, Fraction(1, 180)))
    ):
        problem = _tug_of_war(slope)
        at = ExactRound(problem, step, local, steps)
        values = {
            **of(at, L, alpha, beta, E, grad_g, grad_union, memory, Gamma, claim.h(claim.t), claim.h(claim.t + 1)),
            m: 0,
            r: at.root("grad_memory2") / at.root("grad_g2"),
            omega2: omega_squared(problem),
        }
        yield Point(values, (f"{at.words} h~ = (f + g)/2.",))


def eq163_points() -> Iterator[Point]:
    """Runs of one, two and four rounds, the bound summed round by round."""
    for slope, rounds in product((4, -1), (1, 2, 4)):
        problem, step, local = _tug_of_war(slope), Fraction(1, 2), Fraction(1, 60)
        trace = exact_run(problem, alpha=step, beta=local, local_steps=1, rounds=rounds)
        h = [*trace.column("h")[0], trace.at_end("h")[0]]
        slopes = zip(trace.column("grad_memory2")[0], trace.column("grad_g2")[0], strict=True)
        # The memory's and the current data's gradients are |x| and |x - slope| on the line: exact roots.
        largest = max(root(over / under) for over, under in slopes)
        at = {L: 1, r: largest, alpha: step, beta: local, E: 1}
        ratio, Q = ((claim.Q() / claim.Z()).subs(at), claim.Q().subs(at))
        omega = omega_squared(problem)
        bounds = [ratio * (h[t] - h[t + 1]) + Q * omega for t in range(rounds)]
        Gammas = trace.column("Gamma")[0]
        values = {
            **at,
            m: 0,
            claim.largest_ratio: largest,
            claim.T: rounds,
            claim.excess: max(one - bound for one, bound in zip(Gammas, bounds, strict=True)),
            claim.ratio: ratio,
            claim.Q_constant: Q,
            omega2: omega,
            **{claim.Gamma_at(t): Gammas[t] for t in range(rounds)},
        }
        for t in range(rounds + 1):
            sums = {claim.Gamma_total(t): sum(Gammas[:t]), claim.bound_sum(t): sum(bounds[:t]), claim.h(t): h[t]}
            values |= sums | ({claim.h(claim.T): h[t]} if t == rounds else {})
        at_end = {claim.Gamma_total(claim.T): sum(Gammas), claim.bound_sum(claim.T): sum(bounds)}
        story = (f"f = x^2/2, all of it kept as memory, and g = x^2/2 - {slope} x, from x_0 = 1. h~ = (f + g)/2.",)
        yield from (Point(values | at_end, story, part) for part in ("1", "162"))
        yield Point(values | at_end, story, "step", unseen="the excess is the largest of the rounds of the run")


def eq164_points() -> Iterator[Point]:
    """A grid over what (164) depends on."""
    for smoothness, steps, ratio, share, u in product(
        (Fraction(1, 2), Fraction(1), Fraction(3)),
        (1, 3),
        (Fraction(0), Fraction(1), Fraction(5)),
        (Fraction(1, 2), Fraction(3, 2)),
        (Fraction(1, 60), Fraction(9, 100)),
    ):
        decrease, rounds = Fraction(steps, 3), steps
        step, local = share / smoothness, u / (smoothness * steps)
        yield Point(
            {
                L: smoothness,
                E: steps,
                r: ratio,
                alpha: step,
                beta: local,
                claim.decrease: decrease,
                claim.T: rounds,
                omega2: Fraction(1, 4),
            },
            (
                f"L = {smoothness}, E = {steps}, r = {ratio}, alpha = {step}, beta = {local}, Delta = {decrease}, "
                f"T = {rounds}, "
                "omega^2 = 1/4: the left side is (163), the right side is (164) as printed, which has L^2 for L.",
            ),
        )


CHECKS = {
    "cflag.eq161": Check(eq161_points),
    "cflag.eq163": Check(eq163_points),
    "cflag.eq164": Check(eq164_points),
    "cflag.eq177": Check(points),
    "cflag.eq178": Check(points),
}
