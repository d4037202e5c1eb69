"""(14), the guarantee and the sign of Sec. 5, and (16): exact rounds, and exact runs beside their closed forms."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from cflag_theory.claims.c_flag.adaptive import server as claim
from cflag_theory.claims.c_flag.adaptive.clients import cross
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import E, L, alpha, beta, m, sum2
from cflag_theory.kernels import Problem, algorithm, everything, simulate
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.adaptive.rounds import (
    Component,
    Round,
    at_rate,
    in_space,
    larger_m,
    random_rounds,
    with_gradients,
)
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.verdict import REFUTES, UNDECIDED, Evidence

_SHARES = (Fraction(1, 1000), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(999, 1000))
_ROUNDS = 10


def eq14_replay(claim_: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """On f = g = x^2/2 the simulated Gamma of the better pair is below that of every feasible pair of a grid."""
    problem = in_space([(1, [0])], [(1, [0])], start=[1])
    cases, beaten = 0, 0
    for share, bias, local in product(
        _SHARES, (Fraction(0), Fraction(1, 2), Fraction(1)), (Fraction(1, 9), Fraction(1), Fraction(3))
    ):
        step = share * 2 / (1 + bias)
        better = step * (1 - step / 2)
        here = Round(problem, step, local).simulated().column("Gamma")[0, 0]
        there = Round(problem, better, 1 - better).simulated().column("Gamma")[0, 0]
        cases += 1
        beaten += bool(there < here and better < step)
    summary = f"In {beaten} of {cases} exact rounds alpha' and beta' have the lower Gamma."
    finding = REFUTES if beaten == cases else UNDECIDED
    story = [
        "N = 1, E = 1, f = g = x^2/2, x_t = 1, a memory of everything; alpha' = alpha (1 - alpha/2), beta' = 1 - "
        "alpha'."
    ]
    yield Evidence("counterexample", "1", "printed", finding, summary, {"instance": story, "cases": cases})


def _run(problem: Problem, adaptive: str, step: Fraction) -> list[Fraction]:
    trace = simulate(
        problem,
        algorithm("c_flag", adaptive=adaptive),
        alpha=step,
        beta=step,
        local_steps=1,
        rounds=_ROUNDS,
        memory=everything(),
        engine="reference",
        iterates=True,
    )
    assert trace.iterates is not None
    return [x[0] for x in trace.iterates[0]]


def _average_case(past: list[Component], current: list[Component], step: Fraction, x: Fraction) -> bool:
    """Whether a round from x is one of part f: no cross term, rates within the constraint (L = 1), Assumption 3."""
    case = Round(in_space(past, current, start=[x]), step, step)
    grad_g = case.problem.p @ case.grad_g_clients
    bounded = all(abs(a * x) <= 2 * abs(grad_g[0]) for a, _ in past)
    return bounded and case.values()[cross] == 0 and all(rate < 2 for rate, _ in case.rates("average"))


def guarantee_replay(claim_: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """The exact simulation follows the closed forms of both refutations."""
    past: list[Component] = [(1, [0])] * 4
    current: list[Component] = [*[(1, [0])] * 3, (-1, [0])]
    against = in_space(past, current, start=[1])
    away = in_space([(1, [0])], [(2, [-2])], start=[1], L=2)
    plans: tuple[tuple[str, Problem, tuple[str, ...], Any, str], ...] = (
        (
            "f",
            against,
            ("average",),
            lambda step: -2 * (1 - step),
            "x_t = (-2 (1 - alpha))^t, with alpha_{t,i} < 2, no cross term and ||grad f_i|| <= 2 ||grad g|| in every "
            "round",
        ),
        (
            "g",
            away,
            ("average", "worst", "server"),
            lambda step: Fraction(1, 2),
            "x_t = 2^-t, grad g = 2 (x_t + 1) >= 2",
        ),
    )
    for part, problem, rows, factor, words in plans:
        steps = (Fraction(1, 10), Fraction(1, 4), Fraction(2, 5))
        right = all(
            _run(problem, row, step) == [factor(step) ** t for t in range(_ROUNDS + 1)]
            for row, step in product(rows, steps)
        )
        if part == "f":
            right &= all(
                _average_case(past, current, step, factor(step) ** t) for step in steps for t in range(_ROUNDS)
            )
        yield Evidence(
            "counterexample",
            part,
            "printed",
            REFUTES if right else UNDECIDED,
            f"{_ROUNDS} exact rounds at alpha = {', '.join(map(str, steps))} follow the closed form: {words}."
            if right
            else "The exact rounds do not follow the closed form.",
            {"instance": [f"algorithm('c_flag', adaptive={row!r})" for row in rows], "rounds": _ROUNDS},
        )


def sign_points() -> Iterator[Point]:
    """m on both sides of 1, alpha near both ends of its range."""
    for smoothness, bias, share in product(
        (Fraction(1), Fraction(7, 3)), (Fraction(1, 2), Fraction(1), Fraction(1001, 1000), Fraction(4)), _SHARES
    ):
        step = share * 2 / (smoothness * (1 + bias))
        words = f"L = {smoothness}, m = {bias}, alpha = {step}: 1 - L alpha = {1 - smoothness * step}."
        yield Point({L: smoothness, m: bias, alpha: step}, (words,))


def eq16_points() -> Iterator[Point]:
    """Rounds for every part: three local rates, several beta, both signs of (1 - L alpha) Lambda, two memories."""
    yield from _three_rates()
    flat = [
        Round(with_gradients([1], [[-1]]), Fraction(1, 2), Fraction(1, 2)),
        Round(with_gradients([1], [[1]]), Fraction(5, 4), Fraction(1, 2)),
    ]
    for case in [*flat, *random_rounds(12, 16)]:
        values = case.values()
        if values[sum2] == 0:
            continue
        star = (1 - case.L * case.alpha) * values[claim.Lambda] / (case.L * values[sum2])
        words = f"S from these a_i: Lambda = {values[claim.Lambda]}, ||S||^2 = {values[sum2]}, beta* = {star}."
        for local in (Fraction(1, 9), Fraction(1), Fraction(3)):
            yield Point(at_rate(values, local) | {claim.beta_star: star}, (case.words(), words), "minimiser")
        yield Point(values | {claim.beta_star: star}, (case.words(), words), "step size")
        yield Point(values | {claim.beta_star: star} | larger_m(case), (case.words(), words), "large m")
    yield from _two_memories()


def _three_rates() -> Iterator[Point]:
    """Gamma measured at beta, 2 beta and 3 beta: S moves with beta for E = 2 and not for E = 1."""
    problem = in_space([(1, [0])], [(1, [0])], start=[1])
    for steps in (2, 1):
        values: dict[Any, Any] = {L: 1, alpha: Fraction(1, 2), beta: Fraction(1, 4), E: steps}
        shown = []
        for j in (1, 2, 3):
            played = Round(problem, Fraction(1, 2), j * Fraction(1, 4), steps).values()
            values[claim.sum2_at(j)], values[claim.Lambda_at(j)] = played[sum2], played[claim.Lambda]
            values[claim.sum2_change(j)] = played[sum2] - values[claim.sum2_at(1)]
            values[claim.Lambda_change(j)] = played[claim.Lambda] - values[claim.Lambda_at(1)]
            shown.append(f"||S||^2 = {played[sum2]}, Lambda = {played[claim.Lambda]} at {j} beta")
        words = f"N = 1, f = g = x^2/2, x_t = 1, E = {steps}, L = 1, alpha = 1/2, beta = 1/4: {'; '.join(shown)}."
        yield Point(values, (words,), "quadratic")


def _two_memories() -> Iterator[Point]:
    """f_1 is the mean of x^2/4 and x^2/2; each memory keeps one: ||b||^2 = (1/9) ||grad f||^2 everywhere."""
    step, S = Fraction(1, 2), Fraction(1)
    products = [curvature * S for curvature in (Fraction(1, 2), Fraction(1))]
    least = [-((1 - step) ** 2) * product_**2 / (2 * S**2) for product_ in products]
    for product_, value in zip(products, least, strict=True):
        yield Point(
            {
                L: 1,
                alpha: step,
                sum2: S**2,
                claim.Lambda: product_,
                claim.beta_star: (1 - step) * product_ / S**2,
                claim.Gamma_star: value,
                claim.mean_Gamma_star: sum(least) / 2,
            },
            (
                "N = 1, E = 1, f the mean of x^2/4 and x^2/2, g = x^2/2, x_t = 1, L = 1, alpha = 1/2; the memory keeps "
                "one of the two past components, each with probability 1/2 (m = 1/9).",
                f"Lambda = {products[0]} or {products[1]}, Gamma* = {least[0]} or {least[1]}, its mean "
                f"{sum(least) / 2}; this is the draw with Lambda = {product_}.",
            ),
            "value",
        )


CHECKS = {
    "cflag.eq14": Check(further=eq14_replay),
    "cflag.sec5_guarantee": Check(further=guarantee_replay),
    "cflag.sec5_sign": Check(sign_points),
    "cflag.eq16": Check(eq16_points),
}
