"""Our theorems on CFL's rates: verdicts, what a smaller constant does to them, and the rules that they use."""

from __future__ import annotations

import pytest
import sympy as sp
from rows import decide, parts

from cflag_theory.claims.cfl.rates.ours import decaying_fedavg as ours_cfl_decaying
from cflag_theory.claims.cfl.rates.ours import general_convex as ours_cfl_convex
from cflag_theory.claims.cfl.rates.ours import lower_bounds as ours_cfl_floors
from cflag_theory.claims.cfl.rates.ours import strongly_convex as ours_cfl_rates
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.claims.engine.steps import RuleUse

LESS = 1 - sp.Rational(1, 10**6)


@pytest.mark.parametrize(
    "build",
    [
        ours_cfl_rates.strongly_convex,
        ours_cfl_convex.general_convex,
        ours_cfl_floors.lower_bounds,
        ours_cfl_decaying.decaying_fedavg,
    ],
)
def test_verdict(build):
    verdict = decide(build())
    assert {part.verdict for part in verdict.parts} == {"holds"}
    for item in verdict.evidence:
        if item.kind == "proof":
            assert item.data["engines"] == ["sympy", "z3"]
            assert item.data["undecided"] == item.data["pieces"] == []


def test_a_smaller_bias_term_is_refuted():
    """Fixed clients from w_0 = w*: the bias is parallel to w_t - w*, and the round's bound is attained."""
    assert parts(decide(ours_cfl_rates.strongly_convex(bias=LESS)))["round"] == "false"


@pytest.mark.parametrize(("changes", "key"), [({"noise": LESS}, "rounds"), ({"local": 2 * LESS}, "local")])
def test_smaller_floors_have_no_proof(changes, key):
    assert parts(decide(ours_cfl_rates.strongly_convex(**changes)))[key] == "open"


def test_a_smaller_factor_than_e_has_no_proof():
    assert parts(decide(ours_cfl_convex.general_convex(sp.E * LESS)))["rounds"] == "open"


@pytest.mark.parametrize("key", ["clients", "time", "loss", "attained"])
def test_higher_floors_are_refuted(key):
    """Each is attained by an instance."""
    assert parts(decide(ours_cfl_floors.lower_bounds(1 / LESS)))[key] == "false"


@pytest.mark.parametrize(
    ("changes", "key", "expected"),
    [
        ({"constant": 4 * LESS}, "rate", "open"),
        ({"moved": LESS}, "clients", "false"),
        ({"share": LESS}, "exact", "false"),
    ],
)
def test_decaying_fedavg_with_other_constants(changes, key, expected):
    assert parts(decide(ours_cfl_decaying.decaying_fedavg(**changes)))[key] == expected


u = sp.Symbol("u", nonnegative=True)
y = sp.Symbol("y", real=True)
k = sp.Symbol("k", nonnegative=True, integer=True)


@pytest.mark.parametrize(
    ("step", "premises"),
    [
        (rules.decay("d", u, k, "p"), [at_most(u, 2)]),
        (rules.decay("d", y, k, "p"), [at_most(y, 1)]),
        (RuleUse("d", "decay", at_most((1 - u) ** k, sp.exp(-2 * k * u)), "", ("p",)), [at_most(u, 1)]),
        (rules.square_root("s", y, u, "p"), [at_most(y**2, u**2)]),
        (rules.square_root("s", u, 2 * u, "p"), [at_most(u**2, 3 * u**2)]),
    ],
    ids=lambda value: getattr(value, "rule", "") if not isinstance(value, list) else "",
)
def test_rules_that_are_bent(step, premises):
    assert rules.fault(step, premises) is not None


def test_rules_that_are_not():
    assert rules.fault(rules.decay("d", u, k, "p"), [at_most(u, 1)]) is None
    assert rules.fault(rules.square_root("s", u, 2 * u, "p"), [at_most(u**2, (2 * u) ** 2)]) is None
