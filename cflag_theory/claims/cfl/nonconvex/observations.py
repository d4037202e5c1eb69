"""App. B.5: the observations after the non-convex rate, on c_pB and on the coefficient c_0 of (32)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.nonconvex.local_drift import c_B
from cflag_theory.claims.cfl.rates.weighted_means import drift2
from cflag_theory.claims.cfl.symbols import A2, B2, R2, t
from cflag_theory.claims.cfl.weights.independent import past
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import L
from cflag_theory.claims.engine.relation import at_most, below, equal


def weight(earlier: sp.Expr) -> sp.Expr:
    """p_t of Lemma B.4 after `earlier` rounds."""
    return (drift2 + earlier * R2) / ((earlier + 1) * drift2 + earlier * R2)


def squares(earlier: sp.Expr) -> sp.Expr:
    """The sum of the squared weights of Lemma B.4 after `earlier` rounds."""
    total = (earlier + 1) * drift2 + earlier * R2
    return (earlier * drift2**2 + (drift2 + earlier * R2) ** 2) / total**2


def c_0(growing: sp.Expr, current: sp.Expr) -> sp.Expr:
    """(L^2 + 1) c_pB - 1 - p_t/2."""
    return (L**2 + 1) * growing - 1 - current / 2


def nc_observations(divisor: Any = t) -> Claim:
    """What is observed of c_0; `divisor` is what A^2 is divided by in the repair of part reduced."""
    before, after = (c_0(1 + B2 + A2 * squares(n), weight(n)) for n in (past, past + 1))
    even = Fact(
        "c_pB", equal(c_B, 1 + B2 + A2 / t), "c_pB of App. B.4.2, 1 + B^2 + A^2 sum_tau p_tau^2 at p_tau = 1/t."
    )
    words = "With p_tau = 1/t, c_pB in c_0 is"
    reduced = Part(
        "reduced",
        Statement(
            f"{words} 1 + A^2 + B^2/t: B^2 is reduced to B^2/t.", equal(c_B, 1 + A2 + B2 / t), definitions=(even,)
        ),
        Repair(
            "typo",
            "A^2/t for B^2/t: A^2 and B^2 are exchanged against c_pB of App. B.4.2",
            shown(
                f"{words} 1 + B^2 + A^2/t: A^2 is reduced to A^2/t.",
                equal(c_B, 1 + B2 + A2 / divisor),
                given=("c_pB",),
                where=(even,),
            ),
        ),
    )
    fedavg = c_0(1 + A2 + B2, sp.S.One)
    converges = Fact("c_0 < 0", below(fedavg, 0), "FedAvg's c_0 is negative, without which the text promises nothing.")
    faster = Part(
        "faster",
        Statement(
            "Where FedAvg's coefficient c_0 = (L^2 + 1)(1 + A^2 + B^2) - 3/2 is negative, that of CFL with p_tau = "
            "1/t, (L^2 + 1) c_pB - 1 - 1/(2 t), is no larger; c_pB with A^2/t.",
            at_most(c_0(1 + B2 + A2 / t, 1 / t), fedavg),
            (converges,),
        ),
    )
    later = Part(
        "later",
        shown(
            "For D > 0 the sum of the squared weights of Lemma B.4, which stands before A^2 in c_pB, falls from every "
            "round to the next.",
            below(squares(past + 1), squares(past)),
        ),
        reading="c_pB alone",
    )
    rate = Part(
        "rate",
        Statement(
            "For D > 0, where c_0 = (L^2 + 1)(1 + B^2 + A^2 sum_tau p_tau^2) - 1 - p_t/2 is negative in round t, "
            "with the weights of Lemma B.4, it is no larger in round t + 1.",
            at_most(after, before),
            (Fact("c_0 < 0", below(before, 0), "c_0 is negative in round t."),),
        ),
        reading="all of c_0, which the rate is said to depend on",
    )
    return Claim(
        "cfl.nc_observations",
        "App. B.5, after the rate",
        "What p_t and t do to the coefficient c_0",
        (reduced, faster, later, rate),
        (
            "c_0 is read as the coefficient of eta ||grad f||^2 in (32), which must be negative; the text calls c_0 >= "
            "0 the case without convergence. Its sign in the display before is cfl.nc_rate, part 4.",
            "Part faster: CFL's c_0 less FedAvg's is (1 - 1/t) (1/2 - (L^2 + 1) A^2), as p_t/2 is smaller too. It is "
            "negative only for (L^2 + 1) A^2 > 1/2, and then both coefficients are at least L^2. With the printed B^2 "
            "in place of A^2 the same holds of B.",
            "Part later: the sum tends to R^4/(R^2 + D^2)^2. For D = 0 it is 1 in every round, and for A = 0 c_pB does "
            "not depend on it.",
            "Part rate: p_t falls as well, to R^2/(R^2 + D^2), and c_0 contains -p_t/2. The instances have A = 0.",
            "That larger N and K speed up the terms in f_0 - f_* and sigma^2 is read off the printed bracket: "
            "cfl.nc_rate. That they make R and D larger is no formula.",
        ),
    )


CLAIMS = {"cfl.nc_observations": nc_observations}
