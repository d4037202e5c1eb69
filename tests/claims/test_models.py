"""Every step of every proof in random models: what it concludes holds where what it uses holds."""

from __future__ import annotations

import math
from functools import cache

import pytest
import sympy as sp
from lines import running_index
from term_models import Model, Undefined

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import statements
from cflag_theory.claims.engine.operators import Largest, Least, index, mean_over, sum_over
from cflag_theory.claims.engine.steps import Obligation, Use
from cflag_theory.claims.engine.terms import function, norm, norm2, vector
from cflag_theory.claims.engine.transcript import transcript
from cflag_theory.claims.ledger import LEDGER, claim

SEEDS = range(3)


def proved(id):
    """The statements of a claim that have a proof."""
    roles = [one for part in claim(id).parts for one in (*statements(part).values(), part.refutation)]
    return [statement for statement in roles if statement is not None and statement.proof]


def checked(line, model):
    """Whether the step concludes rightly in the model; None where what it is given does not hold there."""
    index = running_index(line.step)
    running = () if index is None else (index,)
    try:
        if not all(model.holds_for_every(known, running) for known in line.given):
            return None
        return model.holds(line.conclusion, {})
    except (Undefined, OverflowError, RecursionError, ZeroDivisionError):
        return None


@cache
def outcomes(id):
    """By rule or obligation of the proofs of a claim: the step, and what each random model says of it."""
    found = []
    for statement in proved(id):
        models = [Model(seed, statement) for seed in SEEDS]
        steps = [line for line in transcript(statement) if isinstance(line.step, Use | Obligation)]
        found += [(line, [checked(line, model) for model in models]) for line in steps]
    return found


@pytest.mark.full
@pytest.mark.parametrize("id", LEDGER)
def test_every_step_of_every_proof_holds_in_random_models(id):
    for line, said in outcomes(id):
        assert False not in said, (line.step.name, str(line.conclusion))


@pytest.mark.full
def test_most_uses_of_rules_meet_a_model():
    met = [True in said for id in LEDGER for line, said in outcomes(id) if isinstance(line.step, Use)]
    assert sum(met) >= 0.9 * len(met), (sum(met), len(met))


# Each rule at terms of its own.
L, mu = sp.Symbol("L_model", positive=True), sp.Symbol("mu_model", nonnegative=True)
x, y = vector("model_x", "x_{@}"), vector("model_y", "y_{@}")
f = function("model_f", "f", smooth=L, lower=sp.Symbol("low_model", real=True))
h = function("model_h", "h", smooth=L, mu=mu)
i, b, t = index("i"), index("b"), index("t")
n = sp.Symbol("n_model", integer=True, positive=True)
mean = mean_over("model", i)
u, v = x(0) - 2 * y(1), L * x(1) + y(0)
path = Largest(b, n, norm(x(b)))
least = Least(t, n, norm2(x(t)))
RULES = {
    "Cauchy-Schwarz": rules.cauchy_schwarz("s", u, v),
    "triangle inequality": rules.triangle("s", u + v - x(2), u, v, -x(2)),
    "square of a norm": rules.norm_squared("s", u - v),
    "square": rules.square("s", u - L * v),
    "smoothness": rules.smooth("s", f, x(0), y(0)),
    "Lipschitz gradient": rules.lipschitz("s", f, x(0), x(0) - f.grad(x(0)) / L),
    "convexity": rules.convex("s", h, x(0), y(0)),
    "interpolation": rules.interpolation("s", h, x(0), y(0)),
    "interpolation of a strongly convex function": rules.interpolation("s", h, x(0), y(0), 1),
    "interpolation of a smooth function": rules.interpolation("s", f, x(0), y(0), 1),
    "lower bound": rules.bounded_below("s", f, x(0)),
    "norm of a mean": rules.norm_of_mean("s", mean, L * x(i) + y(0)),
    "Jensen": rules.jensen("s", sum_over(t, n), x(t) - y(0)),
    "Cauchy-Schwarz under a mean": rules.cauchy_schwarz_mean("s", mean, x(i), y(i) - y(0)),
    "exchange with a sum": rules.exchange("s", mean, sum_over(t, n), norm(x(i) - y(t))),
    "last term": rules.last_term("s", t, n, norm2(x(t))),
    "telescoping": rules.telescoping("s", t, n, norm2(x(t))),
    "member of the maximum": rules.member("s", path, n),
    "minimum and sum": rules.minimum("s", least),
    "minimum and weighted sum": rules.minimum("s", least, t + L),
    "tangent of exp": rules.tangent_of_exp("s", L, n),
    "value of exp": rules.exp_quarter("s"),
    "tangent of ln": rules.tangent_of_ln("s", n, n + 2),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_concludes_what_holds(rule):
    conclusion = rules.concluded(RULES[rule], [])
    met = 0
    for seed in range(60):
        try:
            assert Model(seed).holds(conclusion, {}), seed
            met += 1
        except Undefined:
            continue
    assert met >= 20


@pytest.mark.parametrize(
    ("rule", "by"), [("Jensen", 1 / n), ("interpolation of a smooth function", sp.Rational(9, 10))]
)
def test_a_false_conclusion_is_seen_in_the_models(rule, by):
    claimed = rules.concluded(RULES[rule], [])
    wrong = type(claimed)(claimed.left, claimed.op, claimed.right * by)
    assert not all(Model(seed).holds(wrong, {}) for seed in range(60))
    assert math.isfinite(Model(0).number(wrong.left, {}))
