"""The problems of `solve_algorithm` once more in plain PEPit, unscaled and without what they share; and residuals."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

from cflag_theory.verify import performance as pe
from cflag_theory.verify.performance.model import Model

PEPit = pytest.importorskip("PEPit")
pytest.importorskip("clarabel")

QUARTER, THIRD, HALF = Fraction(1, 4), Fraction(1, 3), Fraction(1, 2)


def average(vectors):
    return sum(vectors[1:], vectors[0]) * (1 / len(vectors))


class Plain:
    """T rounds as the papers write them, with L = 1; `limits` are those of dissimilarity, xi and Delta."""

    def __init__(self, N, n, E, T, step, limits, weights):
        from PEPit.functions import SmoothFunction

        self.pep = PEPit.PEP()
        self.N, self.n, self.E, self.T, self.beta = N, n, E, T, float(step) / E
        self.apart, self.xi, self.Delta = limits
        self.weights = weights
        self.parts = [[self.pep.declare_function(SmoothFunction, L=1.0) for _ in range(n)] for _ in range(N)]
        self.every = [part for row in self.parts for part in row]

    def free(self, limit, *shape):
        found = np.empty(shape, dtype=object)
        for index in np.ndindex(*shape):
            found[index] = self.pep.set_initial_point()
            self.pep.add_constraint(found[index] ** 2 <= float(limit) ** 2)
        return found

    def F(self, x):
        return average([part.gradient(x) for part in self.every])

    def estimate(self, name, orders, t, i, k, path):
        """What client i moves against at k, with path the points so far."""
        if name in ("union", "fedtrack"):
            filled = [max([b for b in range(1, k + 1) if orders[t, i, b] == j], default=0) for j in range(self.n)]
            delayed = average([part.gradient(path[b]) for part, b in zip(self.parts[i], filled, strict=True)])
            return delayed + self.F(path[0]) - average([part.gradient(path[0]) for part in self.parts[i]])
        found = self.parts[i][orders[t, i, k]].gradient(path[k])
        for tau in range(t + 1):
            if self.xi:
                found = found + float(self.weights[t][tau]) * self.drifts[tau, i]
            if self.Delta and tau < t:
                found = found + float(self.weights[t][tau]) * self.losses[tau, i]
        return found

    def run(self, name, orders, quantity):
        orders = np.broadcast_to(np.array(orders), (self.T, self.N, self.E))
        start = x = self.pep.set_initial_point()
        if self.xi:
            self.drifts = self.free(self.xi, self.T, self.N)
        if self.Delta:
            self.losses = self.free(self.Delta, self.T, self.N)
        gradients = []
        for t in range(self.T):
            gradients.append(self.F(x))
            if self.apart:
                for part in self.every:
                    apart = part.gradient(x) - gradients[-1]
                    self.pep.add_constraint(apart**2 <= float(self.apart) ** 2)
            paths = [[x] for _ in range(self.N)]
            for i, path in enumerate(paths):
                for k in range(self.E):
                    path.append(path[k] - self.beta * self.estimate(name, orders, t, i, k, path))
            x = average([path[-1] for path in paths]) - (name == "union") * self.beta * gradients[-1]
        if quantity == "drift":
            self.pep.add_constraint(gradients[-1] ** 2 <= 1)
            self.pep.set_performance_metric(((paths[0][-1] - paths[0][0]) * (1 / self.beta)) ** 2)
        else:
            self.pep.add_constraint(average([part.value(start) - part.value(x) for part in self.every]) <= 1)
            for gradient in gradients:
                self.pep.set_performance_metric(gradient**2)
        with warnings.catch_warnings():
            # Unscaled, the last digits are missing.
            warnings.simplefilter("ignore")
            found = self.pep.solve(verbose=0, solver="CLARABEL")
        return found**0.5 if quantity == "drift" else found


UNEVEN = [[1], [QUARTER, 1 - QUARTER]]


@pytest.mark.parametrize(
    ("name", "sizes", "order", "quantity", "limits", "weights"),
    [
        ("union", (2, 2, 2, 2), [[[0, 0], [0, 1]], [[0, 1], [0, 1]]], "gradient", (None, 0, 0), None),
        ("fedtrack", (2, 2, 2, 2), [0, 1], "gradient", (None, 0, 0), None),
        ("fedavg", (2, 2, 2, 2), [[[0, 0], [0, 1]], [[0, 1], [1, 1]]], "gradient", (HALF, 0, 0), None),
        ("fedavg", (2, 2, 1, 1), [[[0], [1]]], "gradient", (THIRD, 0, 0), None),
        ("cfl", (2, 1, 2, 2), [0, 0], "gradient", (THIRD, QUARTER, THIRD), UNEVEN),
        ("cfl", (1, 2, 1, 3), [0], "gradient", (THIRD, QUARTER, THIRD), None),
        ("cfl", (1, 2, 2, 2), [0, 1], "drift", (HALF, QUARTER, THIRD), UNEVEN),
    ],
)
def test_what_is_posed_is_what_the_papers_write(name, sizes, order, quantity, limits, weights):
    N, n, E, T = sizes
    equal = [[Fraction(1, t + 1)] * (t + 1) for t in range(T)]
    plain = Plain(N, n, E, T, HALF, limits, weights or equal).run(name, order, quantity)
    given = {"time_drift": limits[1], "loss": limits[2], "weights": weights} if name == "cfl" else {}
    numbers = {"N": N, "n": n, "E": E, "T": T, "step": HALF, "order": order}
    found = pe.solve_algorithm(name, **numbers, quantity=quantity, dissimilarity=limits[0], **given)
    assert found.value == pytest.approx(plain, rel=1e-5)
    assert pe.sandwich(found).faults == ()


def a_model():
    model = Model((1,), (1.0,))
    gradient = model.gradient(0, 0, model.zero)
    square = model.dot(gradient, gradient)
    model.solve([square], [square - 1])
    return model


def spoil_multiplier(pep):
    pep.list_of_constraints[0]._dual_variable_value = -0.5


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("constraint", lambda pep: setattr(pep, "G_value", 2 * pep.G_value)),
        ("gram", lambda pep: setattr(pep, "G_value", pep.G_value - 1.5)),
        ("multiplier", spoil_multiplier),
        ("dual_gram", lambda pep: setattr(pep, "residual", pep.residual - 0.5)),
        ("proof", lambda pep: setattr(pep, "residual", pep.residual + 0.5)),
    ],
)
def test_every_residual_is_recomputed(name, spoil):
    model = a_model()
    assert model._residuals(0.0).largest < 1e-8
    spoil(model.pep)
    found = model._residuals(0.0)
    assert getattr(found, name) > 0.4
    assert found.largest > 0.4


def test_a_gap_between_bound_and_instance_is_not_trusted(monkeypatch):
    solve = PEPit.PEP.solve
    monkeypatch.setattr(PEPit.PEP, "solve", lambda self, **settings: solve(self, **settings) + 0.01)
    with pytest.raises(pe.Unsolved, match=r"gap=0\.01"):
        a_model()


def test_nothing_is_printed_and_no_warning_is_let_through(monkeypatch, capfd):
    solve = PEPit.PEP.solve

    def talking(self, **settings):
        print("(PEPit) Warning: the duality gap seems surprisingly large")
        warnings.warn("Solution may be inaccurate.", stacklevel=1)
        return solve(self, **settings)

    monkeypatch.setattr(PEPit.PEP, "solve", talking)
    a_model()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("T", "quantity"), [(1, "drift"), (2, "drift"), (2, "gradient")])
def test_unbounded_problems_are_said_to_be_unbounded(T, quantity):
    """Also where the solver only says that it failed."""
    numbers = {"N": 1, "n": 2, "E": 2, "T": T, "step": QUARTER, "order": [0, 1], "quantity": quantity}
    with pytest.raises(pe.Unbounded, match="is unbounded"):
        pe.solve_algorithm("fedavg", **numbers)
