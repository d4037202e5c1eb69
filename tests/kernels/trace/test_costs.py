"""Counts of gradients and numbers, against rounds written out by hand over an oracle that counts what it is asked."""

import numpy as np
import pytest
from worlds import world

from cflag_theory.kernels import algorithm, everything, given, random_separable, sign_bias, simulate, uniform
from cflag_theory.kernels.problems.objective import component_gradient

RUN = {"beta": 0.01, "local_steps": 5, "rounds": 3}


class Oracle:
    """Gradients of single components; one at a point is paid for once."""

    def __init__(self, problem):
        self.problem, self.paid = problem, set()

    def component(self, task, j, x):
        self.paid.add((task, int(j), x.tobytes()))
        return component_gradient(self.problem.potential, getattr(self.problem, task), int(j), x)

    def mean(self, task, chosen, x):
        return sum(self.component(task, j, x) for j in chosen) / len(chosen)


class Wire:
    """Numbers that go over it, up or down."""

    def __init__(self):
        self.numbers = 0

    def carry(self, vector):
        self.numbers += len(vector)
        return vector


def one_round(problem, row, memory, kept, random):
    """A round from x_0 as its clients and server would run it: what they evaluate and what they exchange."""
    oracle, wire, N, E = Oracle(problem), Wire(), problem.clients, RUN["local_steps"]
    own = [range(*problem.current.client_start[i : i + 2]) for i in range(N)]
    start = [wire.carry(problem.start) for _ in range(N)]
    known = [None] * N
    if row.correction == "tracking" or row.estimator == "delayed":
        known = [oracle.mean("current", own[i], start[i]) for i in range(N)]
    u = [0 * x for x in start]
    if row.correction == "tracking":
        grad_g = sum(p * wire.carry(grad) for p, grad in zip(problem.p, known, strict=True))
        u = [wire.carry(grad_g) - grad for grad in known]
    if row.correction == "control":
        u = [wire.carry(problem.start * 0) for _ in range(N)]
    if row.memory:
        grad = sum(p * wire.carry(oracle.mean("past", kept[i], start[i])) for i, p in enumerate(problem.p))
        for _ in range(N):
            wire.carry(grad)
    for i in range(N):
        local = start[i]
        table = {j: oracle.component("current", j, start[i]) for j in own[i]} if row.estimator == "delayed" else {}
        for k in range(E):
            j = random.choice(own[i])
            if row.estimator == "full":
                estimate = oracle.mean("current", own[i], local)
            elif row.estimator == "stochastic":
                estimate = oracle.component("current", j, local)
            else:
                if k > 0:
                    table[j] = oracle.component("current", j, local)
                estimate = sum(table.values()) / len(table)
            local = local - RUN["beta"] * (estimate + u[i])
        wire.carry(local)
        if row.correction == "control":
            wire.carry(local)
    return len(oracle.paid), wire.numbers


ROWS = [
    "fedtrack",
    "fedavg",
    "fedprox",
    "scaffold",
    "local_gd",
    algorithm("local_gd", correction="tracking"),
    algorithm("fedavg", correction="tracking"),
    algorithm("fedtrack", correction="none"),
    "c_flag",
    "c_flag_printed",
    "c_flag_adaptive",
]


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: getattr(row, "name", row))
def test_plain_rows(row, engine):
    row = algorithm(row) if isinstance(row, str) else row
    for problem in (world(4, N=3, n=6, d=4, ragged=True), random_separable(clients=3, past=6, current=7, dimension=3)):
        past = problem.past
        ranges = [range(*past.client_start[i : i + 2]) for i in range(3)]
        some = [list(mine)[:2] for mine in ranges]
        memories = [(uniform(2), some), (everything(), ranges), (sign_bias(m=0.5), ranges), (given(some), some)]
        for memory, kept in memories if row.memory else [(None, ranges), (uniform(2), some)]:
            run = RUN | ({"alpha": 0.01} if row.memory else {}) | {"replicas": 2, "engine": engine, "memory": memory}
            trace = simulate(problem, row, **run)
            calls, numbers = one_round(problem, row, memory, kept, np.random.default_rng(0))
            assert trace.column("ifo_calls").tolist() == [[calls] * 3] * 2
            assert trace.column("communicated").tolist() == [[numbers] * 3] * 2


@pytest.mark.parametrize("row", ["cfl", "cfl_taylor", "cfl_fisher", "cfl_core_set", "mimelite", "fedavg", "local_gd"])
def test_framework_rows(row):
    problem = world(5, N=4, n=5, d=3)
    run = RUN | {"participants": 2, "replicas": 2}
    fast, plain = (simulate(problem, row, **run, engine=engine) for engine in ("compiled", "reference"))
    assert np.array_equal(fast.column("ifo_calls"), plain.column("ifo_calls"))
    # Two clients; five components each, all of which momentum and models evaluate once more.
    local = 2 * (5 * 5 if row == "local_gd" else 5)
    again = 2 * 5 if row in ("cfl_taylor", "cfl_fisher", "mimelite") else 0
    assert (fast.column("ifo_calls") == local + again).all()
    assert (fast.column("communicated") == 2 * 3 * (4 if row == "mimelite" else 2)).all()


def test_full_gradients_of_a_remembered_past_count_every_component_held():
    problem = world(6, N=2, n=4, d=3)
    trace = simulate(problem, algorithm("cfl", estimator="full"), **RUN)
    assert trace.column("ifo_calls").tolist() == [[2 * 5 * 4] * 3]
