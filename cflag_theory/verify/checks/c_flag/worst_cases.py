"""Worst cases of FedAvg and of tracking: multipliers that are checked in fractions, for all step sizes at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from cflag_theory.claims.engine.claim import Claim
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.own.algorithms import algorithm
from cflag_theory.verify.check import Check
from cflag_theory.verify.verdict import SUPPORTS, UNDECIDED, Evidence
from cflag_theory.worstcase.certificate import Certificate, combined, matrix
from cflag_theory.worstcase.methods import Setting, pose

Matrix = list[list[Fraction]]
#: The E and T of `ours.tracking_rate`, part exact.
MOST_STEPS, MOST_ROUNDS = 5, 5
_ONE, _HALF, _QUARTER = Fraction(1), Fraction(1, 2), Fraction(1, 4)


def multipliers(steps: int, rounds: int, share: Fraction) -> dict[tuple[int, int, int], Fraction]:
    """Of the pair conditions: a share of those that lead from step to step, the rest from every step to the last."""
    n = steps * rounds
    found: dict[tuple[int, int, int], Fraction] = {}

    def add(i: int, j: int, value: Fraction) -> None:
        found[0, i, j] = found.get((0, i, j), Fraction(0)) + value

    along = [Fraction(k, 2 * n + 1 - k) for k in range(n + 1)] + [_ONE]
    to_last = [Fraction(1, 2 * n - k) for k in range(n)]
    for k in range(n):
        add(k, k + 1, share * along[k + 1])
        add(k, n, (1 - share) * to_last[k])
    for k, value in enumerate([*to_last, 1 - sum(to_last)]):
        add(n + 1, k, share * (along[k + 1] - along[k]) + (1 - share) * value)
    return found


def left_over(steps: int, rounds: int, h: Fraction, share: Fraction) -> tuple[Matrix, Matrix] | None:
    """What must be positive semidefinite for F(x_T) - F* <= 1/(4 h T + 2), of means and of deviations; L = R = 1.

    Of the means x_0 is eliminated. None: the multipliers leave function values, one is negative, or the bound is not
    that.
    """
    problem = pose(Setting(algorithm("fedtrack"), steps, rounds, h / steps))
    bound = 1 / (4 * h * rounds + 2)
    pairs = multipliers(steps, rounds, share)
    total = combined(problem, Certificate(pairs, [bound, Fraction(0)], [_ONE], bound))
    if total.values or -total.constant != bound or min(pairs.values()) < 0:
        return None
    M, D = matrix(total.M, problem.means), matrix(total.D, problem.owns)
    first = M[0]
    rest = [[row[j] - row[0] * first[j] / first[0] for j in range(1, len(M))] for row in M[1:]]
    return rest, D


def semidefinite(A: Matrix) -> bool:
    """Whether a symmetric matrix of fractions is positive semidefinite, by elimination."""
    A = [[*row] for row in A]
    for k, row in enumerate(A):
        if row[k] < 0 or (row[k] == 0 and any(row[k:])):
            return False
        for below in A[k + 1 :] if row[k] else ():
            if below[k]:
                factor = below[k] / row[k]
                below[k:] = [own - factor * other for own, other in zip(below[k:], row[k:], strict=True)]
    return True


def proved_up_to_one(steps: int, rounds: int) -> bool:
    """Whether some share of the multipliers proves the bound for every h from 0 to 1.

    Both matrices are polynomials of degree 2 in h at most. Where that at 1/4 lies on the line through those at 1/2 and
    1, they are affine, and semidefinite between 0 and 1 if at both ends.
    """
    for share in (_ONE, 3 * _QUARTER, _HALF, _QUARTER, Fraction(0)):
        found = [left_over(steps, rounds, h, share) for h in (_ONE, _HALF, _QUARTER)]
        if all(one is not None for one in found) and all(
            _affine(at) for at in zip(*(one for one in found if one), strict=True)
        ):
            return True
    return False


def _affine(at: tuple[Matrix, ...]) -> bool:
    """Whether a matrix, at h = 1, 1/2 and 1/4, is affine and semidefinite at 0 and 1."""
    end, half, quarter = at
    start = _line(half, end, -1)
    return _line(start, half, _HALF) == quarter and semidefinite(start) and semidefinite(end)


def _line(a: Matrix, b: Matrix, place: Fraction | int) -> Matrix:
    """a + place (b - a)."""
    return [[x + place * (y - x) for x, y in zip(one, other, strict=True)] for one, other in zip(a, b, strict=True)]


def _tracking(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    cases = [*product(range(1, MOST_STEPS + 1), range(1, MOST_ROUNDS + 1))]
    missed = [case for case in cases if not proved_up_to_one(*case)]
    summary = f"In fractions, for every h <= 1: {len(cases) - len(missed)} of {len(cases)} pairs of E and T are proved."
    # What these multipliers do not prove may still be true.
    finding = UNDECIDED if missed else SUPPORTS
    yield Evidence("enumeration", "exact", "printed", finding, summary, {"cases": len(cases)})


CHECKS = {"ours.tracking_rate": Check(further=_tracking)}
