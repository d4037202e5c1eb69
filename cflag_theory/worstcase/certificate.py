"""An upper bound proved in fractions: multipliers that combine the conditions to measure <= bound.

The proof is the identity

    sum_k w_k measure_k + <A, M> + <B, D> = bound + sum_c y_c condition_c,
    w >= 0 and y >= 0, sum_k w_k = 1, A and B positive definite,

in which every condition is at most 0. How the multipliers were found does not matter: `faults` looks at nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product, zip_longest
from math import lcm
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.numbers import EXACT, exact
from cflag_theory.public import Rule
from cflag_theory.reading import integer, unfit
from cflag_theory.worstcase.model import Function, Problem
from cflag_theory.worstcase.solving import NotConverged, Solution, Unsolved, refusal, restricted, solve
from cflag_theory.worstcase.threads import one_thread
from cflag_theory.worstcase.vectors import Form, Pair

#: Multipliers are rounded to this many decimals.
_DIGITS = 16
#: Rows up to which a matrix is decided by its minors, and bits of what is compared with larger ones.
_SMALL, _BITS = 24, 70
#: Of the gap, in units in which bounds are 1; tried in turn.
_TOLERANCES = (1e-7, 1e-6, 1e-5, 1e-4)
#: What the Gram matrices are of.
_WORDS = ("means", "deviations", "symmetric pairs", "antisymmetric pairs")
#: By how much, relatively, a bound may grow for a proof that people read.
_LOOSER = 1e-6
#: The same where its numbers have few digits, and the tolerances of the solutions that are rounded.
_ROUGHER, _SHORT = Fraction(1, 1000), (1e-2, 3e-3, 1e-3, 3e-4, 1e-4)
_PLACE = integer(0)
_PAIR = Rule(
    lambda value: type(value) is list and len(value) == 4 and all(map(_PLACE.fits, value[:3])) and EXACT.fits(value[3]),
    "three places and a fraction in quotes",
)
_FORM: dict[str, Any] = {"pairs": [_PAIR], "rows": [EXACT], "measures": [EXACT], "bound": EXACT}


@dataclass(frozen=True)
class Certificate:
    """Multipliers of pair conditions, of the other conditions and of the measures, and the bound that they prove."""

    pairs: Mapping[tuple[int, int, int], Fraction]
    rows: Sequence[Fraction]
    measures: Sequence[Fraction]
    bound: Fraction

    def to_json(self) -> dict[str, Any]:
        """Plain values; fractions as text."""
        return {
            "pairs": [[*pair, str(value)] for pair, value in self.pairs.items()],
            "rows": [str(value) for value in self.rows],
            "measures": [str(value) for value in self.measures],
            "bound": str(self.bound),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Certificate:
        """What `to_json` wrote; nothing of it is trusted before `faults` has looked at it."""
        if wrong := unfit(data, _FORM):
            raise InvalidInput(f"this is no certificate, see {wrong}: give the file that cflag sharp wrote")
        pairs = {(q, i, j): exact(value) for q, i, j, value in data["pairs"]}
        rows, measures = (list(map(exact, data[name])) for name in ("rows", "measures"))
        return cls(pairs, rows, measures, exact(data["bound"]))


def faults(problem: Problem, certificate: Certificate) -> list[str]:
    """Why the certificate proves nothing about this problem; empty if it proves its bound."""
    numbers = [*certificate.pairs.values(), *certificate.rows, *certificate.measures]
    sizes = [len(function.points) for function in problem.functions]
    found = []
    if (len(certificate.rows), len(certificate.measures)) != (len(problem.rows), len(problem.measures)):
        return ["it is about another problem: the numbers of hypotheses or measures differ"]
    if not all(
        0 <= q < len(sizes) and i != j and min(i, j) >= 0 and max(i, j) < sizes[q] for q, i, j in certificate.pairs
    ):
        return ["it is about another problem: a pair of points does not exist"]
    if min(numbers) < 0:
        found.append(f"a multiplier is negative: {float(min(numbers)):.3g}")
    if sum(certificate.measures) != 1:
        found.append("the multipliers of the measures do not add up to 1")
    total = combined(problem, certificate)
    if total.values:
        found.append(f"{len(total.values)} function values remain")
    found += [
        f"the matrix of the {words} is not positive definite"
        for words, part, size in zip_longest(_WORDS, total.parts, problem.sizes)
        if size and not positive_definite(part or {}, size)
    ]
    if -total.constant != certificate.bound:
        found.append(f"the multipliers give {float(-total.constant):.9g} and not {float(certificate.bound):.9g}")
    return found


def combined(problem: Problem, certificate: Certificate) -> Form:
    """sum_c y_c condition_c - sum_k w_k measure_k: what is left is <A, M> + <B, D> - bound."""
    total = Form()
    for form, by in zip(
        [*problem.rows, *problem.measures],
        [*certificate.rows, *(-value for value in certificate.measures)],
        strict=True,
    ):
        total = total.plus(form, by)
    for q, function in enumerate(problem.functions):
        used = {pair[1:]: value for pair, value in certificate.pairs.items() if pair[0] == q and value != 0}
        total += _pairs_of(function, used)
    return total


def _pairs_of(function: Function, multipliers: Mapping[Pair, Fraction]) -> Form:
    """The sum of multiples of one function's pair conditions `Function.pair`."""
    a, b, c = function.coefficients
    count = len(function.points)
    weights: dict[Pair, Fraction] = defaultdict(Fraction)
    values: dict[int, Fraction] = defaultdict(Fraction)
    for (i, j), y in multipliers.items():
        # Points are numbered from 0, gradients from `count`: rows of dx and dg.
        x, g = ((i, 1), (j, -1)), ((count + i, 1), (count + j, -1))
        for u, v, by in ((x, x, a), (g, x, b), (g, g, c), (((count + j, 1),), x, Fraction(1))):
            for (r, one), (s, other) in product(u, v):
                weights[r, s] += y * by * (one * other)
        values[function.points[j][2]] += y
        values[function.points[i][2]] -= y
    vectors = [x for x, _, _ in function.points] + [g for _, g, _ in function.points]
    M, D = (_quadratic(part, weights) for part in ([one.mean for one in vectors], [one.own for one in vectors]))
    return Form(M, D, {k: value for k, value in values.items() if value})


def _quadratic(vectors: Sequence[Mapping[int, Fraction]], weights: Mapping[Pair, Fraction]) -> dict[Pair, Fraction]:
    """sum_rs w_rs <v_r, v_s>, as coefficients of inner products of the basis: in whole numbers, which are fast."""
    size = 1 + max((k for vector in vectors for k in vector), default=-1)
    of_vectors = lcm(*(value.denominator for vector in vectors for value in vector.values()))
    of_weights = lcm(*(value.denominator for value in weights.values()))
    V, W = np.zeros((len(vectors), size), dtype=object), np.zeros((len(vectors),) * 2, dtype=object)
    for r, vector in enumerate(vectors):
        for k, value in vector.items():
            V[r, k] = int(value * of_vectors)
    for pair, value in weights.items():
        W[pair] = int(value * of_weights)
    whole, common = V.T @ (W @ V), of_vectors**2 * of_weights
    both = {(k, j): whole[k, j] + (whole[j, k] if k < j else 0) for k in range(size) for j in range(k, size)}
    return {pair: Fraction(value, common) for pair, value in both.items() if value}


def matrix(part: Mapping[Pair, Fraction], size: int) -> list[list[Fraction]]:
    """The symmetric matrix of a form: off the diagonal a coefficient stands for two entries."""
    A = [[Fraction(0)] * size for _ in range(size)]
    for (k, j), value in part.items():
        A[k][j] += value / 2
        A[j][k] += value / 2
    return A


def positive_definite(part: Mapping[Pair, Fraction], size: int) -> bool:
    """Whether the matrix is positive definite, in whole numbers; a large one that is nearly singular counts as not."""
    common = 2 * lcm(*(value.denominator for value in part.values()))
    A = [[int(value * common) for value in row] for row in matrix(part, size)]
    return _minors_are_positive(A) if size <= _SMALL else _is_near_a_square(A, common)


def _minors_are_positive(A: list[list[int]]) -> bool:
    """Whether all leading minors are, by elimination without fractions (Bareiss)."""
    before = 1
    for k in range(len(A)):
        pivot = A[k][k]
        if pivot <= 0:
            return False
        for i in range(k + 1, len(A)):
            row, factor = A[i], A[i][k]
            for j in range(k + 1, i + 1):
                # Every quotient is whole: it is a minor.
                row[j] = (pivot * row[j] - factor * A[j][k]) // before
        before = pivot
    return True


def _is_near_a_square(A: list[list[int]], common: int) -> bool:
    """Whether A - common G G' has a dominant diagonal for a G of binary fractions, which floats propose."""
    floats = np.array([[value / common for value in row] for row in A])
    low = float(np.linalg.eigvalsh(floats)[0])
    try:
        G = np.linalg.cholesky(floats - low / 2 * np.eye(len(A)))
    except np.linalg.LinAlgError:
        return False
    whole = np.array([[round(value * 2.0**_BITS) for value in row] for row in G.tolist()], dtype=object)
    rest = 4**_BITS * np.array(A, dtype=object) - common * (whole @ whole.T)
    return all(2 * row[k] > sum(map(abs, row)) for k, row in enumerate(rest.tolist()))


def prove(problem: Problem, solution: Solution) -> Certificate:
    """The solver's multipliers, rounded and repaired until they prove a bound; its own value proves nothing.

    Raises
    ------
    Unsolved
        They prove nothing.
    """
    found = _rounded(problem, solution, _DIGITS)
    if faults(problem, found):
        raise refusal(problem, solution)
    return found


def _rounded(problem: Problem, solution: Solution, digits: int) -> Certificate:
    unit = 10**digits
    exact = [max(Fraction(round(float(value) * unit), unit), Fraction(0)) for value in solution.multipliers]
    count = len(solution.pairs)
    rows, measures = exact[count : count + len(problem.rows)], exact[count + len(problem.rows) :]
    measures[-1] = 1 - sum(measures[:-1], Fraction(0))
    found = Certificate(dict(zip(solution.pairs, exact[:count], strict=True)), rows, measures, Fraction(0))
    found = _repaired(problem, found)
    others = zip([*problem.rows, *problem.measures], [*found.rows, *(-value for value in measures)], strict=True)
    return replace(found, bound=-sum((by * form.constant for form, by in others), Fraction(0)))


def solve_and_prove(
    problem: Problem, *, period: int = 1, progress: Callable[[float], None] | None = None
) -> tuple[Solution, Certificate]:
    """A solution, and the proof of its upper end.

    Multipliers of a very accurate solution can lie so near to the boundary that rounding spoils them; those of a less
    accurate one prove a bound that is a little larger.
    """
    reason: Unsolved | None = None
    for tolerance in _TOLERANCES:
        try:
            solution = solve(problem, tolerance, period=period, progress=progress)
            return solution, prove(problem, solution)
        except NotConverged as error:
            reason = reason or error
    assert reason is not None
    raise reason


def sparse(problem: Problem, certificate: Certificate) -> Certificate:
    """A proof of nearly the same bound from few pair conditions: one after the other is left out, small ones first."""
    pairs = sorted(certificate.pairs, key=lambda pair: certificate.pairs[pair])
    limit, found = float(certificate.bound) * (1 + _LOOSER), certificate
    with one_thread():
        for pair in list(pairs):
            left = [one for one in pairs if one != pair]
            solution = restricted(problem, left)
            if solution.accuracy < _LOOSER and solution.dual < limit:
                with suppress(Unsolved):
                    found, pairs = prove(problem, solution), left
    return found


def short(problem: Problem, certificate: Certificate) -> Certificate:
    """A proof from few pair conditions whose multipliers have few digits; its bound is up to 0.1% larger."""
    found = sparse(problem, certificate)
    pairs, limit = [*found.pairs], found.bound * (1 + _ROUGHER)
    with one_thread():
        # Far from the boundary multipliers may be rounded, near to it the bound is good.
        solutions = [restricted(problem, pairs, tolerance) for tolerance in _SHORT]
    for digits in range(3, _DIGITS):
        for solution in solutions:
            rounded = _rounded(problem, solution, digits)
            if rounded.bound <= limit and not faults(problem, rounded):
                return rounded
    return found


def _repaired(problem: Problem, certificate: Certificate) -> Certificate:
    """The multipliers, changed so that all function values vanish.

    Condition (i, j) has +1 at the value of j and -1 at that of i, and so may a row: multipliers are a flow, which is
    made exact on a tree of the largest.
    """
    flows: dict[Any, Fraction] = dict(certificate.pairs)
    ends: dict[Any, tuple[int, int]] = {
        (q, i, j): (problem.functions[q].points[i][2], problem.functions[q].points[j][2]) for q, i, j in flows
    }
    need: dict[int, Fraction] = defaultdict(Fraction)
    for k, (row, value) in enumerate(zip(problem.rows, certificate.rows, strict=True)):
        if sorted(row.values.values()) == [-1, 1]:
            low, high = sorted(row.values, key=row.values.__getitem__)
            flows[k], ends[k] = value, (low, high)
        else:
            for point, by in row.values.items():
                need[point] += value * by
    for form, value in zip(problem.measures, certificate.measures, strict=True):
        for point, by in form.values.items():
            need[point] -= value * by
    for name, value in flows.items():
        low, high = ends[name]
        need[high] += value
        need[low] -= value
    group = list(range(problem.values))

    def root(k: int) -> int:
        while group[k] != k:
            group[k] = k = group[group[k]]
        return k

    links: dict[int, list[tuple[int, Any, int]]] = {}
    for name in sorted(flows, key=flows.__getitem__, reverse=True):
        low, high = ends[name]
        if root(low) != root(high):
            group[root(low)] = root(high)
            links.setdefault(low, []).append((high, name, -1))
            links.setdefault(high, []).append((low, name, 1))
    seen: set[int] = set()
    for start in links:
        if start in seen:
            continue
        seen.add(start)
        order: list[tuple[int, int, Any, int]] = [(start, start, None, 0)]
        at = 0
        while at < len(order):
            here = order[at][0]
            for other, name, sign in links[here]:
                if other not in seen:
                    seen.add(other)
                    order.append((other, here, name, -sign))
            at += 1
        # From the leaves: the link to the parent takes what is missing.
        for here, parent, name, sign in reversed(order[1:]):
            missing = need.pop(here, Fraction(0))
            flows[name] -= missing * sign
            need[parent] += missing
    pairs = {pair: flows[pair] for pair in certificate.pairs}
    rows = [flows.get(k, value) for k, value in enumerate(certificate.rows)]
    return replace(certificate, pairs=pairs, rows=rows)
