"""On (32) of the CFL paper: what its coefficient says, and which weights make its constant term least."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.cfl.nonconvex.descent import past, squares
from cflag_theory.claims.cfl.nonconvex.local_drift import c_B
from cflag_theory.claims.cfl.nonconvex.progress import JENSEN, coefficient, constant_term, earlier, earlier2, q, q_best
from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, R2, eta
from cflag_theory.claims.engine.algebra import slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, shown
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation

bend = symbol("nc_bend", "C", nonnegative=True)
x = symbol("nc_step_share", "x", nonnegative=True)


def coefficients() -> Claim:
    """What is left of (32) when the dimensions of (31) are corrected, and how it compares with FedAvg."""
    whole = 2 * c_B - 1 - (1 - past) / 2
    first = at_most(sp.Rational(1, 2), whole)
    drift_facts = (Fact("c_pB", at_most(1, c_B), "c_pB = 1 + B^2 + A^2 sum p^2."),)
    ours, average = coefficient(1 + B2 + A2 * squares), coefficient(1 + B2 + A2).subs(past, 0)
    uniform = (
        Fact("p", equal(past, 1 - squares), "p_tau = 1/t for all tau, so that p_t = sum p^2 = 1/t."),
        Fact("1/t", below(squares, 1), "t >= 2."),
        Fact("better", below(ours, average), "CFL's coefficient is below that of FedAvg, p_t = 1."),
    )
    # (1 - s) ((L^2 + 1) A^2 - 1/2) > 0 with s = 1/t, hence (L^2 + 1) A^2 > 1/2.
    gain = (L**2 + 1) * A2 - sp.Rational(1, 2)
    product = below(0, (1 - squares) * gain)
    second = below(0, ours)
    return Claim(
        "ours.cfl_nonconvex_coefficient",
        "on (32)",
        "The coefficient of ||grad f||^2 with the dimensions corrected",
        (
            Part(
                "1",
                shown(
                    "With 8 K^2 eta_l^2 L^2 c_pB <= 1, and all else as printed, the coefficient of eta 𝔼||grad "
                    "f(w_t)||^2 in (32) is 2 c_pB - 1 - p_t/2 >= 1/2: with this step size the bound never says that f "
                    "decreases.",
                    first,
                    given=("c_pB",),
                    under=drift_facts,
                ),
            ),
            Part(
                "2",
                shown(
                    "Where uniform weights make the printed coefficient of (32) smaller than FedAvg's, it is "
                    "positive, and (32) says nothing.",
                    second,
                    Obligation("gain", product, ("better", "p")),
                    given=("gain", "p", "1/t"),
                    under=uniform,
                ),
            ),
            _shorter_steps(),
        ),
        (
            "Part 2 is about L^2, A^2 and B^2 in the units at hand, as (32) is.",
            "Part 1 depends on the 8: with x = 4 K^2 eta_l^2 L^2 c_pB the coefficient is c_pB x/(1 - x) + c_pB - 1 - "
            "p_t/2, at A = B = 0 and p_t = 1 the numbers 1/2, 0, -1/6 and -3/10 for 8, 12, 16 and 24 in place of "
            "8. Part 3 is the exact condition; it can be met whenever c_pB < 1 + p_t/2.",
        ),
    )


def _shorter_steps() -> Part:
    """The step sizes for which the corrected (32) does say that f decreases."""
    most = 1 + (1 - past) / 2
    positive = 1 + slack("p") / 2
    goal = below(c_B * x / (1 - x) + c_B - 1 - (1 - past) / 2, 0)
    known = (
        Fact("p", at_most(past, 1), "0 <= p_t <= 1."),
        Fact("short", below(x * most, most - c_B), "x (1 + p_t/2) < 1 + p_t/2 - c_pB."),
    )
    certificate = positive * slack("short") / (slack("short") + c_B)
    return Part(
        "3",
        shown(
            "With x = 4 K^2 eta_l^2 L^2 c_pB < 1 - c_pB/(1 + p_t/2), and all else as printed, the coefficient is c_pB "
            "x/(1 - x) + c_pB - 1 - p_t/2 < 0: a shorter step makes (32) a descent when c_pB < 1 + p_t/2.",
            goal,
            given=("p", "short"),
            certificate=certificate,
            under=known,
        ),
    )


def weights() -> Claim:
    """The weights that minimise the constant term of (32)."""
    known = (Fact("D", below(0, D2), "D > 0."),)
    spread = G2 + D2 * ((1 - q) ** 2 + earlier2)
    a = (1 + L**2) * D2
    curvature = a * (1 + 1 / earlier) + (2 * L * eta + L**2) * R2
    top = a - R2 / 2
    best = Fact("q*", equal(q_best * bend, top), "q* = 1 - p_t.")
    bent = Fact("C", equal(bend, curvature), "C = (1 + L^2) D^2 t/(t - 1) + (2 L eta + L^2) R^2.")
    spread_best = G2 + D2 * ((1 - q_best) ** 2 + q_best**2 / earlier)
    alike = at_most(D2 * q**2 / earlier, D2 * earlier2)
    quadratic = at_most(bend * q_best**2 / 2 - top * q_best, bend * q**2 / 2 - top * q)
    interior = at_most(constant_term(spread_best, q_best), constant_term(spread, q))
    alone = at_most(constant_term(G2 + D2, sp.S.Zero), constant_term(spread, q))
    return Claim(
        "ours.cfl_nonconvex_weights",
        "in place of cfl.nc_weights",
        "The weights that minimise the constant term of (32)",
        (
            Part(
                "1",
                shown(
                    "If 2 (1 + L^2) D^2 >= R^2, the constant term of (32) is least at 1 - p_t = q*, shared equally, "
                    "with q* C = (1 + L^2) D^2 - R^2/2.",
                    interior,
                    JENSEN,
                    Obligation("alike", alike, ("Jensen",)),
                    Obligation("one variable", quadratic, ("q*",)),
                    given=("alike", "one variable", "C"),
                    under=(*known, Fact("R", at_most(R2, 2 * a), "2 (1 + L^2) D^2 >= R^2.")),
                    where=(best, bent),
                ),
            ),
            Part(
                "2",
                shown(
                    "If 2 (1 + L^2) D^2 <= R^2, it is least at p_t = 1, FedAvg.",
                    alone,
                    JENSEN,
                    given=("Jensen", "R"),
                    under=(*known, Fact("R", at_most(2 * a, R2), "2 (1 + L^2) D^2 <= R^2.")),
                ),
            ),
        ),
        ("Attained at the weights named. Lemma B.4's weights never leave out the past; these do.",),
    )


CLAIMS = {
    "ours.cfl_nonconvex_coefficient": coefficients,
    "ours.cfl_nonconvex_weights": weights,
}
