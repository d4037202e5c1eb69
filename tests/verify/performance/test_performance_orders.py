"""Performance estimation without a solver: orders, arguments, the missing extra, and the loop on arrays."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from cflag_theory.claims.ledger import claim
from cflag_theory.errors import InvalidInput, MissingExtra, UnknownName
from cflag_theory.verify import performance as pe
from cflag_theory.verify.instances.on_the_line import exact_run, on_the_line
from cflag_theory.verify.performance.local import concave_rounds
from cflag_theory.verify.performance.rounds import Rule, as_orders, play
from cflag_theory.verify.performance.solution import Data, violation

QUARTER = Fraction(1, 4)


def every_order(n, E, clients, rounds, delayed):
    """All orders as nested tuples; the entry that is not read is 0."""
    read = E - 1 if delayed else E
    for flat in product(range(n), repeat=rounds * clients * read):
        order = np.zeros((rounds, clients, E), dtype=int)
        order[:, :, E - read :] = np.array(flat, dtype=int).reshape(rounds, clients, read)
        yield order


def renamed(order, n, delayed):
    """All orders that differ by names of components or of clients, as nested tuples."""
    first = 1 if delayed else 0
    found = set()
    for clients in permutations(range(order.shape[1])):
        for names in product(list(permutations(range(n))), repeat=order.shape[1]):
            other = order[:, list(clients)].copy()
            for i, name in enumerate(names):
                other[:, i, first:] = np.array(name)[other[:, i, first:]]
            found.add(tuple(other.ravel().tolist()))
    return found


@pytest.mark.parametrize(
    ("n", "E", "clients", "rounds", "delayed"),
    [
        (1, 1, 1, 1, True),
        (2, 3, 1, 1, True),
        (3, 4, 1, 1, True),
        (2, 2, 2, 1, False),
        (2, 3, 2, 1, True),
        (2, 2, 1, 2, True),
        (2, 2, 2, 2, True),
        (3, 2, 2, 1, False),
        (2, 2, 3, 1, True),
    ],
)
def test_one_order_of_every_class(n, E, clients, rounds, delayed):
    orders = pe.orders_up_to_relabelling(n, E, clients=clients, rounds=rounds, delayed=delayed)
    classes = [renamed(order, n, delayed) for order in orders]
    assert all(order.shape == (rounds, clients, E) for order in orders)
    assert sum(len(found) for found in classes) == len(set().union(*classes))
    everything = {tuple(order.ravel().tolist()) for order in every_order(n, E, clients, rounds, delayed)}
    assert set().union(*classes) == everything


def test_too_many_orders_are_refused():
    with pytest.raises(InvalidInput, match="more than 5000"):
        pe.orders_up_to_relabelling(5, 12)
    with pytest.raises(InvalidInput, match="clients is 0"):
        pe.orders_up_to_relabelling(2, 2, clients=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0}, "n is 0"),
        ({"E": 2.5}, "E is 2.5"),
        ({"step": 0}, "step is 0"),
        ({"step": 1e-5}, "at least 0.001"),
        ({"step": float("inf")}, "step is inf"),
        ({"step": "much"}, "step is 'much'"),
        ({"order": [0, 1]}, "give 3 indices"),
        ({"order": [0, 1, 2]}, "indices run from 0 to 1"),
        ({"order": [0, 1, 0.5]}, "does not hold integers"),
        ({"order": [[0, 1], [0]]}, "unequal length"),
        ({"rounds": 5}, "use 1 to 4"),
        ({"k": 4}, "use 1 to 3"),
        ({"k": 1, "quantity": "sum_errors"}, "leave k out"),
        ({"k": 3, "quantity": "iag_error"}, "use 1 to 2"),
        ({"quantity": "iag_error", "E": 1, "order": [0]}, "needs E >= 2"),
        ({"quantity": "speed"}, "use one of drift"),
        ({"unit": "metres"}, "use 'first' or 'own'"),
        ({"drift_limit": 1}, "goes with quantity 'iag_error'"),
        ({"quantity": "iag_error", "drift_limit": -1}, "drift_limit is -1"),
    ],
)
def test_local_steps_refuse_what_makes_no_sense(change, message):
    with pytest.raises((InvalidInput, UnknownName), match=message):
        pe.solve_local_steps(**({"n": 2, "E": 3, "step": QUARTER, "order": [0, 1, 0]} | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0}, "alpha is 0"),
        ({"alpha": 2, "quantity": "lemma1"}, "Lemma 1 needs alpha"),
        ({"m": 1}, "'forgetting' does not read it"),
        ({"m": 1, "r": 2, "quantity": "descent"}, "leave r out"),
        ({"lead": 1}, "only 'lemma1' reads them"),
        ({"first": 2, "quantity": "lemma1"}, "first is 2"),
        ({"quantity": "ascent"}, "use one of lemma1"),
        ({"N": 0}, "N is 0"),
    ],
)
def test_rounds_refuse_what_makes_no_sense(change, message):
    numbers = {"N": 1, "n": 2, "E": 2, "step": QUARTER, "alpha": 1, "order": [0, 1]}
    with pytest.raises((InvalidInput, UnknownName), match=message):
        pe.solve_round(**(numbers | change))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("sgd", {}, "use one of fedavg"),
        ("fedavg", {"quantity": "time"}, "use one of gradient"),
        ("fedavg", {"T": 5}, "use 1 to 4 rounds"),
        ("fedavg", {"loss": 1}, "use 'cfl'"),
        ("fedavg", {"dissimilarity": 0}, "dissimilarity is 0"),
        ("cfl", {"time_drift": -1}, "time_drift is -1"),
        ("cfl", {"weights": 1}, "give a row of numbers"),
        ("cfl", {"weights": [[1]]}, "1 rows"),
        ("cfl", {"weights": [[1], [1, 1]]}, "2 numbers with sum 1"),
    ],
)
def test_algorithms_refuse_what_makes_no_sense(name, change, message):
    numbers = {"N": 1, "n": 1, "E": 2, "T": 2, "step": QUARTER, "order": [0, 0]}
    with pytest.raises((InvalidInput, UnknownName), match=message):
        pe.solve_algorithm(name, **(numbers | change))


def test_no_order_is_no_worst_order():
    with pytest.raises(InvalidInput, match="no orders"):
        pe.worst_order(pe.solve_local_steps, ())


def test_the_missing_extra_is_named_and_leaves_no_evidence(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "PEPit"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "PEPit", None)
    with pytest.raises(MissingExtra, match=r"PEPit is not installed: pip install 'cflag-theory\[pep\]'"):
        pe.solve_local_steps(n=1, E=1, step=QUARTER, order=[0])
    assert pe.worst_case_evidence(claim("cflag.lemma13")) == ()


class Line:
    """Components a x^2/2 - s x on the line, as a world for `play`."""

    def __init__(self, clients, start):
        self.clients, self.zero = clients, start

    def gradient(self, client, component, x):
        a, s = self.clients[client][component]
        return a * x - s


@pytest.mark.parametrize("name", ["c_flag", "fedtrack", "fedavg"])
@pytest.mark.parametrize("seed", range(3))
def test_the_loop_is_the_one_that_the_simulator_runs(name, seed):
    rng = np.random.default_rng(seed)
    N, n, E, T = 2, int(rng.integers(1, 4)), int(rng.integers(1, 5)), 3
    clients = [[(Fraction(int(a), 2), Fraction(int(s))) for a, s in rng.integers(-2, 3, (n, 2))] for _ in range(N)]
    clients[0][0] = (Fraction(1), Fraction(1))
    orders, start, beta = rng.integers(0, n, (T, N, E)), Fraction(2, 3), Fraction(1, 5)
    trace = exact_run(
        on_the_line(clients, clients, start=start, L=1),
        algorithm=name,
        # With the past as the current task and alpha = beta the round update is (68).
        alpha=beta if name == "c_flag" else 0,
        beta=beta,
        local_steps=E,
        rounds=T,
        orders=orders,
    )
    rule = Rule(name != "fedavg", name != "fedavg", name == "c_flag", beta, E, (Fraction(1, 2),) * N)
    played = play(Line(clients, start), rule, orders, (n,) * N)
    assert [trace.iterates[0, 0, 0], *trace.iterates[0, 1:, 0]] == pytest.approx(
        [played[0].start, *(one.after for one in played)], rel=1e-12
    )


def test_concave_rounds_follow_the_recursion_by_hand():
    # d_1 = b, d_2 = b + b (1 + b/2), d_3 = d_2 + b (1 + (d_1 + d_2)/2), the table refreshing 0 and then 1.
    b = Fraction(1, 7)
    path = concave_rounds(np.array([[[0, 0, 1]]]), n=2, b=b).paths[0]
    second = b + b * (1 + b / 2)
    assert path.drift == [0, b, second, second + b * (1 + (b + second) / 2)]
    assert path.error == [0, b / 2, second - (b + second) / 2]
    # A round of (67)-(68) multiplies the gradient -(1 + x) by 1 + b (1 + S) / ..., here 1 + b + d_3.
    after = concave_rounds(np.array([[[0, 0, 1]]] * 2), n=2, b=b)
    assert abs(after.grad_g[0]) == 1 + b + path.drift[-1]


def test_the_interpolation_condition_tells_smooth_from_steep():
    x = np.array([[0.0], [0.5], [2.0]])
    for a, smooth in ((1.0, True), (-1.0, True), (0.3, True), (1.01, False), (-1.2, False)):
        found = violation(Data(x, a * x, a * x[:, 0] ** 2 / 2))
        assert (found < 1e-12) == smooth, a
    # Values that do not belong to the gradients.
    assert violation(Data(x, x, x[:, 0] ** 2)) > 0.1


def test_an_order_is_taken_for_all_rounds_and_clients():
    orders = as_orders([0, 1], n=2, E=2, clients=3, rounds=2)
    assert orders.shape == (2, 3, 2)
    assert (orders == [0, 1]).all()
