"""Rate studies compare alpha with 1/L of f and take the L of the components elsewhere: the proofs stand with both.

A claim has one L. Its proof uses it for the descent of a function, where alpha is compared with 1/L, and for the local
steps. Here the first becomes a symbol of its own, in the steps that descend, and the examiner accepts the proof again.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from cflag_theory.claims.c_flag.past_task.runs import t

from cflag_theory.claims.engine import examiner, terms
from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.meanings import symbol
from cflag_theory.claims.engine.notation import L, alpha, draw, m
from cflag_theory.claims.engine.steps import Obligation, Proof, Use
from cflag_theory.claims.engine.transcript import transcript
from cflag_theory.claims.ledger import LEDGER

L_descent = symbol("L_descent", r"L_{f}", positive=True)
CLAIMS = {
    "ours.drawn_once": LEDGER["ours.drawn_once"],
    "ours.redrawn": LEDGER["ours.redrawn"],
    "ours.bounded_gradients": LEDGER["ours.bounded_gradients"],
    "ours.first_rounds": LEDGER["ours.first_rounds"],
    "cflag.thm5": LEDGER["cflag.thm5"],
}
#: Hypotheses on alpha, which the descent needs, and what follows from them.
OF_ALPHA = ("alpha", "L alpha m", "step")


@pytest.fixture
def own_constant(monkeypatch):
    """Declares the smoothness of the function that descends with a constant of its own.

    What a rule shows is kept for the process, since a function's constants never change; here they do.
    """

    def declare(proof):
        for step in proof.steps:
            if isinstance(step, Use) and step.rule == "smoothness":
                name = step.terms[0].args[0].name
                monkeypatch.setitem(terms._FUNCTIONS, name, replace(terms._FUNCTIONS[name], smooth=L_descent))

    examiner._concluded.cache_clear()
    yield declare
    examiner._concluded.cache_clear()


def apart(step):
    """The step that descends, with the descent's L as a symbol of its own."""
    if isinstance(step, Obligation) and step.name in ("descent", "alpha"):
        return replace(step, goal=_relation(step.goal))
    return replace(step, goal=_denominator(step.goal)) if isinstance(step, Obligation) else step


def _relation(relation):
    return type(relation)(relation.left.xreplace({L: L_descent}), relation.op, relation.right.xreplace({L: L_descent}))


def _denominator(relation):
    """1 - L alpha m, which `ours.redrawn` divides by, comes from the descent too."""
    return relation.subs({1 - L * alpha * m: 1 - L_descent * alpha * m})


def statement(name):
    (part,) = (part for part in CLAIMS[name]().parts if part.key == "1")
    return part.printed if part.repair is None else part.repair.statement


def of_the_mean(one):
    """The statement with the smoothness of g, of which its proof takes a mean over the components, as a hypothesis."""
    uses = [step.name for step in one.proof.steps if isinstance(step, Use)]
    if "clients on g" not in uses:
        return one
    (smooth,) = (line for line in transcript(one) if line.step.name == "clients on g")
    steps = tuple(s for s in one.proof.steps if s.name not in ("component", "client", "clients on g"))
    fact = Fact("clients on g", _relation(smooth.conclusion), "g is smooth with a constant of its own.", (draw, t))
    return replace(one, hypotheses=(*one.hypotheses, fact), proof=Proof(steps))


@pytest.mark.full
@pytest.mark.parametrize("name", CLAIMS)
def test_the_proof_stands_with_two_constants(name, own_constant):
    one = of_the_mean(statement(name))
    own_constant(one.proof)
    two = replace(
        one,
        relation=_denominator(one.relation),
        hypotheses=tuple(
            replace(fact, relation=_relation(fact.relation)) if fact.name in OF_ALPHA else fact
            for fact in one.hypotheses
        ),
        proof=Proof(tuple(apart(step) for step in one.proof.steps)),
    )
    assert any(L_descent in fact.relation.slack.free_symbols for fact in two.hypotheses)
    found = examine(two)
    assert found.faults == ()
    assert found.accepted


def test_the_hypothesis_on_alpha_is_needed(own_constant):
    """Left with the L of the components' symbol, the condition on alpha does not serve the descent."""
    one = statement("ours.drawn_once")
    own_constant(one.proof)
    wrong = replace(one, proof=Proof(tuple(apart(step) for step in one.proof.steps)))
    assert not examine(wrong).accepted
