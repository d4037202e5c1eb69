"""Claims and bounds compared with recorded runs."""

from dataclasses import replace

import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import default_memory, default_problem, simulate
from cflag_theory.testing import assert_claim, bound


def run(**more):
    options = {"alpha": 0.5, "beta": 0.002, "local_steps": 10, "rounds": 20, "memory": default_memory()} | more
    return simulate(default_problem(), "c_flag", diagnostics="all", **options)


@pytest.fixture(scope="module")
def trace():
    return run()


L = 1.8701171875


def test_proved_claims_hold_along_a_run(trace):
    assert assert_claim("cflag.lemma13", trace, L=L) == 20
    assert assert_claim("cflag.eq126", trace, L=L) > 0
    assert assert_claim("cflag.eq151.2", trace, L=L) == 20


def test_a_run_that_is_not_the_algorithms_breaks_a_claim(trace):
    columns = {**trace.columns, "drift2_max": trace.columns["drift2_max"] * 100.0}
    with pytest.raises(AssertionError, match=r"cflag.lemma13.1 fails in replica 0, round 0: [\d.e-]+ on the left"):
        assert_claim("cflag.lemma13", replace(trace, columns=columns), L=L)


def test_claims_are_refused_with_the_reason(trace):
    for id, words in (
        ("cflag.lemma3", "is proved neither as printed nor repaired"),
        ("cflag.eq126.1", "which the run does not show: choose a claim about single rounds"),
        ("cflag.lemma9", "speaks of"),
    ):
        with pytest.raises(InvalidInput, match=words):
            assert_claim(id, trace, L=L)
    with pytest.raises(InvalidInput, match=r"hold in no round of this run: .*beta"):
        assert_claim("cflag.lemma13", run(beta=0.2), L=L)
    with pytest.raises(InvalidInput, match="the run is of 'fedavg'"):
        assert_claim("cflag.lemma13", simulate(default_problem(), "fedavg", beta=0.01, local_steps=2, rounds=2), L=L)
    with pytest.raises(InvalidInput, match=r"trace is \{\}: use a Trace"):
        assert_claim("cflag.lemma13", {}, L=L)


def test_a_bound_beside_what_was_measured(trace):
    found = bound("ours.drawn_once", trace, L=L, m=0.5, gap=1.0)
    assert found.holds
    assert 0 < found.measured < found.bound
    lower = bound("ours.drawn_once", trace, L=L, m=0.5, gap=1e-6)
    assert not replace(lower, measured=2 * lower.bound)


@pytest.mark.parametrize(
    ("id", "numbers", "words"),
    [
        ("ours.drawn_once", {"L": 0.1}, "L = 0.1 was given, and the run shows that it is at least"),
        ("ours.drawn_once", {"L": 4.0}, "hypotheses of ours.drawn_once are not met by this run: alpha <= 1/L"),
        ("cflag.lemma3", {}, "cflag.lemma3 is not proved as printed: use one of"),
        ("cflag.eq3", {}, "cflag.eq3 has no bound here: use one of"),
        ("ours.redrawn", {}, "drawn anew in every round, and this run has one memory"),
        ("ours.forgetting_step", {}, "needs r: give them"),
    ],
)
def test_bounds_are_refused_with_the_reason(trace, id, numbers, words):
    with pytest.raises(InvalidInput, match=words):
        bound(id, trace, **{"L": L, "m": 0.5} | numbers)
