"""Lemmas 8, 9 and 10: every draw of the memory of small exact problems, and random problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.problem import memory as claim
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import bias2, grad_f2, grad_g, m, r
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.kernels import Problem, random_glm, random_quadratic, random_separable
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.objective import gradients, mean_gradient
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence
from cflag_theory.verify.witnesses.instances import described, on_the_line

#: The kept components of every client, as indices into all past components.
Draw = tuple[tuple[int, ...], ...]
_HALF = Fraction(1, 2)


def draws(problem: Problem, size: int) -> list[Draw]:
    """Every memory that keeps `size` components at each client; all are equally likely."""
    first = problem.past.client_start.tolist()
    return list(product(*[combinations(range(a, b), size) for a, b in pairwise(first)]))


def biases(problem: Problem, draw: Draw) -> np.ndarray[Any, np.dtype[Any]]:
    """b_i at the start for every client, one coordinate each."""
    grad_f = gradients(problem.potential, problem.past, problem.start)[:, 0]
    kept = [mean_gradient(problem.potential, problem.past, np.array(chosen), problem.start)[0] for chosen in draw]
    return np.array(kept, dtype=object) - grad_f


def _two_clients(start: Fraction) -> Problem:
    past = [[(1, 2), (-1, 1), (3, 0)], [(2, -1), (0, 3), (1, 1)]]
    return on_the_line(past, [[(1, 0)]] * 2, start=start, L=1, p=[Fraction(1, 3), Fraction(2, 3)])


def lemma8_points() -> Iterator[Point]:
    """The expected bias at some x, over all memories of each size; and a draw that is not uniform."""
    for start, size in product((Fraction(0), Fraction(3, 2), Fraction(-4)), (1, 2, 3)):
        problem = _two_clients(start)
        every = draws(problem, size)
        b = sum(biases(problem, draw) for draw in every) / Fraction(len(every))
        share = [Fraction(sum(j in draw[0] for draw in every), len(every) * size) for j in range(3)]
        yield _expected(problem, b, share)
    # Classes {1, 2} and {3}, one of each kept: the second client keeps all.
    problem = _two_clients(Fraction(3, 2))
    every = [((0, 2), (3, 4, 5)), ((1, 2), (3, 4, 5))]
    b = sum(biases(problem, draw) for draw in every) / 2
    yield _expected(problem, b, [Fraction(1, 4), Fraction(1, 4), _HALF])


def _expected(problem: Problem, b: Any, share: list[Fraction]) -> Point:
    return Point(
        {
            claim.mean_bias: problem.p @ b,
            claim.n: len(share),
            claim.share: max(share, key=lambda w: abs(w - Fraction(1, len(share)))),
        }
    )


def lemma8_further(subject: Claim, seed: int, count: int) -> Iterable[Evidence]:
    """The mean bias over all draws of one small problem, x running over a grid."""
    printed = subject.parts[0].printed.relation
    assert printed is not None
    agree = []
    for numerator in range(-4, 5):
        problem = _two_clients(Fraction(numerator, 2))
        for size in (1, 2, 3):
            every = draws(problem, size)
            mean = sum(problem.p @ biases(problem, draw) for draw in every) / Fraction(len(every))
            agree.append(holds_at(printed, {claim.mean_bias: mean}))
    summary = f"The mean of b over all draws agrees in {sum(agree)} of {len(agree)} cases of x and size."
    data = {"exact": True, "cases": len(agree)}
    yield Evidence("enumeration", subject.parts[0].key, "printed", SUPPORTS if all(agree) else REFUTES, summary, data)


def cancelling() -> Problem:
    """Two clients with gradients x + 1 and x - 1 at x = 0, each the mean of 3/2 and 1/2 of it."""
    clients = [[(c, -c * s) for c in (3 * _HALF, _HALF)] for s in (1, -1)]
    return on_the_line(clients, [[(1, 1)]] * 2, start=0, L=1)


def shared(ratio: Fraction) -> Problem:
    """Two clients with gradients x and ratio x at x = 1, each the mean of 3/2 and 1/2 of it."""
    clients = [[(a * c, 0) for c in (3 * _HALF, _HALF)] for a in (Fraction(1), ratio)]
    return on_the_line(clients, [[(1, 0)]] * 2, start=1, L=2)


def lemma9_points() -> Iterator[Point]:
    """Clients whose gradients cancel, and clients that (28) covers; all draws of each."""
    for problem in (cancelling(), shared(Fraction(1)), shared(Fraction(2))):
        grad_f_i = gradients(problem.potential, problem.past, problem.start)[:, 0]
        grad_f = problem.p @ grad_f_i
        for draw, bound in product(draws(problem, 1), (Fraction(10**6), Fraction(1, 4))):
            b_i = biases(problem, draw)
            b = problem.p @ b_i
            quarter = Fraction(1, 4)
            # Assumption 2 at every client, with equality; the components' gradients are in the ratio 3 : 1 at all x.
            assert all(b_i**2 == quarter * grad_f_i**2)
            worst = int(np.argmax(grad_f_i**2))
            yield Point(
                {
                    bias2: b**2,
                    grad_f2: grad_f**2,
                    m: bound,
                    claim.m_i: quarter,
                    claim.bias_i2: b_i[worst] ** 2,
                    claim.grad_f_i2: grad_f_i[worst] ** 2,
                },
                (f"{described(problem)}; the clients keep the components {draw}, counted from 0; x = x_0.",),
                members={
                    "Assumption 2": [
                        {claim.bias_i2: bias**2, claim.grad_f_i2: slope**2}
                        for bias, slope in zip(b_i, grad_f_i, strict=True)
                    ]
                },
            )


def lemma10_points() -> Iterator[Point]:
    """Parallel and opposed memory gradients."""
    rng = np.random.default_rng(10)
    for case in range(12):
        clients = 1 + case % 3
        slopes = [Fraction(int(v), 2) for v in rng.integers(-4, 5, clients)]
        problem = on_the_line([[(0, -v)] for v in slopes], [[(1, -3)]] * clients, start=0, L=1)
        per_client = gradients(problem.potential, problem.past, problem.start)[:, 0]
        new = abs(problem.p @ gradients(problem.potential, problem.current, problem.start)[:, 0])
        ratios = [abs(v) / new for v in per_client]
        worst = ratios.index(max(ratios))
        yield Point(
            {
                claim.memory_norm: abs(problem.p @ per_client),
                claim.memory_i: abs(per_client[worst]),
                claim.r_i: ratios[worst],
                r: max(ratios),
                grad_g: new,
            }
        )


@dataclass(frozen=True)
class State:
    """Gradients at a random x of a random problem: of every f_i and f_i_memory, (N, d), and of g, (d,)."""

    p: Array
    past: Array
    memory: Array
    current: Array

    def values(self) -> dict[Any, Any]:
        """Squared norms of b and grad f, then client by client, m_i being the observed ratio."""
        bias = self.memory - self.past
        bias_i2, grad_f_i2 = _norm2(bias), _norm2(self.past)
        return {
            bias2: _norm2(self.p @ bias),
            grad_f2: _norm2(self.p @ self.past),
            claim.m_i: bias_i2 / grad_f_i2,
            claim.bias_i2: bias_i2,
            claim.grad_f_i2: grad_f_i2,
        }


def states(seed: int, count: int) -> Iterator[State]:
    """Problems of every family with up to 4 clients, a memory of some components each, and a random x."""
    rng = np.random.default_rng([seed, 89])
    for case in range(count):
        clients, n, dimension = int(rng.integers(1, 5)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
        at = int(rng.integers(1 << 31))
        problem = (
            random_glm(clients=clients, components=n, dimension=dimension, seed=at),
            random_quadratic(clients=clients, components=n, dimension=dimension, seed=at),
            random_separable(clients=clients, past=n, current=n, dimension=dimension, seed=at),
        )[case % 3]
        x = problem.start + rng.normal(size=dimension)
        first = problem.past.client_start
        kept = [a + rng.choice(b - a, int(rng.integers(1, b - a + 1)), replace=False) for a, b in pairwise(first)]
        memory = np.stack([mean_gradient(problem.potential, problem.past, chosen, x) for chosen in kept])
        current = problem.p @ gradients(problem.potential, problem.current, x)
        yield State(problem.p, gradients(problem.potential, problem.past, x), memory, current)


def _norm2(vectors: Array) -> Array:
    return np.asarray(np.sum(vectors**2, axis=-1))


def lemma9_samples(seed: int, count: int) -> Iterator[Sample]:
    """Every client, with m_i the observed ratio and m the least that (28) allows."""
    for state in states(seed, count):
        found = state.values()
        yield Sample(found | {m: np.max(found[claim.bias_i2]) / found[grad_f2]}, on="repair")


def lemma10_samples(seed: int, count: int) -> Iterator[Sample]:
    """Every client, with r_i the observed ratio."""
    for state in states(seed, count):
        new = np.sqrt(_norm2(state.current))
        memory = np.sqrt(_norm2(state.memory))
        yield Sample(
            {
                claim.memory_norm: np.sqrt(_norm2(state.p @ state.memory)),
                claim.memory_i: memory,
                claim.r_i: memory / new,
                r: np.max(memory) / new,
                grad_g: new,
            }
        )


CHECKS = {
    "cflag.lemma8": Check(lemma8_points, further=lemma8_further),
    "cflag.lemma9": Check(lemma9_points, lemma9_samples),
    "cflag.lemma10": Check(lemma10_points, lemma10_samples),
}
