"""Small random problems, built by hand so that no test of the loop leans on the problem families."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from cflag_theory.kernels import formulas
from cflag_theory.kernels.problems.objective import gradients
from cflag_theory.kernels.problems.problem import Components, Constant, Problem

GEMAN, QUADRATIC = formulas.GEMAN_MCCLURE, formulas.QUADRATIC


def components(random, counts, d, rows_per=(1, 3), *, offsets=False, negative=False):
    """Components with between rows_per[0] and rows_per[1] rows each."""
    total = int(np.sum(counts))
    rows_of = random.integers(rows_per[0], rows_per[1] + 1, size=total)
    rows = int(rows_of.sum())
    weights = random.uniform(0.2, 1.0, size=rows)
    if negative:
        weights *= random.choice([-1.0, 1.0], size=rows)
    return Components(
        rows=random.normal(size=(rows, d)) / np.sqrt(d),
        shifts=random.normal(size=rows),
        weights=weights,
        offsets=random.normal(size=(total, d)) / 4 if offsets else np.zeros((0, d)),
        row_start=np.concatenate([[0], np.cumsum(rows_of)]).astype(np.int64),
        client_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
    )


def world(seed, *, N=3, n=4, d=3, potential=formulas.CAUCHY, offsets=False, rows_per=(1, 3), ragged=False):
    """A problem with N clients of (about) n past and n current components."""
    random = np.random.default_rng(seed)
    negative = potential in formulas.BOUNDED
    tasks = []
    for _ in range(2):
        counts = random.integers(1, n + 1, size=N) if ragged else np.full(N, n)
        tasks.append(components(random, counts, d, rows_per, offsets=offsets, negative=negative))
    p = random.uniform(0.5, 1.0, size=N)
    bound = max(float(np.abs(part.weights).max() * (part.rows**2).sum(1).max()) * rows_per[1] for part in tasks)
    constant = Constant(bound, "upper bound", "largest weight times largest row times rows a component")
    return Problem(
        name="by hand",
        family="glm",
        potential=potential,
        p=p / p.sum(),
        past=tasks[0],
        current=tasks[1],
        start=random.normal(size=d),
        labels=random.integers(0, 3, size=int(tasks[0].counts.sum())),
        constants={"L": constant, "L_component": constant},
    )


def exact_world(seed, *, N=2, n=3, d=2, potential=QUADRATIC, offsets=True, rows_per=(1, 3)):
    """The same on fractions with small denominators."""
    floats = world(seed, N=N, n=n, d=d, potential=potential, offsets=offsets, rows_per=rows_per)
    random = np.random.default_rng(seed)

    def exact(array):
        out = np.empty(array.size, dtype=object)
        out[:] = [Fraction(round(4 * value), 4) for value in array.ravel()]
        return out.reshape(array.shape)

    def part(old):
        return Components(
            exact(old.rows), exact(old.shifts), exact(old.weights), exact(old.offsets), old.row_start, old.client_start
        )

    shares = [int(share) for share in random.integers(1, 4, size=N)]
    p = np.array([Fraction(share, sum(shares)) for share in shares])
    constant = Constant(Fraction(20), "upper bound", "generous")
    return Problem(
        "by hand, exact",
        "glm",
        potential,
        p,
        part(floats.past),
        part(floats.current),
        exact(floats.start),
        floats.labels,
        {"L": constant, "L_component": constant},
    )


def to_float(problem):
    """An exact problem on floats."""

    def part(old):
        arrays = [array.astype(np.float64) for array in (old.rows, old.shifts, old.weights, old.offsets)]
        return Components(*arrays, old.row_start, old.client_start)

    return Problem(
        problem.name,
        problem.family,
        problem.potential,
        problem.p.astype(np.float64),
        part(problem.past),
        part(problem.current),
        problem.start.astype(np.float64),
        problem.labels,
        {name: Constant(float(c.value), c.kind, c.why) for name, c in problem.constants.items()},
    )


def differing(part, whole, replicas=slice(None)):
    """What of `part` (columns, ends, iterates) is not that of these replicas of `whole`, to the last bit."""
    pairs = {f"column {name}": (values, whole.column(name)) for name, values in part.columns.items()}
    pairs |= {f"end {name}": (values, whole.at_end(name)) for name, values in part.end.items()}
    if part.iterates is not None:
        pairs["iterates"] = part.iterates, whole.iterates
    names = [name for name, (mine, all_) in pairs.items() if not np.array_equal(mine, all_[replicas])]
    return names + sorted(part.end.keys() ^ whole.end.keys())


def grad_g(problem, x):
    """The gradient of the current objective."""
    return problem.p @ gradients(problem.potential, problem.current, x)
