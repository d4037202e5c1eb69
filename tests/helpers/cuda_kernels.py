"""The CUDA kernels against the compiled loop: on a GPU, or in Numba's simulator as `test_cuda.py` runs this file.

The simulator must be chosen before Numba is imported: NUMBA_ENABLE_CUDASIM=1. Warps have two lanes there and blocks of
the large kernels two warps, so that sums over lanes and over warps all happen while the threads stay few. On a GPU:
`python -m pytest tests/helpers/cuda_kernels.py`; with CuPy the matrix products are those of cuBLAS.
"""

import dataclasses
import gc
import sys
import warnings
import weakref
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from worlds import QUADRATIC, world

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import (
    ALGORITHMS,
    Status,
    algorithm,
    class_balanced,
    everything,
    formulas,
    given,
    make_problem,
    rotation_bias,
    sign_bias,
    simulate,
    uniform,
)
from cflag_theory.kernels.engines.cuda import host as cuda_host
from cflag_theory.kernels.engines.cuda import large_problems as cuda_large
from cflag_theory.kernels.engines.cuda import run as cuda
from cflag_theory.kernels.engines.cuda import small_problems as cuda_small
from cflag_theory.kernels.engines.cuda import team as cuda_team
from cflag_theory.kernels.engines.cuda.products import cupy

SIMULATED = cuda_team.SIMULATED
#: The kernels, and the large ones with a library's products: CuPy's on a GPU, NumPy's in the simulator.
LIBRARY = np if SIMULATED else cupy()
WAYS = {
    "small": {"layout": "small"},
    "large": {"layout": "large"},
    **({} if LIBRARY is None else {"products": {"layout": "large", "library": LIBRARY}}),
}
in_the_simulator = pytest.mark.skipif(not SIMULATED, reason="of the simulator's warps and streams")
ROWS = [
    *(row for row in ALGORITHMS.values() if row.classic),
    algorithm("c_flag", adaptive="average"),
    algorithm("c_flag", adaptive="server"),
    algorithm("c_flag", adaptive="clients"),
    algorithm("c_flag", server_rate=1.5, proximal=0.2),
    algorithm("scaffold", server_rate=0.5),
    algorithm("local_gd", correction="tracking", memory=True),
]
MEMORIES = [
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
#: Everything in the small kernel, and in turn in the two forms of the large ones.
TURNS = [(number, way) for number in range(len(ROWS)) for way in ("small", tuple(WAYS)[1:][number % (len(WAYS) - 1)])]
RUN = {"beta": 0.05, "local_steps": 6, "rounds": 2, "replicas": 2, "seed": 3}


@pytest.fixture(autouse=True)
def few_threads(monkeypatch):
    if SIMULATED:
        monkeypatch.setattr(cuda_team, "LANES", 2)
        monkeypatch.setattr(cuda_large, "THREADS", 4)


@pytest.fixture(autouse=True)
def quick_switches():
    """The simulator's threads wait for each other all the time."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


def run_in(way, problem, row, **options):
    """The Trace of the compiled loop, or of the kernels in one of `WAYS`."""
    options = {"iterates": True, "throw": False} | options
    if way is None:
        return simulate(problem, row, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda, "require_gpu", lambda: None)
        patch.setattr(cuda, "run", partial(cuda.run, **WAYS[way]))
        return simulate(problem, row, engine="cuda", **options)


def arrays_of(trace):
    """Everything that a run measured, by name."""
    columns = {f"column {name}": values for name, values in trace.columns.items()}
    end = {f"end {name}": values for name, values in trace.end.items()}
    return columns | end | {"x": trace.iterates, "status": trace.status, "rounds": trace.rounds_done}


def assert_close(found, expected, tolerance, absolute=1e-13):
    a, b = arrays_of(found), arrays_of(expected)
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].shape == b[name].shape, name
        # A column has one scale; where all of it is rounding, nothing but rounding is left.
        scale = np.abs(b[name]).max(initial=0.0)
        assert (np.abs(a[name] - b[name]) <= tolerance * scale + absolute).all(), name


def assert_same(found, expected):
    a, b = arrays_of(found), arrays_of(expected)
    assert a.keys() == b.keys()
    assert all((a[name] == b[name]).all() for name in a)


@pytest.mark.parametrize(("number", "way"), TURNS[: 2 * len(ROWS)])
def test_every_row_agrees_with_the_compiled_loop(number, way):
    row = ROWS[number]
    d = (3, 9)[number % 2]
    problem = world(number, N=1 + number % 3, d=d, potential=number % 4, offsets=number % 3 == 0, ragged=True)
    memory = MEMORIES[number % len(MEMORIES)] if row.memory or number % 2 else None
    alpha = {"alpha": 0.05} if row.memory else {}
    diagnostics = ("none", "cheap")[number % 4 < 3]
    options = {"memory": memory, "diagnostics": diagnostics} | alpha | RUN
    expected = run_in(None, problem, row, **options)
    assert expected.ok
    assert_close(run_in(way, problem, row, **options), expected, 1e-12)


@pytest.mark.parametrize(("number", "way"), TURNS[: 2 * len(MEMORIES)])
def test_every_memory_agrees_with_the_compiled_loop(number, way):
    problem = world(number, N=2, d=(9, 3)[number % 2], potential=number % 4, offsets=number % 2 == 0)
    # Where only the end is measured, most rounds do without grad f.
    options = {"alpha": 0.05, "memory": MEMORIES[number], "diagnostics": ("cheap", "none")[number % 4 < 2]} | RUN
    assert_close(run_in(way, problem, "c_flag", **options), run_in(None, problem, "c_flag", **options), 1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_a_given_memory_agrees_with_the_compiled_loop(way):
    problem = world(5, N=2, n=3, offsets=True)
    options = {"alpha": 0.05, "memory": given([[0, 2], [4]])} | RUN
    assert_close(run_in(way, problem, "c_flag", **options), run_in(None, problem, "c_flag", **options), 1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_iterates_agree_over_a_hundred_rounds(way):
    problem = world(8, N=2, n=2, d=3, potential=formulas.GEMAN_MCCLURE, rows_per=(1, 1))
    options = RUN | {"rounds": 100, "replicas": 1, "local_steps": 2, "diagnostics": "none"}
    options |= {"alpha": 0.02, "memory": uniform(1, redraw=True)}
    found, expected = run_in(way, problem, "c_flag", **options), run_in(None, problem, "c_flag", **options)
    error = np.linalg.norm(found.iterates - expected.iterates, axis=2)
    assert (error <= 1e-10 * np.linalg.norm(expected.iterates, axis=2)).all()
    # The draws are the same: with others the runs part at once.
    other = run_in(None, problem, "c_flag", **options | {"seed": 4})
    assert np.abs(other.iterates - expected.iterates).max() > 1e-3


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_diverges_stops_where_the_compiled_loop_stops(way):
    problem = world(2, N=2, n=2, d=2, potential=QUADRATIC)
    options = RUN | {"rounds": 12, "beta": 1e9, "local_steps": 2}
    for diagnostics in ("none", "cheap"):
        options |= {"alpha": 0.0, "memory": everything(), "diagnostics": diagnostics}
        with warnings.catch_warnings():
            # NumPy's numbers, which the simulator computes with, warn where a GPU goes on.
            warnings.simplefilter("ignore")
            found, expected = run_in(way, problem, "c_flag", **options), run_in(None, problem, "c_flag", **options)
        assert (expected.status == Status.DIVERGED).all()
        assert 0 < expected.rounds_done.max() < 12
        assert found.status.tolist() == expected.status.tolist()
        assert found.rounds_done.tolist() == expected.rounds_done.tolist()


@pytest.mark.parametrize("way", WAYS)
def test_a_start_without_a_finite_value_is_told_from_a_run_that_diverges(way):
    problem = world(2, N=2, n=2, d=2, potential=QUADRATIC)
    problem = dataclasses.replace(problem, start=np.full(2, 1e160))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for engine in (way, None):
            with pytest.raises(InvalidInput, match="has no finite value or gradient at its start"):
                run_in(engine, problem, "fedtrack", **RUN)


@pytest.mark.parametrize("way", WAYS)
def test_float32_stays_near_float64(way):
    problem = world(4, N=2, d=9, potential=formulas.COSINE, offsets=True)
    options = {"alpha": 0.05, "memory": rotation_bias(m=0.5)} | RUN
    expected = run_in(None, problem, "c_flag_adaptive", **options)
    found = run_in(way, problem, "c_flag_adaptive", dtype="float32", **options)
    assert_close(found, expected, 2e-5, 1e-6)
    assert (found.iterates[:, -1].astype(np.float32) == found.iterates[:, -1]).all()
    assert np.abs(found.iterates[:, -1] - expected.iterates[:, -1]).max() > 1e-12


@in_the_simulator
def test_whole_warps_agree_with_narrow_ones(monkeypatch):
    problem = world(6, N=2, n=2, d=5, rows_per=(1, 1))
    options = RUN | {"rounds": 1, "replicas": 1, "alpha": 0.05, "memory": uniform(1)}
    narrow = run_in("small", problem, "c_flag", **options)
    monkeypatch.setattr(cuda_team, "LANES", 32)
    assert_close(run_in("small", problem, "c_flag", **options), narrow, 1e-12)


def test_a_warp_may_serve_several_clients(monkeypatch):
    problem = world(7, N=5, n=2)
    expected = run_in("small", problem, "scaffold", **RUN)
    monkeypatch.setattr(cuda_small, "TEAMS", 2)
    assert_same(run_in("small", problem, "scaffold", **RUN), expected)


@pytest.mark.parametrize("way", ["small", "large"])
def test_a_run_may_begin_with_a_later_replica(way):
    options = RUN | {"alpha": 0.05, "memory": uniform(1, redraw=True)}
    both = run_in(way, world(7, N=2, n=3), "c_flag", **options)
    second = run_in(way, world(7, N=2, n=3), "c_flag", first_replica=1, **options | {"replicas": 1})
    expected = arrays_of(both)
    assert all((values == expected[name][1:]).all() for name, values in arrays_of(second).items())


@pytest.mark.parametrize("way", WAYS)
def test_replicas_that_do_not_fit_into_memory_run_one_after_the_other(way, monkeypatch):
    problem = world(7, N=2, n=3)
    options = RUN | {"replicas": 3, "local_steps": 3, "alpha": 0.05, "memory": uniform(2)}
    expected = run_in(way, problem, "c_flag", **options)
    monkeypatch.setattr(cuda_host, "free_bytes", lambda: 1)
    found = run_in(way, problem, "c_flag", **options)
    if way == "products":
        assert_close(found, expected, 1e-12)
    else:
        assert_same(found, expected)
    assert not (found.iterates[0] == found.iterates[2]).all()


@pytest.mark.parametrize("way", WAYS)
def test_what_a_part_of_the_replicas_used_is_free_before_the_next(way, monkeypatch):
    made, alive = [], []
    make_store = cuda_host.make_store

    def watched(*arguments, **options):
        gc.collect()
        alive.append(sum(array() is not None for array in made))
        store = make_store(*arguments, **options)
        made.extend(weakref.ref(array) for array in store[:-2])
        return store

    monkeypatch.setattr(cuda_host, "make_store", watched)
    monkeypatch.setattr(cuda_host, "free_bytes", lambda: 1)
    run_in(way, world(7, N=2, n=1), "fedtrack", **RUN | {"replicas": 3, "rounds": 1, "local_steps": 1})
    assert alive == [0, 0, 0]


def test_a_launch_has_no_more_blocks_than_a_gpu_takes(monkeypatch):
    parts = []
    monkeypatch.setattr(cuda, "BLOCKS", 5)
    monkeypatch.setattr(cuda, "require_gpu", lambda: None)
    monkeypatch.setattr(cuda, "_run_part", lambda plan, part, *arguments: parts.append((part.start, part.stop)))
    simulate(world(7, N=2, n=1), "fedtrack", engine="cuda", **RUN | {"replicas": 3})
    assert parts == [(0, 2), (2, 3)]


class NullStream:
    """CuPy's default stream: the current one within a `with`."""

    current = False

    def __enter__(self):
        NullStream.current = True

    def __exit__(self, *error):
        NullStream.current = False


@in_the_simulator
@pytest.mark.parametrize(("rows_per", "sums"), [((1, 3), 2), ((1, 1), 1)])
def test_products_run_on_the_stream_of_the_kernels(monkeypatch, rows_per, sums):
    # Clients with as many rows each are summed in one call.
    streams = []

    def matmul(*arguments, **options):
        streams.append(NullStream.current)
        return np.matmul(*arguments, **options)

    library = SimpleNamespace(
        matmul=matmul, asarray=np.asarray, cuda=SimpleNamespace(Stream=SimpleNamespace(null=NullStream()))
    )
    monkeypatch.setitem(WAYS, "products", {"layout": "large", "library": library})
    options = RUN | {"rounds": 1, "local_steps": 1, "alpha": 0.05, "memory": uniform(1)}
    problem = world(7, N=2, n=2, rows_per=rows_per)
    found = run_in("products", problem, "c_flag", **options)
    assert len(streams) == 2 * (2 + 3 * sums)
    assert all(streams)
    assert_close(found, run_in(None, problem, "c_flag", **options), 1e-12)


def test_vectors_too_long_for_shared_memory_stay_in_global_memory(monkeypatch):
    problem = world(7, N=2, n=3)
    expected = run_in("large", problem, "local_gd", **RUN)
    monkeypatch.setattr(cuda, "SHARED", 0)
    assert_same(run_in("large", problem, "local_gd", **RUN), expected)


@pytest.mark.parametrize(
    ("clients", "d", "chosen"), [(5, 50, "small"), (5, 300, "large"), (50, 100, "large"), (10, 100, "small")]
)
def test_the_kernels_are_chosen_by_shared_memory_and_width(clients, d, chosen, monkeypatch):
    ran = []
    monkeypatch.setattr(cuda, "_run_small", lambda *arguments: ran.append("small"))
    monkeypatch.setattr(cuda, "_run_large", lambda *arguments: ran.append("large"))
    monkeypatch.setattr(cuda, "require_gpu", lambda: None)
    simulate(world(0, N=clients, n=1, d=d), "fedtrack", engine="cuda", **RUN)
    assert ran == [chosen]


@in_the_simulator
def test_the_simulator_is_no_gpu():
    with pytest.raises(InvalidInput, match="NUMBA_ENABLE_CUDASIM is set and its simulator is for tests: unset it"):
        cuda.require_gpu()


def test_the_default_problem_agrees_with_the_compiled_loop():
    """Components of many rows: separable, with repeated rows."""
    problem = make_problem("separable", clients=2, past=3, current=3, dimension=3)
    options = {"alpha": 0.05, "memory": uniform(2)} | RUN
    assert_close(run_in("small", problem, "c_flag", **options), run_in(None, problem, "c_flag", **options), 1e-12)
