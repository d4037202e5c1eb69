"""Exact worst cases: reference values, closed forms, runs that reach and never exceed them, and planted errors."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.algorithms import algorithm
from cflag_theory.kernels.own.problems import finite_sum
from cflag_theory.kernels.simulation import simulate
from cflag_theory.worstcase.attaining import measured, run, world_of
from cflag_theory.worstcase.certificate import Certificate, faults, positive_definite, prove
from cflag_theory.worstcase.hulls import WorstFunction, root
from cflag_theory.worstcase.methods import Setting, pose
from cflag_theory.worstcase.playing import METHODS
from cflag_theory.worstcase.programme import Points
from cflag_theory.worstcase.solving import NoInterior, NotConverged, Unbounded, solve
from cflag_theory.worstcase.steps import best_step
from cflag_theory.worstcase.threads import _libraries, one_thread
from cflag_theory.worstcase.vectors import NotLinear, Vector, square
from cflag_theory.worstcase.worst import worst_case

Q = Fraction
TENTH, HALF, THIRD = Q(1, 10), Q(1, 2), Q(1, 3)


def around(found, value, within=1e-6):
    """Both ends are within a relative distance of the value, on their side of it."""
    size = max(float(found.setting.factor), abs(value))
    assert value - within * size <= found.lower <= value + 2e-8 * size
    assert value - 2e-8 * size <= float(found.upper) <= value + within * size


# Made by another solver (Clarabel) on the same Gram matrices, and for N = 2 and 3 by PEPit.
VALUES = [
    ("fedavg", 2, 2, TENTH, {}, 0.2787896),
    ("fedavg", 3, 2, THIRD, {}, 0.1389403),
    ("fedavg", 3, 1, THIRD, {}, 0.20103115),
    ("fedavg", 5, 4, TENTH, {}, 0.11209747),
    ("scaffold", 5, 5, TENTH, {}, 0.0847169),
    ("scaffold", 3, 2, TENTH, {"measure": "distance"}, 1.00222950),
    ("fedavg", 3, 2, TENTH, {"measure": "grad"}, 0.39981075),
    ("fedavg", 3, 3, TENTH, {"measure": "distance", "mu": TENTH, "kind": "strongly-convex"}, 0.84006039),
    ("fedavg", 3, 3, THIRD, {"heterogeneity": Q(1, 100)}, 0.07190143),
    ("fedavg", 3, 3, THIRD, {"heterogeneity": 100}, 2.7829448),
    ("fedavg", 2, 2, TENTH, {"kind": "smooth", "measure": "min-grad"}, 2.84244855),
]


@pytest.mark.parametrize(("name", "E", "T", "eta", "more", "value"), VALUES)
def test_reference_values(name, E, T, eta, more, value):
    around(worst_case(name, E=E, T=T, eta=eta, **more), value)


def test_rows_are_changed_as_elsewhere():
    around(worst_case(algorithm("fedavg", server_rate=2), E=2, T=2, eta=TENTH), 0.19324120)
    around(worst_case(algorithm("fedprox", proximal=1), E=3, T=2, eta=TENTH), 0.24332526)


@pytest.mark.parametrize(("T", "h"), list(product((1, 2, 5), (TENTH, HALF, Q(1)))))
def test_gradient_descent_has_its_closed_form(T, h):
    around(worst_case("local_gd", E=1, T=T, eta=h, N=1), float(1 / (4 * h * T + 2)))


@pytest.mark.parametrize(("E", "T"), [(2, 1), (3, 2), (5, 2)])
def test_tracking_is_gradient_descent_with_the_longer_step(E, T):
    around(worst_case("fedtrack", E=E, T=T, eta=HALF / E), float(1 / (2 * T + Q(2))))


def test_strongly_convex_steps_contract():
    found = worst_case("local_gd", E=1, T=2, eta=1, N=1, mu=TENTH, kind="strongly-convex", measure="distance")
    around(found, 0.9**4)


@pytest.mark.parametrize("T", [1, 2, 4])
def test_smooth_functions_have_their_closed_form(T):
    found = worst_case("local_gd", E=1, T=T, eta=1, N=1, kind="smooth", measure="min-grad")
    around(found, 4 / (3 * (T - 1) + 2))


def test_units_are_the_users():
    one = worst_case(E=2, T=2, eta=TENTH)
    other = worst_case(E=2, T=2, eta=TENTH / 2, L=2, radius=3, heterogeneity=36)
    assert other.lower == pytest.approx(18 * one.lower, rel=1e-6)
    assert float(other.upper) == pytest.approx(18 * float(one.upper), rel=1e-6)
    large = worst_case(E=2, T=2, eta=TENTH, radius=10**6, heterogeneity=10**12)
    assert large.upper == 10**12 * one.upper


@pytest.mark.parametrize("name", ["fedavg", "fedtrack", "scaffold", "fedprox", "mimelite"])
def test_the_simulators_run_reaches_the_proved_value(name):
    for more in ({}, {"measure": "distance"}, {"measure": "grad"}):
        found = worst_case(name, E=3, T=2, eta=Q(1, 4), **more)
        assert 0 <= float(found.upper) - found.lower < 3e-6 * max(1, found.lower)
        assert found.attained.iterates.shape[0] == 3


@pytest.mark.parametrize("name", ["fedavg", "scaffold_1", "fedprox_exact"])
def test_no_run_on_random_functions_exceeds_the_proved_value(name):
    exceed(name, 30)


@pytest.mark.full
@pytest.mark.parametrize("name", ["fedavg", "fedtrack", "scaffold", "fedprox", "mimelite", *METHODS])
def test_no_run_on_many_random_functions_exceeds_the_proved_value(name):
    exceed(name, 2000)


#: So many runs are the simulator's; more are on arrays, ten times as fast, which test_methods shows to be the same.
SIMULATED = 50


def on_arrays(setting, functions, start):
    x = np.broadcast_to(start, (len(functions), len(start)))
    iterates, ends = setting.play(world_of(setting, functions), x)
    return np.array([start, *(x[0] for x in iterates)]), ends


def exceed(name, runs):
    rng = np.random.default_rng(5)
    for measure in ("f", "distance", "grad"):
        found = worst_case(name, E=2, T=2, eta=Q(1, 4), measure=measure)
        largest = 0.0
        for number in range(runs // 3):
            clients, d = int(rng.integers(2, 5)), int(rng.integers(1, 4))
            functions = [
                WorstFunction(2 * rng.normal(size=(4, d)), rng.normal(size=4), 1.0, 0.0, np.zeros(d))
                for _ in range(clients)
            ]
            rest = np.mean([one.gradient(np.zeros(d)) for one in functions], axis=0)
            functions = tuple(one.tilted(-rest) for one in functions)
            made = run if number < SIMULATED else on_arrays
            value, _ = measured(found.setting, functions, *made(found.setting, functions, rng.normal(size=d)))
            largest = max(largest, value)
        assert 0 < largest <= float(found.upper)


@pytest.mark.parametrize("weights", [(0.5, 0.3, 0.2), (0.25, 0.25, 0.25, 0.25), (0.4, 0.4, 0.1, 0.1)])
def test_more_clients_of_unequal_weights_reach_the_same_value(weights):
    """Unit vectors u_i with sum_i p_i u_i = 0 turn the one deviation into those of all clients."""
    setting = Setting(algorithm("fedavg"), 2, 2, TENTH)
    problem = pose(setting)
    solution = solve(problem)
    points = Points(problem)
    values = solution.values[points.values[0]]
    means, owns = (root(gram) for gram in solution.grams)
    functions = []
    for u in closed_polygon(np.array(weights)):
        x, g = (
            np.concatenate([rows[0] @ means, u[0] * (rows[1] @ owns), u[1] * (rows[1] @ owns)], axis=1)
            for rows in (points.x[0], points.g[0])
        )
        functions.append(WorstFunction.through(x, g, values, 0.0))
    start = np.zeros(len(functions[0].tilt))
    start[: means.shape[1]] = means[0]
    data = [[one] for one in functions]
    both = (lambda x, one: one.value(x), lambda x, one: one.gradient(x))
    many = finite_sum(both, past=data, current=data, start=start, L=1.0, L_component=1.0, p=list(weights))
    trace = simulate(many, "fedavg", beta=0.1, local_steps=2, rounds=2, engine="reference", diagnostics="none")
    best = sum(p * one.value(0 * start) for p, one in zip(weights, functions, strict=True))
    assert trace.end["g"][0] - best == pytest.approx(float(worst_case(E=2, T=2, eta=TENTH).upper), abs=1e-6)
    apart = sum(
        p * one.gradient(0 * start) @ one.gradient(0 * start) for p, one in zip(weights, functions, strict=True)
    )
    assert apart == pytest.approx(1, abs=1e-5)


def closed_polygon(p):
    """Unit vectors with weighted sum zero: opposite groups of equal weight, or two clients turned against the rest."""
    rest = p[2:].sum()
    cosine = (p[0] ** 2 + rest**2 - p[1] ** 2) / (2 * p[0] * rest)
    first = np.array([-cosine, np.sqrt(max(0.0, 1 - cosine**2))])
    second = -(p[0] * first + rest * np.array([1.0, 0.0])) / p[1]
    found = [first, second, *([np.array([1.0, 0.0])] * (len(p) - 2))]
    assert np.allclose([np.linalg.norm(one) for one in found], 1)
    assert np.allclose(p @ np.array(found), 0)
    return found


def test_worst_functions_are_of_the_class():
    found = worst_case(E=3, T=2, eta=THIRD)
    rng = np.random.default_rng(2)
    for one in found.attained.functions:
        for _ in range(30):
            x, y = rng.normal(size=(2, found.attained.dimension))
            g, h = one.gradient(x), one.gradient(y)
            above = one.value(x) - one.value(y) - h @ (x - y) - (g - h) @ (g - h) / 2
            assert above > -1e-12


def certified():
    setting = Setting(algorithm("fedavg"), 2, 2, TENTH)
    return setting, worst_case(E=2, T=2, eta=TENTH).certificate


def test_a_certificate_is_checked_again_from_its_file():
    setting, certificate = certified()
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert faults(pose(setting), again) == []
    for data in (
        {},
        {"pairs": [[1]], "rows": [], "measures": [], "bound": "1"},
        {**certificate.to_json(), "bound": "1/0"},
    ):
        with pytest.raises(InvalidInput, match="no certificate"):
            Certificate.from_json(data)


def test_every_planted_error_is_seen():
    setting, certificate = certified()
    problem = pose(setting)
    largest = max(certificate.pairs, key=certificate.pairs.__getitem__)
    pairs = dict(certificate.pairs)
    tiny = Q(1, 10**15)
    changed = {
        "values remain": replace(certificate, pairs=pairs | {largest: pairs[largest] + tiny}),
        "a multiplier is negative": replace(certificate, pairs=pairs | {largest: -pairs[largest]}),
        "do not add up": replace(certificate, measures=[Q(9, 10)]),
        "and not": replace(certificate, bound=certificate.bound - tiny),
        "not positive definite": replace(certificate, rows=[Q(0) for _ in certificate.rows]),
        "does not exist": replace(certificate, pairs=pairs | {(0, 0, 99): Q(1)}),
        "numbers of hypotheses": replace(certificate, rows=[]),
    }
    for words, wrong in changed.items():
        assert any(words in fault for fault in faults(problem, wrong)), words


@pytest.mark.parametrize(
    "change",
    [
        {"eta": Q(100001, 1000000)},
        {"row": algorithm("fedavg", server_rate=Q(999, 1000))},
        {"row": algorithm("fedprox", proximal=Q(1, 1000))},
        {"row": algorithm("local_gd"), "E": 1},
        {"measure": "grad"},
        {"radius": Q(1001, 1000)},
        {"mu": Q(1, 1000), "kind": "strongly-convex", "eta": TENTH * 2},
    ],
)
def test_a_certificate_of_another_round_is_rejected(change):
    setting, certificate = certified()
    assert faults(pose(replace(setting, **change)), certificate) != []


def diagonal(size, last):
    """A matrix of ones plus the identity, but for its last entry, which decides."""
    entries = {(k, j): Q(2) for k in range(size) for j in range(k + 1, size)}
    return entries | {(k, k): Q(2) for k in range(size - 1)} | {(size - 1, size - 1): last}


@pytest.mark.parametrize("size", [2, 5, 24, 25, 40])
def test_matrices_are_told_apart_exactly(size):
    # The last pivot is last - 1 + 1/size.
    limit, tiny = 1 - Q(1, size), Q(1, 10**9)
    assert positive_definite(diagonal(size, limit + tiny), size)
    for last in (limit, limit - tiny, Q(0), Q(-1)):
        assert not positive_definite(diagonal(size, last), size)
    assert not positive_definite({(0, 0): Q(1)}, size)
    assert positive_definite({}, 0)


def test_small_matrices_are_told_apart_however_near_they_are():
    tiny = Q(1, 10**30)
    assert positive_definite({(0, 0): Q(1), (0, 1): Q(2), (1, 1): Q(1) + tiny}, 2)
    assert not positive_definite({(0, 0): Q(1), (0, 1): Q(2), (1, 1): Q(1)}, 2)


def posed(change):
    problem = pose(Setting(algorithm("fedavg"), 2, 2, TENTH))
    change(problem)
    return problem


def gap_for_distance(problem):
    f = problem.functions[0]
    problem.rows[0] = (f.value(problem.shared[0]) - f.value(Vector())).below(1)


def contradiction(problem):
    problem.at_most(-1 * square(problem.shared[0]), -2)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda problem: problem.rows.pop(1), Unbounded, "unbounded, or more than 1e\\+07 times what is assumed"),
        (lambda problem: problem.rows.pop(0), Unbounded, "bound how much the clients differ"),
        (gap_for_distance, NoInterior, "bound it, such as the distance"),
        (contradiction, NotConverged, "the solver stopped between"),
    ],
)
def test_what_stands_in_the_way_is_told_apart(change, error, message):
    problem = posed(change)
    with pytest.raises(error, match=message):
        prove(problem, solve(problem))


@pytest.mark.parametrize(
    "change", [{"radius": 10**6}, {"heterogeneity": Q(1, 10**12)}, {"eta": Q(1, 10**4)}, {"heterogeneity": 10**4}]
)
def test_both_ends_stand_where_numbers_are_far_apart(change):
    found = worst_case(**({"E": 2, "T": 2, "eta": TENTH} | change))
    assert 0.99 * found.upper <= found.lower <= found.upper


def test_what_is_not_linear_is_refused():
    x = Vector({0: Q(1)})
    for use in (lambda: x * x, lambda: x @ x, lambda: x.dot(x), lambda: x + 1, lambda: x > 0, lambda: abs(x)):
        with pytest.raises((NotLinear, TypeError)):
            use()
    for row in ("c_flag_printed", "cfl_taylor", "c_flag_adaptive"):
        with pytest.raises(NotLinear, match="not covered"):
            worst_case(row, E=2, T=1, eta=TENTH)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"E": 0}, "E is 0"),
        ({"T": True}, "T is True"),
        ({"E": 100, "T": 3}, "E T is 300: use at most 200 local steps in all"),
        ({"eta": 0}, "eta is 0"),
        ({"heterogeneity": -1}, "heterogeneity is -1"),
        ({"mu": 1}, "mu is 1"),
        ({"kind": "strongly-convex"}, "mu is 0"),
        ({"kind": "smooth"}, "unbounded for smooth"),
        ({"kind": "round"}, "class 'round' is unknown"),
        ({"measure": "norm"}, "measure 'norm' is unknown"),
        ({"method": "adam"}, "algorithm 'adam' is unknown"),
    ],
)
def test_what_makes_no_sense_is_refused(change, message):
    with pytest.raises(InvalidInput, match=message):
        worst_case(**({"E": 2, "T": 1, "eta": TENTH} | change))


def test_threads_are_as_before_afterwards():
    before = [get() for get, _ in _libraries()]
    with one_thread():
        assert all(get() == 1 for get, _ in _libraries())
    assert [get() for get, _ in _libraries()] == before


def test_the_best_step_is_found():
    # Gradient descent, T = 1, one client: 1/(4h + 2) up to 3/2, (1 - h)^2/2 beyond, and the two are equal at 1.5.
    setting = Setting(algorithm("local_gd"), 1, 1, Q(1), clients=1)
    assert float(best_step(setting).eta) == pytest.approx(1.5, rel=0.02)
    setting = Setting(algorithm("fedavg"), 3, 2, Q(1))
    best = best_step(setting)
    least = solve(pose(best)).value
    for factor in (Q(9, 10), Q(11, 10)):
        assert solve(pose(replace(best, eta=best.eta * factor))).value > least
