"""Assumption 2 beside the bounded bias of Ajalloeian and Stich (2020), their Assumption 4."""

from __future__ import annotations

from cflag_theory.claims.c_flag.problem.assumptions import bias_i, grad_f_i, m_i
from cflag_theory.claims.c_flag.problem.ours.memory import m_max, spread2
from cflag_theory.claims.engine.claim import FOR_NO_CONSTANT, Claim, Fact, Part, Repair, Source, Statement, shown
from cflag_theory.claims.engine.notation import bias2, grad_f2, symbol
from cflag_theory.claims.engine.relation import at_most, below, equal

zeta = symbol("zeta", r"\zeta", nonnegative=True)
at = symbol("x_far", "x", real=True)

BELOW_ONE = Fact("m < 1", below(m_max, 1), "max_i m_i < 1.")


def _client() -> Part:
    known = Fact("Assumption 2", at_most(bias_i**2, m_i * grad_f_i**2), "||b_i(x)||^2 <= m_i ||grad f_i(x)||^2.")
    return Part(
        "client",
        shown(
            "||b_i(x)||^2 <= m_i ||grad f_i(x)||^2 + zeta^2 at every client, with zeta = 0.",
            at_most(bias_i**2, m_i * grad_f_i**2 + zeta**2),
            given=("Assumption 2",),
            under=(known,),
        ),
        kind="question",
        reading="their assumption on each client's f_i",
    )


def _average() -> Part:
    goal = at_most(bias2, m_max * grad_f2 + zeta**2)
    floor = Fact(
        "floor",
        at_most(bias2, m_max * (grad_f2 + spread2)),
        "Assumption 2 at every client gives ||b||^2 <= max_i m_i (||grad f||^2 + sum_i p_i ||grad f_i - grad f||^2).",
        sources=(Source("ours.bias_floor", besides=("Assumption 2", "m")),),
    )
    alike = Fact(
        "alike", at_most(m_max * spread2, zeta**2), "max_i m_i sum_i p_i ||grad f_i(x) - grad f(x)||^2 <= zeta^2."
    )
    family = shown(
        "N = 2, p_i = 1/2, f_1 = x^2/2 with components of curvature 3/2 and 1/2, of which 3/2 is kept, f_2 = -x^2/2 "
        "with components of curvature -1/2 and -3/2, of which -1/2 is kept: m_i = 1/4, grad f = 0 and b = x/2, so that "
        "at x = 2 zeta + 1 the bias is longer than any zeta.",
        below(m_max * grad_f2 + zeta**2, bias2),
        given=("grad f", "x", "b"),
        where=(
            Fact("grad f", equal(grad_f2, 0), "The clients' gradients cancel."),
            Fact("x", equal(at, 2 * zeta + 1), "x = 2 zeta + 1."),
            Fact("b", equal(4 * bias2, at**2), "b_1 = b_2 = x/2."),
        ),
    )
    return Part(
        "average",
        Statement(
            "Assumption 2 gives a zeta with ||b(x)||^2 <= max_i m_i ||grad f(x)||^2 + zeta^2 for all x.",
            goal,
            (BELOW_ONE, floor),
        ),
        Repair(
            "needs-hypothesis",
            "bounded dissimilarity: sum_i p_i ||grad f_i(x) - grad f(x)||^2 <= zeta^2 / max_i m_i for all x",
            shown(
                "The same with bounded dissimilarity.",
                goal,
                given=("floor", "alike"),
                under=(BELOW_ONE, floor, alike),
            ),
        ),
        refutation=family,
        unseen=FOR_NO_CONSTANT,
        kind="question",
        reading="their assumption on f, along whose biased gradient the server steps",
    )


def assumption2_similar() -> Claim:
    """In what sense Assumption 2 is similar to theirs."""
    return Claim(
        "cflag.assumption2_similar",
        "Sec. 4, text after Assumption 3",
        "Assumption 2 and Assumption 4 of Ajalloeian and Stich",
        (_client(), _average()),
        (
            "Their Assumption 4 is ||b(x)||^2 <= m ||grad f(x)||^2 + zeta^2 for all x, with 0 <= m < 1 and zeta >= 0, "
            "as we read it; C-FLAG does not print it.",
            "With one client Assumption 2 is their assumption with zeta = 0, and so the stronger one: at a stationary "
            "point of f it leaves no bias. With several clients neither implies the other: zeta > 0 allows a bias "
            "where grad f_i = 0.",
            "What Lemma 1 needs is their assumption with zeta = 0 on f, which is (27): cflag.lemma9.",
        ),
    )


CLAIMS = {"cflag.assumption2_similar": assumption2_similar}
