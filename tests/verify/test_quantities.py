"""The tables of quantities: every entry has a value, and the values obey identities that no table was made from."""

from fractions import Fraction

import pytest
import sympy as sp
from cflag_theory.claims.c_flag.local_steps.drift import drift, error

from cflag_theory.claims.c_flag.past_task import runs
from cflag_theory.claims.cfl.one_round import local_drift, progress, recursion
from cflag_theory.claims.engine.notation import E, L, alpha, beta, grad_g, k
from cflag_theory.verify.instances import c_flag, cfl
from cflag_theory.verify.instances.drift_rounds import DriftRounds
from cflag_theory.verify.instances.on_the_line import on_the_line, root

HALF = Fraction(1, 2)
WORLD = DriftRounds(
    weights=((Fraction(1),), (HALF, HALF)), start=Fraction(1), b=HALF, eta_l=HALF, D=HALF, G=HALF, R=-HALF, A=HALF
)


def test_a_round_of_cfl_obeys_its_identities():
    at = cfl.WorldRound(WORLD, 2)
    found = at.values(*cfl.TABLE)
    assert list(found) == list(cfl.TABLE)
    assert not any(isinstance(value, float) for value in found.values())
    moved = found[progress.dist2] + 2 * found[progress.dist_dot_move] + found[progress.move2]
    assert found[progress.next2] == moved
    assert found[progress.pull] == found[progress.true_pull] + found[progress.loss_pull]
    assert found[recursion.rho2] == found[progress.rho] ** 2 == Fraction(1, 16)
    assert (found[local_drift.c_Bi], found[local_drift.c_Gi]) == (Fraction(9, 8), Fraction(3, 8))
    # f is a quadratic of curvature 1: its gap is half of the squared distance.
    assert found[progress.gap] == found[progress.dist2] / 2


def test_an_exact_round_of_c_flag_is_read_from_its_trace():
    """One component -x^2/2 + x from 0: the drift after k steps is (1 + beta)^k - 1, and no gradient is delayed."""
    round_ = c_flag.ExactRound(on_the_line([[(1, 0)]], [[(-1, -1)]], start=0, L=1), HALF, HALF, 3)
    assert c_flag.of(round_, alpha, beta, E, k, L, grad_g) == {alpha: HALF, beta: HALF, E: 3, k: 2, L: 1, grad_g: 1}
    assert c_flag.of(round_, drift(k), error(k)) == {drift(k): Fraction(3, 2) ** 2 - 1, error(k): 0}


def test_a_run_averaged_over_its_draws():
    run = c_flag.averaged_run(Fraction(4, 5), Fraction(4, 5), T=2, root_m=HALF, push=Fraction(1))
    found = c_flag.of(run, *c_flag.SUMS)
    assert found[runs.T] == run.rounds
    assert found[runs.f_mean(0)] == HALF
    assert found[runs.bias2_sum] == found[runs.grad_f2_sum] / 4
    assert (
        found[runs.memory2_sum] == found[runs.grad_f2_sum] + 2 * found[runs.grad_dot_bias_sum] + found[runs.bias2_sum]
    )


def test_what_no_table_has_and_what_has_no_rational_root():
    with pytest.raises(KeyError):
        c_flag.of(c_flag.averaged_run(HALF, HALF), sp.Symbol("nobody"))
    assert root(Fraction(9, 4)) == Fraction(3, 2)
    with pytest.raises(ValueError, match="2 has no rational root"):
        root(Fraction(2))
