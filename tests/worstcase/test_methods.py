"""Worst cases of the methods beyond the simulator's rows: reference values, closed forms, runs, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.algorithms import algorithm
from cflag_theory.kernels.cfl.round_weights import RoundWeights
from cflag_theory.worstcase import worst_case
from cflag_theory.worstcase.attaining import run, world_of
from cflag_theory.worstcase.hulls import Clients, WorstFunction
from cflag_theory.worstcase.methods import Setting
from cflag_theory.worstcase.playing import METHODS, method
from cflag_theory.worstcase.saving import recheck, record
from cflag_theory.worstcase.solving import Unbounded
from cflag_theory.worstcase.vectors import NotLinear

Q = Fraction
TENTH, FIFTH, HALF, QUARTER = Q(1, 10), Q(1, 5), Q(1, 2), Q(1, 4)
SMOOTH = {"kind": "smooth", "measure": "min-grad"}
C_FLAG = SMOOTH | {"n": 2, "r": HALF}

# Made by another solver, and the draws by PEPit over all of them.
VALUES = [
    ("momentum_dropped", 2, 2, TENTH, {}, 0.25074865),
    ("momentum_kept", 2, 2, TENTH, {}, 0.22604403),
    ("momentum_dropped", 3, 3, TENTH, {}, 0.14401791),
    ("momentum_kept", 3, 3, TENTH, {}, 0.12659100),
    ("c_flag", 3, 1, Q(1, 50), C_FLAG, 2.00185008),
    ("c_flag", 3, 1, FIFTH, C_FLAG | {"m": QUARTER}, 17.46435081),
    ("c_flag", 3, 2, TENTH, C_FLAG, 0.86903056),
    ("c_flag", 3, 2, TENTH, C_FLAG | {"m": QUARTER}, 2.29045227),
    ("c_flag", 3, 4, FIFTH, C_FLAG, 0.47774910),
    ("c_flag", 3, 4, FIFTH, C_FLAG | {"m": QUARTER}, 4.23988329),
    ("c_flag", 4, 2, TENTH, SMOOTH | {"n": 3, "r": HALF, "order": (0, 1, 2)}, 0.904011),
    ("c_flag", 4, 2, TENTH, SMOOTH | {"n": 3, "r": HALF, "order": (0, 0, 0)}, 0.899489),
    ("fedtrack", 2, 1, Q(1, 60), SMOOTH, 30.76050353),
    ("fedtrack", 5, 2, TENTH, SMOOTH | {"n": 2}, 1.36598378),
    ("fedtrack", 5, 2, FIFTH, SMOOTH | {"n": 4}, 0.86745852),
    ("fedtrack", 3, 5, Q(1, 6), SMOOTH | {"n": 2}, 0.50966780),
    ("fedavg", 2, 1, QUARTER, {"N": 4, "S": 2, "measure": "distance"}, 1.08813023),
    ("fedavg", 2, 1, QUARTER, {"N": 4, "S": 3, "measure": "distance"}, 1.03322928),
    ("fedavg", 2, 1, QUARTER, {"N": 3, "S": 1, "measure": "distance"}, 1.285527),
]


@pytest.mark.parametrize(("name", "E", "T", "eta", "more", "value"), VALUES)
def test_reference_values_and_runs(name, E, T, eta, more, value):
    found = worst_case(name, E=E, T=T, eta=eta, **more)
    assert value * (1 - 2e-6) <= found.lower <= float(found.upper) <= value * (1 + 1e-6)
    assert 0 <= float(found.upper) - found.lower < 3e-6 * value
    again = recheck(record(found))
    assert (again.setting, again.lower, again.upper) == (found.setting, found.lower, found.upper)


@pytest.mark.parametrize(("T", "step"), [(1, Q(1)), (2, Q(1)), (3, HALF)])
def test_proximal_points_of_smooth_functions_have_a_closed_form(T, step):
    for E, rounds in ((1, T), (T, 1)):
        found = worst_case("fedprox_exact", E=E, T=rounds, eta=step, N=1)
        assert float(found.upper) == pytest.approx(float(1 / (4 * step * T + 2)), abs=1e-6)
        assert found.lower == pytest.approx(float(found.upper), abs=1e-6)


def test_cfl_is_fedavg_in_its_first_round_and_remembers_from_then_on():
    first, fedavg = (worst_case(name, E=3, T=1, eta=TENTH) for name in ("cfl", "fedavg"))
    assert first.upper == fedavg.upper
    found = worst_case("cfl", E=2, T=2, eta=TENTH)
    assert 0 <= float(found.upper) - found.lower < 1e-6
    # Old objectives without a weight are bounded by nothing.
    forgets = algorithm("cfl", weights=RoundWeights("current"))
    with pytest.raises(Unbounded):
        worst_case(forgets, E=2, T=2, eta=TENTH)
    half = algorithm("cfl", weights=RoundWeights("given", given=[[1], [HALF, HALF]]))
    again = recheck(record(worst_case(half, E=2, T=2, eta=TENTH)))
    assert float(again.upper) == pytest.approx(float(found.upper), rel=1e-9)


@pytest.mark.parametrize("name", ["fedavg", "fedprox", "fedtrack", "scaffold", "mimelite"])
def test_rounds_on_arrays_are_those_of_the_simulator(name):
    """What stands in for the simulator where it lacks a row does the same where it has one."""
    rng = np.random.default_rng(3)
    setting = Setting(algorithm(name, server_rate=Q(3, 2)), 3, 4, FIFTH)
    functions = tuple(
        WorstFunction(rng.normal(size=(4, 3)), rng.normal(size=4), 1.0, 0.0, rng.normal(size=3)) for _ in range(2)
    )
    start = rng.normal(size=3)
    iterates, _ = setting.play(world_of(setting, functions), np.broadcast_to(start, (2, 3)))
    simulated, _ = run(setting, functions, start)
    assert np.allclose(simulated[1:], [x[0] for x in iterates], rtol=0, atol=1e-12)


def test_a_proximal_step_ends_where_its_gradient_is_that_of_the_step():
    rng = np.random.default_rng(4)
    for mu in (0.0, 0.2):
        function = WorstFunction(rng.normal(size=(5, 3)), rng.normal(size=5), 1 - mu, mu, rng.normal(size=3))
        x = rng.normal(size=3)
        y = Clients((function,)).proximal(x[None], 0.7)[0]
        assert np.allclose(y + 0.7 * function.gradient(y), x, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods_are_changed_by_name(name):
    assert method(name, server_rate=2).server_rate == 2
    with pytest.raises(InvalidInput, match="no field 'rate'"):
        method(name, rate=2)


@pytest.mark.parametrize(
    ("name", "more", "error", "message"),
    [
        ("c_flag", {}, InvalidInput, "covered for class 'smooth'"),
        ("fedavg", SMOOTH | {"n": 2}, InvalidInput, "takes full gradients"),
        ("fedtrack", SMOOTH | {"n": 2, "order": (0, 2)}, InvalidInput, "give E - 1 = 1 components"),
        ("fedavg", {"m": HALF}, InvalidInput, "has no memory"),
        ("cfl", SMOOTH, InvalidInput, "covered for convex functions"),
        ("cfl_fisher", {}, NotLinear, "models of past objectives"),
        ("fedavg", {"N": 4, "S": 5, "measure": "distance"}, InvalidInput, "from 1 to N = 4"),
        ("fedavg", {"N": 4, "S": 2}, NotLinear, "covered are the expected distance after one round"),
    ],
)
def test_what_is_not_covered_is_refused_in_a_sentence(name, more, error, message):
    with pytest.raises(error, match=message):
        worst_case(name, E=2, T=2, eta=TENTH, **more)
