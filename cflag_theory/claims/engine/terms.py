"""Vectors as data: linear combinations of named vectors, and the numbers that are made of them.

A vector is a sympy expression that is linear in basis vectors: named vectors with indices (an iterate x(k)), gradients
of a function at a point, and means of vectors over an index. Numbers made of vectors are atoms for the algebra: `Dot`
(an entry of the Gram matrix), `Norm`, `Value` (of a function at a point), `Total` (a mean, a sum or an expectation),
`Largest` and `Least`. Each atom brings itself into a canonical form, so that equal numbers are equal expressions:
products are expanded, and what does not depend on the index of a mean leaves it, as in mean <v_i, w> = <mean v_i, w>.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.core.symbol import Str

from cflag_theory.claims.engine.sorts import name_fault
from cflag_theory.errors import InvalidInput


class TermError(InvalidInput):
    """A term that makes no sense, such as the product of two vectors."""


class Term(sp.Expr):  # type: ignore[misc]
    """An expression that sympy does not look into, and that is made again by `func(*args)`."""

    is_commutative = True

    def _eval_is_real(self) -> bool | None:
        return True

    def _sympystr(self, printer: Any) -> str:
        return self.words(printer._print)

    def words(self, shown: Callable[[Any], str]) -> str:
        """The term in plain text; `shown` prints its arguments."""
        return str(self.args)


class ln(sp.Function):  # type: ignore[misc]
    """The natural logarithm: a term with a meaning, as sympy's exp is. Its rule is `rules.tangent_of_ln`."""

    nargs = 1

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        return sp.S.Zero if x == 1 else None

    def _eval_is_real(self) -> bool | None:
        return True if self.args[0].is_positive else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if (self.args[0] - 1).is_nonnegative else None

    def _eval_evalf(self, prec: int) -> sp.Expr:
        return sp.log(self.args[0])._eval_evalf(prec)


class Basis(Term):
    """A basis vector: everything that is a vector is linear in these."""

    # A vector has no sign and is not a number: it may not enter a relation between numbers.
    def _eval_is_real(self) -> None:
        return None


class Named(Basis):
    """A named vector, with indices: made by `vector`."""

    def __new__(cls, name: Str, *indices: sp.Expr) -> Any:
        return sp.Expr.__new__(cls, name, *map(sp.sympify, indices))

    def words(self, shown: Callable[[Any], str]) -> str:
        name, *indices = self.args
        return f"{name.name}({', '.join(map(shown, indices))})" if indices else str(name.name)


#: How vectors, means and sequences print, by what they are and their name: `printing` reads it.
LATEX: dict[tuple[str, str], str] = {}


def named(name: str, what: str = "", latex: str = "") -> None:
    """Raise `TermError` if a name could be read as another, or if a vector, ... of this name prints otherwise."""
    if fault := name_fault(name):
        raise TermError(fault)
    if (known := LATEX.setdefault((what, name), latex)) != latex:
        raise TermError(f"the {what} {name} prints as {known} and as {latex}: rename one of them")


def vector(name: str, latex: str) -> Callable[..., sp.Expr]:
    """A named vector; called with its indices, it is a basis vector. "@1", "@2" in `latex` stand for the indices.

    Raises
    ------
    TermError
        If the name is already printed otherwise, or could be read as another.
    """
    named(name, "vector", latex)
    return lambda *indices: Named(Str(name), *indices)


def parts(v: sp.Expr) -> dict[Basis, sp.Expr]:
    """The coefficients of a vector by basis vector.

    Raises
    ------
    TermError
        If the expression is not linear in basis vectors, or has a part that is a number, or a divisor that may be 0.
    """
    found: dict[Basis, sp.Expr] = {}
    for term in sp.Add.make_args(sp.expand(v)):
        if term == 0:
            continue
        inside = [factor for factor in sp.Mul.make_args(term) if isinstance(factor, Basis)]
        coefficient = sp.Mul(*(factor for factor in sp.Mul.make_args(term) if not isinstance(factor, Basis)))
        if len(inside) != 1 or any(_is_vector_factor(f) for f in sp.Mul.make_args(coefficient)):
            raise TermError(f"{term} is not a multiple of one vector")
        # r^2 ||x/r||^2 is ||x||^2 for sympy, also at r = 0, where x/r does not exist.
        for part in coefficient.atoms(sp.Pow):
            if not (part.exp.is_nonnegative or part.base.is_nonzero or isinstance(part.base, Dot | Norm)):
                raise TermError(f"{part.base} in {term} could be 0: divide by a positive symbol, and define that")
        found[inside[0]] = found.get(inside[0], sp.S.Zero) + coefficient
    return {basis: tidy for basis, c in found.items() if (tidy := _tidy(c)) != 0}


def _is_vector_factor(factor: sp.Expr) -> bool:
    """Whether a vector stands where a number must: in a power, a sum or a function that is not an atom of ours."""
    if isinstance(factor, Term):
        return isinstance(factor, Basis)
    return any(_is_vector_factor(argument) for argument in factor.args)


def is_vector(expr: sp.Expr) -> bool:
    """Whether an expression has vectors in it that are not inside of a number such as a norm."""
    return _is_vector_factor(sp.sympify(expr))


def _tidy(c: sp.Expr) -> sp.Expr:
    """A coefficient in one form, so that equal ones are the same."""
    opened = sp.expand(c)
    return sp.expand(sp.cancel(opened)) if any(t.is_Pow and t.exp.is_negative for t in opened.atoms(sp.Pow)) else opened


def _joined(of: Mapping[Basis, sp.Expr]) -> sp.Expr:
    return sp.Add(*(c * basis for basis, c in of.items()))


def canonical(v: sp.Expr) -> sp.Expr:
    """A vector in the form in which equal vectors are equal expressions."""
    return _joined(parts(v))


class Dot(Term):
    """The inner product of two basis vectors; `dot` expands it for all others."""

    def __new__(cls, u: sp.Expr, v: sp.Expr) -> sp.Expr:
        if not (isinstance(u, Basis) and isinstance(v, Basis)):
            return dot(u, v)
        return sp.Expr.__new__(cls, *sorted((u, v), key=sp.default_sort_key))

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.args[0] == self.args[1] else None

    def words(self, shown: Callable[[Any], str]) -> str:
        u, v = self.args
        return f"||{shown(u)}||^2" if u == v else f"<{shown(u)}, {shown(v)}>"


def dot(u: sp.Expr, v: sp.Expr) -> sp.Expr:
    """<u, v>, expanded into the inner products of basis vectors."""
    right = parts(v)
    return sp.expand(sp.Add(*(a * b * Dot(i, j) for i, a in parts(u).items() for j, b in right.items())))


def norm2(v: sp.Expr) -> sp.Expr:
    """||v||^2, expanded."""
    return dot(v, v)


class Norm(Term):
    """||v||. A common factor of known sign stands before it, and v and -v have the same norm."""

    def __new__(cls, v: sp.Expr) -> sp.Expr:
        of = parts(v)
        if not of:
            return sp.S.Zero
        lead = of[max(of, key=sp.default_sort_key)]
        factor = sp.gcd_list(list(of.values())) if len(of) > 1 else lead
        if not (factor.is_nonnegative or (-factor).is_nonnegative):
            factor = sp.S.One
        if lead.could_extract_minus_sign() != bool((-factor).is_positive):
            factor = -factor
        inner = {basis: _tidy(c / factor) for basis, c in of.items()} if factor.is_nonzero is not False else of
        made = sp.Expr.__new__(cls, _joined(inner))
        return made * (factor if factor.is_nonnegative else -factor)

    def _eval_is_nonnegative(self) -> bool:
        return True

    def words(self, shown: Callable[[Any], str]) -> str:
        return f"||{shown(self.args[0])}||"


def norm(v: sp.Expr) -> sp.Expr:
    """||v||."""
    return Norm(v)


@dataclass(frozen=True)
class Properties:
    """What is declared of a function; None where it is not.

    `smooth` and `mu` are the constants of smoothness and convexity (`mu` = 0: convex), `lower` is a lower bound.
    """

    latex: str
    smooth: sp.Expr | None = None
    mu: sp.Expr | None = None
    lower: sp.Expr | None = None

    @property
    def constants(self) -> tuple[sp.Expr, ...]:
        """Those that are declared."""
        return tuple(self.declared.values())

    @property
    def declared(self) -> dict[str, sp.Expr]:
        """The same by name."""
        return {name: one for name in DECLARED if (one := getattr(self, name)) is not None}


#: What may be declared of a function.
DECLARED = "smooth", "mu", "lower"
_FUNCTIONS: dict[str, Properties] = {}


class Function(sp.Basic):  # type: ignore[misc]
    """A differentiable function on the space, with declared properties: made by `function`.

    `f(x)` is its value, `f.grad(x)` its gradient, `f[i]` a member of a family.
    """

    @property
    def properties(self) -> Properties:
        return _FUNCTIONS[self.args[0].name]

    def __call__(self, x: sp.Expr) -> sp.Expr:
        return Value(self, x)

    def grad(self, x: sp.Expr) -> sp.Expr:
        return Gradient(self, x)

    def __getitem__(self, indices: Any) -> Function:
        several = indices if isinstance(indices, tuple) else (indices,)
        return Function(self.args[0], *map(sp.sympify, several))

    def _sympystr(self, printer: Any) -> Any:
        name, *indices = self.args
        return name.name + (f"[{', '.join(map(printer._print, indices))}]" if indices else "")


def function(name: str, latex: str, **declared: Any) -> Function:
    """A function, or a family of them, with the declared `Properties`.

    Raises
    ------
    TermError
        If a function of this name has been declared otherwise, or if there is none with these properties: a constant
        that may be negative, a lower bound that may be no real number, more convexity than smoothness allows. If a
        constant depends on an index: proofs put other values in for it, and a function has its constants once for all.
    """
    named(name)
    properties = Properties(latex, **{key: sp.sympify(value) for key, value in declared.items()})
    smooth, mu, lower = properties.smooth, properties.mu, properties.lower
    for constant in properties.constants:
        moving = sorted((s for s in constant.free_symbols if s.is_integer), key=str)
        if moving:
            raise TermError(
                f"the constant {constant} of {name} depends on {moving[0]}, which may be an index: use a real symbol, "
                "and state what a single member or round has as a hypothesis"
            )
    for what, constant in (("smoothness", smooth), ("convexity", mu)):
        if constant is not None and not constant.is_nonnegative:
            raise TermError(f"the constant {constant} of {name}'s {what} could be negative")
    if lower is not None and not lower.is_real:
        raise TermError(f"the lower bound {lower} of {name} is not declared to be real")
    if smooth is not None and mu is not None and (smooth - mu).is_negative:
        raise TermError(f"no function is {smooth}-smooth and {mu}-convex, as {name} would be")
    if _FUNCTIONS.setdefault(name, properties) != properties:
        raise TermError(f"the function {name} is declared twice, with different properties: rename one of them")
    return Function(Str(name))


class Value(Term):
    """f(x), a number."""

    def __new__(cls, f: Function, x: sp.Expr) -> Any:
        return sp.Expr.__new__(cls, f, canonical(x))

    def _eval_is_nonnegative(self) -> bool | None:
        lower = self.args[0].properties.lower
        return True if lower is not None and lower.is_nonnegative else None

    def words(self, shown: Callable[[Any], str]) -> str:
        return f"{shown(self.args[0])}({shown(self.args[1])})"


class Gradient(Basis):
    """grad f(x)."""

    def __new__(cls, f: Function, x: sp.Expr) -> Any:
        return sp.Expr.__new__(cls, f, canonical(x))

    def words(self, shown: Callable[[Any], str]) -> str:
        return f"grad {shown(self.args[0])}({shown(self.args[1])})"
