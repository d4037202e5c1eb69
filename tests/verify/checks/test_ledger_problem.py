"""(3), (5), the cost of (5) and line 12 of Algorithm 1: verdicts, and planted errors that change them."""

from __future__ import annotations

import pytest
from rows import decided, with_repair

from cflag_theory.claims.c_flag.problem import objective as problem
from cflag_theory.claims.c_flag.problem import update
from cflag_theory.claims.c_flag.problem.update import delayed
from cflag_theory.claims.engine.notation import E, alpha
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.verify.checks.c_flag.problem import objective as checks

BUILDERS = {**problem.CLAIMS, "cflag.alg1": update.alg1}
ROWS = {
    "cflag.eq3": ("needs-hypothesis", {"1": "needs-hypothesis"}),
    "cflag.eq5": ("typo", {"1": "typo", "2": "holds", "3": "typo"}),
    "cflag.iag_cost": ("needs-hypothesis", {"1": "holds", "2": "needs-hypothesis"}),
    "cflag.alg1": ("typo", {"1": "typo"}),
}


@pytest.mark.parametrize("id", ROWS)
def test_verdicts(id):
    assert decided(BUILDERS[id]()) == ROWS[id]


def test_eq3_needs_equal_shares_and_not_weights_by_size():
    assert decided(with_repair(problem.eq3(), "1", hypotheses=()))[0] == "false"
    by_size = [point for point in checks.eq3_points() if "(1, 1), (2, 1)" in point.story[0]]
    assert {str(point.story[0].partition("p = ")[2].partition(", (|")[0]) for point in by_size} == {
        "1/2, 1/2",
        "2/5, 3/5",
    }
    printed = problem.eq3().parts[0].printed.relation
    assert not any(printed.holds_at(point.values) for point in by_size)


@pytest.mark.parametrize(
    ("key", "stale"),
    [("1", (0, 0, 1)), ("2", (0, 0, 0)), ("3", (1, 0, 1)), ("3", (2, 0, 2))],
)
def test_eq5_with_another_step_in_a_term(key, stale):
    step = int(key) - 1
    wrong = equal(delayed(step), sum(c(k) for c, k in zip(problem.grad_c, stale, strict=True)) / 3)
    subject = problem.eq5()
    planted = subject.with_printed(wrong, "2") if key == "2" else with_repair(subject, key, relation=wrong)
    assert decided(planted)[1][key] == "false"


@pytest.mark.parametrize("count", [problem.n + E, problem.n * E, 2 * problem.n + E - 1])
def test_iag_cost_with_another_count(count):
    assert decided(problem.iag_cost().with_printed(equal(problem.cost, count), "1"))[1]["1"] == "false"


@pytest.mark.parametrize("left_out", ["n", "E"])
def test_iag_cost_saves_nothing_at_one_component_or_one_step(left_out):
    kept = problem.iag_cost().parts[1].repair.statement.hypotheses
    fewer = tuple(fact for fact in kept if fact.name != left_out)
    assert decided(with_repair(problem.iag_cost(), "2", hypotheses=fewer))[1]["2"] == "false"


def test_iag_cost_is_never_below_its_share():
    """cost / (n E) > 1 / E, with nothing to spare but what n gives."""
    for point in checks.cost_points():
        assert at_most(problem.n + E - 1, problem.cost).holds_at(point.values)


def test_alg1_with_the_memory_step_uphill():
    x, x_mean, S = update.x, update.x_mean, update.S
    wrong = equal(x - (x - x_mean - alpha * update.grad_f_memory), x - alpha * update.grad_f_memory - update.beta * S)
    assert decided(with_repair(update.alg1(), "1", relation=wrong))[0] == "false"
