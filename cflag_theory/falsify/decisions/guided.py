"""Changes of a claim with vectors, read off from semidefinite programs at drawn values of its numbers.

At numbers a claim is a program with an answer in milliseconds. So a factor at one place of it lies between bounds at
every draw, and the simplest expression between these is proposed. Hypotheses about numbers are those that no draw
satisfies at which there is no proof. Nothing here is believed: what is proposed is decided like any claim.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import sympy as sp

from cflag_theory.claims.engine.algebra import Atoms, manifestly_nonnegative
from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.operators import Atom
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.decisions.changes import EDIT, HYPOTHESIS, PREMISE, Change, catalogue, factors, places, put
from cflag_theory.falsify.decisions.decision import Decision, simplest
from cflag_theory.falsify.vector_terms.gram import Array, Form, draws, evaluated
from cflag_theory.falsify.vector_terms.multipliers import between
from cflag_theory.falsify.vector_terms.programs import Programs
from cflag_theory.falsify.vector_terms.proving import in_squares
from cflag_theory.falsify.vector_terms.reading import Reading, claim_of, read_vectors

#: Draws at which a factor is bounded, and at which hypotheses about numbers are compared.
_FEW, _MANY = 16, 160
#: Factors that are tried at first, how often a bound is halved, and places of a claim that are looked at.
_GRID = (-64.0, -16.0, -4.0, -2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0, 64.0, 4096.0)
_HALVES, _PLACES = 22, 24
#: A side of more terms was expanded, and its places are not what was written.
_WRITTEN = 5
#: Hypotheses about numbers that are tried, and the largest numbers in them.
_TRIED, _LARGEST = 12, 64


@dataclass(frozen=True)
class Guided:
    """A change and the claim that it makes."""

    change: Change
    reading: Reading
    #: Changes at one place: one of them is enough.
    place: str = ""


def guided(reading: Reading) -> Iterator[Guided]:
    """Changes that the programs allow, of every kind in turn, the smallest first."""
    instead = (None, *_about_numbers(reading))
    kinds = [_factors_of(reading), *(_assumed(reading, fact) for fact in instead)]
    while kinds:
        for kind in list(kinds):
            if (one := next(kind, None)) is None:
                kinds.remove(kind)
            else:
                yield one


def _about_numbers(reading: Reading) -> list[Fact]:
    numbers = {*reading.symbols}
    found = [fact for fact in reading.facts if fact.relation.op != "==" and fact.relation.free_symbols <= numbers]
    return [fact for fact in found if not fact.relation.slack.atoms(*Atom, sp.Function)]


# Factors at one place


def _factors_of(reading: Reading) -> Iterator[Guided]:
    """A factor at one place of the goal, or of a hypothesis about vectors."""
    at = Draws(_form(reading), reading.goal, _FEW)
    if not at.good:
        return
    theta = sp.Dummy("theta", positive=True)
    skipped = _about_numbers(reading)
    named: list[tuple[Relation, Fact | None]] = [(reading.goal, None)]
    named += [(f.relation, f) for f in reading.facts if f not in skipped and f.relation.op != "=="]
    tried = [(one, fact, *place) for one, fact in named for place in _with_a_factor(one, theta)]
    for one, fact, side, part, changed in tried[:_PLACES]:
        if (form := form_of(_replaced(reading, fact, changed))) is None:
            continue
        positive = part in (one.left, one.right) or manifestly_nonnegative(Atoms()(part))
        for factor in at.fitting(form, theta):
            if positive and not factor.is_positive:
                continue
            made = changed.xreplace({theta: factor})
            new = _replaced(reading, fact, made)
            words = f"{side}: {factor * part} in place of {part}"
            given = tuple(x.relation for x in new.facts)
            change = Change(EDIT, words, made, given, None, 3)
            if fact is not None:
                change = Change(PREMISE, f"in {one}: {words}", reading.goal, given, made, 13)
            yield Guided(change, new, f"{one} {side} {part}")


def _with_a_factor(one: Relation, theta: sp.Symbol) -> Iterator[tuple[str, sp.Expr, Relation]]:
    """The relation with an unknown factor before each term and each number of its sides."""
    found = []
    for number, (side, expr) in enumerate((("right", one.right), ("left", one.left))):
        if len(sp.Add.make_args(expr)) > _WRITTEN:
            continue
        for path, part in places(expr):
            kind = 0 if len(path) == 1 and expr.is_Add else 1 if part.is_Rational else 2 if not path else 3
            if part != 0 and kind < 3:
                new = put(expr, path, theta * part)
                changed = Relation(new, one.op, one.right) if side == "left" else Relation(one.left, one.op, new)
                found.append((kind, number, side, part, changed))
    for *_, side, part, changed in sorted(found, key=lambda one: one[:2]):
        yield side, part, changed


def _replaced(reading: Reading, fact: Fact | None, made: Relation) -> Reading:
    if fact is None:
        return replace(reading, goal=made)
    facts = tuple(replace(f, relation=made, words=str(made)) if f is fact else f for f in reading.facts)
    return replace(reading, facts=facts)


def form_of(reading: Reading) -> Form | None:
    """What programs are made of; None if it is too large, or no quotient of polynomials."""
    form = _form(reading)
    return form if form.fits else None


def _form(reading: Reading) -> Form:
    return Form(*in_squares(reading.with_draws().in_polynomials()))


class Draws:
    """Values of a claim's numbers that satisfy its hypotheses about numbers; `form` is what programs are made of."""

    def __init__(self, form: Form, goal: Relation, count: int) -> None:
        self.symbols = form.symbols
        self.at: Array = draws(form, count) if form.fits and goal.op != "==" else np.zeros((0, 0))
        self.good = len(self.at) >= min(count, 8)
        if self.good:
            self.letters = _letters(goal, self.symbols, self.at)

    def fitting(self, form: Form, theta: sp.Symbol, among: Collection[sp.Symbol] | None = None) -> list[sp.Expr]:
        """Simple factors with which there is a proof at every draw, those next to no proof first.

        `among` are the numbers that these may speak of.
        """
        if theta not in form.symbols or not {*form.symbols} - {theta} <= {*self.symbols}:
            return []
        order = [None if s == theta else self.symbols.index(s) for s in form.symbols]
        low, high = [], []
        ups = []
        for row in self.at:

            def programs(*values: float, row: Array = row) -> Programs:
                return Programs(form, np.array([[v if n is None else row[n] for n in order] for v in values]))

            def proves(value: float, row: Array = row) -> bool:
                return programs(value, row=row).solve(0, [*form.rows]) is not None

            grid = programs(*_GRID)
            known = {value: grid.solve(n, grid.names) is not None for n, value in enumerate(_GRID)}
            if not any(known.values()):
                return []
            nearest = min((v for v in _GRID if known[v]), key=lambda v: (abs(v - 1), v))
            place = _GRID.index(nearest)
            first = last = place
            while first > 0 and known[_GRID[first - 1]]:
                first -= 1
            while last < len(_GRID) - 1 and known[_GRID[last + 1]]:
                last += 1
            low.append(-1e4 if first == 0 else _border(proves, _GRID[first], _GRID[first - 1]))
            high.append(1e4 if last == len(_GRID) - 1 else _border(proves, _GRID[last], _GRID[last + 1]))
            ups.append(0 if known[1.0] else 1 if nearest > 1 else -1)
        letters = [one for one in self.letters if among is None or one.free_symbols <= {*among}]
        values = evaluated(letters, self.symbols, self.at)
        up = sum(ups) > 0
        wide = list(zip(low, high, strict=True))
        tight = [(x, min(y, x + 0.02 * abs(x))) if up else (max(x, y - 0.02 * abs(y)), y) for x, y in wide]
        found: list[sp.Expr] = []
        for ends in (tight, wide):
            found += between(letters, values, *(list(end) for end in zip(*ends, strict=True)))[:3]
        # A number, where the bounds are numbers up to their errors.
        least, most = max(low), min(high)
        if least <= most:
            end, other = (least, most) if up else (most, least)
            size, way = max(abs(end), 1e-3), 1 if up else -1
            if 0.002 * size <= abs(other - end):
                near = sorted(Fraction(end + way * part * size) for part in (-2e-5, 0.002))
                found.insert(0, sp.Rational(simplest(*near)))
        return [one for one in dict.fromkeys(found) if among is not None or one not in (0, 1)][:4]


def _border(proves: Callable[[float], bool], inside: float, outside: float) -> float:
    for _ in range(_HALVES):
        middle = (inside + outside) / 2
        if proves(middle):
            inside = middle
        else:
            outside = middle
        if abs(inside - outside) <= 4e-6 * max(abs(inside), 1e-3):
            break
    return inside


def _letters(goal: Relation, symbols: Sequence[sp.Symbol], at: Array) -> list[sp.Expr]:
    """The numbers, one more than each, and the sums that stand as factors in the goal, if they are positive."""
    sums = [one for one in factors(goal) if one.free_symbols <= {*symbols} and not one.atoms(*Atom)]
    found = [*symbols, *(1 + s for s in symbols), *sums, *(-one for one in sums)]
    found = list(dict.fromkeys(found))
    values = evaluated(found, symbols, at)
    return [one for one, column in zip(found, values.T, strict=True) if (column > 1e-12).all()][:9]


# Hypotheses about numbers


def _assumed(reading: Reading, without: Fact | None) -> Iterator[Guided]:
    """Hypotheses about numbers, one more or in place of one, that no draw satisfies at which there is no proof."""
    kept = reading if without is None else reading.without(without)
    form = _form(kept)
    if not form.fits or reading.goal.op == "==":
        return
    at = draws(form, _MANY)
    if len(at) < 20:
        return
    programs = Programs(form, at)
    good = np.array([programs.solve(n, programs.names) is not None for n in range(len(at))])
    if good.all() or not good.any():
        return
    name = without.name if without is not None else "the new hypothesis"
    for added in _ranked(form, at, good, reading, without):
        facts = (*kept.facts, Fact(name, added, str(added)))
        new = replace(reading, facts=facts)
        given = tuple(x.relation for x in facts)
        if without is None:
            yield Guided(Change(HYPOTHESIS, f"assume {added}", reading.goal, given, added, 12), new)
        else:
            words = f"in {without.relation}: {added} in its place"
            yield Guided(Change(PREMISE, words, reading.goal, given, added, 13), new)


def _ranked(form: Form, at: Array, good: Array, reading: Reading, without: Fact | None) -> list[Relation]:
    """Relations that every draw without a proof violates, those that most draws with one satisfy first."""
    numbers = [s for s in form.symbols if s in reading.symbols and s.is_nonnegative]
    amounts = [*numbers, *(1 / s for s in numbers if s.is_positive)]
    amounts += [u * v for u, v in combinations(amounts, 2) if not (u * v).is_number]
    amounts += [u * v * w for u, v, w in combinations(numbers, 3)]
    amounts += [(1 + u) * v for u, v in permutations(numbers, 2)]
    if without is not None and without.relation.right.is_number:
        amounts.insert(0, without.relation.left)
    found: list[tuple[float, Relation]] = []
    for amount, column in zip(amounts, evaluated(amounts, form.symbols, at).T, strict=True):
        border = _refined(form, amount, at, good, float(column[~good].min()))
        bound = simplest(Fraction(border * 0.93), Fraction(border * 1.002)) if border > 1e-6 else Fraction(0)
        if bound > 0 and not amount.is_integer and max(bound.numerator, bound.denominator) <= _LARGEST:
            found.append((float((column[good] <= float(bound)).mean()), Relation(amount, "<=", sp.Rational(bound))))
    for added in dict(catalogue(reading.goal, tuple(fact.relation for fact in reading.facts))):
        if added.op == "==" or added.slack.atoms(*Atom) or not added.slack.free_symbols <= {*form.symbols}:
            continue
        slack = evaluated([added.slack], form.symbols, at)[:, 0]
        held = slack > 0 if added.op == "<" else slack >= 0
        if not held[~good].any():
            found.append((float(held[good].mean()), added))
    known = {fact.relation for fact in reading.facts}
    found.sort(key=lambda one: (-round(one[0], 1), sp.count_ops(one[1].left) + sp.count_ops(one[1].right)))
    return [one for one in dict.fromkeys(added for share, added in found if share > 0) if one not in known][:_TRIED]


def _refined(form: Form, amount: sp.Expr, at: Array, good: Array, border: float) -> float:
    """The least amount without a proof near to the least draws without one."""
    of = sp.lambdify(form.symbols, amount, "math")
    free = [form.symbols.index(s) for s in sorted(amount.free_symbols, key=str) if not s.is_integer]
    rows = sorted((row for row, fine in zip(at, good, strict=True) if not fine), key=lambda row: of(*row))[:4]
    for row, place in product(rows, free[:2]):
        bad, fine = row[place], None
        for scale in (1 / 2, 1 / 8, 1 / 64, 2, 8, 64):
            moved = row.copy()
            moved[place] = row[place] * scale
            if of(*moved) < of(*row) and _holds(form, moved):
                fine = moved[place]
                break
        if fine is None:
            continue
        for _ in range(12):
            middle = row.copy()
            middle[place] = (bad + fine) / 2
            if _holds(form, middle):
                fine = middle[place]
            else:
                bad = middle[place]
        row = row.copy()
        row[place] = bad
        border = min(border, float(of(*row)))
    return border


def _holds(form: Form, row: Array) -> bool:
    slacks = [one.slack for one in form.numbers.values()]
    if slacks and not (evaluated(slacks, form.symbols, row[None]) > 0).all():
        return False
    programs = Programs(form, row[None])
    return programs.solve(0, programs.names) is not None


#: Draws at which a constant is bounded, and multiples of 1 and of their numbers that the others are tried at.
_FEW_FORMULAS, _OTHERS = 16, (1, 2, 4, sp.Rational(1, 2), 16)


def decide_existing(conjecture: Conjecture, decide: Callable[[Conjecture], Decision]) -> Decision | None:
    """Decide a claim with constants that are to exist: proved, with formulas for them, or None."""
    reading = read_vectors(conjecture)
    by_name = {symbol.name: symbol for symbol in reading.symbols}
    numbers: dict[sp.Symbol, set[sp.Symbol]] = {}
    for name, allowed in conjecture.exists.items():
        constant = by_name.get(str(name))
        if constant is None or not constant.is_positive:
            raise InvalidInput(f"{conjecture.name}: exists names {name}: use a positive symbol of the claim")
        numbers[constant] = {by_name[str(one)] for one in allowed if str(one) in by_name}
    for values in _formulas(reading, numbers):
        with suppress(InvalidInput):
            found = decide(claim_of(reading.put(values)))
            if found.proved:
                chosen = {str(constant): str(value) for constant, value in values.items()}
                return replace(found, chosen=chosen)
    return None


def _formulas(reading: Reading, numbers: Mapping[sp.Symbol, set[sp.Symbol]]) -> Iterator[dict[sp.Symbol, sp.Expr]]:
    """Formulas for the constants that the programs allow, those of the others being simple multiples."""
    first, *others = numbers
    for chosen in product(
        *([c * one for one in (sp.S.One, *sorted(numbers[o], key=str)) for c in _OTHERS] for o in others)
    ):
        values: dict[sp.Symbol, sp.Expr] = dict(zip(others, map(sp.sympify, chosen), strict=True))
        less = reading.put(values)
        if (form := form_of(less)) is not None and (at := Draws(form, less.goal, _FEW_FORMULAS)).good:
            for formula in at.fitting(form, first, numbers[first]):
                if formula.is_positive:
                    yield {first: formula, **values}
