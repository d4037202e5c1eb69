"""Algorithm 2 of the CFL paper, MimeLite and SCAFFOLD written out by hand, on fractions and to the last digit."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from worlds import GEMAN, QUADRATIC, exact_world, to_float

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import (
    Drift,
    RoundWeights,
    algorithm,
    draws,
    evolving,
    fresh,
    noisy_quadratic,
    pointer,
    simulate,
    subsets,
    to_exact,
)
from cflag_theory.kernels.cfl import drifts
from cflag_theory.kernels.cfl.evolution import herding
from cflag_theory.kernels.cfl.windows import KINDS, choose, draw_window
from cflag_theory.kernels.problems.objective import gradients, mean_gradient
from cflag_theory.kernels.problems.problem import Components

HALF, BETA, SEED = Fraction(1, 2), Fraction(1, 32), 11
DRIFT = Drift(G=Fraction(1, 4), D=1, B=Fraction(1, 8), A=Fraction(1, 4), sigma=HALF, law="sign")
RUN = {"beta": BETA, "local_steps": 2, "rounds": 3, "seed": SEED, "iterates": True}
WEIGHTS = RoundWeights("lemma B.4", D2=1, R2=Fraction(1, 3))


def moving(seed=0, *, drift=DRIFT, windows=None, **shape):
    return evolving(exact_world(seed, **shape), drift=drift, windows=windows)


def drift_of(problem, i, t):
    """The factor and the offset of grad f_{t,i}, for independent time drifts of the sign law."""
    d, zero, one = problem.drift, problem.start * 0, (SEED, 0, i)
    delta, xi = zero.copy(), zero.copy()
    drifts.fill_vector(1, SEED, draws.CLIENT_DRIFT, 0, i, 0, 0, d.G, delta)
    drifts.fill_vector(1, SEED, draws.TIME_DRIFT, 0, i, t, 0, d.D, xi)
    signs = drifts.client_sign(*one, 0), drifts.time_sign(0, *one, t, 0, 0, 1)
    return 1 - d.B * signs[0] - d.A * signs[1], -(delta + xi)


def noise_of(problem, i, t, k):
    out = problem.start.copy()
    drifts.fill_vector(1, SEED, draws.NOISE, 0, i, t, k, problem.drift.sigma, out)
    return out


def window_of(problem, i, t):
    rule, part = problem.windows, problem.current
    total = len(part.row_start) - 1
    out, order = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    first, n = int(part.client_start[i]), int(part.counts[i])
    kind = KINDS.index(rule.kind)
    length = draw_window(kind, rule.size, rule.shift, rule.count, SEED, 0, i, t, first, n, order, out)
    return out[:length]


def algorithm_two(problem, weights, eta_g, *, beta, local_steps, rounds):
    """Lines 1 to 10 of Algorithm 2 with an exact past and full gradients; yields x_1, x_2, ..."""
    x = problem.start

    def gradient(tau, i, at):
        factor, offset = drift_of(problem, i, tau)
        return factor * mean_gradient(problem.potential, problem.current, window_of(problem, i, tau), at) + offset

    for t in range(rounds):
        p = weights.at(t + 1)
        change = x * 0
        for i in range(problem.clients):
            local = x
            for k in range(local_steps):
                g = sum(p[tau] * gradient(tau, i, local) for tau in range(t + 1)) + noise_of(problem, i, t, k)
                local = local - beta * g
            change = change + problem.p[i] * (local - x)
        x = x + eta_g * change
        yield x


@pytest.mark.parametrize("windows", [subsets(2), pointer(2, 1), fresh(3)])
@pytest.mark.parametrize("weights", [WEIGHTS, RoundWeights("correlated", D2=1, R2=1, alpha=Fraction(4, 5))])
def test_an_exact_past_is_algorithm_two_without_residual(windows, weights):
    problem = moving(windows=windows, n=4)
    row = algorithm("cfl", estimator="full", weights=weights, server_rate=Fraction(3, 2))
    trace = simulate(problem, row, **RUN, engine="reference")
    written_out = algorithm_two(problem, weights, Fraction(3, 2), beta=BETA, local_steps=2, rounds=3)
    for t, x in enumerate(written_out):
        assert (trace.iterates[0, t + 1] == x).all()
    assert all(isinstance(value, Fraction) for column in trace.columns.values() for value in column.ravel())


@pytest.mark.parametrize(
    "row",
    [
        algorithm("fedavg"),
        algorithm("fedprox"),
        algorithm("scaffold"),
        algorithm("mimelite"),
        algorithm("cfl", weights=WEIGHTS),
        algorithm("cfl", weights=WEIGHTS, estimator="full", information_loss=Fraction(1, 8)),
        algorithm("cfl_taylor", weights=WEIGHTS, window=1),
        algorithm("cfl_diagonal", weights=WEIGHTS, expansion="server"),
        algorithm("cfl_fisher", weights=WEIGHTS),
        algorithm("cfl_core_set", weights=RoundWeights("correlated", D2=1, R2=1, alpha=Fraction(4, 5))),
        algorithm("cfl_herding", momentum=HALF),
    ],
    ids=lambda row: row.name,
)
@pytest.mark.parametrize("correlation", ["independent", "common", "geometric"])
def test_fractions_agree_with_floats(row, correlation):
    extra = {"common": {"F": HALF, "C": Fraction(1, 8)}, "geometric": {"alpha": Fraction(2, 3)}}.get(correlation, {})
    drift = replace(DRIFT, correlation=correlation, **extra)
    problem = moving(1, drift=drift, windows=subsets(2), N=3, n=4)
    inexact = replace(to_float(problem), drift=problem.drift, windows=problem.windows)
    run = RUN | {"participants": 2, "rounds": 4, "diagnostics": "all"}
    exact = simulate(problem, row, **run, engine="reference")
    for engine in ("reference", "compiled"):
        floats = simulate(inexact, row, **run, engine=engine)
        assert np.allclose(exact.iterates.astype(float), floats.iterates, rtol=1e-12, atol=1e-12)
        for name in exact.columns:
            assert np.allclose(exact.column(name).astype(float), floats.column(name), rtol=1e-11, atol=1e-11), name


def participants(problem, S, t):
    order = np.arange(problem.clients)
    choose(SEED, draws.PARTICIPANTS, 0, 0, t, order, problem.clients, S)
    return sorted(order[:S].tolist())


def test_mimelite_by_hand():
    problem, gamma = moving(2, drift=replace(DRIFT, sigma=0), N=3), Fraction(1, 10)
    row = algorithm("mimelite", estimator="full")
    trace = simulate(problem, row, **RUN, participants=2, engine="reference")
    x, s = problem.start, problem.start * 0
    everything = [np.arange(problem.current.client_start[i], problem.current.client_start[i + 1]) for i in range(3)]

    def gradient(t, i, at):
        factor, offset = drift_of(problem, i, t)
        return factor * mean_gradient(problem.potential, problem.current, everything[i], at) + offset

    for t in range(3):
        chosen = participants(problem, 2, t)
        share = {i: problem.p[i] / sum(problem.p[j] for j in chosen) for i in chosen}
        mean = sum(share[i] * gradient(t, i, x) for i in chosen)
        change = x * 0
        for i in chosen:
            local = x
            for _ in range(2):
                local = local - BETA * ((1 - gamma) * gradient(t, i, local) + gamma * s)
            change = change + share[i] * (local - x)
        x, s = x + change, (1 - gamma) * mean + gamma * s
        assert (trace.iterates[0, t + 1] == x).all()
    # The second round already feels the momentum of the first.
    plain = simulate(problem, algorithm("fedavg", estimator="full"), **RUN, participants=2, engine="reference")
    assert (trace.iterates[0, 2] != plain.iterates[0, 2]).any()


def test_scaffold_with_participants_by_hand():
    problem = exact_world(3, N=3)
    third = np.array([Fraction(1, 3)] * 3)
    problem = replace(problem, p=third)
    row = algorithm("scaffold", estimator="full")
    trace = simulate(problem, row, **RUN, participants=2, engine="reference")
    x, c = problem.start, problem.start * 0
    c_i = [c, c, c]
    for t in range(3):
        chosen = participants(problem, 2, t)
        ends, new = {}, {}
        for i in chosen:
            local = x
            for _ in range(2):
                grad = gradients(problem.potential, problem.current, local)[i]
                local = local - BETA * (grad - c_i[i] + c)
            ends[i], new[i] = local, c_i[i] - c + (x - local) / (2 * BETA)
        mean_change = sum(new[i] - c_i[i] for i in chosen) / 2
        x = x + sum(ends[i] - x for i in chosen) / 2
        # The server's variate moves by the share S / N of the participants' mean change.
        c = c + Fraction(2, 3) * mean_change
        for i in chosen:
            c_i[i] = new[i]
        assert (trace.iterates[0, t + 1] == x).all()


def test_a_clients_past_is_where_it_took_part():
    # One client at a time: the models of a client that waits do not age.
    problem = moving(4, drift=replace(DRIFT, sigma=0, A=0, B=0), N=2)
    row = algorithm("cfl", estimator="full", weights=RoundWeights("uniform"))
    trace = simulate(problem, row, **(RUN | {"rounds": 5, "local_steps": 1}), participants=1, engine="reference")
    x, took = problem.start, {0: [], 1: []}
    for t in range(5):
        (i,) = participants(problem, 1, t)
        took[i].append(drift_of(problem, i, t)[1])
        grad = gradients(problem.potential, problem.current, x)[i] + sum(took[i]) / len(took[i])
        x = x - BETA * grad
        assert (trace.iterates[0, t + 1] == x).all()
    assert all(len(rounds) > 1 for rounds in took.values())


def test_round_update_24_holds_in_the_framework():
    problem = moving(5, windows=subsets(2), N=3, n=4)
    row = algorithm("cfl_taylor", weights=WEIGHTS, momentum=HALF, proximal=HALF)
    trace = simulate(problem, row, **RUN, participants=2, engine="reference")
    for t in range(3):
        S = (trace.iterates[0, t] - trace.iterates[0, t + 1]) / BETA
        assert trace.column("delayed_sum2")[0, t] == S @ S


def test_herding_is_algorithm_three():
    features = [[0, 0], [3, 0], [0, 3], [1, 1]]
    rows = np.array([[Fraction(value) for value in row] for row in features])
    part = Components(rows, rows[:, 0], np.array([Fraction(1)] * 4), rows[:0], np.arange(5), np.array([0, 4]))
    # The mean is (1, 1): the last component hits it, and hits it again with its copy, as printed.
    assert herding(part, np.arange(4), 3).tolist() == [3, 3, 3]
    # Without it the mean is (1, 1) too; 0 is nearest, then (3, 0) and (0, 3) tie and the first is taken.
    assert herding(part, np.arange(3), 3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("row", ["cfl_taylor", "cfl_fisher"])
def test_models_of_rational_potentials_stay_rational(row):
    problem = moving(6, potential=GEMAN, N=1, n=1, rows_per=(1, 1), drift=replace(DRIFT, sigma=0))
    trace = simulate(problem, row, beta=BETA, local_steps=1, rounds=2, engine="reference", iterates=True)
    assert all(isinstance(value, Fraction) for value in trace.iterates.ravel())


def test_the_noisy_quadratic_model_can_be_exact():
    model = noisy_quadratic(dimension=2, clients=2, rotated=False, G=0.25, D=0.5, sigma=0.0, law="sign", distance=0.5)
    exact = to_exact(model)
    run = {"beta": HALF / 16, "local_steps": 2, "rounds": 3, "iterates": True, "engine": "reference"}
    fractions = simulate(exact, "cfl", **run)
    assert fractions.iterates.dtype == object
    floats = simulate(model, "cfl", **run)
    assert np.allclose(fractions.iterates.astype(float), floats.iterates, rtol=0, atol=1e-12)
    with pytest.raises(InvalidInput, match="normal drifts are not rational"):
        to_exact(noisy_quadratic(dimension=2, clients=2, rotated=False))


def test_exact_runs_refuse_what_is_not_exact():
    run = RUN | {"engine": "reference"}
    with pytest.raises(InvalidInput, match="G is the float"):
        simulate(moving(drift=Drift(G=0.1, law="sign")), "cfl", **run)
    with pytest.raises(InvalidInput, match="round weights hold floats"):
        simulate(moving(), algorithm("cfl", weights=RoundWeights("lemma B.4", D2=0.5, R2=1)), **run)
    with pytest.raises(InvalidInput, match="momentum is the float"):
        simulate(moving(), algorithm("mimelite", momentum=0.1), **run)
    with pytest.raises(InvalidInput, match="information_loss is the float"):
        simulate(moving(), algorithm("cfl", information_loss=0.1), **run)
    with pytest.raises(InvalidInput, match="norms are not rational"):
        simulate(moving(potential=QUADRATIC), "cfl", **run, diagnostics="all").column("information_loss")
