"""Batches of replicas: the fast mode, single precision, recorded columns, parts of a larger run, other coordinates."""

import dataclasses
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import QUADRATIC, differing, world

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import (
    COLUMNS,
    algorithm,
    class_balanced,
    everything,
    random_glm,
    random_quadratic,
    random_separable,
    read_trace,
    rotation_bias,
    sign_bias,
    simulate,
    uniform,
    write_trace,
)
from cflag_theory.kernels.engines.cpu import run as engine
from cflag_theory.kernels.engines.cpu.layout import common_basis

pytestmark = pytest.mark.full

RUN = {"beta": 0.02, "local_steps": 6, "rounds": 5}
WITH_MEMORY = RUN | {"alpha": 0.05, "memory": uniform(2)}
PLAIN = ("fedtrack", "fedavg", "fedprox", "scaffold", "local_gd")
ON_MEMORY = ("c_flag", "c_flag_printed", "c_flag_adaptive")
MEMORIES = (
    everything(),
    uniform(2),
    uniform(2, redraw=True),
    class_balanced(3, redraw=True),
    sign_bias(m=0.5, redraw=True),
    rotation_bias(m=0.25, angle=1.0),
)
PROBLEMS = {
    "one row": lambda: random_glm(clients=3, components=9, dimension=5),
    "rows and offsets": lambda: world(3, N=3, n=5, d=4, offsets=True, ragged=True),
    "separable": lambda: random_separable(clients=3, past=5, current=6, dimension=4),
    "quadratic": lambda: random_quadratic(clients=3, dimension=4),
}


def gap(a, b):
    return np.abs(a.iterates - b.iterates).max() / np.abs(b.iterates).max()


@pytest.mark.full
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_fast_mode_agrees_over_100_rounds(data):
    row = data.draw(st.sampled_from(PLAIN + ON_MEMORY), "row")
    problem = PROBLEMS[data.draw(st.sampled_from(sorted(PROBLEMS)), "problem")]()
    L = problem.constants["L"].value
    run = {"local_steps": data.draw(st.integers(1, 9), "E"), "rounds": 100, "iterates": True}
    run["beta"] = 0.1 / (L * run["local_steps"])
    if row in ON_MEMORY:
        run |= {"alpha": 0.1 / L, "memory": data.draw(st.sampled_from(MEMORIES), "memory")}
    replicas, threads = data.draw(st.integers(1, 11), "replicas"), data.draw(st.integers(1, 3), "threads")
    run |= {"replicas": replicas, "diagnostics": data.draw(st.sampled_from(["none", "cheap"]), "diagnostics")}
    fast = simulate(problem, row, mode="fast", threads=threads, **run)
    assert gap(fast, simulate(problem, row, **run)) <= 1e-10
    assert fast.config["mode"] == "fast"


@pytest.mark.parametrize("diagnostics", ["none", "cheap", "all"])
@pytest.mark.parametrize("name", sorted(PROBLEMS))
@pytest.mark.parametrize("row", ["c_flag", "scaffold", "local_gd"])
def test_bitwise_replicas_do_not_depend_on_their_batch(name, row, diagnostics):
    problem = PROBLEMS[name]()
    run = (WITH_MEMORY if row == "c_flag" else RUN) | {"diagnostics": diagnostics, "iterates": True}
    whole = simulate(problem, row, replicas=11, threads=1, **run)
    for first, count, threads in ((0, 4, 1), (4, 6, 2), (10, 1, 1), *((first, 1, 1) for first in range(11))):
        part = simulate(problem, row, replicas=count, first_replica=first, threads=threads, **run)
        assert part.columns.keys() == whole.columns.keys()
        assert differing(part, whole, slice(first, first + count)) == []


@pytest.mark.parametrize("engine_name", ["reference", "compiled"])
def test_parts_of_a_run_are_the_run(engine_name):
    for row, run in (("c_flag", WITH_MEMORY), ("cfl", RUN)):
        problem = world(1)
        whole = simulate(problem, row, replicas=4, iterates=True, engine=engine_name, **run).iterates
        part = simulate(problem, row, replicas=2, first_replica=2, iterates=True, engine=engine_name, **run).iterates
        assert np.array_equal(part, whole[2:])


@pytest.mark.parametrize("diagnostics", ["cheap", "all"])
@pytest.mark.parametrize("row", [*PLAIN, *ON_MEMORY])
def test_other_coordinates_change_nothing(monkeypatch, row, diagnostics):
    problem = PROBLEMS["separable"]()
    run = RUN | {"iterates": True, "diagnostics": diagnostics, "replicas": 5}
    memories = MEMORIES if row in ON_MEMORY else (None,)
    for memory in memories:
        if memory is not None:
            run |= {"alpha": 0.05, "memory": memory}
        turned = simulate(problem, row, **run)
        with monkeypatch.context() as patch:
            patch.setattr(engine, "run", partial(engine.run, rotate=False))
            straight = simulate(problem, row, **run)
        assert gap(turned, straight) <= 1e-12
        assert np.array_equal(turned.iterates[:, 0], straight.iterates[:, 0])
        for name in turned.columns:
            scale = np.abs(straight.column(name)).max()
            # Squares of differences that cancel are compared with what they are differences of.
            scale = max(scale, 1e-3 * straight.column("delayed_sum2").max() if "delayed_sum2" in turned.columns else 0)
            assert np.abs(turned.column(name) - straight.column(name)).max() <= 1e-9 * scale, name


def test_a_problem_cannot_be_changed_in_place_and_a_changed_one_is_not_taken_for_it():
    problem = PROBLEMS["one row"]()
    before = simulate(problem, "c_flag", **WITH_MEMORY, iterates=True).iterates
    for array in (problem.p, problem.start, problem.labels, problem.past.rows, problem.current.client_start):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    shifts = problem.current.shifts + 0.5
    problem = dataclasses.replace(problem, current=dataclasses.replace(problem.current, shifts=shifts))
    shifts += 1
    after = simulate(problem, "c_flag", **WITH_MEMORY, iterates=True)
    plain = simulate(problem, "c_flag", **WITH_MEMORY, iterates=True, engine="reference")
    assert gap(after, plain) <= 1e-12
    assert not np.array_equal(after.iterates, before)


def test_coordinates_are_found_in_the_arrays():
    separable = PROBLEMS["separable"]()
    assert common_basis(separable) is not None
    for field in ("rows", "shifts"):
        changed = getattr(separable.current, field).copy()
        changed[-1] += 1e-9
        current = dataclasses.replace(separable.current, **{field: changed})
        assert common_basis(dataclasses.replace(separable, current=current)) is None
    for name in ("one row", "rows and offsets", "quadratic"):
        assert common_basis(PROBLEMS[name]()) is None


@pytest.mark.full
@pytest.mark.parametrize("mode", ["bitwise", "fast"])
@pytest.mark.parametrize("name", sorted(PROBLEMS))
@pytest.mark.parametrize("row", ["c_flag", "fedavg", "scaffold", "local_gd"])
def test_single_precision(name, row, mode):
    problem = PROBLEMS[name]()
    run = (WITH_MEMORY if row == "c_flag" else RUN) | {"replicas": 5, "iterates": True, "mode": mode}
    single, double = (simulate(problem, row, dtype=dtype, **run) for dtype in ("float32", "float64"))
    # A few hundred additions of numbers of the iterates' size, each off by 2^-24.
    assert 0 < gap(single, double) <= 300 * 2.0**-24
    assert all(column.dtype == np.float64 for name, column in single.columns.items() if name not in COSTS)
    assert np.allclose(single.column("f"), double.column("f"), rtol=1e-4)
    assert single.config["dtype"] == "float32"


COSTS = ("ifo_calls", "communicated")


def test_recorded_columns_are_those_of_the_whole_run():
    problem = PROBLEMS["one row"]()
    whole = simulate(problem, "c_flag", replicas=3, **WITH_MEMORY)
    for name in whole.columns:
        one = simulate(problem, "c_flag", replicas=3, columns=(name,), **WITH_MEMORY)
        assert list(one.columns) == [name]
        assert differing(one, whole) == []
    assert set(one.absent) == set(COLUMNS) - {name}
    with pytest.raises(InvalidInput, match=r"'f' was not measured: the run recorded only .*, name it in columns"):
        one.column("f")


def test_recorded_columns_of_a_run_that_diverges():
    problem = world(7, potential=QUADRATIC)
    run = {"beta": 50.0, "local_steps": 3, "rounds": 80, "throw": False, "replicas": 2}
    whole = simulate(problem, "fedtrack", **run)
    some = simulate(problem, "fedtrack", **run, columns=("grad_g2",))
    assert not some.ok
    assert np.array_equal(some.column("grad_g2"), whole.column("grad_g2"))
    assert list(some.end) == ["grad_g2"]


@pytest.mark.parametrize(("row", "engine_name"), [("c_flag", "compiled"), ("cfl", "compiled"), ("c_flag", "reference")])
def test_every_so_many_rounds(tmp_path, row, engine_name):
    problem = PROBLEMS["one row"]()
    run = (WITH_MEMORY if row == "c_flag" else RUN) | {"rounds": 8, "diagnostics": "all", "engine": engine_name}
    whole, some = simulate(problem, row, **run), simulate(problem, row, **run, every=3)
    assert some.rounds_of("rho_sum2").tolist() == [0, 3, 6]
    assert some.rounds_of("f").tolist() == list(range(8))
    for name in whole.columns:
        assert np.array_equal(some.column(name), whole.column(name)[:, some.rounds_of(name)]), name
    again = read_trace(write_trace(tmp_path / "run.npz", some))
    assert np.array_equal(again.column("rho_sum2"), some.column("rho_sum2"))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"mode": "quick"}, UnknownName, "mode 'quick' is unknown: use one of bitwise, fast"),
        ({"dtype": "float16"}, UnknownName, "dtype 'float16' is unknown: use one of float64, float32"),
        ({"columns": ("loss",)}, UnknownName, "column 'loss' is unknown"),
        ({"columns": "f"}, InvalidInput, "columns is 'f': use a list or None"),
        ({"columns": ()}, InvalidInput, r"columns is \(\)"),
        ({"columns": ("rho_sum2",)}, InvalidInput, "'rho_sum2' cannot be recorded: .* diagnostics='all'"),
        ({"every": 2}, InvalidInput, "every is 2 and diagnostics is 'cheap'"),
        ({"every": 0}, InvalidInput, "every is 0"),
        ({"first_replica": -1}, InvalidInput, "first_replica is -1"),
        ({"first_replica": 1 << 32}, InvalidInput, "below 2"),
        ({"dtype": "float32", "engine": "reference"}, InvalidInput, "float64 alone"),
    ],
)
def test_refusals(changes, error, message):
    with pytest.raises(error, match=message):
        simulate(world(0), "c_flag", **(WITH_MEMORY | changes))
    with pytest.raises(InvalidInput, match="CFL framework"):
        simulate(world(0), algorithm("cfl"), **RUN, dtype="float32")


@pytest.mark.parametrize("weights", ["equal", "one is zero"])
@pytest.mark.parametrize("row", ["c_flag", "c_flag_printed", "fedtrack"])
def test_sums_over_clients_are_those_of_the_reference(row, weights):
    """Where nothing is recorded in a round, no client's gradient is made; some of 13 rows come back in 30 steps."""
    problem = random_glm(clients=4, components=13, dimension=19)
    if weights == "one is zero":
        problem = dataclasses.replace(problem, p=np.array([0.5, 0.0, 0.3, 0.2]))
    L = float(problem.constants["L"].value)
    run = {"beta": 0.1 / L, "local_steps": 30, "rounds": 20, "replicas": 11, "iterates": True, "diagnostics": "none"}
    for redraw in (False, True) if row != "fedtrack" else (False,):
        if row != "fedtrack":
            run |= {"alpha": 0.1 / L, "memory": uniform(3, redraw=redraw)}
        fast = simulate(problem, row, mode="fast", **run)
        reference = simulate(problem, row, engine="reference", **run)
        assert gap(fast, reference) <= 1e-12
        assert all(np.allclose(fast.end[name], reference.end[name], rtol=1e-11) for name in reference.end)


def test_what_was_tested_once_is_tested_again_after_a_change():
    problem = PROBLEMS["one row"]()
    for _ in range(3):
        simulate(problem, "fedavg", **RUN)
    rows = problem.current.rows.copy()
    rows[2, 1] = np.nan
    changed = dataclasses.replace(problem, current=dataclasses.replace(problem.current, rows=rows))
    with pytest.raises(InvalidInput, match="NaN"):
        simulate(changed, "fedavg", **RUN)
