"""(99)-(100): every local step of exact rounds on the line."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cflag_theory.claims.c_flag.local_steps import lengths as claim
from cflag_theory.claims.engine.notation import L, beta, k
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.witnesses.instances import described, on_the_line
from cflag_theory.verify.witnesses.paths import walk


def points() -> Iterator[Point]:
    """Two components of which one is refreshed, so that e is not zero at k = 1; and one alone, where it is."""
    for components, order in (([(1, 2), (1, -1)], [0, 0, 1, 0]), ([(2, 1)], [0, 0, 0])):
        problem = on_the_line([[(1, 0)]], [components], start=1, L=2)
        for step in (Fraction(1, 16), Fraction(1, 2)):
            (path,) = walk(problem, beta=step, orders=np.array([order])).paths
            moves = [(here - there)[0] / step for here, there in zip(path.points, path.points[1:], strict=False)]
            errors = (path.delayed - path.full)[:, 0]
            # grad g - grad g_i at x_t, the same at every step.
            correction = moves[0] - path.delayed[0, 0]
            full = [correction + v + e for v, e in zip(path.full[:, 0], errors, strict=True)]
            for at in range(len(order)):
                values = {
                    L: 2,
                    beta: step,
                    k: at,
                    claim.made(k): sum(abs(step * move) for move in moves[:at]),
                    claim.with_error(k): sum(abs(v + e) for v, e in zip(moves[:at], errors[:at], strict=True)),
                    claim.split(k): sum(abs(v) for v in full[:at]),
                }
                yield Point(values, (f"{described(problem)}; beta = {step}, k = {at}, refreshes {order}.",))


CHECKS = {
    "cflag.eq100": Check(
        points,
    )
}
