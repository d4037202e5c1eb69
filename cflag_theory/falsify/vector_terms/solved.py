"""Which vectors and functions the equations of a claim give, so that no instance need be looked for that has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sympy as sp

from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.operators import Index, Operator, TotalVector
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.terms import Gradient, Named, is_vector, parts
from cflag_theory.falsify.vector_terms.reading import Entry


class Solved:
    """What equations give."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        #: Vectors, and entries of sequences, by the expression that they are.
        self.defined: dict[sp.Expr, sp.Expr] = {}
        #: Functions, and means of members, that are at rest: the gradient or the member, and the mean.
        self.resting: list[tuple[Relation, Gradient | Named, Operator | None]] = []
        #: Vectors from which a multiple of a gradient there leads to what is known: the function, multiple and target.
        self.implicit: dict[sp.Expr, tuple[sp.Expr, sp.Expr, sp.Expr]] = {}
        for fact in facts:
            self._take(fact.relation)

    def gives(self, vector: sp.Expr) -> bool:
        """Whether an equation gives this vector."""
        return vector in self.defined or vector in self.implicit

    def _take(self, relation: Relation) -> None:
        """An equation of vectors that gives one of them, or that puts a function at rest at a point."""
        ends = [(end, {s for s in end.free_symbols if isinstance(s, Index)}) for end in (relation.left, relation.right)]
        turned = ends[0][1] < ends[1][1] or (isinstance(relation.right, Entry) and relation.left.is_Symbol)
        (left, had), (right, met) = ends[::-1] if turned else ends
        # What is given has all indices.
        gives = met <= had
        if relation.op == "==" and isinstance(left, Entry) and gives:
            self.defined.setdefault(left.args[0], right)
        if relation.op != "==" or not (is_vector(left) or is_vector(right)):
            return
        if right == 0 and isinstance(left, Gradient):
            self.resting.append((relation, left, None))
        elif right == 0 and isinstance(left, TotalVector) and isinstance(left.body, Gradient | Named):
            self.resting.append((relation, left.body, left.operator))
        elif (left - right).free_symbols & (had | met):
            if isinstance(left, Named) and gives and not self._take_implicit(parts(sp.expand(left - right)), left):
                self.defined.setdefault(left, right)
        else:
            self._eliminate(left, right)

    def _eliminate(self, left: sp.Expr, right: sp.Expr) -> None:
        """Solve an equation of vectors without indices for one that no equation has given yet."""
        of = parts(sp.expand((left - right).xreplace(self.defined)))
        deep = set().union(*(basis.args[1].atoms(Named) for basis in of if isinstance(basis, Gradient)))
        free = [one for one in of if isinstance(one, Named) and of[one].is_nonzero and one not in deep]
        if free:
            pivot = left if left in free else free[0]
            value = sp.expand(pivot - sp.Add(*(c * one for one, c in of.items())) / of[pivot])
            self.defined = {one: sp.expand(known.xreplace({pivot: value})) for one, known in self.defined.items()}
            self.defined[pivot] = value
        else:
            any(self._take_implicit(of, one) for one in of if isinstance(one, Named))

    def _take_implicit(self, of: Mapping[sp.Expr, sp.Expr], pivot: sp.Expr) -> bool:
        """Whether an equation with these multiples of vectors gives a point by a gradient there, as a proximal step."""
        there = [one for one in of if isinstance(one, Gradient) and one.args[1] == pivot]
        rest = {one: c for one, c in of.items() if one not in (pivot, *there)}
        if (
            self.gives(pivot)
            or len(there) != 1
            or not of[pivot].is_nonzero
            or any(pivot in one.atoms(Named) for one in rest)
        ):
            return False
        target = -sp.Add(*(c * one for one, c in rest.items())) / of[pivot]
        self.implicit[pivot] = there[0].args[0], of[there[0]] / of[pivot], target
        return True
