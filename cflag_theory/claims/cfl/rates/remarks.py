"""Proposition 4.3, Remarks 4.2, 4.5 and 4.8, and Theorem 4.7: what is read off the rates."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, R2
from cflag_theory.claims.cfl.weights.independent import (
    M2,
    W,
    balanced,
    chosen,
    least_noise,
    noise,
    past,
    shared,
    v,
    value,
)
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof

# Denominators of the variance terms; the terms have a value where they are positive.
D2_R2 = symbol("D2_plus_R2", "(D^2+R^2)", positive=True)
G2_D2_R2 = symbol("G2_plus_D2_plus_R2", "(G^2+D^2+R^2)", positive=True)
#: All clients, selected or not, and how much the drifts of two of them differ.
clients = symbol("clients_in_all", "M", positive=True, integer=True)
apart = symbol("drifts_apart", r"c_\delta", real=True)
DENOMINATOR = Fact("D^2 + R^2", equal(D2_R2, D2 + R2), "D and R are not both zero.")


def limit(left_over: sp.Expr, denominator: sp.Expr) -> sp.Expr:
    """X R^2 / (X + R^2)."""
    return left_over * R2 / denominator


def prop4_3(share: Any = 1) -> Claim:
    """Proposition 4.3; `share` scales c_normal."""
    both = Fact("G^2 + D^2 + R^2", equal(G2_D2_R2, G2 + D2_R2), "As it says.")
    goal = at_most((G2 + D2) * R2 / G2_D2_R2, share * (G2 + limit(D2, D2_R2)))
    first = shown(
        "c_stateless = (G^2 + D^2) R^2 / (G^2 + D^2 + R^2) <= c_normal = G^2 + D^2 R^2 / (R^2 + D^2).",
        goal,
        given=("D^2 + R^2", "G^2 + D^2 + R^2"),
        where=(DENOMINATOR, both),
    )
    return Claim(
        "cfl.prop4_3",
        "Proposition 4.3",
        "The variance term of stateless clients is smaller",
        (
            Part("1", first),
            Part(
                "2",
                _approaches(
                    "Lemma B.2 (3) has (G^2 + D^2) sum p^2 in place of G^2 + D^2 sum p^2: with X = G^2 + D^2 the least "
                    "value of c_{p_G} + c_R on round t is X R^2 / (X + R^2) + X^3 / ((X + R^2) W), which tends to "
                    "c_stateless."
                ),
            ),
        ),
        (
            "The weights must be those of Lemma B.4 with G^2 + D^2 in place of D^2. With the weights of Theorem 4.1 as "
            "they stand the term tends to R^2 ((G^2 + D^2) R^2 + D^4) / (R^2 + D^2)^2 instead, which exceeds "
            "c_stateless by R^4 G^4 / ((R^2 + D^2)^2 (G^2 + D^2 + R^2)).",
            "Written out, c_normal - c_stateless = G^2 (1 - R^4 / ((R^2 + D^2)(G^2 + D^2 + R^2))). As FedAvg has G^2 + "
            "D^2 in both cases, the improvement over FedAvg is the larger one without state.",
            "The version of 2022, Remark 4.4, also compares c_A + sqrt(c_B/mu), as far as its text can be read. That "
            "sum can grow: at R = 0 from G^2 + D/sqrt(mu) to sqrt((G^2 + D^2)/mu), for G sqrt(mu) < 1 and small D.",
        ),
    )


variance = symbol("total_drift2", "X", nonnegative=True)
variance_R2 = symbol("total_drift2_plus_R2", "(X+R^2)", positive=True)


def _approaches(words: str) -> Statement:
    goal = equal(least_noise(variance) - G2, variance * R2 / variance_R2 + variance**3 / (variance_R2 * W))
    plus = Fact("X + R^2", equal(variance_R2, variance + R2), "Not zero.")
    return Statement(words, goal, proof=approached(variance, "X + R^2", goal), definitions=(*chosen(variance), plus))


def approached(left_over: sp.Expr, name: str, goal: Any) -> Proof:
    """least_noise(X) = G^2 + X R^2 / (X + R^2) + X^3 / ((X + R^2) W), the two sides of `goal` but for `more`."""
    follows = Obligation("the statement follows", goal, ("value", "p_t*", "W", name))
    return Proof((*balanced(left_over), value(left_over), follows))


def rem4_2() -> Claim:
    """Remark 4.2."""
    alone = Fact("one client", equal(clients, 1), "One client in all: f(w) = 𝔼 f_{t,1}(w).")
    drift = "is -<delta_i, delta_j> in the mean over i != j"
    drifts = Fact(
        "G^2",
        equal(G2, (clients - 1) * apart),
        f"The clients' drifts have mean zero: their mean square, the least G^2, is (M - 1) c for M clients; c {drift}.",
    )
    factors = Fact(
        "B^2",
        equal(B2, (clients - 1) * apart),
        f"The same for the least B^2, where G = 0; c {drift}, over ||grad f||^2 at a point where it is largest.",
    )
    goal = equal(G2 + limit(D2, D2_R2), limit(D2, D2_R2))
    second = equal(1 + A2 + B2, 1 + A2)

    def part(key: str, words: str, relation: Any, fact: Fact, definitions: tuple[Fact, ...]) -> Part:
        repaired = shown(
            f"{words}, with one client in all.",
            relation,
            given=(fact.name, alone.name),
            under=(fact, alone),
            where=definitions,
        )
        return Part(
            key,
            Statement(f"{words}.", relation, (fact,), definitions=definitions),
            Repair("needs-hypothesis", "one client in all (then G = B = 0), not one selected client", repaired),
        )

    return Claim(
        "cfl.rem4_2",
        "Remark 4.2",
        "N = 1 recovers continual learning",
        (
            part(
                "1",
                "At N = 1 the variance term of Theorem 4.1 is c_A = D^2 R^2 / (R^2 + D^2), the term of CL in Table 1",
                goal,
                drifts,
                (DENOMINATOR,),
            ),
            part("2", "At N = 1 its c_O is 1 + A^2, as for CL in Table 1", second, factors, ()),
        ),
        (
            "N is the number of selected clients (footnote 3). With one of many selected a round, the client's drift "
            "stays, and G^2 and B^2 with it.",
            "The general convex entry of CL in Table 1 keeps c_{p_B} = 1 + A^2 + B^2: see cfl.table1.",
            "Remark 4.2 cites Yin et al. 2020a for the general convex case; Table 1, in the text at hand, lists Yin et "
            "al. 2020b under strongly convex. Both keys are arXiv 2006.10974.",
            "Remark 4.3 in the version of 2022.",
        ),
    )


def rem4_5() -> Claim:
    """Remark 4.5."""
    first = at_most(past * v * R2, D2)
    weights = shown(
        "R^2 (1 - p_t) <= D^2 on every round: as R tends to infinity p_t tends to 1, uniformly in t, and R (1 - p_t), "
        "to which phi_t is proportional, to 0.",
        first,
        given=("W", "p_tau*"),
        where=chosen(D2),
    )
    second = at_most(R2 * (G2 + D2 - (G2 + limit(D2, D2_R2))), D2**2)
    rate = shown(
        "R^2 (G^2 + D^2 - (G^2 + D^2 R^2 / (R^2 + D^2))) <= D^4: the variance term of Theorem 4.1 tends to that of "
        "Theorem 4.4.",
        second,
        given=("D^2 + R^2",),
        where=(DENOMINATOR,),
    )
    third = equal(noise(D2, sp.S.One, sp.S.Zero), G2 + D2)
    fedavg = shown("At p_t = 1, c_{p_G} + c_R is FedAvg's G^2 + D^2, whatever R.", third)
    return Claim(
        "cfl.rem4_5",
        "Remark 4.5",
        "R to infinity recovers FedAvg",
        (Part("1", weights), Part("2", rate), Part("3", fedavg)),
        ("On round 1 p_1 = 1 for every R.", "Part of Remark 4.6 in the version of 2022."),
    )


# A second bound on the correlation, F'^2 >= F^2: what it shares more.
added = symbol("shared_more", r"(F'^2-F^2)", nonnegative=True)
W_less = symbol("weights_total_less", "W'", positive=True)


def _value(correlated: sp.Expr, left_over: sp.Expr, denominator: sp.Expr) -> sp.Expr:
    return G2 + correlated + left_over * (past * R2 + left_over) / denominator


LESS = Fact("W'", equal(W_less, (past + 1) * M2 + past * R2), "The weights' denominator for F'.")
MORE = Fact("W", equal(W, (past + 1) * (M2 + added) + past * R2), "The weights' denominator for F.")


def rise(factor: sp.Expr = sp.S.One) -> tuple[Any, Obligation]:
    """The value of (33) at F' is at least that at F, for F <= F' <= D; `factor` scales the value at F."""
    goal = at_most(factor * _value(shared, M2 + added, W), _value(shared + added, M2, W_less))
    return goal, Obligation("the statement follows", goal, ("W", "W'"))


def rem4_8() -> Claim:
    """Remark 4.8."""
    goal, _ = rise()
    printed = at_most(goal.right, goal.left)
    decrease = at_most(M2 / W_less, (M2 + added) / W)
    weights = shown(
        "p_tau = M^2 / (t M^2 + (t-1) R^2) for tau < t does not increase with F^2.",
        decrease,
        given=("W", "W'"),
        where=(LESS, MORE),
    )
    return Claim(
        "cfl.rem4_8",
        "Remark 4.8",
        "Correlation between time drifts helps",
        (
            Part(
                "1",
                Statement(
                    "The variance term that Theorem 4.7 rests on, min {c_{p_G} + c_R} of (33), is no larger for F' >= "
                    "F.",
                    printed,
                    definitions=(LESS, MORE),
                ),
            ),
            Part("2", weights),
        ),
        (
            "It is the other way round. (33) contains min(F^2, D^2) times what is left of the squared sum of the "
            "weights; the paper drops the term, and reads an advantage off what remains. The value never decreases "
            "with F: ours.cfl_correlated_minimum.",
            "No guarantee can improve as F grows: Assumption 6 with F implies it with every F' >= F, so that what "
            "holds for all drifts with F' holds for those with F.",
            "At F = D every average of past drifts may be as large as one drift: nothing need be averaged out.",
            "The weights of previous rounds decrease strictly only for R > 0 and t >= 2; for R = 0 they are 1/t.",
            "Table 9, which the remark cites, shows the opposite: cfl.tables_text, part 6; ours.cfl_tables, part 3.",
        ),
    )


CLAIMS = {
    "cfl.prop4_3": prop4_3,
    "cfl.rem4_2": rem4_2,
    "cfl.rem4_5": rem4_5,
    "cfl.rem4_8": rem4_8,
}
