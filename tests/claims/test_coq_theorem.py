"""Whole statements as Coq theorems: what they assume, and what cannot be written."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from cflag_theory.claims.coq.theorem import theorem
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import slack
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.claims.engine.steps import Obligation, Proof
from cflag_theory.claims.engine.terms import norm, vector
from cflag_theory.claims.ledger import claim

c = sp.Symbol("c", nonnegative=True)
u, v = vector("u_test", "u")(), vector("v_test", "v")()

SUM = Statement(
    "||u + v|| <= ||u|| + c for ||v|| <= c.",
    at_most(norm(u + v), norm(u) + c),
    (Fact("h", at_most(norm(v), c), "||v|| <= c."), Fact("unused", at_most(c, 7), "c <= 7.")),
    Proof(
        (
            rules.triangle("triangle", u + v, u, v),
            Obligation("goal", at_most(norm(u + v), norm(u) + c), ("triangle", "h"), slack("triangle") + slack("h")),
        )
    ),
)


def premises(statement):
    """The premises and the conclusion of a theorem, in order."""
    return [line.strip() for line in statement.partition(",\n")[2].split(" ->\n")]


def test_a_theorem_has_the_statements_hypotheses_and_no_others():
    made = theorem("sum", SUM)
    assert made.statement.startswith("forall (V : space) (c : R) (u_test : V) (v_test : V),")
    assert premises(made.statement) == [
        "(0 <= c)",
        "((norm v_test) <= c)",
        "(c <= 7)",
        "(norm (u_test +^ v_test)) <= (c + (norm u_test))",
    ]


def test_every_step_applies_a_theorem_or_a_lemma():
    made = theorem("sum", SUM)
    (lemma,) = made.parts
    assert "exact (triangles V (u_test :: v_test :: nil))" in made.text
    assert f"exact ({lemma.name} " in made.text
    assert made.text.index(lemma.text) < made.text.index("Theorem sum")


def test_lemma_13_is_about_the_algorithms_steps_and_functions_that_are_only_lipschitz():
    said = premises(theorem("whole", claim("cflag.lemma13").parts[0].printed).statement)
    assert "(forall n0 n1 : nat, lipschitz L (grad_g n0 n1))" in said
    assert "(mean components)" in said
    # Line (4), for every step: x_local at k + 1 from x_local at k.
    assert any(one.startswith("(forall ") and "(S k)" in one and " = (" in one and "(tau " in one for one in said)
    assert said[-1].startswith("(norm (")
    assert " <= (4 * beta * (INR k) * (norm (avgv clients (fun i : nat => (avgv components " in said[-1]


def test_a_proof_that_the_examiner_refuses_has_no_theorem():
    with pytest.raises(TypeError, match="has a fault"):
        theorem("fault", replace(SUM, proof=Proof((rules.triangle("triangle", u + v, u, 2 * v), SUM.proof.steps[-1]))))
