"""The CFL framework: both engines agree, special cases coincide, bad input is refused."""

import dataclasses
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import GEMAN, QUADRATIC, differing, world

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import (
    Drift,
    RoundWeights,
    Status,
    algorithm,
    evolving,
    fresh,
    noisy_quadratic,
    pointer,
    read_trace,
    simulate,
    subsets,
    uniform,
    write_trace,
)
from cflag_theory.kernels.algorithms import PASTS
from cflag_theory.kernels.formulas import POTENTIALS

# The loop of the framework takes long to compile.
pytestmark = pytest.mark.full

ENGINES = ["compiled", "reference"]
CFL = ("cfl", "cfl_taylor", "cfl_diagonal", "cfl_fisher", "cfl_core_set", "cfl_herding")
RUN = {"beta": 0.05, "local_steps": 4, "rounds": 6, "replicas": 2, "seed": 3, "iterates": True}
DRIFT = Drift(G=0.3, B=0.1, D=0.5, A=0.2, sigma=0.1)


def moving(seed=0, *, drift=DRIFT, windows=None, **shape):
    """A small world whose local data change; evolving() takes its current data for both tasks."""
    return evolving(world(seed, **({"n": 5} | shape)), drift=drift, windows=windows)


def iterates(problem, row, engine, **changes):
    return simulate(problem, row, **(RUN | changes), engine=engine).iterates


def same_by_another_loop(a, b, engine):
    """The reference has one loop; the compiled ones sum in different orders."""
    return np.array_equal(a, b) if engine == "reference" else np.allclose(a, b, rtol=0, atol=1e-13)


dials = st.sampled_from([0.0, 0.3, 1.0])


@st.composite
def drifts_of(draw):
    correlation = draw(st.sampled_from(["independent", "common", "geometric"]))
    D, A = draw(dials), draw(st.sampled_from([0.0, 0.4]))
    extra = {"F": D / 2, "C": A / 2} if correlation == "common" else {}
    extra |= {"alpha": draw(st.sampled_from([0.0, 0.6]))} if correlation == "geometric" else {}
    return Drift(
        G=draw(dials),
        B=draw(st.sampled_from([0.0, 0.4])),
        D=D,
        A=A,
        sigma=draw(dials),
        law=draw(st.sampled_from(["normal", "sign"])),
        correlation=correlation,
        stateless=draw(st.booleans()),
        **extra,
    )


@st.composite
def rows(draw):
    name = draw(st.sampled_from([*CFL, "fedavg", "fedprox", "scaffold", "mimelite"]))
    fields = {
        "estimator": draw(st.sampled_from(["full", "stochastic"])),
        "server_rate": draw(st.sampled_from([1, 1.5])),
    }
    if name in CFL:
        fields["weights"] = draw(
            st.sampled_from(
                [
                    RoundWeights("uniform"),
                    RoundWeights("current"),
                    RoundWeights("lemma B.4", D2=1.0, R2=0.5, window=2),
                    RoundWeights("correlated", D2=1.0, R2=0.5, alpha=0.8),
                ]
            )
        )
        fields["window"] = draw(st.sampled_from([None, 1, 3]))
        fields["expansion"] = draw(st.sampled_from(["client", "server"]))
        fields["information_loss"] = draw(st.sampled_from([0, 0.01]))
        fields["momentum"] = draw(st.sampled_from([0, 0.3]))
        fields["correction"] = draw(st.sampled_from(["none", "control"]))
    return algorithm(name, **fields)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_compiled_agrees_with_reference(data):
    N, n = data.draw(st.integers(1, 4), "N"), data.draw(st.integers(2, 5), "n")
    problem = world(
        data.draw(st.integers(0, 10_000), "world"),
        N=N,
        n=n,
        d=data.draw(st.integers(1, 5), "d"),
        potential=data.draw(st.sampled_from(sorted(POTENTIALS.values())), "potential"),
        offsets=data.draw(st.booleans(), "offsets"),
    )
    windows = data.draw(st.sampled_from([None, pointer(2, 1), pointer(1, 1), subsets(2), fresh(min(3, n))]), "windows")
    problem = evolving(problem, windows=windows, drift=data.draw(drifts_of(), "drift"))
    row = data.draw(rows(), "row")
    run = {
        "beta": 0.2 / (problem.constants["L"].value * 6),
        "local_steps": data.draw(st.integers(1, 6), "K"),
        "rounds": data.draw(st.integers(1, 6), "T"),
        "participants": data.draw(st.integers(1, N), "S"),
        "replicas": 2,
        "seed": data.draw(st.integers(0, (1 << 63) - 1), "seed"),
        "diagnostics": "all",
        "iterates": True,
    }
    plain = simulate(problem, row, **run, engine="reference")
    fast = simulate(problem, row, **run, engine="compiled")
    # Gradients at iterates that reach R are sums of terms of this size, and a run adds up some dozens of them.
    reach = 1 + np.abs(plain.iterates).max()
    part = problem.current
    z = np.abs(part.rows).sum(axis=1) * reach + np.abs(part.shifts)
    size = 10 * (1 + (np.abs(part.weights) * (1 + np.abs(part.rows).sum(axis=1)) * (1 + z)).max()) ** 2 * reach
    assert np.abs(fast.iterates - plain.iterates).max() <= 1e-12 * size
    assert fast.columns.keys() == plain.columns.keys()
    for name in plain.columns:
        squared = size**2 * run["local_steps"] ** 2
        assert np.abs(fast.column(name) - plain.column(name)).max() <= 1e-12 * squared, name


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CFL)
@pytest.mark.parametrize("windows", [None, subsets(2), fresh(3)])
def test_all_weight_on_the_current_round_is_fedavg_to_the_bit(engine, name, windows):
    problem = moving(windows=windows, offsets=True)
    fedavg = iterates(problem, "fedavg", engine)
    assert np.array_equal(iterates(problem, algorithm(name, weights=RoundWeights("current")), engine), fedavg)
    nothing = algorithm(name, past="none", core_set=0)
    assert np.array_equal(iterates(problem, nothing, engine), fedavg)
    assert not np.array_equal(iterates(problem, name, engine), fedavg)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CFL)
def test_on_fixed_data_as_well(engine, name):
    # Here FedAvg is a plain run.
    problem = world(1, n=7, offsets=True)
    current = algorithm(name, weights=RoundWeights("current"))
    assert same_by_another_loop(iterates(problem, current, engine), iterates(problem, "fedavg", engine), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_exact_past_without_drift_is_fedavg(engine):
    problem = world(2, offsets=True)
    full = {"estimator": "full"}
    fedavg = iterates(problem, algorithm("fedavg", **full), engine)
    for weights in (RoundWeights("uniform"), RoundWeights("lemma B.4", D2=2, R2=1, window=2)):
        cfl = iterates(problem, algorithm("cfl", weights=weights, **full), engine)
        assert np.allclose(cfl, fedavg, rtol=0, atol=1e-13)
    # A stochastic step draws the same components, because all have equal weight again.
    assert np.allclose(iterates(problem, "cfl", engine), iterates(problem, "fedavg", engine), rtol=0, atol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("expansion", ["client", "server"])
def test_taylor_models_of_quadratics_are_exact(engine, expansion):
    problem = moving(3, potential=QUADRATIC, windows=subsets(2))
    full = {"estimator": "full", "weights": RoundWeights("lemma B.4", D2=1, R2=1)}
    exact = iterates(problem, algorithm("cfl", **full), engine)
    taylor = simulate(
        problem, algorithm("cfl_taylor", expansion=expansion, **full), **RUN, engine=engine, diagnostics="all"
    )
    assert np.allclose(taylor.iterates, exact, rtol=0, atol=1e-12)
    assert taylor.column("information_loss").max() <= 1e-12
    diagonal = iterates(problem, algorithm("cfl_diagonal", **full), engine)
    assert np.abs(diagonal - exact).max() > 1e-6


@pytest.mark.parametrize("engine", ENGINES)
def test_full_diagonal_and_one_dimensional_hessians_coincide(engine):
    problem = moving(4, d=1)
    taylor = iterates(problem, "cfl_taylor", engine)
    assert np.allclose(iterates(problem, "cfl_diagonal", engine), taylor, rtol=0, atol=1e-14)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_core_set_of_everything_is_an_exact_past(engine):
    problem = moving(5, windows=subsets(2), offsets=True)
    full = {"estimator": "full"}
    everything = algorithm("cfl_core_set", core_set=9, **full)
    exact = iterates(problem, algorithm("cfl", **full), engine)
    assert np.allclose(iterates(problem, everything, engine), exact, rtol=0, atol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_momentum_and_no_weight_are_fedavg(engine):
    problem = moving(6, windows=subsets(2))
    fedavg = iterates(problem, "fedavg", engine)
    assert np.array_equal(iterates(problem, algorithm("mimelite", momentum=0), engine), fedavg)
    assert np.array_equal(iterates(problem, algorithm("fedprox", proximal=0), engine), fedavg)
    assert not np.array_equal(iterates(problem, "mimelite", engine), fedavg)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("row", ["fedavg", "scaffold", "cfl"])
def test_all_participants_are_the_plain_loop(engine, row):
    problem = world(7, N=4)
    everyone = iterates(problem, row, engine, participants=4)
    assert np.array_equal(everyone, iterates(problem, row, engine))
    assert not np.array_equal(iterates(problem, row, engine, participants=3), everyone)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("row", ["fedavg", "cfl", "cfl_taylor"])
def test_a_pointer_that_stands_still_on_all_data_changes_nothing(engine, row):
    problem = moving(8, drift=None, windows=pointer(5, 0))
    still = evolving(world(8, n=5), windows=subsets(1))
    assert np.array_equal(iterates(problem, row, engine), iterates(still, row, engine))
    fixed = iterates(world(8, n=5), "fedavg", engine)
    assert same_by_another_loop(iterates(problem, "fedavg", engine), fixed, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["cfl", "cfl_taylor", "cfl_core_set"])
def test_a_window_is_the_given_weights_that_forget(engine, name):
    problem = moving(9, windows=subsets(2))
    row = [[1.0], [0.4, 0.6], *([0.0] * (t - 2) + [0.4, 0.6] for t in range(3, 7))]
    given = algorithm(name, weights=RoundWeights("given", given=row))
    forgets = dataclasses.replace(given, window=1)
    assert np.allclose(iterates(problem, given, engine), iterates(problem, forgets, engine), rtol=0, atol=1e-15)


def test_drifts_that_cancel_the_data_leave_their_offsets():
    # 1 - A s is 0 or 2: where all remembered rounds have 0 there is no component to draw.
    problem = moving(9, drift=Drift(A=1.0, D=0.5))
    plain, fast = (iterates(problem, "cfl", engine, replicas=20) for engine in ("reference", "compiled"))
    assert np.allclose(plain, fast, rtol=0, atol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_stateless_clients_have_a_new_drift_every_round(engine):
    # Without time drift and noise a client's linear term repeats, unless the client is new.
    for stateless in (False, True):
        drift = Drift(G=1.0, stateless=stateless)
        problem = evolving(world(10, N=1, potential=QUADRATIC), drift=drift)
        run = iterates(problem, algorithm("fedavg", estimator="full"), engine, local_steps=1)[0]
        A = (problem.current.rows.T * problem.current.weights) @ problem.current.rows / 4
        b = problem.current.rows.T @ (problem.current.weights * problem.current.shifts) / 4
        offsets = np.array([(x - y) / RUN["beta"] - (A @ x - b) for x, y in pairwise(run)])
        assert np.allclose(offsets, offsets[0]) == (not stateless)


def test_the_meter_reads_an_information_loss_that_is_put_in():
    problem = moving(11, drift=Drift(D=1.0, law="sign"), d=4)
    row = algorithm("cfl", information_loss=0.25)
    run = RUN | {"diagnostics": "all"}
    for engine in ENGINES:
        meter = simulate(problem, row, **run, engine=engine).column("information_loss")
        # ||I (1, ..., 1)|| = 2 I in four dimensions, and none in the current one of t rounds.
        assert np.allclose(meter, [[0.5 * (t - 1) / t for t in range(1, 7)]] * 2, rtol=1e-12)
    normal = moving(11, drift=Drift(D=1.0), d=4)
    meter = simulate(normal, row, **(run | {"replicas": 40})).column("information_loss")
    # A draw of N(I, I / 1000) has length 2 I up to 3% or so.
    assert np.allclose(meter[:, -1], 0.5 * 5 / 6, rtol=0.1)
    assert meter[:, -1].std() > 1e-4


def test_participants_share_the_step_and_the_rest_stand_still():
    problem = moving(12, N=4)
    trace = simulate(problem, "cfl", **(RUN | {"rounds": 200}), participants=2, memory=uniform(2))
    took_part = trace.column("Lambda") != 0
    assert (took_part.sum(axis=2) == 2).all()
    assert (np.abs(took_part.mean(axis=(0, 1)) - 0.5) <= 5 * math.sqrt(0.25 / 400)).all()


def test_local_models_do_not_see_later_rounds():
    problem = moving(13, windows=subsets(2))
    short, long = (simulate(problem, "cfl_taylor", **(RUN | {"rounds": T})).iterates for T in (3, 6))
    assert np.array_equal(short, long[:, :4])


@pytest.mark.parametrize("diagnostics", ["none", "cheap"])
def test_measuring_less_changes_nothing_else(diagnostics):
    problem = moving(14, windows=fresh(3))
    less = simulate(problem, "cfl_core_set", **RUN, participants=2, diagnostics=diagnostics)
    more = simulate(problem, "cfl_core_set", **RUN, participants=2, diagnostics="all")
    assert differing(less, more) == []


def test_the_meter_is_absent_with_a_reason():
    problem = moving(15)
    with pytest.raises(InvalidInput, match="'fedavg' remembers no past rounds"):
        simulate(problem, "fedavg", **RUN, diagnostics="all").column("information_loss")
    with pytest.raises(InvalidInput, match="diagnostics='all'"):
        simulate(problem, "cfl", **RUN).column("information_loss")


def test_divergence_is_a_status():
    problem = moving(16, potential=QUADRATIC)
    for engine in ENGINES:
        trace = simulate(problem, "cfl_taylor", **(RUN | {"beta": 100.0, "rounds": 60}), engine=engine, throw=False)
        assert set(trace.status) == {Status.DIVERGED}
        assert all(np.isfinite(column).all() for column in trace.columns.values())


def test_a_trace_of_the_framework_is_kept_on_disk(tmp_path):
    problem = moving(17, windows=subsets(2))
    row = algorithm("cfl_core_set", weights=RoundWeights("lemma B.4", D2=1, R2=0.5), window=2)
    trace = simulate(problem, row, **RUN, participants=2, diagnostics="all")
    again = read_trace(write_trace(tmp_path / "trace.npz", trace))
    assert dict(again.config) == dict(trace.config)
    assert np.array_equal(again.column("information_loss"), trace.column("information_loss"))
    other = dataclasses.replace(problem, drift=Drift(D=1.0))
    assert simulate(other, row, **RUN).config["problem_digest"] != trace.config["problem_digest"]


@pytest.mark.parametrize(
    ("name", "overrides", "error", "message"),
    [
        ("cfl", {"past": "all"}, UnknownName, f"use one of {', '.join(map(repr, PASTS))}"),
        ("cfl", {"weights": "uniform"}, InvalidInput, "weights is 'uniform': use a RoundWeights"),
        ("cfl", {"window": 0}, InvalidInput, "window is 0"),
        ("cfl", {"core_set": 2}, InvalidInput, "goes with past='core set' or 'herding'"),
        ("cfl_core_set", {"core_set": 0}, InvalidInput, "core set of at least 1 component"),
        ("cfl", {"core_set": 1.5}, InvalidInput, "core_set is 1.5"),
        ("cfl_taylor", {"expansion": "middle"}, UnknownName, "use one of client, server"),
        ("cfl", {"information_loss": -1}, InvalidInput, "information_loss is -1"),
        ("fedavg", {"information_loss": 1}, InvalidInput, "nothing is remembered"),
        ("mimelite", {"momentum": 1}, InvalidInput, "momentum is 1"),
        ("c_flag", {"past": "exact"}, InvalidInput, "no memory step, no tracking"),
        ("fedtrack", {"momentum": 0.1}, InvalidInput, "no memory step, no tracking"),
    ],
)
def test_bad_rows(name, overrides, error, message):
    with pytest.raises(error, match=message):
        algorithm(name, **overrides)


@pytest.mark.parametrize(
    ("problem", "row", "changes", "message"),
    [
        (world(0), "fedavg", {"participants": 0}, "participants is 0"),
        (world(0), "fedavg", {"participants": 4}, "has 3 clients: use fewer"),
        (world(0), "fedtrack", {"participants": 2}, "hears 2 of 3 clients"),
        (noisy_quadratic(), "fedtrack", {}, "has local data that change"),
        (noisy_quadratic(), "cfl", {"rounds": 100_000}, "GiB: keep fewer by window="),
        (
            noisy_quadratic(),
            "cfl",
            {"orders": np.zeros((6, 10, 4), dtype=int), "engine": "reference"},
            "orders are only for fixed local data",
        ),
        (
            dataclasses.replace(world(0, N=2), p=np.array([0.0, 1.0])),
            "fedavg",
            {"participants": 1},
            "has weight 0",
        ),
        (noisy_quadratic(), algorithm("cfl", weights=RoundWeights("given", given=[[1]])), {}, "round 2 has no row"),
    ],
)
def test_bad_runs(problem, row, changes, message):
    with pytest.raises(InvalidInput, match=message):
        simulate(problem, row, **(RUN | changes))


def test_other_potentials_keep_their_curvature():
    # The Hessian of a model is the derivative of its data's gradient: in one local step of a second round.
    problem = evolving(world(18, N=1, n=1, d=2, potential=GEMAN), windows=subsets(1))
    row = algorithm("cfl_taylor", weights=RoundWeights("given", given=[[1], [1, 0]]), expansion="server")
    run = simulate(problem, row, beta=1e-3, local_steps=1, rounds=2, iterates=True).iterates[0]
    one = simulate(problem, "fedavg", beta=1e-3, local_steps=1, rounds=2, iterates=True).iterates[0]
    # Taylor about x_0 and the true gradient agree to second order in the step.
    assert np.abs(run[2] - one[2]).max() <= 1e-8
    assert not np.array_equal(run[2], one[2])
