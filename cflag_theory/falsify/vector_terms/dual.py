"""Counterexamples in more than two dimensions: Gram matrices that a semidefinite program gives, as rational vectors.

Where hypotheses and claim are linear in inner products of vectors, the program asks for a matrix at which the claim
fails. It is rounded within the equations and decomposed, and each weight is a sum of four squares: so the vectors are
rational, and their products are the matrix. It counts only if exact evaluation finds that it breaks the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import clarabel
import numpy as np
import sympy as sp
from scipy import sparse
from sympy.solvers.diophantine.diophantine import sum_of_four_squares

from cflag_theory.claims.engine.terms import Named, parts
from cflag_theory.falsify.search.cases import Case
from cflag_theory.falsify.vector_terms.evaluating import World
from cflag_theory.falsify.vector_terms.gram import Form, draws, replaced
from cflag_theory.falsify.vector_terms.instances import Instances
from cflag_theory.falsify.vector_terms.programs import solved
from cflag_theory.falsify.vector_terms.reading import word

#: Values of the numbers that are tried, and denominators to which numbers and products are rounded.
_DRAWS, _ROUND = 6, (1, 2, 4, 12, 64, 1024)
#: How far the matrix may go.
_FAR = 16.0
#: Bits of what is written as a sum of squares.
_LONGEST = 80

Matrix = list[list[Fraction]]


def cases(small: Instances, *, broken: bool = True) -> Iterator[Case]:
    """Cases of a claim about vectors alone that may break it, or satisfy its hypotheses."""
    family = small.family
    reading = family.reading
    plain = {fact.name: fact.relation for fact in reading.facts}
    whole = all(i.is_Integer for one in reading.atoms(Named) for i in one.args[1:])
    if reading.functions or reading.operators or reading.goal.op == "==" or not whole:
        return
    form = Form(reading.goal, plain)
    vectors = form.vectors[()]
    if form.opaque or not form.fits or not vectors:
        return
    for row in draws(form, _DRAWS) if form.symbols else [()]:
        for denominator in _ROUND[:3]:
            numbers = form.numbers_at(sp.Rational(Fraction(float(x)).limit_denominator(denominator)) for x in row)
            if any(value == 0 and not symbol.is_zero for symbol, value in numbers.items()):
                continue
            for gram in _matrices(form, vectors, numbers, broken):
                coordinates = dict(zip(vectors, _vectors(gram), strict=True))
                made = _case(family, numbers, partial(_combined, form=form, at=coordinates, numbers=numbers))
                if made is not None:
                    yield made


def _case(family: Any, numbers: Mapping[Any, Any], at: Callable[[Any], list[Fraction]]) -> Case | None:
    """The case with these numbers and coordinates of vectors; None where it has other parts too."""
    values = {symbol: Fraction(int(value.p), int(value.q)) for symbol, value in numbers.items()}
    found: Case = {"dimension": 1}
    for symbol in values.keys() - family.equal.keys():
        largest = World(1, values).number(family.shares[symbol]) if symbol in family.shares else 1
        found[word(symbol) + "_share" * (symbol in family.shares)] = values[symbol] / largest
    for name, members in family.families.items():
        drawn = {tuple(map(int, one.args[1:])): at(one) for one in members if family.drawn_apart(members)}
        if drawn:
            found["dimension"] = size = len(next(iter(drawn.values())))
            array = np.full((*(1 + max(place) for place in zip(*drawn, strict=True)), size), Fraction(0), dtype=object)
            for place, value in drawn.items():
                array[place] = value
            found[name] = array
    return found if found.keys() == family.ranges.keys() else None


def _matrices(form: Form, vectors: Sequence[sp.Expr], numbers: Mapping[Any, Any], broken: bool) -> Iterator[Matrix]:
    """Rational matrices of products at which the facts hold and, if `broken`, the goal fails, from their middle."""
    pairs = [(a, b) for b in range(len(vectors)) for a in range(b + 1)]

    def row(linear: Mapping[sp.Expr, sp.Expr]) -> tuple[list[sp.Rational], sp.Rational]:
        values = {key: sp.cancel(value.xreplace(dict(numbers))) for key, value in linear.items()}
        return [values.get(form.entry((), vectors[a], vectors[b])[0], sp.S.Zero) for a, b in pairs], values.get(
            sp.S.One, sp.S.Zero
        )

    equal = [row(form.rows[name]) for name in form.equations]
    above = [row(one) for name, one in form.rows.items() if name not in form.equations]
    above += [row({key: -value for key, value in form.goal.items()})] if broken else []
    # The largest room t <= 1: every slack at least t, the matrix at least t times the identity.
    table, const = (np.array(of, dtype=float) for of in zip(*equal, *above, strict=True))
    fixed, count, size = len(equal), len(above), len(pairs)
    room = np.array([float(a == b) for a, b in pairs])
    rows = np.block(
        [
            [table[:fixed], np.zeros((fixed, 1))],
            [-table[fixed:], np.ones((count, 1))],
            [room[None], np.zeros((1, 1))],
            [np.zeros((1, size)), np.ones((1, 1))],
            [-np.diag(np.where(room > 0, 1.0, 2**0.5)), room[:, None]],
        ]
    )
    right = np.r_[-const[:fixed], const[fixed:], _FAR * len(vectors), 1.0, np.zeros(size)]
    cones = [clarabel.ZeroConeT(fixed), clarabel.NonnegativeConeT(count + 2)]
    cones.append(clarabel.PSDTriangleConeT(len(vectors)))
    cost = np.r_[np.zeros(size), -1.0]
    answer = solved(sparse.csc_matrix((size + 1, size + 1)), cost, rows, right, cones)
    if answer is None or str(answer.status) not in ("Solved", "AlmostSolved") or answer.x[-1] < -1e-6:
        return
    near = answer.x[:-1]
    system, pivots = sp.Matrix([[*one, -c] for one, c in equal] or [[0] * (len(pairs) + 1)]).rref()
    for denominator in _ROUND:
        values = [sp.Rational(Fraction(float(x)).limit_denominator(denominator)) for x in near]
        for at, pivot in enumerate(pivots):
            if pivot == len(pairs):
                return
            rest = (system[at, k] * values[k] for k in range(pivot + 1, len(pairs)))
            values[pivot] = system[at, len(pairs)] - sp.Add(*rest)
        gram = [[Fraction(0)] * len(vectors) for _ in vectors]
        for (a, b), value in zip(pairs, values, strict=True):
            gram[a][b] = gram[b][a] = Fraction(int(value.p), int(value.q))
        found = _decomposed(gram)
        if any(sp.Add(number, *(c * value for c, value in zip(one, values, strict=True))) < 0 for one, number in above):
            continue
        if found is not None and all((w.numerator * w.denominator).bit_length() <= _LONGEST for w, _ in found):
            yield gram


def _decomposed(gram: Matrix) -> list[tuple[Fraction, list[Fraction]]] | None:
    """Weights and rows with gram = sum weight row^T row, or None."""
    left, found = [row[:] for row in gram], []
    for a in range(len(gram)):
        pivot = left[a][a]
        if pivot < 0 or (pivot == 0 and any(left[a])):
            return None
        if pivot:
            row = [one / pivot for one in left[a]]
            found.append((pivot, row))
            left = [
                [x - pivot * u * v for x, v in zip(line, row, strict=True)] for line, u in zip(left, row, strict=True)
            ]
    return found


def _vectors(gram: Matrix) -> list[list[Fraction]]:
    """Rational vectors with these products."""
    coordinates: list[list[Fraction]] = [[] for _ in gram]
    for weight, row in _decomposed(gram) or ():
        for whole in filter(None, sum_of_four_squares(weight.numerator * weight.denominator)):
            root = Fraction(int(whole), weight.denominator)
            for vector, by in zip(coordinates, row, strict=True):
                vector.append(root * by)
    return [vector or [Fraction(0)] for vector in coordinates]


def _combined(v: Named, form: Form, at: Mapping[sp.Expr, list[Fraction]], numbers: Mapping[Any, Any]) -> list[Fraction]:
    """A vector's coordinates, where equations express it by others too."""
    total = [Fraction(0)] * max(1, *map(len, at.values()))
    for basis, c in parts(replaced(v, form.moved)).items():
        by = sp.Rational(c.xreplace(dict(numbers)))
        total = [x + Fraction(int(by.p), int(by.q)) * y for x, y in zip(total, at.get(basis, total), strict=True)]
    return total
