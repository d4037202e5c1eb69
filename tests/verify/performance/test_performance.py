"""Performance estimation agrees with closed forms and simulated instances, and sees what is wrong."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

from cflag_theory.claims.ledger import claim
from cflag_theory.errors import CflagError, InvalidInput
from cflag_theory.studies.worst_cases.surrogate import union_constant
from cflag_theory.verify import performance as pe
from cflag_theory.verify.instances.recursions import local_worst
from cflag_theory.verify.performance.solution import Data

PEPit = pytest.importorskip("PEPit")
pytest.importorskip("clarabel")

QUARTER, TWELFTH, HALF, THIRTIETH = Fraction(1, 4), Fraction(1, 12), Fraction(1, 2), Fraction(1, 30)
LOCAL = {"n": 2, "E": 3, "step": TWELFTH, "order": [0, 0, 1]}
ROUND = {"N": 2, "n": 2, "E": 2, "step": TWELFTH, "alpha": HALF, "order": [0, 1]}


def closed(found, relative=1e-5):
    """The sandwich of a case with a closed form, which the three agree on."""
    between = pe.sandwich(found)
    assert between.faults == ()
    assert between.closes, str(between)
    assert found.value == pytest.approx(float(found.closed.value), rel=relative, abs=relative * found.posed.scale)
    assert found.attained == pytest.approx(found.value, rel=relative, abs=relative * found.posed.scale)
    return between


@pytest.mark.parametrize("quantity", ["drift", "iag_error", "sum_gradients", "sum_errors"])
@pytest.mark.parametrize(("n", "E", "step"), [(2, 3, TWELFTH), (3, 3, QUARTER), (1, 3, Fraction(3))])
def test_local_steps_over_all_orders(quantity, n, E, step):
    """Also far beyond the paper's step sizes."""
    for order in pe.orders_up_to_relabelling(n, E):
        found = pe.solve_local_steps(n=n, E=E, step=step, order=order, quantity=quantity)
        between = closed(found)
        assert isinstance(between.instance, Fraction)
        assert (found.above is not None) == (step <= (TWELFTH if quantity in ("iag_error", "sum_errors") else QUARTER))
        if between.above is not None:
            assert between.slack > 1.2


def test_two_steps_by_hand():
    # E = 2, n = 2: d_1 = beta, d_2 = 2 beta + beta^2/2, e_1 = beta/2 with L = 1 and beta = 1/8.
    numbers = {"n": 2, "E": 2, "step": QUARTER, "order": [0, 1]}
    assert pe.solve_local_steps(**numbers, k=2).value == pytest.approx(2 + 1 / 16, rel=1e-7)
    assert pe.solve_local_steps(**numbers, quantity="iag_error").value == pytest.approx(1 / 16, rel=1e-6)
    assert pe.solve_local_steps(**numbers, quantity="sum_gradients").value == pytest.approx(2 + 1 / 8, rel=1e-7)


@pytest.mark.parametrize(
    ("rounds", "quantity"), [(2, "drift"), (2, "sum_errors"), (3, "sum_gradients"), (4, "sum_gradients")]
)
def test_several_rounds_grow_as_the_closed_form_says(rounds, quantity):
    closed(pe.solve_local_steps(n=2, E=2, step=QUARTER, order=[0, 1], rounds=rounds, quantity=quantity))


def test_in_its_own_unit_the_last_round_is_any_round():
    one = pe.solve_local_steps(**LOCAL, quantity="iag_error")
    later = pe.solve_local_steps(**LOCAL, quantity="iag_error", rounds=2, unit="own")
    closed(later)
    assert later.value == pytest.approx(one.value, rel=1e-6)
    assert later.above == one.above


def test_the_worst_order_is_found():
    worst = pe.worst_order(pe.solve_local_steps, pe.orders_up_to_relabelling(2, 3), n=2, E=3, step=QUARTER, k=3)
    # A component that was refreshed late has gone further: 0, 1 beats 0, 0.
    assert worst.orders.tolist() == [[[0, 0, 1]]]


def test_lemma12_with_the_drift_kept_small():
    """A binding limit on the drift lowers the error; one that does not bind leaves it."""
    numbers = {"n": 2, "E": 3, "step": QUARTER, "order": [0, 0, 0], "quantity": "iag_error"}
    free = pe.solve_local_steps(**numbers)
    largest = local_worst([0, 0], n=2, step=TWELFTH).drift[1]
    loose = pe.solve_local_steps(**numbers, drift_limit=largest)
    tight = pe.solve_local_steps(**numbers, drift_limit=largest / 2)
    assert loose.value == pytest.approx(free.value, rel=1e-5)
    assert tight.value < 0.9 * free.value
    for found, limit in ((loose, largest), (tight, largest / 2)):
        between = pe.sandwich(found)
        assert between.closes
        assert between.above.value == QUARTER * (1 + 3 * limit)


def test_a_wrong_constant_is_seen_on_either_side():
    found = pe.solve_local_steps(**LOCAL)
    exact = found.closed.value
    assert pe.sandwich(found, above=exact).faults == ()
    assert "is below the worst case" in pe.sandwich(found, above=exact * Fraction(9999, 10000)).faults[0]
    for factor in (Fraction(9999, 10000), Fraction(10001, 10000)):
        assert "is not the worst case" in pe.sandwich(found, closed=exact * factor).faults[0]
    assert "fails" in str(pe.sandwich(found, above=1))
    for above in (math.nan, "1"):
        with pytest.raises(InvalidInput, match="compare with a finite number"):
            pe.sandwich(found, above=above)


def test_a_wrong_recursion_is_seen():
    """Were the table never refreshed, the drift would be 2 at k = 2 and the error nothing like it is."""
    found = pe.solve_local_steps(**LOCAL)
    between = pe.sandwich(found, closed=Fraction(2))
    assert between.faults != ()
    # The instance reaches the worst case, and yet.
    assert between.gap <= between.tolerance
    assert not between.closes


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"r": 2},
        {"alpha": Fraction(1)},
        {"r": HALF, "alpha": Fraction(3, 2)},
        {"r": 0},
        {"N": 1, "E": 3, "order": [0, 1, 0], "step": QUARTER},
    ],
)
def test_the_forgetting_term(change):
    found = pe.solve_round(**(ROUND | change))
    between = closed(found)
    small = found.setting["L alpha"] <= 1 and found.setting["beta L E"] <= TWELFTH
    assert (between.above is not None) == small


def test_clients_may_use_different_orders():
    orders = [[[0, 0, 0], [0, 0, 1]]]
    found = pe.solve_round(**(ROUND | {"E": 3, "order": orders}))
    closed(found)
    # Half way between both clients using the one order or the other, but for the square.
    each = [closed(pe.solve_round(**(ROUND | {"E": 3, "order": row}))).worst for row in orders[0]]
    assert min(each) < found.value < max(each)


@pytest.mark.parametrize(("alpha", "m"), [(HALF, 0), (HALF, QUARTER), (Fraction(5, 4), Fraction(1, 3))])
def test_descent_on_the_past_task(alpha, m):
    closed(pe.solve_round(**(ROUND | {"alpha": alpha, "m": m}), quantity="descent"))


def test_lemma1_holds_with_half_and_is_attained():
    between = closed(pe.solve_round(**(ROUND | {"m": QUARTER}), quantity="lemma1"))
    assert between.instance == 0
    assert between.worst == pytest.approx(0, abs=1e-6)
    # (10) prints twice as much, which is wasted where S is not 0.
    closed(pe.solve_round(**(ROUND | {"m": QUARTER}), quantity="lemma1", lead=1))


def test_lemma1_with_one_percent_less_than_half_fails():
    found = pe.solve_round(**(ROUND | {"m": QUARTER}), quantity="lemma1", lead=Fraction(99, 200))
    between = pe.sandwich(found)
    assert [fault for fault in between.faults if "Lemma 1" in fault] == list(between.faults) != []
    assert between.instance > 1e-4
    assert found.value == pytest.approx(float(between.instance), rel=1e-4)


def test_lemma1_with_sums_from_one_fails_as_the_ledger_says():
    assert claim("cflag.lemma1").parts[0].repair.kind == "typo"
    found = pe.solve_round(**ROUND, quantity="lemma1", first=1)
    assert found.value > 0.01
    assert len(pe.sandwich(found).faults) == 1


@pytest.mark.parametrize("name", ["fedtrack", "union"])
@pytest.mark.parametrize("T", [1, 3])
def test_one_local_step_is_gradient_descent(name, T):
    found = pe.solve_algorithm(name, N=1, n=2, E=1, T=T, step=HALF, order=[0])
    between = pe.sandwich(found)
    assert between.faults == ()
    assert found.value == pytest.approx(float(found.closed.value), rel=1e-6)
    # x^2/2 is worst in one round; in several the worst F is neither convex nor concave.
    assert between.closes == (T == 1)


@pytest.mark.parametrize(("E", "step"), [(2, THIRTIETH), (3, HALF)])
def test_lemma3_is_met_by_a_parabola_in_one_round(E, step):
    """Between what is proved of (67)-(68) and what simple instances need, the exact worst case is the latter."""
    known = union_constant(local_steps=E, u=step, n=2)
    orders = pe.orders_up_to_relabelling(2, E)
    worst = pe.worst_order(pe.solve_algorithm, orders, name="union", N=1, n=2, E=E, T=1, step=step)
    assert worst.value == pytest.approx(float(known.needed), rel=1e-5)
    assert worst.value <= float(known.proved) * (1 + 1e-6)
    assert pe.sandwich(worst).closes
    assert float(worst.above.value) == (60 if step == THIRTIETH else pytest.approx(float(known.proved)))


def test_two_clients_and_two_rounds_of_the_union():
    found = pe.solve_algorithm("union", N=2, n=1, E=2, T=2, step=THIRTIETH, order=[0, 0])
    between = pe.sandwich(found)
    assert between.faults == ()
    assert between.above.value == 30
    assert between.slack > 2
    assert 0 < between.gap < 0.05 * found.value


def test_two_rounds_of_the_union_halve_what_is_proved():
    """2 / (1 - q^2) / T with q = 1 - beta (1 + E - beta/2): S is within beta/2 times the gradient of E gradients."""
    numbers = {"N": 1, "n": 2, "E": 2, "step": QUARTER, "order": [0, 1]}
    q = 1 - Fraction(1, 8) * (3 - Fraction(1, 16))
    for T in (1, 2):
        found = pe.solve_algorithm("union", **numbers, T=T)
        assert found.above.value == 2 / (1 - q**2) / T
        assert pe.sandwich(found).faults == ()


def test_tracking_makes_drift_independent_of_the_clients():
    found = pe.solve_algorithm("fedtrack", N=2, n=2, E=3, T=1, step=QUARTER, order=[0, 0, 1], quantity="drift")
    closed(found)
    alone = pe.solve_local_steps(n=2, E=3, step=QUARTER, order=[0, 0, 1], k=3)
    assert found.value == pytest.approx(alone.value, rel=1e-6)


def test_fedavg_drifts_by_its_steepest_component():
    numbers = {"N": 2, "n": 2, "E": 3, "T": 1, "step": QUARTER, "quantity": "drift"}
    found = pe.solve_algorithm("fedavg", **numbers, order=[0, 0, 0], dissimilarity=HALF)
    between = closed(found)
    assert isinstance(between.instance, Fraction)
    # beta L = 1/12: (1 + 1/2) ((1 + 1/12)^3 - 1) / (1/12).
    assert found.value == pytest.approx(1.5 * ((13 / 12) ** 3 - 1) * 12, rel=1e-7)
    mixed = pe.solve_algorithm("fedavg", **(numbers | {"N": 1}), order=[0, 1, 0], dissimilarity=HALF)
    assert mixed.value < found.value
    assert pe.sandwich(mixed).closes


def test_one_step_of_fedavg_and_of_cfl_by_hand():
    # y^2 (b - b^2/2) + b s y = 1 and ||grad F||^2 = (y + s)^2 with b = 1/4 and s = 1/2.
    lead, slope = 1 / 4 - 1 / 32, 1 / 8
    y = (-slope + math.sqrt(slope**2 + 4 * lead)) / (2 * lead)
    fedavg = pe.solve_algorithm("fedavg", N=1, n=2, E=1, T=1, step=QUARTER, order=[1], dissimilarity=HALF)
    cfl = pe.solve_algorithm("cfl", N=1, n=1, E=1, T=1, step=QUARTER, order=[0], time_drift=HALF)
    for found in (fedavg, cfl):
        assert found.value == pytest.approx((y + 0.5) ** 2, rel=1e-6)
        closed(found)


def test_cfl_without_drift_is_fedavg_and_losses_add_up():
    numbers = {"N": 1, "n": 1, "E": 2, "T": 2, "step": QUARTER, "order": [0, 0]}
    plain = pe.solve_algorithm("fedavg", **numbers)
    assert pe.solve_algorithm("cfl", **numbers).value == pytest.approx(plain.value, rel=1e-7)
    found = pe.solve_algorithm(
        "cfl", **numbers, quantity="drift", time_drift=HALF, loss=THIRTIETH, weights=[[1], [QUARTER, 1 - QUARTER]]
    )
    closed(found)
    # The drifts of both rounds point the same way at the worst, the loss has the weight of the past.
    assert found.value == pytest.approx((1 + 1 / 2 + 1 / 120) * (2 + 1 / 8), rel=1e-6)
    worse = pe.solve_algorithm("cfl", **numbers, time_drift=HALF, loss=HALF)
    assert worse.value > pe.solve_algorithm("cfl", **numbers, time_drift=HALF).value > plain.value
    assert pe.sandwich(worse).closes


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ("optimal_inaccurate", pe.Inaccurate),
        ("unbounded", pe.Unbounded),
        ("unbounded_inaccurate", pe.Unbounded),
        ("infeasible", pe.Unsolved),
        ("user_limit", pe.Unsolved),
    ],
)
def test_a_bad_status_is_an_error(monkeypatch, status, error):
    solve = PEPit.PEP.solve

    def spoiled(self, **settings):
        value = solve(self, **settings)
        self.wrapper.prob = SimpleNamespace(status=status)
        return value

    monkeypatch.setattr(PEPit.PEP, "solve", spoiled)
    with pytest.raises(error, match=status) as caught:
        pe.solve_local_steps(**LOCAL)
    assert type(caught.value) is error
    assert isinstance(caught.value, CflagError)


def test_none_is_an_error(monkeypatch):
    solve = PEPit.PEP.solve
    monkeypatch.setattr(PEPit.PEP, "solve", lambda self, **settings: solve(self, **settings) and None)
    with pytest.raises(pe.Unsolved, match="Gram matrix of size"):
        pe.solve_local_steps(**LOCAL)


def test_multipliers_that_prove_nothing_are_not_trusted(monkeypatch):
    solve = PEPit.PEP.solve

    def spoiled(self, **settings):
        value = solve(self, **settings)
        self.residual = self.residual * 1.1
        return value

    monkeypatch.setattr(PEPit.PEP, "solve", spoiled)
    with pytest.raises(pe.Unsolved, match="are not trusted"):
        pe.solve_local_steps(**LOCAL)


def test_a_solver_that_stops_early_is_an_error():
    with pytest.raises(pe.Unsolved):
        pe.solve_local_steps(**LOCAL, settings={"max_iter": 2})
    with pytest.raises(pe.Unsolved, match="other solver settings"):
        pe.solve_local_steps(**LOCAL, settings={"no such setting": 2})


def test_a_spoiled_instance_is_seen():
    """The rebuilt instance does not take the solver's word."""
    found = pe.solve_local_steps(**LOCAL)
    for data in found.solution.data[0]:
        data.gradients.setflags(write=True)
        data.gradients[0] *= 1.01
    with pytest.raises(pe.Unsolved, match="away from all points"):
        pe.sandwich(found)
    found = pe.solve_local_steps(**(LOCAL | {"n": 1, "order": [0, 0, 0]}), k=1)
    data = found.solution.data[0][0]
    data.values.setflags(write=True)
    assert pe.sandwich(found).faults == ()
    data.values[1] += 1
    assert "misses smoothness" in pe.sandwich(found).faults[0]


def test_an_instance_that_does_not_fit_is_seen():
    found = pe.solve_local_steps(**LOCAL)
    solution = found.solution
    higher = replace(found, simulate=lambda: found.closed.value + Fraction(1, 1000))
    (fault,) = pe.sandwich(higher).faults
    assert "is above the worst case" in fault
    lower = replace(found, solution=replace(solution, bound=0.99 * solution.bound), closed=None, simulate=None)
    assert any("the rebuilt instance has" in fault for fault in pe.sandwich(lower).faults)
    # All vectors longer by 1%: smooth as before, but ||grad|| is 1.01.
    data = tuple(Data(1.01 * one.points, 1.01 * one.gradients, 1.01**2 * one.values) for one in solution.data[0])
    longer = pe.sandwich(replace(found, solution=replace(solution, data=(data,))))
    assert longer.rebuilt.violation < 1e-6
    assert any("another hypothesis by 2.0e-02" in fault for fault in longer.faults)


def test_everything_is_in_the_result_and_printed(capsys):
    found = pe.solve_local_steps(**LOCAL)
    solution = found.solution
    assert solution.status == "optimal"
    assert solution.solver == "CLARABEL"
    assert set(solution.versions) == {"pepit", "cvxpy", "clarabel"}
    assert 0 <= abs(solution.residuals.gap) <= solution.residuals.largest < 1e-6
    assert solution.gram_size == 4
    text = str(found)
    for word in (
        "optimal",
        "CLARABEL",
        solution.versions["pepit"],
        "residuals",
        "gap",
        "1/12",
        "[0, 0, 1]",
        "tol_feas",
    ):
        assert word in text, word
    record = json.loads(json.dumps(found.to_json()))
    assert record["residuals"]["gap"] == solution.residuals.gap
    assert record["setting"]["beta L E"] == "1/12"
    # PEPit prints much; nothing of it is let through.
    assert capsys.readouterr() == ("", "")
