"""What a recorded run says about L, m and r: never more than the truth, and all of it where one dimension shows all."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import COLUMNS, Status, Trace, make_problem, simulate, to_exact, uniform
from cflag_theory.verify import estimate_constants


def run(problem="default", row="c_flag", *, iterates=False, diagnostics="cheap", redraw=False, rounds=25):
    given = {"alpha": 0.15} if row.startswith("c_flag") else {}
    return simulate(
        make_problem(problem),
        row,
        beta=0.02,
        local_steps=4,
        rounds=rounds,
        memory=uniform(6, redraw=redraw),
        replicas=2,
        engine="reference",
        iterates=iterates,
        diagnostics=diagnostics,
        **given,
    )


def trace(*, iterates=None, config=None, **columns):
    """One replica of an invented run: any columns, nothing at the end."""
    columns = {name: np.array([values], dtype=float) for name, values in columns.items()}
    rounds = next(iter(columns.values())).shape[1]
    return Trace(
        columns=columns,
        end={},
        status=np.array([Status.OK]),
        rounds_done=np.array([rounds]),
        absent={name: "it was left out" for name in COLUMNS if name not in columns},
        config=config or {},
        iterates=None if iterates is None else np.array([iterates], dtype=float)[..., None],
    )


def named(found, name):
    return next(one for one in found.estimates if one.name == name)


@pytest.mark.full
@pytest.mark.parametrize("row", ["c_flag", "fedtrack", "fedavg", "fedprox", "scaffold", "c_flag_adaptive"])
@pytest.mark.parametrize("problem", ["default", "glm", "quadratic"])
@pytest.mark.parametrize("iterates", [False, True])
def test_no_estimate_of_L_is_above_it(problem, row, iterates):
    L = float(make_problem(problem).constants["L"].value)
    for lowest in (None, -10.0, 0.0):
        if lowest == 0.0 and problem == "quadratic":
            continue
        found = named(estimate_constants(run(problem, row, iterates=iterates), lowest=lowest), "L")
        if found.value is not None:
            assert 0 < found.value <= L


@pytest.mark.parametrize("row", ["c_flag", "fedtrack", "fedprox", "scaffold"])
def test_steps_are_no_longer_than_what_stands_for_them(row):
    """The same run with and without iterates: longer distances can only lower the estimate of neighbours."""
    with_iterates = run(row=row, iterates=True)
    without = replace(with_iterates, iterates=None)
    assert estimate_constants(without).value("L") <= estimate_constants(with_iterates).value("L") * (1 + 1e-9)
    lengths = np.linalg.norm(np.diff(with_iterates.iterates, axis=1), axis=2)
    steps = 0.02 * with_iterates.root("delayed_sum2")
    if row == "c_flag":
        steps = steps + 0.15 * with_iterates.root("grad_memory2")
    assert (lengths <= steps * (1 + 1e-9)).all()


def test_one_dimension_shows_the_whole_slope():
    x = np.array([3.0, 2.0, 1.5, 1.25])
    L = 4.0
    found = estimate_constants(trace(f=L / 2 * x**2, grad_f2=(L * x) ** 2, iterates=[*x, 1.0]))
    one = named(found, "L")
    assert one.value == pytest.approx(L, rel=1e-9)
    assert one.value <= L
    assert one.how == "slope of f"
    # All pairs of four, and three neighbours again.
    assert one.samples == 6 + 3


def test_across_a_minimum_the_values_say_more_than_the_norms():
    # f = (L/2) x^2 + x between points of equal gradient norm: slope says nothing.
    L, x = 2.0, np.array([1.0, -2.0])
    f = L / 2 * x**2 + x
    one = named(estimate_constants(trace(f=f, grad_f2=(L * x + 1) ** 2, iterates=[*x, 0.0])), "L")
    assert np.ptp(np.abs(L * x + 1)) == 0
    assert one.value is None
    # A steep rise over a short way: 2 (|f(y) - f(x)| - n d) / d^2 with n = 0 at the lower point.
    x = np.array([0.0, 1.0])
    one = named(estimate_constants(trace(f=3.0 * x**2, grad_f2=np.array([0.0, 0.0]), iterates=[*x, 2.0])), "L")
    assert (one.value, one.how) == (pytest.approx(6.0, rel=1e-9), "curvature of f")


def test_a_lowest_value_gives_L_without_any_distance():
    x = np.array([3.0, 1.0])
    recorded = trace(f=2.0 * x**2, grad_f2=(4.0 * x) ** 2)
    assert estimate_constants(recorded).value("L") is None
    assert estimate_constants(recorded, lowest=0.0).value("L") == pytest.approx(4.0, rel=1e-9)
    # A lower number is allowed and says less.
    assert estimate_constants(recorded, lowest=-1.0).value("L") < 4.0
    with pytest.raises(InvalidInput, match=r"lowest = 2.5 is above f = 2 of the run: lower it"):
        estimate_constants(recorded, lowest=2.5)
    with pytest.raises(InvalidInput, match="lowest = nan is not allowed"):
        estimate_constants(recorded, lowest=math.nan)


def test_rounding_is_no_curvature():
    """Points that only rounding tells apart say nothing, however steep their quotient is."""
    x = np.array([1.0, 1.0 + 1e-15, 1.0 + 2e-15])
    norms = np.array([1.0, 1.0 + 1e-12, 1.0 - 1e-12])
    assert estimate_constants(trace(f=x, grad_f2=norms**2, iterates=[*x, 1.0])).value("L") is None
    # In single precision the same holds for larger differences.
    x, norms = np.array([1.0, 1.01]), np.array([1.0, 1.00001])
    recorded = trace(f=np.ones(2), grad_f2=norms**2, iterates=[*x, 1.0])
    assert estimate_constants(recorded).value("L") == pytest.approx(1e-3, rel=1e-3)
    assert estimate_constants(replace(recorded, config={"dtype": "float32"})).value("L") is None


def test_rounds_that_were_not_measured_are_left_out():
    x = np.array([3.0, 2.0, 1.5, 1.25])
    f, squares = 2.0 * x**2, (4.0 * x) ** 2
    f[1] = squares[2] = math.nan
    found = estimate_constants(trace(f=f, grad_f2=squares, iterates=[*x, 1.0]))
    assert found.value("L") == pytest.approx(4.0, rel=1e-9)
    # Rounds 0, 1 and 3 have a norm: three pairs, and two neighbours among what is left.
    assert named(found, "L").samples == 3 + 2
    # Without any value the norms still say what they say.
    assert estimate_constants(trace(grad_f2=squares, iterates=[*x, 1.0])).value("L") == pytest.approx(4.0, rel=1e-9)


@pytest.mark.parametrize("how", ["slope", "change"])
def test_recorded_steps_stand_for_iterates(how):
    """A run of a large network records lengths only, whatever made its steps."""
    x, L = np.array([3.0, 2.0, -1.5, -1.25, 1.0]), 4.0
    columns = {"step2": np.diff(x) ** 2, "grad_f2": (L * x[:-1]) ** 2}
    adapted = {"beta": "1e-9", "algorithm": {"adaptive": 3}}
    if how == "change":
        columns["grad_f_change2"] = (L * np.diff(x)) ** 2
        # Across the minimum norms say less: slope is blind where only that step was recorded.
        columns["grad_f2"] = np.full(4, math.nan)
        columns["step2"][0] = math.nan
    found = named(estimate_constants(trace(**columns, config=adapted)), "L")
    assert found.value == pytest.approx(L, rel=1e-9)
    assert found.value <= L
    assert (found.how, found.samples) == (f"{how} of f", 3)
    # Longer steps say less; a step of rounding's length says nothing.
    longer = trace(**columns | {"step2": 4 * columns["step2"]}, config=adapted)
    assert estimate_constants(longer).value("L") == pytest.approx(L / 2, rel=1e-9)
    small = trace(**columns | {"step2": np.array([1e-30, 1e-30, 1e-30, 1.0])}, config=adapted)
    assert named(estimate_constants(small), "L").samples <= 1


def test_a_union_that_changes_every_round_is_left_out():
    columns = {"h": np.array([0.0, 100.0]), "grad_h2": np.array([0.0, 0.0])}
    assert estimate_constants(trace(**columns, iterates=[0.0, 1.0, 2.0])).value("L") == pytest.approx(200, rel=1e-9)
    redrawn = trace(**columns, iterates=[0.0, 1.0, 2.0], config={"memory": {"redraw": True}})
    assert estimate_constants(redrawn).value("L") is None


def test_ratios_are_the_largest_of_the_run():
    recorded = run()
    found = estimate_constants(recorded)
    end = recorded.at_end("b2") / recorded.at_end("grad_f2")
    assert found.value("m") == pytest.approx(max(float(recorded.m_met), float(end.max())))
    assert named(found, "m").samples == 2 * 26
    assert found.value("r") >= recorded.r_met * (1 - 1e-12)
    assert found.value("gap") > 0
    assert found.value("grad_g") == pytest.approx(math.sqrt(recorded.column("grad_g2").mean()))
    assert found.settings == {"alpha": 0.15, "beta": 0.02, "E": 4.0, "T": 25.0}


def test_a_bias_at_a_stationary_point_has_no_m():
    found = estimate_constants(trace(b2=np.array([1.0, 1.0]), grad_f2=np.array([1.0, 0.0])))
    assert found.value("m") == math.inf
    assert found.to_json()["estimates"][1]["value"] == "inf"
    # Where both are rounding, the ratio is none.
    found = estimate_constants(trace(b2=np.array([1.0, 1e-30]), grad_f2=np.array([4.0, 1e-31])))
    assert found.value("m") == 0.25


def test_an_exact_run_says_the_same():
    problem = make_problem("quadratic")
    given = {"local_steps": 2, "rounds": 3, "memory": uniform(2), "engine": "reference", "iterates": True}
    floats = estimate_constants(simulate(problem, "c_flag", alpha=0.125, beta=0.03125, **given))
    exact = simulate(to_exact(problem), "c_flag", alpha=Fraction(1, 8), beta=Fraction(1, 32), **given)
    found = estimate_constants(exact)
    assert found.settings == floats.settings == {"alpha": 0.125, "beta": 0.03125, "E": 2.0, "T": 3.0}
    for one, other in zip(found.estimates, floats.estimates, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-6)


def test_what_is_missing_is_said():
    found = estimate_constants(run(diagnostics="none"))
    assert [one.value for one in found.estimates if one.name in ("L", "m", "r")] == [None] * 3
    for name in ("L", "m", "r"):
        assert "use 'cheap' or 'all'" in named(found, name).how
    json.dumps(found.to_json(), allow_nan=False)
    adapted = named(estimate_constants(run(row="c_flag_adaptive")), "L")
    assert adapted.value is None
    assert "iterates=True" in adapted.how


def test_the_caveat_says_that_samples_bound_nothing_from_above():
    found = estimate_constants(run())
    assert "No number of samples bounds them from above" in found.caveat
    assert found.to_json()["caveat"] == found.caveat


def test_a_redrawn_memory_may_do_with_less_in_the_mean():
    fixed, redrawn = (named(estimate_constants(run(redraw=redraw)), "m").how for redraw in (False, True))
    assert "in the mean over draws" in redrawn
    assert "in the mean over draws" not in fixed
