"""Several draws from one mean: the mean of K of N members, drawn again or each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import prod
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.operators import (
    Atom,
    Binder,
    Index,
    Largest,
    Least,
    Operator,
    Total,
    TotalVector,
    sum_over,
)
from cflag_theory.claims.engine.relation import Relation, sides
from cflag_theory.claims.engine.terms import Basis, Function, Named, Term, TermError, dot, parts, vector


class Drawn(Binder, Basis):
    """The mean of a vector over the members that are drawn: made by `words.draws`."""

    def __new__(cls, chance: Operator, over: Operator, body: sp.Expr, count: sp.Expr, whole: sp.Expr) -> Any:
        return sp.Expr.__new__(cls, chance, over, body, count, whole)

    @property
    def chance(self) -> Any:
        """The expectation over the draw."""
        return self.args[0]

    @property
    def over(self) -> Any:
        """The mean that members are drawn from."""
        return self.args[1]

    @property
    def bound(self) -> sp.Symbol:
        return self.over.index

    @property
    def body(self) -> sp.Expr:
        return self.args[2]

    @property
    def outside(self) -> sp.Expr:
        """How many are drawn, of how many (0: with replacement), and which draw it is."""
        return sp.Tuple(self.args[3], self.args[4], self.chance.index)

    def rebuilt(self, body: sp.Expr, outside: sp.Expr) -> sp.Expr:
        count, whole, index = outside
        if index != self.chance.index:
            raise TermError(f"{self} is one draw: its index is bound by {self.chance}")
        return mean_of(self.chance, self.over, count, whole)(body)

    def words(self, shown: Callable[[Any], str]) -> str:
        return f"mean of {shown(self.body)} over {self.chance.args[0].name}"


def mean_of(chance: Operator, over: Operator, count: sp.Expr, whole: sp.Expr) -> Callable[[sp.Expr], sp.Expr]:
    """The mean over the members that are drawn, of vectors."""

    def of(v: sp.Expr) -> sp.Expr:
        total: sp.Expr = sp.S.Zero
        for basis, c in parts(sp.sympify(v)).items():
            if over.index in c.free_symbols:
                raise TermError(f"{c} in {v} depends on {over.index}: give the product a name of its own")
            if chance.index in basis.free_symbols:
                raise TermError(f"{basis} depends on {chance.index}: a member does not depend on which are drawn")
            inside = over.index in basis.free_symbols
            total += c * (Drawn(chance, over, basis, count, whole) if inside else basis)
        return total

    return of


def one_each(drawn: Iterable[Drawn], relations: Iterable[Relation]) -> None:
    """Raise where two different draws have one name: their outcomes would be taken for the same.

    Or where no expectation is over what is drawn: it would be for every outcome, of which a reader sees nothing.
    """
    known: dict[sp.Expr, tuple[sp.Expr, ...]] = {}
    free = set[sp.Symbol]().union(*(relation.free_symbols for relation in relations))
    for one in drawn:
        if known.setdefault(one.chance, of := (one.over, *one.args[3:])) != of:
            raise TermError(f"two different draws are called {one.chance.args[0].name}: give one of them another name")
        if one.chance.index in free:
            raise TermError(f"the {one} stands outside of its expectation: put it inside")


def outcomes(drawn: Drawn, weights: Sequence[Any], count: int) -> list[tuple[tuple[int, ...], Any]]:
    """Which members may be drawn, with the probability of each outcome; none where more are drawn than there are."""
    members = range(len(weights))
    if drawn.args[4] == 0:
        return [(one, prod(weights[k] for k in one)) for one in product(members, repeat=count)]
    found = list(combinations(members, count))
    return [(one, Fraction(1, len(found))) for one in found]


def named(
    drawn: Sequence[Drawn], fresh: Callable[[str], str]
) -> tuple[dict[Drawn, sp.Expr], list[Fact], dict[sp.Symbol, sp.Expr]]:
    """A vector for every mean over a draw, what is known of them, and N = M + 1 where N members are drawn from.

    E v_S = mean v, and E <u_S, v_S> - <mean u, mean v> is a part of mean <u, v> - <mean u, mean v>: 1/K of it for K
    draws with replacement, (N - K)/(K (N - 1)) of it for K of N >= 2.
    """
    names: dict[Drawn, sp.Expr] = {}
    facts: list[Fact] = []
    sizes: dict[sp.Symbol, sp.Expr] = {}
    for number, one in enumerate(drawn, start=1):
        places = sorted((s for s in one.free_symbols if isinstance(s, Index)), key=str)
        indices = "".join(f",@{place}" for place in range(1, len(places) + 1))
        latex = rf"\bar v^{{({number})}}_{{{one.chance.args[0].name}{indices}}}"
        # Of two claims one may have the same mean with an index more.
        called = f"{one.chance.args[0].name} mean {number}" + f" at {len(places)}" * bool(places)
        names[one] = vector(called, latex)(*places)
        if one.args[4].is_Symbol:
            sizes[one.args[4]] = 1 + sp.Symbol(fresh(f"{one.args[4]}_less_1"), integer=True, positive=True)
    for one in drawn:
        facts.append(_fact(f"expected mean of {one.body} over the draw", one.chance(names[one]), one.over(one.body)))
        if one.args[4] != 0:
            facts.append(_fact(f"{one.args[3]} of {one.args[4]} are drawn", one.args[3], one.args[4], "<="))
    facts += [
        _fact(
            f"second moment of {u.body} and {v.body} over the draw",
            u.chance(dot(names[u], names[v])),
            _moment(u, v, sizes),
        )
        for u, v in combinations_with_replacement(drawn, 2)
        if u.chance == v.chance
    ]
    kept = {fact.name: fact for fact in facts}
    return names, list(kept.values()), sizes


def _moment(u: Drawn, v: Drawn, sizes: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    count, whole = (size.xreplace(sizes) for size in u.args[3:])
    part = 1 / count if whole == 0 else (whole - count) / (count * (whole - 1))
    means = dot(u.over(u.body), u.over(v.body))
    return sp.expand(means + part * (u.over(dot(u.body, v.body)) - means))


def equal_numbers(facts: Sequence[Fact], solved: bool = False) -> dict[sp.Symbol, sp.Expr]:
    """Numbers that an equation such as eta = K beta gives, or if `solved` p + q = 1, in those that are drawn."""
    found: dict[sp.Symbol, sp.Expr] = {}
    for left, op, right in ((f.relation.left, f.relation.op, f.relation.right) for f in facts):
        right = right.xreplace(found)
        if solved and op == "==" and not (left.is_Symbol or left.atoms(*Atom, Basis)):
            # One of any sign first: its value may have any.
            of = sorted(left.free_symbols - found.keys(), key=lambda s: (bool(s.is_nonnegative), str(s)))
            by = {s: sp.expand(left.xreplace(found)).coeff(s) for s in of if not s.is_integer}
            s = next((s for s, c in by.items() if c.is_Rational and c and left.is_polynomial(s)), None)
            if s is not None and sp.degree(left, s) == 1:
                left, right = s, sp.expand(s + (right - left.xreplace(found)) / by[s])
        free = right.free_symbols
        plain = op == "==" and left.is_Symbol and not (left.is_integer or left in found or left in free)
        if plain and not (
            right.atoms(*Atom, AppliedUndef, Term, Index) or any(left in one.free_symbols for one in found.values())
        ):
            found[left] = right
    return found


def maxima(
    largest: Sequence[Largest], goal: Relation, facts: Sequence[Fact], fresh: Callable[[str], str]
) -> tuple[dict[Any, sp.Expr], list[Fact]]:
    """A number for every maximum, which no member exceeds, and weights of members that reach it: it is their mean.

    Where the claim speaks of the families of a maximum, and of those that hypotheses tie to them, for members below its
    end alone, one by one, what lies beyond it may be taken to be like the first: so the bound is said of every index.
    """
    names: dict[Any, sp.Expr] = {}
    more: list[Fact] = []
    said = [_families(*sides(fact.relation)) for fact in facts]
    for number, one in enumerate(largest, start=1):
        members = _families(one.body)
        while tied := set().union(*(of for of in said if of & members)) - members:
            members |= tied
        what = Fact("", Relation(one.body, "==", sp.S.Zero), "", (one.bound,))
        alone = not any(isinstance(s, Index) for s in one.free_symbols) and _pointwise(what, members, one.outside + 1)
        within = alone and all(_within(side, members, one.outside + 1) for side in sides(goal))
        if not (within and all(_pointwise(fact, members, one.outside + 1) for fact in facts)):
            continue
        sort = {"nonnegative": True} if one.body.is_nonnegative else {"real": True}
        names[one] = top = sp.Symbol(fresh(f"max_{number}"), **sort)
        over = sum_over(one.bound, one.outside + 1)
        chosen = sp.Function(fresh(f"chosen_{number}"), nonnegative=True)(one.bound)
        more.append(_fact(f"members of {top}", one.body, top, "<="))
        signed = [one.body**n for n in (1, 2) if (one.body**n).is_nonnegative]
        more += [_fact(f"a part of {what} for {top}", chosen * what, what, "<=") for what in signed]
        more.append(_fact(f"weights of {top}", over(chosen), sp.S.One))
        more += [_fact(f"{top**n} is reached", top**n, over(chosen * one.body**n)) for n in (1, 2)]
    return names, more


def _families(*terms: sp.Basic) -> set[Any]:
    """The families that terms speak of."""
    return {family for term in terms for one in sp.preorder_traversal(term) if (family := _family(one))}


def _family(term: Any) -> Any:
    """What a member of a family belongs to; None for anything else."""
    if isinstance(term, Named | Function):
        return term.args[0] if term.args[1:] else None
    return term.func if isinstance(term, AppliedUndef) else None


def _within(expr: Any, families: set[Any], count: sp.Expr, bound: frozenset[sp.Symbol] = frozenset()) -> bool:
    """Whether families are spoken of at indices alone, each bound by a sum or extreme of the first `count` members."""
    if _family(expr) in families and not {*expr.args} - {_family(expr)} <= bound:
        return False
    if isinstance(expr, Total | TotalVector) and expr.operator.is_sum and expr.operator.total == count:
        bound |= {expr.operator.index}
    if isinstance(expr, Largest | Least) and expr.outside + int(isinstance(expr, Largest)) == count:
        bound |= {expr.bound}
    return all(_within(part, families, count, bound) for part in expr.args)


def _pointwise(fact: Fact, families: set[Any], count: sp.Expr) -> bool:
    """Whether a hypothesis says the same of every member, and nothing of its index."""
    for side in sides(fact.relation):
        spoken = not families or families & _families(side)
        if (spoken and _bare(side, fact.forall)) or not _within(side, families, count, frozenset(fact.forall)):
            return False
    return True


def _bare(expr: Any, indices: Sequence[sp.Symbol]) -> bool:
    """Whether an index stands elsewhere than at the place of a member."""
    return expr in indices or (not _family(expr) and any(_bare(part, indices) for part in expr.args))


def _fact(name: str, left: sp.Expr, right: sp.Expr, op: str = "==") -> Fact:
    relation = Relation(left, op, right)
    running = tuple(sorted((s for s in relation.free_symbols if isinstance(s, Index)), key=str))
    return Fact(name, relation, name, running)


def faults(drawn: Iterable[Drawn], weights: Mapping[str, list[Any]], number: Callable[[sp.Expr], Any]) -> Iterator[str]:
    """What is wrong with the weights of an instance of a draw."""
    for one in drawn:
        members, chances = (weights[of.args[0].name] for of in (one.over, one.chance))
        if one.args[4] != 0 and not 2 <= len(members) == number(one.args[4]):
            yield f"{one.over} is not the mean of {one.args[4]} members"
        if one.args[4] != 0 and len({*members}) > 1:
            yield f"the members of {one.over} have different weights"
        found = outcomes(one, members, int(number(one.args[3])))
        if not found or chances != [chance for _, chance in found]:
            yield f"{one.chance} is not the expectation over {one.args[3]} draws"
