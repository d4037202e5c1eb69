"""App. B.4.4 and Theorems 4.1, 4.4, B.5 and B.6: verdicts, and what a wrong constant does to them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from rows import decide, findings, parts, points_of

from cflag_theory.claims.cfl.rates import bias as bias_rate
from cflag_theory.claims.cfl.rates import fedavg as fedavg_theorems
from cflag_theory.claims.cfl.rates import floors
from cflag_theory.claims.cfl.rates import theorems as rate_theorems
from cflag_theory.claims.cfl.rates import weighted_means as rates
from cflag_theory.claims.cfl.symbols import D2, R2, T, sigma2, t
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.notation import L
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.verify.checks.cfl.rates import bias as bias_checks
from cflag_theory.verify.checks.cfl.rates import fedavg as fedavg_checks
from cflag_theory.verify.checks.cfl.rates import theorems as theorem_checks
from cflag_theory.verify.checks.cfl.rates import weighted_means as rate_checks
from cflag_theory.verify.evidence import Point, applies
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds

CHECKS = {**rate_checks.CHECKS, **bias_checks.CHECKS, **theorem_checks.CHECKS, **fedavg_checks.CHECKS}
TINY = sp.Rational(1, 10**6)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (rates.partial_fraction, {"1": "holds"}),
        (rates.lnT, {"1": "holds", "2": "needs-hypothesis"}),
        (bias_rate.phi_rate, {"1": "holds", "2": "needs-hypothesis"}),
        (rate_theorems.sc_rate, {"clients": "false", "time": "false", "log": "typo"}),
        (rate_theorems.gc_rate, {"clients": "false", "time": "false", "units": "typo", "gradient": "false"}),
        (
            fedavg_theorems.fedavg_rates,
            {"strongly": "false", "sign": "typo", "noise": "typo", "generally": "needs-hypothesis"},
        ),
    ],
)
def test_verdict(build, expected):
    verdict = decide(build())
    assert parts(verdict) == expected
    for item in verdict.evidence:
        if item.kind == "proof":
            assert item.data["engines"] == ["sympy", "z3"]
            assert item.data["undecided"] == item.data["pieces"] == []


@pytest.mark.parametrize("sign", [-1, 0, 1 + TINY])
def test_partial_fraction_with_another_last_term(sign):
    verdict = decide(rates.partial_fraction(sign))
    assert verdict.verdict == "false"
    assert findings(verdict, "printed", "proof") == ["undecided"]


def test_partial_fraction_with_t_for_its_pole():
    printed = rates.partial_fraction().parts[0].printed.relation
    share = R2 / (R2 + D2)
    wrong = equal(printed.left, share + D2**2 / (R2 + D2) ** 2 / t)
    assert decide(rates.partial_fraction().with_printed(wrong)).verdict == "false"


@pytest.mark.parametrize("constant", [1, 2, sp.Rational(43, 20)])
def test_lnT_below_its_sharp_constant_is_refuted(constant):
    """3/(2 ln 2) = 2.164 is met at T = 2 without loss."""
    verdict = decide(rates.lnT(constant))
    assert parts(verdict)["1"] == "false"
    assert findings(verdict, "printed", "counterexample") == ["refutes"]


def test_lnT_between_its_sharp_constant_and_ours_is_not_proved():
    assert parts(decide(rates.lnT(3)))["1"] == "open"


def test_lnT_alone_with_one_constant_is_refuted_by_a_small_drift():
    """C = 10 serves no D^2 = 1/100 with R = 1."""
    subject = rates.lnT()
    low = next(p for p in points_of(subject.id) if p.values[rates.rho] == 100)
    printed = subject.parts[1].printed
    point = Point({**low.values, rates.C: 10}, low.story)
    assert applies(printed, point)
    assert not printed.relation.holds_at(point.values)


def test_lnT_alone_without_its_hypothesis_has_no_proof():
    (_, part) = rates.lnT().parts
    held = part.repair.statement
    bare = replace(held, hypotheses=tuple(fact for fact in held.hypotheses if fact.name != "R^2"))
    assert not examine(bare).accepted


@pytest.mark.parametrize("constant", [1, 2, sp.Rational(23, 10)])
def test_phi_rate_with_a_constant_that_is_too_small(constant):
    verdict = decide(bias_rate.phi_rate(constant))
    assert parts(verdict)["1"] == "false"
    assert findings(verdict, "printed", "counterexample") == ["refutes"]


def test_phi_rate_is_refuted_within_the_printed_step_size():
    """mu eta = 1/10 with mu = L: the last rounds weigh more, and the ln T/T with c = 1 is not theirs."""
    relation = bias_rate.phi_rate().parts[1].printed.relation
    broken = [p for p in points_of("cfl.phi_rate") if not relation.holds_at(p.values)]
    assert any(p.values[rates.x] == Fraction(1, 20) and p.values[T] == 100 for p in broken)
    assert all(p.values[rates.x] > 0 for p in broken)


def test_the_subtracted_term_of_phi_is_of_order_one_over_T():
    """T times what is subtracted does not grow, as the proved family has it with 1600 for it."""
    subtracted = [rounds * (1 - bias_checks.late(rounds)[0]) for rounds in (40, 80, 160)]
    assert subtracted == sorted(subtracted, reverse=True)
    assert subtracted[0] < 1600


def test_phi_rate_for_unequal_weights_has_no_proof():
    held = bias_rate.phi_rate().parts[1].repair.statement
    kept = tuple(fact for fact in held.hypotheses if fact.name != "mu = 0")
    assert not examine(replace(held, hypotheses=kept)).accepted


@pytest.mark.parametrize(
    "family",
    [floors.fixed_clients, floors.new_in_every_round, floors.no_gradient, floors.geometric, floors.flat],
    ids=lambda f: f.__name__,
)
def test_a_higher_floor_is_not_proved(family):
    statement = family("")
    goal = statement.relation
    higher = at_most(goal.left * (1 + TINY), goal.right)
    last = replace(statement.proof.steps[-1], goal=higher)
    wrong = replace(
        statement, relation=higher, proof=replace(statement.proof, steps=(*statement.proof.steps[:-1], last))
    )
    assert examine(statement).accepted
    assert not examine(wrong).accepted


def test_the_floor_of_fixed_clients_is_attained():
    """One round with the step 1/2 from ||w_0 - w*||^2 = G^2 has E f = G^2/4."""
    world = DriftRounds(weights=theorem_checks.current(1), start=Fraction(1), eta_l=Fraction(1, 2), G=Fraction(1))
    assert theorem_checks.gaps(world)[-1] == Fraction(1, 4)


@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_no_step_goes_below_the_floor_of_time_drifts(rounds):
    for eta_l in (Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)):
        least, floor = theorem_checks.time_drifts(rounds, eta_l)
        assert least >= Fraction(1, 8) * Fraction(1, rounds + 1)
        assert rounds != 4 or least >= floor


def test_sc_rate_without_the_logarithm_in_its_repair():
    """T >= (2/(mu eta)) L h/(2 epsilon) in place of its logarithm's bound: exp(-x) <= 1/x is not what is needed."""
    part = rate_theorems.sc_rate().parts[2]
    held = part.repair.statement
    kept = tuple(fact for fact in held.hypotheses if fact.name != "T")
    assert not examine(replace(held, hypotheses=kept)).accepted


def test_gc_rate_with_too_few_rounds_in_its_repair():
    part = rate_theorems.gc_rate().parts[2]
    held = part.repair.statement
    fewer = tuple(
        replace(fact, relation=at_most(fact.relation.left / 2, fact.relation.right)) if fact.name == "T" else fact
        for fact in held.hypotheses
    )
    assert not examine(replace(held, hypotheses=fewer)).accepted


@pytest.mark.parametrize("constant", [sp.Rational(1, 2), 1 - TINY])
def test_fedavg_with_fewer_rounds_in_its_repair(constant):
    verdict = decide(fedavg_theorems.fedavg_rates(constant))
    assert parts(verdict)["generally"] == "false"
    assert findings(verdict, "repair", "proof", "generally") == ["undecided"]


def test_fedavg_without_fresh_drifts_has_no_proof():
    part = fedavg_theorems.fedavg_rates().parts[3]
    held = part.repair.statement
    kept = tuple(fact for fact in held.hypotheses if fact.name != "fresh")
    assert not examine(replace(held, hypotheses=kept)).accepted


def test_fedavg_with_a_smaller_noise_term_in_its_repair():
    assert parts(decide(fedavg_theorems.fedavg_rates(noise=sp.Rational(1, 5))))["noise"] == "false"


def test_fedavg_with_too_short_halves_has_no_proof():
    """T >= s is what makes the first half matter no more than exp(-mu T/(20 L))."""
    held = fedavg_theorems.fedavg_rates().parts[2].repair.statement
    kept = tuple(fact for fact in held.hypotheses if fact.name != "T")
    assert not examine(replace(held, hypotheses=kept)).accepted


def test_the_bracket_of_fedavg_falls_faster_than_the_floor_of_its_noise():
    """With ||w_0 - w*||^2 = sigma^2/(mu^2 T) and mu = L the quotient exceeds any C: here 249 at T = 1000."""
    printed = fedavg_theorems.fedavg_rates().parts[2].printed.relation
    bracket = (
        (printed.right / rates.C).subs({floors.start2: 1 / T, sigma2: 1, L: 1, rate_theorems.mu: 1}).subs({T: 1000})
    )
    assert sp.Rational(1, 4000) > 249 * bracket


def test_the_largest_step_still_leaves_clients_at_rest():
    """With B = 1 the least gap is 2^-N of the first one, but for what the moving draws add."""
    for clients in (1, 2):
        least, floor = theorem_checks.at_rest(clients, 30)
        assert floor <= least < 2 * floor


def test_floors_replayed_over_all_draws_refute():
    for id in ("cfl.sc_rate", "cfl.gc_rate", "cfl.fedavg_rates"):
        found = list(CHECKS[id].further(None, 0, 0))
        assert len(found) >= 4
        assert {item.finding for item in found} == {"refutes"}
