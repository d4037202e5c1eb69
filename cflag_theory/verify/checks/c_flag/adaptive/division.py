"""The divisions of Algorithm 3: exact rounds at rest, on either task."""

from __future__ import annotations

from collections.abc import Iterator

from cflag_theory.claims.c_flag.adaptive import clients
from cflag_theory.claims.c_flag.adaptive.algorithm3 import length
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.adaptive.rounds import Round, norm, random_rounds, with_gradients
from cflag_theory.verify.evidence import Point

_HALF = Fraction(1, 2)


def points() -> Iterator[Point]:
    """A client without a gradient, a past task at its minimiser, and random rounds."""
    idle = Round(with_gradients([1, 2], [[0, 0], [1, -1]]), _HALF, _HALF)
    learnt = Round(with_gradients([0], [[1]]), _HALF, _HALF)
    for case in (idle, learnt, *random_rounds(6, 31)):
        for i in range(case.problem.clients):
            values = {
                clients.Lambda_i: case.a[i] @ case.G,
                clients.memory: norm(case.G),
                length: norm(case.a[i]),
            }
            yield Point(values, (case.words(), f"Client {i + 1}."))


CHECKS = {
    "cflag.alg3_division": Check(
        points,
    )
}
