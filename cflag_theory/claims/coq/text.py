"""Numbers, natural numbers and vectors in Coq's notation, over an arbitrary inner-product space."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.coq.lemmas import RESERVED, Printer, Words
from cflag_theory.claims.engine import algebra
from cflag_theory.claims.engine.operators import Largest, Least, Operator, Total, TotalVector
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.terms import Basis, Dot, Function, Gradient, Named, Norm, Value, is_vector, ln, parts

#: Words that generated statements use; no variable is called like one of them.
_TAKEN = """
V R S O I nat INR IZR exp sqrt ln sum pow sign same dot norm add scale zero avg avgv sums total mean operator domain
space maximum least smooth convex lipschitz gradient carrier index opened identity nonzero collinear expand_dots
"""
#: What the hypotheses and steps of a theorem are called.
_MADE = re.compile(r"(H\d*|Range|Hypothesis|Sign|Setting|Rewritten|mean|smooth|lipschitz|convex|lower)(_\w+)?$")
_RELATIONS = {"==": "=", "<=": "<=", "<": "<"}


class Text:
    """The words of one theorem: the same identifier for the same thing everywhere, never one for two things.

    `free` are the symbols that were written while nothing bound them: the variables of the theorem.
    """

    def __init__(self) -> None:
        self.atoms = algebra.Atoms()
        self.names: dict[object, str] = {}
        self.bound: dict[sp.Symbol, str] = {}
        self.free: dict[sp.Symbol, str] = {}
        #: The types of what is not a number: vectors, sequences, functions, operators, by identifier.
        self.types: dict[str, str] = {}
        #: The functions whose values are written.
        self.functions: dict[str, Function] = {}
        #: What the sign of a sequence is declared to be, by identifier.
        self.signs: dict[str, str] = {}

    def name(self, what: object, wish: str) -> str:
        """The identifier of a thing."""
        if what not in self.names:
            word = re.sub(r"\W+", "_", wish, flags=re.ASCII).strip("_")
            if not re.match(r"[A-Za-z]", word) or word in RESERVED or word in _TAKEN.split() or _MADE.match(word):
                word = f"v_{word}"
            taken, numbered, count = set(self.names.values()), word, 1
            while numbered in taken:
                count += 1
                numbered = f"{word}_{count}"
            self.names[what] = numbered
        return self.names[what]

    def symbol(self, symbol: sp.Symbol) -> str:
        if symbol in self.bound:
            return self.bound[symbol]
        return self.free.setdefault(symbol, self.name(symbol, str(symbol)))

    @contextmanager
    def binding(self, names: dict[sp.Symbol, str]) -> Iterator[None]:
        """Write the symbols with these names: they are bound here."""
        outer = self.bound
        self.bound = {**outer, **names}
        try:
            yield
        finally:
            self.bound = outer

    def binder(self, symbol: sp.Symbol) -> str:
        return self.name(symbol, str(symbol))

    def under(self, index: sp.Symbol, expr: sp.Expr, kind: str = "number") -> str:
        """fun index => expr."""
        word = self.binder(index)
        with self.binding({index: word}):
            return f"(fun {word} : nat => {getattr(self, kind)(expr)})"

    # Numbers.

    def number(self, expr: sp.Expr) -> str:
        """A real number."""
        opened = self.atoms(expr)
        terms = {variable: term for term, variable in self.atoms.of.items()}
        texts = {s: self._atom(terms[s]) if s in terms else self._plain(s) for s in _ordered(opened)}
        return Printer(Words({}), texts, self.order)(opened)

    def order(self, expr: sp.Expr) -> str:
        """What terms and factors are sorted by: what they stand for, in sympy's words."""
        terms = {variable: term for term, variable in self.atoms.of.items()}
        return str(expr.xreplace({s: terms[s] for s in expr.free_symbols if s in terms}))

    def _plain(self, symbol: sp.Symbol) -> str:
        return f"INR {self.symbol(symbol)}".join("()") if symbol.is_integer else self.symbol(symbol)

    def variable(self, symbol: sp.Symbol) -> str:
        """A variable of an obligation: a symbol of the statement, or the term that an atom stands for."""
        term = next((term for term, variable in self.atoms.of.items() if variable == symbol), None)
        return self._plain(symbol) if term is None else self._atom(term)

    def _atom(self, term: sp.Expr) -> str:
        if isinstance(term, Dot):
            return f"(dot {self.vector(term.args[0])} {self.vector(term.args[1])})"
        if isinstance(term, Norm):
            return f"(norm {self.vector(term.args[0])})"
        if isinstance(term, Value):
            return f"({self.function(term.args[0])} {self.vector(term.args[1])})"
        if isinstance(term, Total):
            return f"(avg {self.operator(term.operator)} {self.under(term.bound, term.body)})"
        if isinstance(term, Largest):
            return f"(maximum {self.under(term.bound, term.body)} {self.natural(term.outside)})"
        if isinstance(term, Least):
            return f"(least {self.natural(term.outside)} {self.under(term.bound, term.body)})"
        if isinstance(term, sp.exp):
            return f"(exp {self.number(term.args[0])})"
        if term is sp.E:
            return "(exp 1)"
        if isinstance(term, ln):
            return f"(ln {self.number(term.args[0])})"
        if isinstance(term, AppliedUndef):
            return f"(INR {self.natural(term)})" if term.is_integer else self._sequence(term, "R")
        if isinstance(term, sp.Pow) and term.exp == sp.Rational(1, 2):
            return f"(sqrt {self.number(term.base)})"
        if isinstance(term, sp.Pow) and term.exp == -sp.Rational(1, 2):
            return f"(/ (sqrt {self.number(term.base)}))"
        if isinstance(term, sp.Pow) and term.exp.is_integer and term.exp.is_nonnegative:
            return f"({self.number(term.base)} ^ {self.natural(term.exp)})"
        if isinstance(term, sp.Pow) and term.exp.is_integer and (-term.exp).is_nonnegative:
            return f"(/ ({self.number(term.base)} ^ {self.natural(-term.exp)}))"
        raise TypeError(f"Coq has no word for {term!r}")

    def _sequence(self, term: AppliedUndef, kind: str) -> str:
        word = self.name(term.func, str(term.func))
        kinds = ["nat" if a.is_integer and a.is_nonnegative else "R" for a in term.args]
        self.types[word] = " -> ".join([*kinds, kind])
        sign = "<" if term.is_positive else "<=" if term.is_nonnegative else ""
        if kind == "R" and sign:
            places = " ".join(f"(n{i} : {one})" for i, one in enumerate(kinds))
            values = " ".join(f"n{i}" for i in range(len(kinds)))
            self.signs[word] = f"(forall {places}, 0 {sign} {word} {values})"
        shown = [self.natural(a) if one == "nat" else self.number(a) for a, one in zip(term.args, kinds, strict=True)]
        return f"({word} {' '.join(shown)})"

    # Natural numbers.

    def natural(self, expr: sp.Expr) -> str:
        """A natural number."""
        if expr.is_Integer and expr >= 0:
            return f"{expr}%nat"
        if expr.is_Symbol and expr.is_integer and expr.is_nonnegative:
            return self.symbol(expr)
        if isinstance(expr, AppliedUndef) and expr.is_integer and expr.is_nonnegative:
            return self._sequence(expr, "nat")
        if isinstance(expr, sp.Add):
            constant = expr.as_coeff_Add()[0]
            if constant.is_Integer and constant > 0:
                return f"(S {self.natural(expr - 1)})"
            less = [-a for a in expr.args if a.could_extract_minus_sign()]
            more = [a for a in expr.args if not a.could_extract_minus_sign()]
            if less and more and expr.is_nonnegative:
                return f"({self.natural(sp.Add(*more))} - {self.natural(sp.Add(*less))})%nat"
            if not less:
                return f"({' + '.join(map(self.natural, expr.args))})%nat"
        if isinstance(expr, sp.Mul):
            return f"({' * '.join(map(self.natural, expr.args))})%nat"
        raise TypeError(f"{expr} is not a natural number for Coq")

    # Vectors, functions and operators.

    def vector(self, v: sp.Expr) -> str:
        """A vector, as a linear combination of basis vectors."""
        of = parts(v)
        shown = [
            self.basis(one) if of[one] == 1 else f"{self.number(of[one])} *^ {self.basis(one)}"
            for one in sorted(of, key=sp.default_sort_key)
        ]
        if len(shown) == 1 and "*^" not in shown[0]:
            return shown[0]
        return f"({' +^ '.join(shown)})" if shown else "zero"

    def basis(self, one: Basis) -> str:
        if isinstance(one, Named):
            word = self.name(("vector", one.args[0].name), one.args[0].name)
            self.types[word] = "nat -> " * (len(one.args) - 1) + "V"
            return _applied(word, [self.natural(a) for a in one.args[1:]])
        if isinstance(one, Gradient):
            return f"({self.gradient(one.args[0])} {self.vector(one.args[1])})"
        if isinstance(one, TotalVector):
            return f"(avgv {self.operator(one.operator)} {self.under(one.bound, one.body, 'vector')})"
        raise TypeError(f"Coq has no word for {one!r}")

    def function(self, f: Function) -> str:
        word = self.name(("function", f.args[0].name), f.args[0].name)
        self.functions[word] = f
        self.types[word] = "nat -> " * (len(f.args) - 1) + "V -> R"
        return _applied(word, [self.natural(a) for a in f.args[1:]])

    def gradient(self, f: Function) -> str:
        word = self.name(("gradient", f.args[0].name), f"grad_{f.args[0].name}")
        self.types[word] = "nat -> " * (len(f.args) - 1) + "V -> V"
        return _applied(word, [self.natural(a) for a in f.args[1:]])

    def declared(self, f: Function, kind: str) -> str:
        """What is declared of a function, or of every member of a family."""
        places = " ".join(f"n{i}" for i in range(len(f.args) - 1))
        words = (self.names[which, f.args[0].name] for which in ("function", "gradient"))
        value, grad = (f"({word} {places})" if places else word for word in words)
        if kind in ("smooth", "lipschitz"):
            of = f"{value} {grad}" if kind == "smooth" else grad
            said = f"{kind} {self.number(f.properties.smooth)} {of}"
        elif kind == "convex":
            least = sp.Mul(-1, f.properties.smooth) if f.properties.mu is None else f.properties.mu
            said = f"convex {self.number(least)} {value} {grad}"
        else:
            said = f"forall z : V, {self.number(f.properties.lower)} <= {value} z"
        return f"forall {places} : nat, {said}" if places else said

    def operator(self, operator: Operator) -> str:
        if operator.is_sum:
            return f"(sums V {self.natural(operator.total)})"
        word = self.name(("operator", operator.args[0].name), operator.args[0].name)
        self.types[word] = "operator V nat"
        return word

    # Relations.

    def relation(self, relation: Relation) -> str:
        """A relation between numbers or vectors."""
        shown = self.vector if is_vector(relation.left) or is_vector(relation.right) else self.number
        return f"{shown(relation.left)} {_RELATIONS[relation.op]} {shown(relation.right)}"


def _applied(word: str, arguments: list[str]) -> str:
    return f"({' '.join([word, *arguments])})" if arguments else word


def _ordered(expr: sp.Expr) -> list[sp.Symbol]:
    return sorted(expr.free_symbols, key=sp.default_sort_key)
