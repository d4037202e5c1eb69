"""Terms as a theorem has them and as the ledger writes them: scripts that show them equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import sympy as sp

from cflag_theory.claims.coq.text import Text
from cflag_theory.claims.engine.operators import Operator, Total, TotalVector
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.terms import Basis, Dot, Function, Norm, Value, canonical, norm, parts

#: Another way of writing the same relation: `BRIDGE[op] H`.
BRIDGE = {"<=": "bridged_le", "<": "bridged_lt", "==": "bridged_eq"}
_LEMMA = {"<=": "bridge_le", "<": "bridge_lt", "==": "bridge_eq"}


@dataclass(frozen=True)
class Shown:
    """What Coq knows under `word`: the relation for all `running` symbols within `ranges`."""

    word: str
    relation: Relation
    running: tuple[sp.Symbol, ...] = ()
    ranges: tuple[Relation, ...] = ()


class Writer(Protocol):
    """What a script needs of the theorem that it is part of."""

    text: Text
    known: dict[str, Relation]
    shown: dict[str, Shown]

    def premise(
        self, name: str, values: dict[sp.Symbol, str] | None = None, within: dict[Relation, str] | None = None
    ) -> str:
        """A step or fact at the present values of its running symbols, or at others."""

    def established(self, name: str) -> Shown:
        """What Coq knows under a name."""

    def declared(self, f: Function, kind: str) -> str:
        """The hypothesis that a function has a declared property."""


class Forms:
    """Scripts for terms: that a term as a theorem has it equals the term as the ledger writes it."""

    def __init__(self, writer: Writer) -> None:
        self.writer, self.text = writer, writer.text

    def bridge(self, relation: Relation, proof: str, left: str, right: str) -> list[str]:
        return [f"eapply {_LEMMA[relation.op]}; [{proof} | {left} | {right}]."]

    def dots(self, *vectors: sp.Expr) -> str:
        """Inner products of linear combinations, expanded, each pair in the ledger's order."""
        bases = sorted({basis for v in vectors for basis in parts(v)}, key=sp.default_sort_key)
        turns = []
        for i, one in enumerate(bases):
            for other in bases[i + 1 :]:
                first, second = Dot(one, other).args
                turns.append(f"?(dot_comm V {self.text.basis(second)} {self.text.basis(first)})")
        turned = f"rewrite {', '.join(turns)}; " if turns else ""
        return f"cbv beta; expand_dots; {turned}same"

    def norm(self, v: sp.Expr, shown: str = "") -> str:
        """The equation norm v = c * norm w of the ledger's form, as a term; `shown` is how v is written."""
        shown = shown or self.text.vector(v)
        if norm(v) == 0:
            return f"(norm_vanishes V {shown} ltac:(collinear))"
        lemma, c, w = self.multiple(v)
        return f"({lemma} V {shown} {w} {c} ltac:(sign) ltac:(collinear))"

    def multiple(self, v: sp.Expr, of: sp.Expr | None = None) -> tuple[str, str, str]:
        """The lemma by which norm v is c * norm w, with c and w; `of` is that norm where it is no `norm(v)`."""
        factors = sp.Mul.make_args(norm(v) if of is None else of)
        inner = next(one for one in factors if isinstance(one, Norm))
        c = sp.Mul(*(one for one in factors if one is not inner))
        lemma = "norm_multiple" if canonical(v - c * inner.args[0]) == 0 else "norm_opposite"
        return lemma, self.text.number(c), self.text.vector(inner.args[0])

    def norms(self, *vectors: sp.Expr, shown: tuple[str, ...] = ()) -> str:
        """Rewrites norms into the ledger's form."""
        words = shown or tuple(map(self.text.vector, vectors))
        rules = []
        for v, word in zip(vectors, words, strict=True):
            of = norm(v)
            if not (isinstance(of, Norm) and self.text.vector(of.args[0]) == word):
                rules.append(self.norm(v, word))
        turned = "".join(f"rewrite {rule}; " for rule in rules)
        return f"cbv beta; {turned}same"

    # Operators.

    def operator(self, operator: Operator, expr: sp.Expr) -> str:
        """avg A (fun i => expr) equals what the ledger makes of it, term by term."""
        A, i = self.text.operator(operator), operator.index
        listed, turns = [], []
        for inside, outer in _split(expr, i):
            inner = sp.Mul(*inside)
            dots = [one for one in inside if isinstance(one, Dot)]
            shown = self.text.under(i, inner)
            if inner == 1:
                turns.append(self.total(operator))
            elif len(dots) == 1 and any(i not in one.free_symbols for one in dots[0].args):
                rest = sp.Mul(*(one for one in inside if one is not dots[0]))
                shown, turn = self._taken_out(operator, rest, dots[0])
                turns += turn
            listed.append(f"({self.text.number(outer)}, {shown})")
        listed_text = "(" + " :: ".join([*listed, "nil"]) + ")"
        done = "; ".join(["cbn [totals]", *turns, "same"])
        first = "apply avg_terms; intro; cbn [terms]; same"
        return f"cbv beta; transitivity (totals V nat {A} {listed_text}); [{first} | {done}]"

    def _taken_out(self, operator: Operator, rest: sp.Expr, inner: Dot) -> tuple[str, list[str]]:
        """rest * <u_i, v> under the index, and the rewriting to <mean rest * u_i, v>."""
        A, i, word = self.text.operator(operator), operator.index, self.text.binder(operator.index)
        first, second = inner.args
        right = i in second.free_symbols
        u, v = (second, first) if right else (first, second)
        with self.text.binding({i: word}):
            factor = "" if rest == 1 else f"{self.text.number(rest)} * "
            shown = f"(fun {word} : nat => {factor}dot {self.text.vector(first)} {self.text.vector(second)})"
        U, W = self.text.under(i, u, "vector"), self.text.vector(v)
        side = "_r" if right else ""
        scaled = f"(avg_dot{side} V nat {A} {self.text.under(i, rest)} {U} {W})"
        turns = [f"try rewrite {f'<- (dot_avgv{side} V nat {A} {U} {W})' if rest == 1 else scaled}"]
        whole = TotalVector(operator, rest * u)
        made = (v, whole) if right else (whole, v)
        if made != Dot(whole, v).args:
            turns.append(f"try rewrite (dot_comm V {self.text.basis(made[0])} {self.text.basis(made[1])})")
        return shown, turns

    def total(self, operator: Operator) -> str:
        A = self.text.operator(operator)
        if operator.is_sum:
            return f"fold (total {A}); rewrite ?(total_sums V {self.text.natural(operator.total)})"
        return f"fold (total {A}); rewrite ?(mean_{A} : total {A} = 1)"

    def vectors(self, operator: Operator, v: sp.Expr, shown: str = "") -> str:
        """The equation avgv A (fun i => v) = the ledger's linear combination, as a term."""
        A, i = self.text.operator(operator), operator.index
        listed, turns = [], []
        for inside, outer in _split(v, i):
            inner = sp.Mul(*inside)
            if any(isinstance(one, Basis) for one in inside):
                listed.append(f"({self.text.number(outer)}, {self.text.under(i, inner, 'vector')})")
                continue
            basis = next(one for one in sp.Mul.make_args(outer) if isinstance(one, Basis))
            factor = sp.Mul(*(one for one in sp.Mul.make_args(outer) if one is not basis))
            weights, B = self.text.under(i, inner), self.text.basis(basis)
            word = self.text.binder(i)
            listed.append(f"({self.text.number(factor)}, (fun {word} : nat => {weights} {word} *^ {B}))")
            turns.append(f"try rewrite (avgv_fixed V nat {A} {weights} {B})")
            if inner == 1:
                turns.append(self.total(operator))
        listed_text = "(" + " :: ".join([*listed, "nil"]) + ")"
        done = "; ".join(["cbn [totals_v]", *turns, "collinear"])
        shown = shown or self.text.under(i, v, "vector")
        whole = self.text.vector(operator(v))
        first = "apply avgv_terms; intro; cbn [terms_v]; collinear"
        proof = f"transitivity (totals_v V nat {A} {listed_text}); [{first} | {done}]"
        return f"(ltac:({proof}) : avgv {A} {shown} = {whole})"

    def under(self, operator: Operator, expr: sp.Expr, inside: Callable[[], str] | None = None, raw: str = "") -> str:
        """That avg A of what is shown under the index equals the ledger's form of the operator of expr.

        `inside` is the script that shows it equal to expr for every index; `raw` is how it is written, for an equation.
        """
        A, i = self.text.operator(operator), operator.index
        here = f"{self.text.binder(i)}_here"
        with self.text.binding({i: here}):
            first = f"apply avg_ext; intro {here}; {inside() if inside else 'cbv beta; same'}"
        proof = f"transitivity (avg {A} {self.text.under(i, expr)}); [{first} | {self.operator(operator, expr)}]"
        return f"(ltac:({proof}) : {raw} = {self.text.number(operator(expr))})" if raw else proof

    def nested(self, operators: Sequence[Operator], expr: sp.Expr, inside: Callable[[], str]) -> str:
        """`under` several operators, the first one innermost."""
        if not operators:
            return inside()
        *others, last = operators
        inner = reduce(lambda made, operator: operator(made), others, expr)
        return self.under(last, inner, lambda: self.nested(others, expr, inside))

    # Equal vectors.

    def replacing(self, expr: sp.Expr, names: Sequence[str]) -> str:
        """That an expression equals the same with the vectors that the steps `names` define replaced, term by term."""
        steps: list[str] = []
        for term in sorted(_largest(expr, Dot, Norm, Value, Total), key=sp.default_sort_key):
            then = self._after(term, names)
            if then != term:
                shown, word = self.text.number(term), f"Same_{len(steps)}"
                proof = f"assert ({word} : {shown} = {self.text.number(then)}) by ({self._replaced(term, then, names)})"
                steps.append(f"{proof}; try rewrite {word}; clear {word}; ")
        return f"cbv beta; {''.join(steps)}same"

    def _after(self, term: sp.Expr, names: Sequence[str]) -> sp.Expr:
        for name in names:
            equation = self.writer.known[name]
            term = sp.expand(term.xreplace({equation.left: equation.right}))
        return term

    def _turned(self, term: sp.Expr, names: Sequence[str]) -> str:
        """Rewrites vectors, and means of vectors, in what is left of a term."""
        turns = []
        for number, mean in enumerate(sorted(_largest(term, TotalVector), key=sp.default_sort_key)):
            body = self._after(mean.body, names)
            if body != mean.body:
                A, here = self.text.operator(mean.operator), f"{self.text.binder(mean.bound)}_here"
                with self.text.binding({mean.bound: here}):
                    inside = f"{self._turned(mean.body, names)}collinear"
                ends = self.text.basis(mean), self.text.vector(mean.operator(body))
                first = f"transitivity (avgv {A} {self.text.under(mean.bound, body, 'vector')})"
                ext = f"apply avgv_ext; intro {here}; {inside}"
                proof = f"{first}; [{ext} | exact {self.vectors(mean.operator, body)}]"
                turns.append(f"assert (Mean_{number} : {ends[0]} = {ends[1]}) by ({proof}); rewrite ?Mean_{number}; ")
        return "".join([*turns, *(f"rewrite ?{self.writer.premise(name)}; " for name in names)])

    def _replaced(self, term: sp.Expr, then: sp.Expr, names: Sequence[str]) -> str:
        if isinstance(term, Total):
            return self.under(term.operator, self._after(term.body, names), lambda: self.replacing(term.body, names))
        turned = self._turned(term, names)
        if isinstance(term, Dot):
            return turned + self.dots(*(self._after(one, names) for one in term.args))
        if isinstance(term, Value):
            return f"f_equal; {turned}collinear"
        if then == 0:
            return f"apply norm_vanishes; {turned}collinear"
        lemma, c, w = self.multiple(self._after(term.args[0], names), then)
        return f"transitivity ({c} * norm {w}); [apply {lemma}; [sign | {turned}collinear] | same]"


def _split(expr: sp.Expr, index: sp.Symbol) -> Iterator[tuple[list[sp.Expr], sp.Expr]]:
    """Of each term of a sum the factors that have an index, and the product of the others."""
    for term in sp.Add.make_args(sp.expand(expr)):
        factors = sp.Mul.make_args(term)
        inside = [one for one in factors if index in one.free_symbols]
        yield inside, sp.Mul(*(one for one in factors if index not in one.free_symbols))


def _largest(expr: sp.Expr, *kinds: type) -> set[sp.Expr]:
    """The terms of these kinds that lie in no other one."""
    if isinstance(expr, kinds):
        return {expr}
    return set().union(*(_largest(one, *kinds) for one in expr.args)) if expr.args else set()
