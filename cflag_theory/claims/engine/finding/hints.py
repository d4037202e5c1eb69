"""What a proof lacks: for a step that does not follow, the squares with which it would.

Nothing here is believed, and no verdict depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, combinations_with_replacement, permutations, product
from math import gcd
from time import process_time

import sympy as sp

from cflag_theory.claims.engine import algebra, certificates
from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.finder import searched
from cflag_theory.claims.engine.operators import Operator, Total, TotalVector
from cflag_theory.claims.engine.relation import Relation, at_most
from cflag_theory.claims.engine.terms import Basis, Dot, is_vector, norm2, parts
from cflag_theory.claims.engine.transcript import asked

#: Coefficients of combinations of vectors; how many vectors, squares and facts in products are tried.
_NUMBERS, _VECTORS, _SQUARES, _FACTS, _RANGES = (1, -1, 2, -2), 6, 300, 8, 2
#: Sizes of the linear programs: see `finder`.
_PROGRAMS = ((1, 1, 0, 1500, False), (1, 2, 0, 3000, False))

#: A vector, and the mean that is taken of its square.
Square = tuple[sp.Expr, Operator | None]


def hints(statement: Statement, *, seconds: float = 10.0) -> list[str]:
    """A sentence for every step of a proof that does not follow from what it is given, searched for so long a step."""
    found = []
    for one in asked(statement):
        given = tuple(one.given.items())
        if any(is_vector(side) for r in (one.goal, *one.given.values()) for side in (r.left, r.right)):
            continue
        if one.certificate is None and certificates.certificate_for(algebra.certificate_fault, one.goal, given) is None:
            found.append(f"{one.name!r}: {_hint(one.goal, one.given, seconds)}")
    return found


def _hint(goal: Relation, given: Mapping[str, Relation], seconds: float) -> str:
    if squares := missing(goal, given, seconds=seconds):
        relations = " and ".join(f"0 <= {_mean(operator, f'|{_on_page(v)}|^2')}" for v, operator in squares)
        lines = " and ".join(f"`square {_on_page(v)}{_under(operator)}`" for v, operator in squares)
        return f"nothing was found. It would follow with {relations}: add {lines}"
    if algebra.ask_z3(goal, given) == "refuted":
        return "it does not follow: z3 has numbers for which all that is given holds, and this does not. Give it more"
    return "nothing was found. Write a step between: each is searched alone"


def missing(goal: Relation, given: Mapping[str, Relation], *, seconds: float = 10.0) -> list[Square]:
    """The squares with which the goal would follow; none if none are found.

    Small combinations of the vectors in play are tried, for so many CPU seconds.
    """
    until = process_time() + seconds
    slacks = [one.slack for one in given.values() if one.op != "=="][:_FACTS]
    numbers = [one for one in slacks if not one.atoms(Dot, Total)][:_RANGES]
    facts = dict(given)
    facts |= {f"pair {at}": _positive(a * b) for at, (a, b) in enumerate(combinations_with_replacement(slacks, 2))}
    tried: dict[str, Square] = {}
    for at, (v, operator) in enumerate(_squares(goal, given)):
        size = operator(norm2(v)) if operator else norm2(v)
        times = [sp.S.One, *(numbers if len(v.atoms(Basis)) < 3 else ())]
        facts |= {f"square {at} {place}": _positive(size * one) for place, one in enumerate(times)}
        tried |= {f"square {at} {place}": (v, operator) for place, _ in enumerate(times)}
    for program in _PROGRAMS:
        certificate = searched(goal, facts, program) if process_time() < until else None
        if certificate is not None and algebra.certificate_fault(goal, facts, certificate) is None:
            return list(dict.fromkeys(one for name, one in tried.items() if certificate.has(algebra.slack(name))))
    return []


def _positive(product: sp.Expr) -> Relation:
    return at_most(0, sp.expand(product))


def _squares(goal: Relation, given: Mapping[str, Relation]) -> list[Square]:
    """Each combination alone, where the vectors stand alone, and in the mean where they stand in one."""
    sides = [side for one in (goal, *given.values()) for side in (one.left, one.right)]
    totals = [total for side in sides for total in sorted(side.atoms(Total), key=str)]
    inside: dict[Operator | None, list[sp.Expr]] = {None: sides}
    for total in totals:
        inside.setdefault(total.operator, []).append(total.body)
    scales = [s for s in sorted(goal.slack.free_symbols, key=str) if s.is_positive and not s.is_integer][:2]
    found: list[Square] = []
    for operator, bodies in inside.items():
        # <mean v_i, w> is the mean of <v_i, w>.
        around = sides if operator else []
        dots = [dot for body in (*bodies, *around) for dot in sorted(_dots(body), key=str)]
        vectors = dict.fromkeys(v for dot in dots for one in dot.args for v in _members(one, operator))
        found += [(v, operator) for v in _combinations(list(vectors)[:_VECTORS], scales)][:_SQUARES]
    return found[: 2 * _SQUARES]


def _members(v: Basis, operator: Operator | None) -> list[Basis]:
    """Of a mean of vectors those vectors, under the same mean."""
    return list(parts(v.body)) if isinstance(v, TotalVector) and v.operator == operator else [v]


def _dots(expr: sp.Expr) -> set[Dot]:
    """The inner products in an expression that stand under no mean."""
    if isinstance(expr, Dot):
        return {expr}
    return set() if isinstance(expr, Total) else set().union(*map(_dots, expr.args))


def _combinations(vectors: list[Basis], scales: list[sp.Symbol]) -> Iterator[sp.Expr]:
    yield from vectors
    for size in (2, 3):
        for some in combinations(vectors, size):
            for numbers in product(_NUMBERS, repeat=size):
                if numbers[0] > 0 and gcd(*numbers) == 1:
                    yield sp.Add(*(c * v for c, v in zip(numbers, some, strict=True)))
    for s, (u, v) in product(scales, permutations(vectors, 2)):
        yield from (s * u + v, s * u - v)


def _on_page(v: sp.Expr) -> str:
    """A vector as it is written on a page."""
    means = {one: sp.Symbol(_mean(one.operator, _on_page(one.body))) for one in v.atoms(TotalVector)}
    text = str(v.xreplace(means))
    return (str(-v.xreplace(means)) if text.startswith("-") else text).replace("**", "^").replace("*", " ")


def _mean(operator: Operator | None, body: str) -> str:
    return body if operator is None else f"{_called(operator)}({body})"


def _under(operator: Operator | None) -> str:
    return "" if operator is None else f", {_called(operator)}"


def _called(operator: Operator) -> str:
    return f"sum({operator.index}, {operator.total})" if operator.is_sum else operator.args[0].name
