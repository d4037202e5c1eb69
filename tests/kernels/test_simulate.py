import dataclasses
import math
import os
import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import QUADRATIC, differing, world

from cflag_theory.errors import Diverged, InvalidInput, UnknownName
from cflag_theory.kernels import (
    ALGORITHMS,
    COLUMNS,
    Drift,
    Status,
    algorithm,
    class_balanced,
    everything,
    evolving,
    make_problem,
    over_sqrt,
    rotation_bias,
    sign_bias,
    simulate,
    subsets,
    uniform,
)
from cflag_theory.kernels.formulas import POTENTIALS, potential, slope
from cflag_theory.kernels.problems.objective import gradients, values

MEMORIES = st.sampled_from(
    [
        everything(),
        uniform(1),
        uniform(2, redraw=True),
        class_balanced(3),
        class_balanced(2, redraw=True),
        sign_bias(m=0.5, redraw=True),
        sign_bias(m=2.0),
        rotation_bias(m=0.5),
        rotation_bias(m=0.5, angle=1.0),
    ]
)
ROWS = st.sampled_from(
    [
        *(row for row in ALGORITHMS.values() if row.server != "printed" and row.adaptive == "none"),
        algorithm("c_flag", server_rate=1.5, proximal=0.2),
        algorithm("scaffold", server_rate=0.5),
        algorithm("local_gd", correction="tracking", memory=True),
    ]
)
RUN = {"beta": 0.05, "local_steps": 4, "rounds": 5}
WITH_MEMORY = RUN | {"alpha": 0.05, "memory": uniform(2)}


def absolute_terms(problem, iterates):
    """Sums of absolute terms along a run: of a component's value and of its gradient's norm."""
    V, A = 0.0, 0.0
    reach = max(np.linalg.norm(x) for x in iterates)
    for part in (problem.past, problem.current):
        for x in iterates:
            z = np.abs(part.rows) @ np.abs(x) + np.abs(part.shifts)
            for j in range(len(part.row_start) - 1):
                rows = range(part.row_start[j], part.row_start[j + 1])
                offset = np.linalg.norm(part.offsets[j]) if len(part.offsets) else 0.0
                norms = [abs(part.weights[q]) * np.linalg.norm(part.rows[q]) for q in rows]
                # |slope| and potential are at most |z| and z^2 / 2, and these carry the rounding of z.
                A = max(A, sum(norm * z[q] for norm, q in zip(norms, rows, strict=True)) + offset)
                V = max(V, sum(abs(part.weights[q]) * z[q] ** 2 for q in rows) + offset * reach)
    return V, A


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_compiled_agrees_with_reference(data):
    row = data.draw(ROWS, "row")
    memory = data.draw(MEMORIES if row.memory else st.one_of(st.none(), MEMORIES), "memory")
    d = data.draw(st.integers(2 if memory is not None and memory.kind == "rotation" else 1, 5), "d")
    problem = world(
        data.draw(st.integers(0, 10_000), "world"),
        N=data.draw(st.integers(1, 4), "N"),
        n=data.draw(st.integers(1, 6), "n"),
        d=d,
        potential=data.draw(st.sampled_from(sorted(POTENTIALS.values())), "potential"),
        offsets=data.draw(st.booleans(), "offsets"),
        ragged=data.draw(st.booleans(), "ragged"),
    )
    L = problem.constants["L"].value
    E = data.draw(st.integers(1, 7), "E")
    beta = data.draw(st.floats(0.02, 0.5), "step") / (L * E)
    alpha = data.draw(st.floats(0.0, 0.5), "memory step") / L if row.memory else 0
    run = {
        "alpha": alpha,
        "beta": beta,
        "memory": memory,
        "local_steps": E,
        "rounds": data.draw(st.integers(1, 5), "T"),
        "replicas": 2,
        "seed": data.draw(st.integers(0, (1 << 63) - 1), "seed"),
        "diagnostics": data.draw(st.sampled_from(["cheap", "all"]), "diagnostics"),
        "iterates": True,
    }
    plain = simulate(problem, row, **run, engine="reference")
    fast = simulate(problem, row, **run, engine="compiled")

    V, A = absolute_terms(problem, plain.iterates.reshape(-1, d))
    s = 1.0 if memory is None else 1.0 + float(memory.scale)
    # Local iterates may lie where gradients are larger than at any x_t, by a factor below 4 for these step sizes.
    S, M = 4 * E * A * row.server_rate, s * A
    sizes = {"f": V, "g": V, "h": s * V, "grad_f2": A**2, "grad_g2": A**2, "grad_h2": M**2, "Lambda": M * S}
    sizes |= {"grad_memory2": M**2, "b2": (M + A) ** 2, "delayed_sum2": S**2, "drift2_max": (12 * beta * E * A) ** 2}
    sizes |= {"iag_error2_max": (8 * A) ** 2, "rho_sum2": S**2, "error_sum2": (2 * S) ** 2}
    sizes["Gamma"] = L * beta**2 * S**2 + beta * (1 + L * alpha) * M * S
    sizes["B"] = (L * alpha**2 + alpha) * A * (M + A) + beta * (M + A) * S
    sizes |= {"ifo_calls": 0, "communicated": 0}
    sizes["information_loss"] = 16 * A + 2 * L * np.abs(plain.iterates).max() * d
    assert np.array_equal(fast.status, plain.status)
    reach = max(1.0, np.abs(plain.iterates).max())
    assert np.abs(fast.iterates - plain.iterates).max() <= 1e-12 * (reach + beta * S + alpha * M)
    assert fast.columns.keys() == plain.columns.keys()
    for name in plain.columns.keys() - {"m_met", "r2_met"}:
        assert np.abs(fast.column(name) - plain.column(name)).max() <= 1e-12 * sizes[name], name
    for name in plain.end:
        assert np.abs(fast.at_end(name) - plain.at_end(name)).max() <= 1e-12 * sizes[name], name


CHANGING = evolving(world(0, N=5, n=5), drift=Drift(G=0.3, B=0.1, D=0.5, A=0.2, sigma=0.1), windows=subsets(2))
#: A plain run, and one of the framework: a problem, a row and the options of a run.
BOTH_LOOPS = {
    "plain": (world(0, N=4, n=6, d=5), "c_flag", WITH_MEMORY),
    "framework": (CHANGING, "cfl_taylor", RUN | {"participants": 3}),
}


@pytest.mark.parametrize("loop", BOTH_LOOPS)
def test_threads_do_not_change_a_bit(loop):
    problem, row, run = BOTH_LOOPS[loop]
    run = run | {"replicas": 13, "diagnostics": "all", "iterates": True}
    first, *others = (simulate(problem, row, **run, threads=threads) for threads in (1, 2, 5))
    for other in others:
        assert differing(other, first) == []


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_replicas_and_seeds(engine):
    problem = world(1)
    three = simulate(problem, "c_flag", **WITH_MEMORY, replicas=3, iterates=True, engine=engine).iterates
    one = simulate(problem, "c_flag", **WITH_MEMORY, iterates=True, engine=engine).iterates
    other = simulate(problem, "c_flag", **WITH_MEMORY, seed=1 << 40, iterates=True, engine=engine).iterates
    assert np.array_equal(three[:1], one)
    assert not np.array_equal(three[0], three[1])
    assert not np.array_equal(one, other)


def test_columns_mean_what_they_say():
    problem = world(2, offsets=True)
    run = WITH_MEMORY | {"memory": sign_bias(m=0.25), "rounds": 3}
    trace = simulate(problem, "c_flag", **run, iterates=True, replicas=4)
    P, C = problem.past.counts.sum(), problem.current.counts.sum()
    for r in range(4):
        for t in range(3):
            x = trace.iterates[r, t]
            f, g = (problem.p @ values(problem.potential, part, x) for part in (problem.past, problem.current))
            grad_f = problem.p @ gradients(problem.potential, problem.past, x)
            grad_g = problem.p @ gradients(problem.potential, problem.current, x)
            sign = 1 if trace.column("grad_memory2")[r, t] > trace.column("grad_f2")[r, t] else -1
            memory = grad_f * (1 + sign * 0.5)
            S = (x - trace.iterates[r, t + 1] - run["alpha"] * memory) / run["beta"]
            expected = {
                "f": f,
                "g": g,
                "h": (P * (1 + sign * 0.5) * f + C * g) / (P + C),
                "grad_f2": grad_f @ grad_f,
                "grad_g2": grad_g @ grad_g,
                "grad_h2": np.sum((P * memory + C * grad_g) ** 2) / (P + C) ** 2,
                "grad_memory2": memory @ memory,
                "b2": grad_f @ grad_f / 4,
                "m_met": 0.25,
                "r2_met": memory @ memory / (grad_g @ grad_g),
                "delayed_sum2": S @ S,
            }
            for name, value in expected.items():
                assert trace.column(name)[r, t] == pytest.approx(value, rel=1e-9), name
            # Lambda_t = sum_i p_i Lambda_{t,i} = <grad_f_memory, S>.
            assert problem.p @ trace.column("Lambda")[r, t] == pytest.approx(memory @ S, rel=1e-9)
    assert trace.m_met == pytest.approx(0.25, rel=1e-12)
    assert trace.r_met == pytest.approx(math.sqrt(trace.column("r2_met").max()))
    assert set(trace.columns) == set(COLUMNS) - {
        "iag_error2_max",
        "rho_sum2",
        "error_sum2",
        "information_loss",
        "step2",
        "grad_f_change2",
        "grad_g_change2",
    }


def test_objective_gradients_are_derivatives():
    for kind in POTENTIALS.values():
        problem = world(3, potential=kind, offsets=True)
        x, h = problem.start, 1e-5
        for part in (problem.past, problem.current):
            for c, direction in enumerate(np.eye(problem.dimension)):
                difference = values(kind, part, x + h * direction) - values(kind, part, x - h * direction)
                assert np.allclose(gradients(kind, part, x)[:, c], difference / (2 * h), atol=1e-8)
        own = range(problem.past.row_start[1], problem.past.row_start[2])
        z = [problem.past.rows[q] @ x - problem.past.shifts[q] for q in own]
        weights = problem.past.weights[list(own)]
        only = dataclasses.replace(problem.past, client_start=np.arange(13))
        expected = sum(w * potential(kind, u) for w, u in zip(weights, z, strict=True)) + problem.past.offsets[1] @ x
        assert values(kind, only, x)[1] == pytest.approx(expected)
        slopes = np.array([w * slope(kind, u) for w, u in zip(weights, z, strict=True)])
        assert np.allclose(gradients(kind, only, x)[1], slopes @ problem.past.rows[list(own)] + problem.past.offsets[1])


def test_diagnostics_of_exact_estimates():
    problem = world(4)
    full = simulate(problem, "local_gd", **RUN, diagnostics="all")
    assert (full.column("iag_error2_max") == 0).all()
    assert np.allclose(full.column("rho_sum2"), full.column("delayed_sum2"), rtol=1e-13)
    delayed = simulate(problem, "fedtrack", **RUN, diagnostics="all")
    assert (delayed.column("iag_error2_max") > 0).all()
    first = simulate(problem, "fedtrack", **(RUN | {"local_steps": 1}), diagnostics="all")
    assert (first.column("iag_error2_max") == 0).all()
    assert (first.column("drift2_max") == 0).all()


@pytest.mark.parametrize("row", ["c_flag", "fedtrack"])
@pytest.mark.parametrize("memory", [uniform(2, redraw=True), rotation_bias(m=0.5), everything()])
def test_measuring_less_changes_nothing_else(row, memory):
    problem = world(5)
    run = RUN | {"alpha": 0.05 if row == "c_flag" else 0, "memory": memory, "replicas": 2, "iterates": True}
    traces = [simulate(problem, row, **run, diagnostics=level) for level in ("none", "cheap", "all")]
    assert not traces[0].columns
    for trace in traces[:2]:
        assert differing(trace, traces[2]) == []


# With a sign bias of m = 9 the memory step climbs or descends, by the sign: some replicas diverge and others do not.
CLIMBS = {"beta": 1e-3, "memory": sign_bias(m=9), "local_steps": 1, "rounds": 3000, "replicas": 4, "seed": 2}


@pytest.mark.parametrize("diagnostics", ["none", "cheap"])
def test_divergence_is_a_status(diagnostics):
    problem = world(6, potential=QUADRATIC, N=2, n=4, d=2)
    alpha = 1 / problem.constants["L"].value
    run = CLIMBS | {"alpha": alpha, "diagnostics": diagnostics}
    with pytest.raises(Diverged, match=r"replica \d diverged in round \d+ .* use smaller alpha"):
        simulate(problem, "c_flag", **run)
    trace = simulate(problem, "c_flag", **run, throw=False, iterates=True)
    assert not trace.ok
    assert {Status.OK, Status.DIVERGED} == set(trace.status)
    assert set(trace.rounds_done[trace.status == Status.OK]) == {3000}
    assert 0 < trace.rounds < 3000
    assert np.isfinite(trace.iterates).all()
    assert trace.iterates.shape == (4, trace.rounds + 1, 2)
    if diagnostics == "none":
        with pytest.raises(InvalidInput, match="diverged with diagnostics='none'"):
            trace.at_end("f")
        return
    assert trace.column("f").shape == (4, trace.rounds)
    for name, column in trace.columns.items():
        assert np.isfinite(column).all(), name
    for name in trace.end:
        assert np.isfinite(trace.at_end(name)).all(), name


@pytest.mark.parametrize("row", ["c_flag", "fedprox", "scaffold"])
@pytest.mark.parametrize("beta", [50.0, 1e60, 1e160])
def test_engines_agree_on_when_a_run_diverges(row, beta):
    problem = world(7, potential=QUADRATIC)
    run = {"beta": beta, "local_steps": 3, "rounds": 80, "throw": False, "replicas": 2}
    if row == "c_flag":
        run |= {"alpha": 0.1, "memory": uniform(2)}
    fast, plain = (simulate(problem, row, **run, engine=engine) for engine in ("compiled", "reference"))
    assert np.array_equal(fast.status, [Status.DIVERGED] * 2)
    assert np.array_equal(plain.status, fast.status)
    assert np.array_equal(plain.rounds_done, fast.rounds_done)
    assert all(np.isfinite(column).all() for trace in (fast, plain) for column in trace.columns.values())


def test_a_start_without_finite_values_is_refused():
    problem = dataclasses.replace(world(8, potential=QUADRATIC), start=np.array([1e180, 0.0, 0.0]))
    for engine in ("compiled", "reference"):
        with pytest.raises(InvalidInput, match="no finite value or gradient at its start"):
            simulate(problem, "fedtrack", **RUN, engine=engine)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"algorithm": "c_flg"}, UnknownName, "use one of c_flag, fedtrack"),
        ({"engine": "gpu"}, UnknownName, "use one of compiled, reference, cuda"),
        ({"diagnostics": "some"}, UnknownName, "use one of none, cheap, all"),
        ({"memory": None}, InvalidInput, "'c_flag' steps on memory and memory is None"),
        ({"algorithm": "fedavg"}, InvalidInput, "'fedavg' has no memory step"),
        ({"alpha": -0.1}, InvalidInput, "alpha is -0.1: use a finite number that is not negative"),
        ({"alpha": math.nan}, InvalidInput, "alpha is nan"),
        ({"beta": 0}, InvalidInput, "beta is 0: use a finite positive number"),
        ({"beta": math.inf}, InvalidInput, "beta is inf"),
        ({"beta": "0.1"}, InvalidInput, "beta is '0.1'"),
        ({"beta": True}, InvalidInput, "beta is True"),
        ({"local_steps": 0}, InvalidInput, "local_steps is 0: use an integer of at least 1"),
        ({"local_steps": 2.5}, InvalidInput, "local_steps is 2.5"),
        ({"rounds": 0}, InvalidInput, "rounds is 0"),
        ({"replicas": 0}, InvalidInput, "replicas is 0"),
        ({"threads": 0}, InvalidInput, "threads is 0"),
        ({"seed": -1}, InvalidInput, "seed is -1"),
        ({"seed": 1 << 63}, InvalidInput, "seed is 9223372036854775808: use an integer of at least 0, below 2"),
        ({"orders": np.zeros((5, 3, 4), dtype=int)}, InvalidInput, "engine='reference'"),
        ({"orders": np.zeros((4, 3, 4), dtype=int), "engine": "reference"}, InvalidInput, r"shape \(5, 3, 4\)"),
        ({"orders": np.full((5, 3, 4), 4), "engine": "reference"}, InvalidInput, "does not have"),
    ],
)
def test_bad_input(changes, error, message):
    arguments = WITH_MEMORY | {"algorithm": "c_flag"} | changes
    with pytest.raises(error, match=message):
        simulate(world(0), **arguments)


def test_bad_problems_and_memories():
    problem = world(0)
    with pytest.raises(InvalidInput, match="sum"):
        simulate(dataclasses.replace(problem, p=problem.p * 2), "fedtrack", **RUN)
    with pytest.raises(InvalidInput, match="d >= 2"):
        simulate(world(0, d=1), "c_flag", **(WITH_MEMORY | {"memory": rotation_bias(m=0.5)}))


@pytest.mark.parametrize(
    ("name", "overrides", "error", "message"),
    [
        ("fedsgd", {}, UnknownName, "use one of c_flag"),
        ("fedprox", {"mu": 1}, UnknownName, "no field 'mu'"),
        ("fedprox", {"proximal": -1}, InvalidInput, "proximal is -1"),
        ("fedavg", {"server_rate": 0}, InvalidInput, "server_rate is 0"),
        ("fedavg", {"estimator": "exact"}, UnknownName, "use one of full, stochastic, delayed"),
        ("fedavg", {"correction": "svrg"}, UnknownName, "use one of none, tracking, control"),
        ("fedavg", {"memory": uniform(1)}, InvalidInput, "use True or False"),
    ],
)
def test_bad_rows(name, overrides, error, message):
    with pytest.raises(error, match=message):
        algorithm(name, **overrides)


def test_over_sqrt():
    assert over_sqrt(0.5, 16) == 0.125
    for c, rounds in ((0, 4), (math.inf, 4), (1, 0)):
        with pytest.raises(InvalidInput):
            over_sqrt(c, rounds)


@pytest.mark.parametrize("name", ["default", "noisy_quadratic"])
@pytest.mark.parametrize("restarts", [False, True])
def test_an_interrupt_ends_a_long_run(name, restarts):
    problem = make_problem(name)
    common = {"beta": 1e-4, "local_steps": 1, "diagnostics": "none"}
    simulate(problem, "fedavg", rounds=1, **common)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    # What a library's own handler leaves behind, so that waits go on after a signal.
    signal.siginterrupt(signal.SIGINT, not restarts)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            simulate(problem, "fedavg", rounds=200_000_000, **common)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
