"""No damaged proof passes the examiner; those of the ledger are sound in numbers. `test_whole_ledger` examines them."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from needs import FIRST_EIGHT
from sympy.core.function import AppliedUndef

from cflag_theory.claims import examine
from cflag_theory.claims.engine import algebra, rules
from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.operators import Atom
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.rules import RULES
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, Use
from cflag_theory.claims.engine.transcript import inferences
from cflag_theory.claims.ledger import LEDGER, claim


@cache
def proved(id):
    """Every statement of a claim that offers a proof, by a readable name."""
    found = {}
    for part in claim(id).parts:
        statements = {"printed": part.printed}
        statements |= {"repair": part.repair.statement} if part.repair else {}
        statements |= {"sharp": part.sharp.statement} if part.sharp else {}
        statements |= {"refutation": part.refutation} if part.refutation else {}
        found |= {f"{id}.{part.key} {on}": s for on, s in statements.items() if s.proof is not None}
    return found


FIRST_PROOFS = {name: statement for id in FIRST_EIGHT for name, statement in proved(id).items()}


def all_steps(statement):
    for step in statement.proof.steps:
        yield step
        if isinstance(step, Induction):
            yield from step.inner


def test_the_ledger_uses_every_rule_and_no_other():
    steps = [step for id in LEDGER for statement in proved(id).values() for step in all_steps(statement)]
    assert {step.rule for step in steps if isinstance(step, Use)} == RULES.keys()


def without_one_step(proof):
    """(what is gone, the proof without it), for every step at any depth."""
    for i, step in enumerate(proof.steps):
        yield step.name, Proof(proof.steps[:i] + proof.steps[i + 1 :])
        if isinstance(step, Induction):
            for j, inner in enumerate(step.step):
                shorter = replace(step, step=step.step[:j] + step.step[j + 1 :])
                yield f"{step.name}: {inner.name}", Proof((*proof.steps[:i], shorter, *proof.steps[i + 1 :]))


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "gone", "proof"),
    [(name, gone, proof) for name, s in FIRST_PROOFS.items() for gone, proof in without_one_step(s.proof)],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_step_can_be_left_out(name, gone, proof):
    result = examine(replace(FIRST_PROOFS[name], proof=proof))
    assert not result.accepted
    assert result.engines == ()


@pytest.mark.parametrize("name", FIRST_PROOFS)
def test_no_hypothesis_or_definition_that_is_used_can_be_left_out(name):
    statement = FIRST_PROOFS[name]
    used = {
        name for step in all_steps(statement) for field in ("given", "premises") for name in getattr(step, field, ())
    }
    used |= {getattr(step, "within", "") for step in all_steps(statement)}
    for field in ("hypotheses", "definitions"):
        facts = getattr(statement, field)
        for i, fact in enumerate(facts):
            fewer = replace(statement, **{field: facts[:i] + facts[i + 1 :]})
            assert examine(fewer).accepted is (fact.name not in used), fact.name


# A small theory of its own: s(0) = 0 and s(k + 1) <= s(k) + 1 for every k give s(k) <= k.
k, n = sp.symbols("k n", integer=True, nonnegative=True)
s = sp.Function("s", real=True)
x, z = sp.symbols("x z", real=True)
START = Fact("start", equal(s(0), 0), "s(0) = 0.")
STEP = Fact("step", at_most(s(k + 1), s(k) + 1), "s grows by at most 1.")
UP_TO = at_most(s(k), k)
BASE = Obligation("base", at_most(s(0), 0), ("start",), -residual("start"))
NEXT = Obligation(
    "next", at_most(s(k + 1), k + 1), ("growth (hypothesis)", "step"), slack("growth (hypothesis)") + slack("step")
)
GROWTH = Induction("growth", k, UP_TO, BASE, (NEXT,))
AT_N = Instance("at n", "growth", k, n)


AT_MOST_N = at_most(s(n), n)


def fault_of(*steps, goal=AT_MOST_N, hypotheses=(), definitions=(START, STEP)):
    result = examine(Statement("s(n) <= n.", goal, hypotheses, Proof(steps), definitions))
    assert result.accepted is (result.faults == ())
    return "; ".join(result.faults)


def test_a_sound_induction_passes():
    assert fault_of(GROWTH, AT_N) == ""


def test_no_proof_is_no_proof():
    assert not examine(Statement("s(n) <= n.", UP_TO, (START, STEP))).accepted
    true = Obligation("true", at_most(0, 1), (), sp.S.One)
    assert not examine(Statement("About a table.", None, (), Proof((true,)))).accepted


def test_an_empty_proof_shows_nothing():
    assert "the last step shows None" in fault_of()


def test_the_last_step_must_be_the_statement():
    extra = Obligation("true", at_most(0, 1), (), sp.S.One)
    assert "the last step shows 0 <= 1" in fault_of(GROWTH, AT_N, extra)
    assert "the last step shows" in fault_of(GROWTH, AT_N, goal=at_most(s(n), n - 1))
    assert "the last step shows" in fault_of(GROWTH, AT_N, goal=at_most(s(n), n + 1))


def test_a_step_that_holds_for_one_index_only_carries_no_induction():
    """As a hypothesis, s(k + 1) <= s(k) + 1 is about the one k of the statement."""
    assert "not established: step" in fault_of(GROWTH, AT_N, hypotheses=(STEP,), definitions=(START,))


def test_induction_without_its_base():
    base = Obligation("base", at_most(s(0) - 1, 0), ("start",), 1 - residual("start"))
    assert "the base does not show" in fault_of(replace(GROWTH, base=base), AT_N)


def test_induction_with_a_false_base():
    base = Obligation("base", at_most(s(0), 0), (), sp.S.Zero)
    assert "not right minus left" in fault_of(replace(GROWTH, base=base), AT_N)


def test_induction_whose_step_shows_something_else():
    far = replace(NEXT, goal=at_most(s(k + 1), k + 2), certificate=NEXT.certificate + 1)
    assert "the step does not show the relation at k + 1" in fault_of(replace(GROWTH, step=(far,)), AT_N)
    assert "the step does not show" in fault_of(replace(GROWTH, step=()), AT_N)


def test_induction_whose_step_is_false():
    wrong = replace(NEXT, certificate=slack("growth (hypothesis)"))
    assert "not right minus left" in fault_of(replace(GROWTH, step=(wrong,)), AT_N)


def test_the_base_must_not_use_the_hypothesis():
    base = Obligation("base", at_most(s(0), 0), ("growth (hypothesis)",), slack("growth (hypothesis)"))
    assert "not established: growth (hypothesis)" in fault_of(replace(GROWTH, base=base), AT_N)


def test_the_induction_hypothesis_does_not_leak():
    late = Obligation("late", UP_TO, ("growth (hypothesis)",), slack("growth (hypothesis)"))
    assert "not established: growth (hypothesis)" in fault_of(GROWTH, late, goal=UP_TO)


def test_what_the_step_shows_does_not_leak():
    late = Obligation("late", NEXT.goal, ("next",), slack("next"))
    assert "not established: next" in fault_of(GROWTH, late, goal=NEXT.goal)


def test_an_instance_of_something_that_is_no_induction():
    assert "no induction on k" in fault_of(Instance("at n", "step", k, n), goal=at_most(s(n + 1), s(n) + 1))
    assert "no induction on k" in fault_of(Instance("at n", "nothing", k, n))


def test_an_instance_in_another_variable():
    other = Fact("other", at_most(x, k), "x <= k.")
    steps = (GROWTH, Instance("at n", "growth", sp.Symbol("x", real=True), n))
    assert "no induction on x" in fault_of(*steps, hypotheses=(other,))


def test_an_instance_before_its_induction():
    assert "no induction on k" in fault_of(AT_N, GROWTH)


def test_unknown_premises():
    use = rules.exp_quarter("value", given="absent")
    assert "not established: absent" in fault_of(use)
    step = Obligation("late", at_most(s(n), n), ("absent",), slack("absent"))
    assert "not established: absent" in fault_of(step)


def test_a_step_cannot_use_a_later_one():
    goal = at_most(x, x + 2)
    first = Obligation("first", goal, ("second",), slack("second") + 1)
    second = Obligation("second", at_most(x, x + 1), (), sp.S.One)
    assert "'first' uses what is not established: second" in fault_of(first, second, first, goal=goal)


def test_two_steps_of_one_name():
    true = Obligation("start", at_most(0, 1), (), sp.S.One)
    assert "two steps are named 'start'" in fault_of(true, goal=true.goal)
    assert "two steps are named 'growth'" in fault_of(GROWTH, GROWTH, AT_N)


def test_an_obligation_may_use_only_what_it_lists():
    step = Obligation("both", at_most(s(0), x**2), (), -residual("start") + square(x))
    assert "which is not given" in fault_of(step, goal=step.goal)


def test_z3_alone_stops_a_false_obligation(monkeypatch):
    monkeypatch.setattr(algebra, "certificate_fault", lambda goal, given, certificate: None)
    false = Obligation("false", at_most(x, z), (), sp.S.Zero)
    assert "'false': z3 contradicts it" in fault_of(false, goal=false.goal)


def test_what_z3_leaves_open_is_listed(monkeypatch):
    monkeypatch.setattr(algebra, "ask_z3", lambda goal, given: "unknown")
    result = examine(Statement("s(n) <= n.", at_most(s(n), n), (), Proof((GROWTH, AT_N)), (START, STEP)))
    assert result.accepted
    assert result.engines == ("sympy",)
    assert result.undecided == ("base", "next")


class Numbers:
    """Random exact numbers for symbols and for terms that are not polynomial, each with its sign."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.of = {}

    def __getitem__(self, term):
        if term not in self.of:
            # Over a prime, so that no denominator vanishes by accident.
            size = sp.Rational(int(self.rng.integers(1, 4000)), 1009)
            signed = size if term.is_nonnegative or self.rng.integers(2) else -size
            self.of[term] = sp.Integer(int(self.rng.integers(1, 6))) if term.is_integer else signed
        return self.of[term]

    def value(self, expr):
        """The expression with numbers for everything in it; powers keep their meaning."""
        fixed = sp.sympify(expr).replace(
            lambda e: isinstance(e, (AppliedUndef, sp.exp, *Atom)) and e.func != square, self.__getitem__
        )
        return fixed.xreplace({symbol: self[symbol] for symbol in fixed.free_symbols})


@cache
def inferred(id):
    return [step for statement in proved(id).values() for step in inferences(statement)]


@pytest.mark.full
@pytest.mark.parametrize("id", LEDGER)
@pytest.mark.parametrize("seed", range(2))
def test_certificates_are_identities_at_random_rational_points(id, seed):
    """The engines' algebra once more, in numbers: right minus left is the certificate, whatever the terms stand for."""
    for step in inferred(id):
        numbers = Numbers([seed, len(step.name)])
        slacks = {slack(given): numbers.value(step.given[given].slack) for given in step.given}
        residuals = {residual(given): -numbers.value(step.given[given].slack) for given in step.given}
        certificate = sp.sympify(step.certificate).replace(square, lambda inner: inner**2).xreplace(slacks | residuals)
        difference = numbers.value(certificate) - numbers.value(step.goal.slack)
        assert difference == 0 or sp.simplify(difference) == 0, step.name


@pytest.mark.full
@pytest.mark.parametrize("id", LEDGER)
def test_multipliers_are_not_negative_at_random_rational_points(id):
    """With any non-negative slacks, and residuals zero, a certificate is not negative, and zero for an equation."""
    for step in inferred(id):
        for seed in range(3):
            numbers = Numbers([seed, len(step.name), 1])
            bare = sp.sympify(step.certificate).xreplace({residual(given): sp.S.Zero for given in step.given})
            value = numbers.value(bare.replace(square, lambda inner: inner**2))
            assert all(step.given[given].op != "==" for given in step.given if slack(given) in bare.free_symbols)
            assert value == 0 if step.goal.op == "==" else value >= 0, step.name


def test_the_example_of_the_docs_is_accepted(capsys):
    text = (Path(__file__).parents[2] / "docs" / "proofs.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    exec(example, {})
    exec(example.replace("alpha * L, 1", "alpha * L, 3"), {})
    assert capsys.readouterr().out == "True\nFalse\n"
