"""Exact rounds of Algorithm 2: closed forms, Assumption 3 with equality, and the two ways to make a round."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.verify.instances.drift_rounds import DriftRounds, expectation, noisy_rounds, of_world

HALF = Fraction(1, 2)


def test_drift_rounds_closed_form():
    """K = 1, N = 2: w_2 = (1 - eta) w_1 + eta mean(delta + xi) - eta mean(nu)."""
    world = DriftRounds(((Fraction(1),),), start=Fraction(2), clients=2, G=HALF, D=Fraction(1, 3), sigma=Fraction(1, 5))
    eta = world.eta
    assert world.draws == 2**6
    assert world.expectation(lambda run: run.w[2]) == (1 - eta) * 2
    variance = world.expectation(lambda run: run.w[2] ** 2) - ((1 - eta) * 2) ** 2
    assert variance == eta**2 / 2 * (HALF**2 + Fraction(1, 9) + Fraction(1, 25))


def test_drift_rounds_meet_assumption_3_with_equality():
    world = DriftRounds(
        ((Fraction(1),), (HALF, HALF)), b=HALF, G=HALF, B=Fraction(1, 3), D=Fraction(1, 4), A=Fraction(1, 5)
    )
    w = Fraction(3, 2)
    second = world.expectation(lambda run: run.drift(2, 0, w) ** 2)
    slope2 = world.slope(w) ** 2
    assert second == world.G**2 + world.D**2 + (world.B**2 + world.A**2) * slope2
    assert world.expectation(lambda run: run.drift(1, 0, w)) == 0
    assert world.expectation(lambda run: run.value(2, 0, w)) == world.f(w)


def test_drift_rounds_keep_or_redraw_the_clients_drift():
    weights = ((Fraction(1),), (Fraction(0), Fraction(1)))

    def together(stateless):
        world = DriftRounds(weights, G=HALF, stateless=stateless)
        return world.expectation(lambda run: run.client[1][0][0] * run.client[2][0][0])

    assert together(False) == Fraction(1, 4)
    assert together(True) == 0


@pytest.mark.parametrize(
    ("dials", "words"),
    [
        ({"weights": ((Fraction(1),), (Fraction(1),))}, "one weight for each round"),
        ({"weights": ()}, "one weight for each round"),
        ({"weights": ((Fraction(1),),), "clients": 0}, "at least 1"),
        ({"weights": ((Fraction(1),),), "clients": 9, "local_steps": 2, "sigma": HALF}, "too many"),
    ],
)
def test_drift_rounds_refuses(dials, words):
    with pytest.raises(InvalidInput, match=words):
        DriftRounds(**dials)


def test_information_loss_pushes_remembered_gradients():
    """No drifts: in round 2 the gradient is f' - p_1 R."""
    world = DriftRounds(((Fraction(1),), (Fraction(1, 4), Fraction(3, 4))), start=Fraction(2), R=Fraction(1, 3))
    (run,) = world.runs()
    eta = world.eta_l
    second = 2 - eta * 2
    assert run.w[1:] == (2, second, second - eta * (second - Fraction(1, 12)))
    assert run.w[0] == 2


def test_a_round_of_noises_alone_is_the_same_either_way():
    eta_l, sigma = Fraction(1, 3), Fraction(2)
    world = DriftRounds(
        ((Fraction(1),),), start=HALF, b=Fraction(1), clients=2, local_steps=2, eta_l=eta_l, sigma=sigma
    )
    one = of_world(world, 1)
    other = noisy_rounds(
        world.slope, lambda w: Fraction(0), start=HALF, eta_l=eta_l, sigma=sigma, local_steps=2, clients=2
    )
    assert len(one) == len(other) == world.draws
    for function in (lambda r: r.end, lambda r: r.end**2, lambda r: r.mean(lambda c: [m**2 for m in c.local])):
        assert expectation(one, function) == expectation(other, function)


def test_a_client_steps_as_the_algorithm_says():
    world = DriftRounds(
        ((Fraction(1),), (HALF, HALF)), start=Fraction(1), local_steps=2, eta_g=HALF, D=HALF, G=HALF, R=HALF, sigma=HALF
    )
    for run in world.runs():
        path = run.local[2][0]
        assert path[0] == run.w[2]
        assert path[1] == path[0] - world.eta_l * (run.mean_gradient(2, 0, path[0]) + run.noise[2][0][0])
        assert run.w[3] == run.w[2] + HALF * (path[-1] - run.w[2])


def test_what_a_client_follows_is_the_weighted_sum_of_its_gradients():
    half = Fraction(1, 2)
    dials = {"G": half, "B": Fraction(1, 3), "D": Fraction(2), "A": Fraction(1, 5), "R": half, "b": Fraction(3)}
    world = DriftRounds(weights=((Fraction(1),), (Fraction(1, 4), Fraction(3, 4))), start=Fraction(1), **dials)
    for run in world.runs():
        for w in (Fraction(0), Fraction(7, 3)):
            gradients = [run.gradient(tau, 0, w) for tau in (1, 2)]
            whole = gradients[0] / 4 + gradients[1] * 3 / 4
            assert run.weighted_gradient(2, 0, w) == whole
            assert run.mean_gradient(2, 0, w) == whole - half / 4
