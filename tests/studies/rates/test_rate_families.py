"""A dial varied along a list: each value is the study that it would be alone."""

from __future__ import annotations

import pytest

from cflag_theory.errors import CflagError, InvalidInput
from cflag_theory.kernels import sign_bias
from cflag_theory.studies.rates.families import VARIED, RateCase, rate_family, varied_values
from cflag_theory.verify import rate

TINY = ("clients=2", "past=3", "current=3", "dimension=2")
CASE = RateCase(problem="separable", dials=TINY, memory_size=1, local_steps=2, seed=1)
SMALL = {"horizons": (8, 16, 32), "replicas": 2}


def test_each_value_is_the_study_it_would_be_alone():
    found = rate_family(CASE, "E", [1, 3], **SMALL)
    problem, memory = CASE.build()
    alone = tuple(rate(problem, memory, local_steps=E, seed=1, **SMALL) for E in (1, 3))
    assert (found.varied, found.values, found.studies) == ("E", (1.0, 3.0), alone)
    assert found.to_json()["studies"][0]["E"] == 1


def test_m_brings_a_memory_that_has_it():
    case = RateCase(problem="separable", dials=TINY, local_steps=2, seed=1)
    found = rate_family(case, "m", [0, 0.5, 2], **SMALL)
    assert [study.m for study in found.studies] == pytest.approx([0, 0.5, 2])
    assert case.with_value("m", 0.5).build()[1] == sign_bias(m=0.5)


@pytest.mark.parametrize(
    ("varied", "values", "field"),
    [
        ("N", (2, 3), "clients"),
        ("c", (0.01, 0.02), "c"),
        ("a", (0.0, 1.0), "power"),
        ("alpha", (0.5, 2.5), "alpha_factor"),
        ("E", (1, 2), "E"),
    ],
)
def test_what_is_varied_reaches_the_study(varied, values, field):
    found = rate_family(CASE, varied, values, **SMALL)
    assert tuple(getattr(study, field) for study in found.studies) == values


def test_memory_sizes_and_fresh_memories():
    assert [CASE.with_value("size", size).build()[1].size for size in (1, 3)] == [1, 3]
    assert [CASE.with_value("redraw", flag).build()[1].redraw for flag in (0, 1)] == [False, True]


@pytest.mark.parametrize("r", [0.0, 0.5, 8.0])
@pytest.mark.parametrize("family", ["separable", "glm", "quadratic"])
def test_r_is_a_dial_of_every_family(family, r):
    problem, _ = RateCase(problem=family).with_value("r", r).build()
    assert problem.constants["r"].value == pytest.approx(r)


def test_the_default_problem_is_opened():
    problem, _ = RateCase().with_value("N", 5).build()
    plain, _ = RateCase().build()
    assert (problem.past.weights == plain.past.weights).all()
    assert RateCase().with_value("heterogeneity", 0.25).build()[0].constants["L"].value < plain.constants["L"].value


def test_real_data():
    pytest.importorskip("sklearn")
    case = RateCase(data="digits")
    assert case.with_value("N", 3).build()[0].clients == 3
    assert case.with_value("zeta", 0.1).zeta == 0.1


def test_varied_values():
    assert varied_values("m=0,0.25,1") == ("m", (0.0, 0.25, 1.0))
    for words in ("m", "m=", "=1,2", "m=a,b", ""):
        with pytest.raises(InvalidInput, match="is not understood: write a dial and its values"):
            varied_values(words)


@pytest.mark.parametrize(
    ("varied", "values", "message"),
    [
        ("E", [1], "give at least two different values"),
        ("E", [2, 2], "give at least two different values"),
        ("E", [1, 1.5], "E = 1.5 is not whole: vary E over integers"),
        ("E", [1, float("nan")], "E = nan is not finite"),
        ("r", [1, float("inf")], "r = inf is not finite"),
        ("m", [0.5, -1], "m"),
        ("nosuch", [1, 2], "has no dial 'nosuch'"),
    ],
)
def test_refused_before_anything_runs(varied, values, message):
    started = []
    with pytest.raises(CflagError, match=message):
        rate_family(CASE if varied != "m" else RateCase(), varied, values, **SMALL, progress=started.append)
    assert started == []


def test_every_word_is_explained():
    assert all(VARIED.values())
