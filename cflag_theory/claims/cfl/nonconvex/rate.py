"""App. B.5: the non-convex rate, and Theorems 4.1, 4.4, B.5 and B.6 where they state it."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.nonconvex.descent import grad2, past
from cflag_theory.claims.cfl.nonconvex.floor import floor, one_drift
from cflag_theory.claims.cfl.nonconvex.ours.fedavg import reached
from cflag_theory.claims.cfl.nonconvex.ours.rate import fall
from cflag_theory.claims.cfl.nonconvex.progress import INGREDIENTS, coefficient, earlier, f_next, f_now, progress
from cflag_theory.claims.cfl.symbols import D2, R2, K, N, T, eta
from cflag_theory.claims.engine.claim import FOR_NO_CONSTANT, Claim, Fact, Part, Repair, Source, Statement, shown
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.relation import at_most, below, equal

c_0 = symbol("nc_c_0", "c_0", real=True)
remainder = symbol("nc_remainder", r"\eta c_1+\eta^2c_2", real=True)
c_R1 = symbol("nc_c_R1", r"c_{R1}", nonnegative=True)
shares = symbol("nc_share", r"\frac{R^2}{R^2+D^2}", nonnegative=True)
ratio = symbol("nc_ratio", "n", positive=True)


def nc_rate(numerator: Any = D2, size: Any = 2) -> Claim:
    """The non-convex rate and its constants.

    `numerator` is what the repair of part 3 puts in place of R^2, `size` that of the drifts of part 1c.
    """
    share = Fact("c_R1", equal(shares * (R2 + D2), R2), "R^2/(R^2 + D^2).")
    small = Fact("D", below(0, D2), "D > 0.")
    second = Part(
        "2",
        Statement(
            "Theorems 4.1 and B.5 print the same bound: c_R1^2 in the one and c_R1 in the other, both with c_R1 = "
            "R^2/(R^2 + D^2).",
            equal(shares**2, shares),
            (small,),
            definitions=(share,),
        ),
        Repair(
            "typo",
            "c_R1^2 in Theorem B.5, as the display before it and Theorem 4.1 have it",
            shown(
                "With c_R1^2 Theorem B.5 has the (R^2/(R^2 + D^2))^2 of the display from which it is drawn.",
                equal(c_R1**2, shares**2),
                given=("name",),
                under=(small,),
                where=(share, Fact("name", equal(c_R1, shares), "c_R1 of Theorem 4.1.")),
            ),
        ),
    )
    weight = Fact(
        "Lemma B.4",
        equal(past * ((earlier + 1) * D2 + earlier * R2), earlier * D2),
        "1 - p_t = (t - 1) D^2 / (t D^2 + (t - 1) R^2), t >= 2.",
    )
    family = shown(
        "For t = 2 and D^2 = n R^2, (1 - p_2)^2 = (n/(2n + 1))^2 >= 1/9 for every n >= 1, while (R^2/(R^2 + D^2))^2 = "
        "1/(n + 1)^2 vanishes as n grows: no constant makes up for it.",
        at_most(sp.Rational(1, 9), (ratio / (2 * ratio + 1)) ** 2),
        given=("n",),
        under=(Fact("n", at_most(1, ratio), "n >= 1."),),
    )
    mended = at_most(past * (R2 + D2), numerator)
    third = Part(
        "3",
        Statement(
            "(1 - p_t)^2, which stands before R^2 in the terms of order eta^2 in (32), is at most (R^2/(R^2 + D^2))^2, "
            "as the rate has it.",
            at_most(past * (R2 + D2), R2),
            (small,),
            definitions=(weight,),
        ),
        Repair(
            "typo",
            "(D^2/(R^2 + D^2))^2 in place of (R^2/(R^2 + D^2))^2",
            shown("1 - p_t <= D^2/(R^2 + D^2).", mended, given=("Lemma B.4", "D"), under=(small,), where=(weight,)),
        ),
        refutation=family,
        unseen=FOR_NO_CONSTANT,
    )
    rest = progress().right - f_now - eta * coefficient() * grad2
    relation = Fact(
        "(32)",
        at_most(f_next, f_now + eta * coefficient() * grad2 + remainder),
        "(32).",
        sources=(Source("cfl.nc_eq32", here=((remainder, rest),), besides=INGREDIENTS),),
    )
    descent = at_most(f_next, f_now - eta * c_0 * grad2 + remainder)
    fourth = Part(
        "4",
        Statement(
            "𝔼 f(w_{t+1}) <= 𝔼 f(w_t) - eta c_0 𝔼||grad f(w_t)||^2 + eta c_1 + eta^2 c_2 with c_0 = (L^2 + 1) c_pB - 1 "
            "- p_t/2.",
            descent,
            (relation, Fact("c_0", equal(c_0, coefficient()), "c_0, as printed.")),
        ),
        Repair(
            "typo",
            "c_0 with the opposite sign",
            shown(
                "The same with c_0 = 1 + p_t/2 - (L^2 + 1) c_pB.",
                descent,
                given=("(32)", "c_0"),
                under=(relation, Fact("c_0", equal(c_0, -coefficient()), "c_0 with the other sign.")),
            ),
        ),
    )
    words = (
        "the mean over T rounds of 𝔼||grad f(w_t)||^2 reaches every eps > 0 with T = O(L^2 (f_0 - f_*)^2/(N K c_m^2 "
    )
    words += "eps^2) + (sqrt(K N){}/L + sigma^2/sqrt(N K))^2/eps^2{})."
    average = Part(
        "1a",
        Statement(f"Theorems 4.4 and B.6, non-convex FedAvg: {words.format('', '')}", None),
        reached(),
        None,
        floor(),
        unseen=FOR_NO_CONSTANT,
    )
    continual = Part(
        "1b",
        Statement(
            "Theorems 4.1 and B.5, non-convex CFL: "
            + words.format(" c_R1^2", ", in Theorem B.5 with c_R1 for its square and + sqrt(K N) c_R2/(c_m eps L)"),
            None,
        ),
        refutation=floor(),
        unseen=FOR_NO_CONSTANT,
    )
    sizes = Part(
        "1c",
        Statement(
            "The brackets of all four theorems contain no G and no D but in quotients: one constant serves every size "
            "of the drifts, where they are new in every round.",
            None,
        ),
        refutation=one_drift(size),
        unseen=FOR_NO_CONSTANT,
    )
    return Claim(
        "cfl.nc_rate",
        "B.5, Theorems 4.1, 4.4, B.5, B.6",
        "Non-convex rate and its constants",
        (average, continual, sizes, second, third, fourth, _step_size()),
        (
            "Quadratics belong to the non-convex case although they are convex: nothing in it excludes them.",
            "c_1(t) of the round contains c_pG/2 >= G^2/2 and is multiplied by eta, so that c_1 itself stays when eta "
            "goes to zero. The display after it moves c_1 into '+ phi' and the rate has neither. phi is zero for "
            "FedAvg by Table 1, and for CFL with D = 0 < R the weights are those of FedAvg.",
            "Clients that stay keep their delta_i, as Lemma B.2 (2) has it. With clients that are new in every round "
            "FedAvg has the rate (the repair of part 1a, and ours.cfl_fedavg_nonconvex); CFL reuses the xi of earlier "
            "rounds, on which w_t depends, and nothing of the kind is proved for it. A theorem with the floor in it, "
            "for every drift, is ours.cfl_nonconvex; the floor cannot be removed (its part 4).",
            "All four theorems ask for eta_l <= (sqrt(3 + 4 c_O) - sqrt(4 c_O))/(6 K L sqrt(c_O)) with eta_g = 1. "
            "With eta = sqrt(K N)/(sqrt(T) L) this is T >= 36 c_O K N/(sqrt(3 + 4 c_O) - sqrt(4 c_O))^2 >= 86 K N, "
            "more than (27) and (31) need.",
            "All parts but step read eta = sqrt(K N)/(sqrt(T) L).",
            "Part 1c: sqrt(K N)/L, with c_R1^2 for CFL, lacks the dimension of a squared gradient. In the repair of "
            "part 1a sqrt(K/N) (G^2 + D^2) stands there for FedAvg; for CFL R^2 is missing as well, and the second "
            "term of (32) has L (1 - p_t)^2 R^2.",
        ),
    )


def _step_size() -> Part:
    """eta as printed, and the first term of the rate that is drawn from it."""
    goal = equal((fall / (eta * T)) ** 2, L**2 * fall**2 / (T * N * K))
    mended = Fact("eta", equal(eta**2 * L**2 * T, K * N), "eta = sqrt(K N)/(sqrt(T) L).")
    words = "(f_0 - f_*)/(eta T), the first term of the mean over the rounds, is L (f_0 - f_*)/sqrt(T N K)"
    return Part(
        "step",
        Statement(
            f"With eta = sqrt(K N)/sqrt(T L) {words} (both sides squared).",
            goal,
            (
                Fact(
                    "eta", equal(eta**2 * L * T, K * N), "eta = sqrt(K N)/sqrt(T L), in all theorems and in the proof."
                ),
            ),
        ),
        Repair(
            "typo",
            "eta = sqrt(K N)/(sqrt(T) L), with L outside of the root",
            shown(
                f"With eta = sqrt(K N)/(sqrt(T) L) {words} (both sides squared).", goal, given=("eta",), under=(mended,)
            ),
        ),
    )


CLAIMS = {"cfl.nc_rate": nc_rate}
