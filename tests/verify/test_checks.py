"""Counterexamples replayed from their JSON, how claims are decided, and searches of our own along runs."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.core.function import AppliedUndef

from cflag_theory.claims.ledger import claim
from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import (
    everything,
    random_glm,
    random_quadratic,
    random_separable,
    rotation_bias,
    sign_bias,
    simulate,
    uniform,
)
from cflag_theory.verify.check import LEVELS, Check, run_check, verify
from cflag_theory.verify.checks import CHECKS
from cflag_theory.verify.verdict import REFUTING


@pytest.mark.parametrize("id", ["cflag.eq7", "cflag.lemma1", "cflag.eq177"])
def test_a_counterexample_replays_from_its_json(verdicts, id):
    """From the printed numbers alone: they satisfy every hypothesis and break the statement."""
    refuted = set()
    for item in json.loads(json.dumps(verdicts[id].to_json()))["evidence"]:
        if item["finding"] != "refutes" or item["on"] != "printed":
            continue
        assert item["kind"] in REFUTING
        printed = next(part.printed for part in claim(id).parts if part.key == item["part"])
        refuted.add(item["part"])
        numbers = {name: sp.Rational(Fraction(text)) for name, text in item["values"].items()}

        def at(relation, numbers=numbers):
            whole = relation.left + relation.right
            named = {term: numbers[str(term)] for term in whole.atoms(AppliedUndef)}
            named |= {symbol: numbers[str(symbol)] for symbol in whole.free_symbols if str(symbol) in numbers}
            left, right = relation.left.xreplace(named), relation.right.xreplace(named)
            assert left.is_Rational
            assert right.is_Rational
            return {"==": left == right, "<=": left <= right, "<": left < right}[relation.op]

        assert all(at(fact.relation) for fact in printed.hypotheses)
        assert not at(printed.relation)
        assert item["instance"] or item["shown"]
    assert refuted == {part.key for part in verdicts[id].parts if part.verdict not in ("holds", "loose")}


def test_every_claim_has_an_instance_a_run_or_further_evidence():
    for id, check in CHECKS.items():
        assert isinstance(check, Check), id
        assert claim(id).instances or check.points or check.samples or check.further or check.along, id


def test_the_same_seed_gives_the_same_evidence_and_another_the_same_verdict(verdicts):
    (again,) = verify(["cflag.lemma13"])
    assert again.to_json() == verdicts["cflag.lemma13"].to_json()
    (other,) = verify(["cflag.lemma13"], seed=5)
    assert other.verdict == "loose"
    assert other.to_json() != again.to_json()


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.full)])
def test_claims_come_in_the_order_asked_and_are_announced_when_they_are_decided(jobs):
    announced = []
    asked = ["cflag.eq65", "cflag.eq22"]
    found = verify(asked, jobs=jobs, progress=announced.append)
    assert [verdict.claim.id for verdict in found] == asked
    assert sorted(announced) == sorted(asked)


def test_bad_arguments():
    with pytest.raises(UnknownName, match="'nosuch': cflag list names all"):
        verify(["cflag.eq7", "nosuch"])
    with pytest.raises(InvalidInput, match="level is 'medium': use one of quick, full"):
        run_check(claim("cflag.eq7"), CHECKS["cflag.eq7"], level="medium")
    assert LEVELS["quick"] < LEVELS["full"]


# Searches that share no sampling with the checks. The compiled engine runs; small sizes, one compilation.


@st.composite
def runs(draw, beta_limit, algorithm="c_flag"):
    """(trace with iterates, alpha, beta, E, p, L): a run on a random problem of some family with some memory."""
    N, n, d = draw(st.integers(1, 3)), draw(st.integers(1, 5)), draw(st.integers(2, 3))
    E, seed = draw(st.integers(1, 10)), draw(st.integers(0, 10**6))
    potential = draw(st.sampled_from(["cauchy", "cosine", "geman_mcclure"]))
    family = draw(st.sampled_from(["glm", "separable", "quadratic"]))
    if family == "glm":
        problem = random_glm(clients=N, components=n, dimension=d, potential=potential, seed=seed)
    elif family == "separable":
        problem = random_separable(clients=N, past=n, current=n, dimension=d, potential=potential, seed=seed)
    else:
        problem = random_quadratic(clients=N, components=n, dimension=d, seed=seed)
    memory = draw(
        st.sampled_from(
            [
                everything(),
                uniform(1),
                uniform(2, redraw=True),
                sign_bias(m=0.5, redraw=True),
                sign_bias(m=2.0),
                rotation_bias(m=0.8, angle=1.0),
            ]
        )
    )
    L = max(float(problem.constants[name].value) for name in ("L", "L_component"))
    # The end of the range is where a bound is nearest to failing.
    beta = draw(st.just(1.0) | st.floats(1e-3, 1.0)) * beta_limit / (L * E)
    alpha = draw(st.floats(0.01, 1.9)) / L if algorithm == "c_flag" else 0.0
    trace = simulate(
        problem,
        algorithm,
        alpha=alpha,
        beta=beta,
        local_steps=E,
        rounds=4,
        memory=memory,
        replicas=2,
        seed=seed,
        diagnostics="all",
        iterates=True,
        threads=1,
    )
    return trace, alpha, beta, E, problem.p, L


@settings(max_examples=100)
@given(runs(beta_limit=1 / 4))
def test_lemma13_with_its_sharp_constant_along_runs(run):
    trace, _, beta, E, _, L = run
    # The exact worst case for each k, and so at k = E - 1.
    worst = ((1 + beta * L) ** (E - 1) - 1) / (beta * L)
    bound = beta * trace.root("grad_g2")
    assert (trace.root("drift2_max") <= worst * bound * (1 + 1e-9)).all()
    assert worst <= 4 * math.expm1(1 / 4) * (E - 1) * (1 + 1e-12)


@settings(max_examples=100)
@given(runs(beta_limit=1))
def test_corollary14_with_its_sharp_constant_along_runs_of_twelve_times_the_range(run):
    trace, _, beta, E, _, L = run
    bound = beta * L * (E - 1) * trace.root("grad_g2")
    assert (trace.root("iag_error2_max") <= bound * (1 + 1e-9) + 1e-12 * L).all()


def last_and_next(trace, name):
    return trace.column(name), np.concatenate([trace.column(name)[:, 1:], trace.at_end(name)[:, None]], axis=1)


@settings(max_examples=100)
@given(runs(beta_limit=2))
def test_lemma1_with_half_of_the_printed_coefficient_along_runs(run):
    trace, alpha, beta, _, p, L = run
    grad_f2, b2, memory2 = (trace.column(name) for name in ("grad_f2", "b2", "grad_memory2"))
    m = trace.column("m_met")
    fits = np.isfinite(m) & (L * alpha * (1 + m) < 2)
    before, after = last_and_next(trace, "f")
    # <grad f, b> from three norms, <grad_f_memory, S> from the clients, <b, S> from B(t).
    grad_dot_b = (memory2 - grad_f2 - b2) / 2
    L_f = float(trace.config["L"])
    b_dot_S = (trace.column("B") - (L_f * alpha**2 - alpha) * grad_dot_b) / beta
    memory_dot_S = trace.column("Lambda") @ p
    forgetting = L / 2 * beta**2 * trace.column("delayed_sum2") - beta * (1 - L * alpha) * memory_dot_S
    overfitting = (L * alpha**2 - alpha) * grad_dot_b + beta * b_dot_S
    # Multiplied with the denominator, which m at 0/0 may leave far from the numerator's size.
    left = alpha * (1 - L / 2 * alpha * (1 + np.where(fits, m, 0))) * grad_f2
    right = before - after + overfitting + forgetting
    scale = np.abs(before) + np.abs(after) + np.abs(overfitting) + np.abs(forgetting) + left + alpha * b2
    assert (left <= right + 1e-9 * scale)[fits].all()


@settings(max_examples=100)
@given(runs(beta_limit=2))
def test_round_update_along_runs(run):
    """(22) and (24): a round moves by -alpha grad_f_memory - beta S, told from its length and the products with S."""
    trace, alpha, beta, _, p, _ = run
    moved = ((trace.iterates[:, 1:] - trace.iterates[:, :-1]) ** 2).sum(axis=2)
    parts = (
        alpha**2 * trace.column("grad_memory2"),
        2 * alpha * beta * (trace.column("Lambda") @ p),
        beta**2 * trace.column("delayed_sum2"),
    )
    # Differences of iterates carry the rounding of the iterates.
    size = (trace.iterates**2).sum(axis=2).max()
    assert np.abs(moved - sum(parts)).max() <= 1e-10 * (sum(np.abs(part) for part in parts).max() + size)


@settings(max_examples=100)
@given(runs(beta_limit=2, algorithm="fedtrack"))
def test_weighted_mean_drift_without_a_memory_step(run):
    """(22) alone: the clients' weighted drift is -beta S."""
    trace, _, beta, _, _, _ = run
    moved = np.sqrt(((trace.iterates[:, 1:] - trace.iterates[:, :-1]) ** 2).sum(axis=2))
    size = np.abs(trace.iterates).max()
    assert np.abs(moved - beta * trace.root("delayed_sum2")).max() <= 1e-10 * (moved.max() + size)
