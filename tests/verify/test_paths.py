"""A round in slow motion is the round that the kernels run."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cflag_theory.kernels import everything, random_glm, random_quadratic, simulate
from cflag_theory.kernels.problems.by_name import quadratic
from cflag_theory.verify.instances.on_the_line import on_the_line
from cflag_theory.verify.instances.paths import norm, walk


def traced(problem, beta, orders):
    return simulate(
        problem,
        "c_flag",
        alpha=Fraction(1, 3) if problem.exact else 1 / 3,
        beta=beta,
        local_steps=orders.shape[1],
        rounds=1,
        memory=everything(),
        engine="reference",
        orders=orders[None],
        diagnostics="all",
    )


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_walk_measures_what_a_trace_measures(exact, seed):
    rng = np.random.default_rng(seed)
    N, n, E = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 6))
    orders = rng.integers(0, n, (N, E))
    if exact:
        components = [[(Fraction(int(a), 2), Fraction(int(b), 2)) for a, b in rng.integers(-2, 3, (n, 2))]] * N
        problem = on_the_line([[(1, 0)]] * N, components, start=Fraction(1, 3), L=1)
        beta = Fraction(1, 3)
    else:
        build = random_glm if seed % 2 else random_quadratic
        problem, beta = build(clients=N, components=n, dimension=3, seed=seed), 0.2
    found, trace = walk(problem, beta=beta, orders=orders), traced(problem, beta, orders)
    # E + 1 points; the trace's maximum leaves out the last.
    measured = {
        "drift2_max": max(max(path.drift[:E]) for path in found.paths) ** 2,
        "iag_error2_max": max(max(path.error) for path in found.paths) ** 2,
        "rho_sum2": found.rho_sum @ found.rho_sum,
        "error_sum2": found.error_sum @ found.error_sum,
        "delayed_sum2": (found.rho_sum + found.error_sum) @ (found.rho_sum + found.error_sum),
        "grad_g2": found.grad_g @ found.grad_g,
        "grad_memory2": found.grad_f_memory @ found.grad_f_memory,
    }
    for name, value in measured.items():
        held = trace.column(name)[0, 0]
        assert value == held if exact else value == pytest.approx(held, rel=1e-12, abs=1e-14), name


def test_the_table_by_hand():
    problem = on_the_line([[(1, 0)]], [[(1, 1), (0, 3)]], start=0, L=1)
    (path,) = walk(problem, beta=Fraction(1, 2), orders=np.array([[0, 0, 1]])).paths
    # grad g(0) = -2, so x_1 = 1; the first component is refreshed there: -1/2 * (0 + 3) = -3/2, and so on.
    assert path.points[:, 0].tolist() == [0, 1, Fraction(7, 4), Fraction(5, 2)]
    assert path.filled.tolist() == [[0, 0], [1, 0], [1, 2]]
    assert path.drift == [0, 1, Fraction(7, 4), Fraction(5, 2)]
    assert path.error == [0, 0, Fraction(3, 8)]
    assert path.table_mean == [0, Fraction(1, 2), Fraction(11, 8)]
    assert path.gap_mean == [0, Fraction(1, 2), Fraction(3, 8)]


def test_fractions_have_a_norm_on_the_line_only():
    assert norm(np.array([Fraction(-2, 3)])) == Fraction(2, 3)
    assert norm(np.array([3.0, 4.0])) == 5.0
    plane = quadratic([np.eye(2)], [[1, 0]], [0], [np.eye(2)], [[0, 1]], [0], start=[Fraction(0), Fraction(0)])
    (path,) = walk(plane, beta=Fraction(1, 2), orders=np.zeros((1, 1), dtype=int)).paths
    with pytest.raises(ValueError, match="too many values"):
        _ = path.drift
