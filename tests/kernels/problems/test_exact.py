"""Exact replays: the reference on fractions is Algorithm 1 to the last digit, and so are (22) and (24)."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from worlds import GEMAN, QUADRATIC, exact_world, to_float

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import everything, formulas, rotation_bias, sign_bias, simulate, uniform
from cflag_theory.kernels.problems.problem import Components, Constant, Problem

ALPHA, BETA = Fraction(1, 16), Fraction(1, 32)
SMALL = {"local_steps": 3, "rounds": 2}
TINY = {"local_steps": 3, "rounds": 1}


def component_gradient(problem, part, j, x):
    """Written out in scalars, apart from the package."""
    d = problem.dimension
    out = [part.offsets[j][c] if len(part.offsets) else Fraction(0) for c in range(d)]
    for q in range(part.row_start[j], part.row_start[j + 1]):
        z = sum(part.rows[q][c] * x[c] for c in range(d)) - part.shifts[q]
        phi1 = z if problem.potential == QUADRATIC else z / (1 + z**2) ** 2
        for c in range(d):
            out[c] += part.weights[q] * phi1 * part.rows[q][c]
    return np.array(out)


def clients_of(part):
    return [range(part.client_start[i], part.client_start[i + 1]) for i in range(len(part.client_start) - 1)]


def algorithm_one(problem, orders, alpha, beta, *, local_steps, rounds):
    """Algorithm 1 with a memory of everything, lines as printed; yields x_{t+1}, its (22) and its (24)."""
    past, current = problem.past, problem.current
    x = problem.start
    for t in range(rounds):
        grad_g_i = [sum(component_gradient(problem, current, j, x) for j in c) / len(c) for c in clients_of(current)]
        grad_f_i = [sum(component_gradient(problem, past, j, x) for j in c) / len(c) for c in clients_of(past)]
        grad_g = sum(p * grad for p, grad in zip(problem.p, grad_g_i, strict=True))
        grad_f_memory = sum(p * grad for p, grad in zip(problem.p, grad_f_i, strict=True))
        total, S = 0, 0
        for i, own in enumerate(clients_of(current)):
            local = x
            table = [component_gradient(problem, current, j, x) for j in own]
            for k in range(local_steps):
                if k > 0:
                    j = orders[t, i, k]
                    table[j] = component_gradient(problem, current, own[j], local)
                delayed = sum(table) / len(own)
                local = local - beta * (grad_g - grad_g_i[i] + delayed)
                S = S + problem.p[i] * delayed
            total = total + problem.p[i] * (local - x)
        x_next = x + total - alpha * grad_f_memory
        yield x_next, total + beta * S, x_next - formulas.round_update(x, grad_f_memory, S, alpha, beta)
        x = x_next


# Denominators multiply under a rational potential, so that one takes very small sizes.
@pytest.mark.parametrize(
    ("problem", "sizes"),
    [(exact_world(seed), SMALL) for seed in range(3)]
    + [
        (exact_world(seed, potential=GEMAN, n=2, rows_per=(1, 1)), {"local_steps": 2, "rounds": 1}) for seed in range(2)
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_reference_is_algorithm_one_and_22_and_24_leave_no_residual(problem, sizes, seed):
    shape = (sizes["rounds"], problem.clients, sizes["local_steps"])
    orders = np.random.default_rng(seed).integers(0, problem.current.counts[0], size=shape)
    trace = simulate(
        problem,
        "c_flag",
        alpha=ALPHA,
        beta=BETA,
        memory=everything(),
        **sizes,
        orders=orders,
        iterates=True,
        engine="reference",
    )
    written_out = algorithm_one(problem, orders, ALPHA, BETA, **sizes)
    for t, (x, of_22, of_24) in enumerate(written_out):
        assert (trace.iterates[0, t + 1] == x).all()
        assert (of_22 == 0).all()
        assert (of_24 == 0).all()
    assert all(isinstance(value, Fraction) for column in trace.columns.values() for value in column.ravel())


@pytest.mark.parametrize("row", ["c_flag", "fedtrack", "fedavg", "fedprox", "scaffold", "local_gd"])
@pytest.mark.parametrize(
    "memory", [everything(), uniform(2), sign_bias(scale=Fraction(1, 2)), rotation_bias(scale=Fraction(1, 2))]
)
def test_fractions_agree_with_floats(row, memory):
    problem = exact_world(1)
    alpha = ALPHA if row == "c_flag" else 0
    run = {"alpha": alpha, "beta": BETA, "memory": memory, **SMALL, "seed": 5, "diagnostics": "all", "iterates": True}
    exact = simulate(problem, row, **run, engine="reference")
    for engine in ("reference", "compiled"):
        floats = simulate(to_float(problem), row, **run, engine=engine)
        assert exact.columns.keys() == floats.columns.keys()
        assert np.allclose(exact.iterates.astype(float), floats.iterates, rtol=1e-12, atol=1e-12)
        for name in exact.columns.keys() - {"m_met", "r2_met"}:
            # Columns that vanish exactly come out at rounding size of the values of order one that they are made of.
            assert np.allclose(exact.column(name).astype(float), floats.column(name), rtol=1e-12, atol=1e-12), name


def test_a_sign_bias_meets_its_m_exactly():
    problem = exact_world(2)
    run = {"alpha": ALPHA, "beta": BETA, **SMALL, "engine": "reference"}
    assert simulate(problem, "c_flag", memory=sign_bias(m=Fraction(9, 16)), **run).m_met == Fraction(9, 16)
    assert simulate(problem, "c_flag", memory=rotation_bias(m=Fraction(9, 16)), **run).m_met == Fraction(9, 16)
    assert simulate(problem, "c_flag", memory=everything(), **run).m_met == 0


def test_gamma_and_b_close_the_descent_identity_of_a_quadratic_exactly():
    # For f = (L/2) ||x||^2: f(x_t) - f(x_{t+1}) + B + Gamma
    #     = alpha ||grad f||^2 - (L alpha^2 / 2) (||grad f||^2 + ||b||^2).
    base = exact_world(3)
    L, d = Fraction(3), base.dimension
    rows = np.array([[Fraction(int(c == q % d)) for c in range(d)] for q in range(2 * d)])
    past = Components(
        rows,
        np.full(2 * d, Fraction(0)),
        np.full(2 * d, L),
        np.empty((0, d), dtype=object),
        np.arange(3) * d,
        np.arange(3),
    )
    constant = Constant(L, "exact", "f is (L/2) ||x||^2")
    problem = Problem(
        "bowl",
        "glm",
        QUADRATIC,
        base.p,
        past,
        base.current,
        base.start,
        np.zeros(2, dtype=np.int64),
        {"L": constant, "L_component": constant},
    )
    for memory in (sign_bias(scale=Fraction(1, 2), redraw=True), rotation_bias(scale=Fraction(1, 3))):
        trace = simulate(
            problem, "c_flag", alpha=ALPHA, beta=BETA, memory=memory, local_steps=3, rounds=4, engine="reference"
        )
        f = np.append(trace.column("f"), trace.at_end("f")[:, None], axis=1)
        left = ALPHA * trace.column("grad_f2") - L * ALPHA**2 * (trace.column("grad_f2") + trace.column("b2")) / 2
        assert (left == f[:, :-1] - f[:, 1:] + trace.column("B") + trace.column("Gamma")).all()


def test_all_orders_can_be_enumerated():
    problem = exact_world(4, N=1, n=2)
    ends = []
    for first, second in product(range(2), repeat=2):
        orders = np.array([[[0, first, second]]])
        trace = simulate(
            problem, "fedtrack", beta=BETA, local_steps=3, rounds=1, orders=orders, engine="reference", iterates=True
        )
        ends.append(tuple(trace.iterates[0, -1]))
    assert len(set(ends)) == 4


def test_exact_runs_refuse_what_is_not_exact():
    problem = exact_world(0)
    run = {"local_steps": 1, "rounds": 1, "engine": "reference"}
    with pytest.raises(InvalidInput, match="beta is the float"):
        simulate(problem, "fedtrack", beta=0.1, **run)
    with pytest.raises(InvalidInput, match="engine='reference'"):
        simulate(problem, "fedtrack", beta=BETA, local_steps=1, rounds=1)
    with pytest.raises(InvalidInput, match="angle pi/2"):
        simulate(problem, "c_flag", alpha=ALPHA, beta=BETA, memory=rotation_bias(scale=Fraction(1), angle=1.0), **run)
    whole = Problem(**{**vars(problem), "start": np.array([1, 2], dtype=object)})
    with pytest.raises(InvalidInput, match="holds 1 among its fractions"):
        simulate(whole, "fedtrack", beta=BETA, **run)
