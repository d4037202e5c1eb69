"""The exact engines: certificates checked by sympy, and the same inferences put to z3.

Terms that are not polynomial (members of a sequence, powers with symbolic exponents, values of exp) become atoms:
fresh variables that keep only their sign. An inference that holds for the atoms holds for what they stand for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import sympy as sp
import z3
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.operators import Atom
from cflag_theory.claims.engine.quotients import NoQuotient, Quotient, Quotients
from cflag_theory.claims.engine.relation import Relation, sides
from cflag_theory.claims.engine.terms import Term, ln

#: A square of anything, for certificates.
square = sp.Function("square", nonnegative=True)

# Resource units and not seconds, so that z3's answer is the same on a slow machine.
UNITS = 3_000_000
#: What a relation says of its slack.
HOLDS = {"==": lambda e: e == 0, "<=": lambda e: e >= 0, "<": lambda e: e > 0}


def slack(name: str) -> sp.Symbol:
    """The slack right - left >= 0 of the given inequality `name`."""
    return sp.Symbol(f"slack[{name}]", nonnegative=True)


def residual(name: str) -> sp.Symbol:
    """The residual left - right = 0 of the given equation `name`."""
    return sp.Symbol(f"residual[{name}]", real=True)


class Atoms:
    """Replaces what is not polynomial by variables, the same variable for the same term."""

    def __init__(self) -> None:
        self.of: dict[sp.Expr, sp.Dummy] = {}

    def __call__(self, expr: sp.Expr) -> sp.Expr:
        # (1 + u)^(k + 1) must become (1 + u) (1 + u)^k before (1 + u)^k becomes an atom, and so exp(u (k + 1)).
        said = sp.sympify(expr)
        said = said.replace(sp.exp, lambda power: sp.exp(sp.expand(power))) if said.has(sp.exp) else said
        terms = sp.preorder_traversal(opened := sp.expand_power_exp(said))
        values: dict[sp.Expr, sp.Expr] = {}
        for term in terms:
            if _is_atom(term):
                base, power = as_power(term)
                if base not in self.of:
                    self.of[base] = unknown("atom", base)
                values[term] = self.of[base] ** power
            if isinstance(term, Atom):
                terms.skip()
        return opened.xreplace(values)


def as_power(term: sp.Expr) -> tuple[sp.Expr, int]:
    """(1 + u)^(2 k) as the square of (1 + u)^k, and exp(-2 u) as that of exp(-u)."""
    if not isinstance(term, sp.Pow | sp.exp):
        return term, 1
    times, rest = term.exp.as_coeff_Mul()
    return (term.base ** (sp.sign(times) * rest), abs(int(times))) if times.is_Integer and rest != 1 else (term, 1)


def _is_atom(term: sp.Expr) -> bool:
    if isinstance(term, AppliedUndef):
        return bool(term.func != square)
    if isinstance(term, Atom):
        return True
    return isinstance(term, sp.exp | ln | sp.NumberSymbol) or (isinstance(term, sp.Pow) and not term.exp.is_Integer)


def unknown(name: str, like: sp.Expr) -> sp.Dummy:
    """A fresh variable, never equal to another of the same name, with the sign of `like`."""
    if like.is_positive:
        return sp.Dummy(name, positive=True)
    return sp.Dummy(name, nonnegative=True) if like.is_nonnegative else sp.Dummy(name, real=True)


def undefined(expr: Any, given: Mapping[str, Relation], *, number: bool = True) -> str | None:
    """What is wrong with an expression where a part of it need not be a real number: a square could be negative.

    It is looked at as it stands: within an atom, a quotient by zero would not be seen any more. Not a `number` is what
    stands inside of a term made of vectors: that term is real, whatever its arguments are.
    """
    expr = sp.sympify(expr)
    if expr is sp.I or (number and isinstance(expr, sp.Symbol | AppliedUndef | sp.Number) and not expr.is_real):
        return f"{expr} is not declared real"
    if isinstance(expr, sp.Pow) and not (expr.exp.is_integer and expr.exp.is_nonnegative):
        fraction = not expr.exp.is_integer and not expr.base.is_nonnegative
        if number and fraction:
            return f"{expr} is not declared real"
        if not (expr.exp.is_nonnegative and expr.base.is_nonnegative) and not _positive(expr.base, given):
            return f"{expr} has a denominator that nothing given makes positive"
    if isinstance(expr, ln) and not _positive(expr.args[0], given):
        return f"{expr} is a logarithm of what nothing given makes positive"
    if isinstance(expr, sp.Function) and not isinstance(expr, AppliedUndef | sp.exp | ln | sp.Max | sp.Min | sp.Abs):
        return f"{expr} has no meaning here"
    inside = number and not isinstance(expr, Term)
    return next(filter(None, (undefined(part, given, number=inside) for part in expr.args)), None)


def _positive(base: sp.Expr, given: Mapping[str, Relation]) -> bool:
    """Whether an expression is positive, manifestly or by what is given."""
    return manifestly_nonnegative(Atoms()(base), strictly=True) or follows(
        Relation(sp.S.Zero, "<", base.replace(square, lambda inner: inner**2)), given.values()
    )


def _signs(certificate: sp.Expr, given: Mapping[str, Relation]) -> sp.Expr:
    """The certificate in symbols of known sign: slacks of strict inequalities are positive, squares non-negative."""
    squares = {term: sp.Dummy("square", nonnegative=True) for term in certificate.atoms(square)}
    return certificate.xreplace(squares).xreplace(_strict(given))


def _strict(given: Mapping[str, Relation]) -> dict[sp.Symbol, sp.Dummy]:
    return {slack(name): sp.Dummy("strict", positive=True) for name, relation in given.items() if relation.op == "<"}


def _vanishing_denominator(expr: sp.Expr) -> bool:
    """Whether some denominator, however deep, is not manifestly positive."""
    return any(
        not manifestly_nonnegative(term.base, strictly=True)
        for term in sp.preorder_traversal(expr)
        if isinstance(term, sp.Pow) and term.exp.could_extract_minus_sign()
    )


@cache
def manifestly_nonnegative(expr: sp.Expr, *, strictly: bool = False) -> bool:
    """Whether an expression is a quotient of polynomials with non-negative coefficients in non-negative symbols.

    If `strictly`, a term made of positive symbols alone must be among them, as it must be in the denominator.
    """
    try:
        return Quotients(expr).nonnegative(expr, strictly=strictly)
    except NoQuotient:
        return False


def _same(left: sp.Expr, right: sp.Expr, meanings: Mapping[sp.Expr, sp.Expr]) -> bool:
    """Whether two expressions are equal, where some parts of them have a meaning."""
    try:
        ring = Quotients(left, right, meanings=meanings)
        above, under = ring.of(right)
        return not ring.total([ring.of(left), Quotient(-above, under)]).above
    except NoQuotient:
        return False


def certificate_fault(goal: Relation, given: Mapping[str, Relation], certificate: sp.Expr) -> str | None:
    """None if the certificate shows the goal from what is given, else what is wrong with it."""
    atoms = Atoms()
    certificate = sp.sympify(certificate)
    named = {s for s in certificate.free_symbols if str(s).startswith(("slack[", "residual["))}
    for name, relation in given.items():
        # The slack of an equation is zero, not free: only its residual may carry a multiplier.
        if relation.op == "==" and slack(name) in named:
            return f"the equation {name!r} is used as an inequality"
        if relation.op != "==" and residual(name) in named:
            return f"the inequality {name!r} is used as an equation"
        named -= {slack(name), residual(name)}
    if named:
        return f"the certificate uses {', '.join(sorted(map(str, named)))}, which is not given"
    meant = [*sides(goal, *given.values()), certificate.xreplace(_strict(given))]
    fault = next(filter(None, (undefined(expr, given) for expr in meant)), None)
    if fault is not None:
        return fault
    # A multiplier with a denominator that could vanish would prove anything, also inside a square.
    everything = atoms(_signs(certificate, given))
    inside = [atoms(_signs(term.args[0], given)) for term in certificate.atoms(square)]
    if any(map(_vanishing_denominator, (everything, *inside))):
        return "a denominator in the certificate is not manifestly positive"
    everything = everything.xreplace({residual(name): sp.S.Zero for name in given})
    meanings = {slack(name): atoms(relation.slack) for name, relation in given.items()}
    meanings |= {residual(name): -meanings[slack(name)] for name in given}
    if not _same(atoms(goal.slack), atoms(certificate.replace(square, lambda inner: inner**2)), meanings):
        return "the certificate is not right minus left of the goal"
    if goal.op == "==":
        return None if _same(everything, sp.S.Zero, {}) else "an equation needs a certificate of residuals alone"
    if not manifestly_nonnegative(everything):
        return "a multiplier in the certificate is not manifestly non-negative"
    if goal.op == "<" and not manifestly_nonnegative(everything, strictly=True):
        return "a strict inequality needs a positive certificate"
    return None


def to_z3(expr: sp.Expr, variables: dict[sp.Symbol, z3.ArithRef], context: z3.Context) -> Any:
    """An expression without atoms as a term of z3; `variables` gains one for every new symbol.

    Raises
    ------
    TypeError
        A part of it has no counterpart in z3.
    """
    if expr.is_Rational:
        return z3.RatVal(int(expr.p), int(expr.q), context)
    if expr.is_Symbol:
        # Numbered, because two symbols may share a name.
        return variables.setdefault(expr, z3.Real(f"{expr.name}#{len(variables)}", context))
    parts = [to_z3(argument, variables, context) for argument in expr.args if not isinstance(expr, sp.Pow)]
    if isinstance(expr, sp.Add):
        return z3.Sum(parts)
    if isinstance(expr, sp.Mul):
        return z3.Product(parts)
    if isinstance(expr, sp.Pow) and expr.exp.is_Integer:
        base = to_z3(expr.base, variables, context)
        power = z3.Product([base] * abs(int(expr.exp)))
        return power if expr.exp > 0 else 1 / power
    if isinstance(expr, sp.Abs):
        return z3.If(parts[0] < 0, -parts[0], parts[0])
    if isinstance(expr, sp.Min | sp.Max):
        least = parts[0]
        for part in parts[1:]:
            least = z3.If(part < least if isinstance(expr, sp.Min) else part > least, part, least)
        return least
    raise TypeError(f"z3 has no word for {expr!r}")


def solver(
    told: Iterable[tuple[sp.Expr, str]],
    denied: tuple[sp.Expr, str] | None = None,
    *,
    units: int | None = None,
    whole: bool = False,
) -> tuple[z3.Solver, dict[sp.Symbol, z3.ArithRef]]:
    """z3 with what is `told` of slacks, the contrary of what is `denied`, and the signs of all symbols; its variables.

    If `whole`, symbols that are integers are whole numbers for z3 too.
    """
    # A context of its own: in a shared one the answer would depend on earlier calls.
    context = z3.Context()
    found = z3.Solver(ctx=context)
    found.set("rlimit", units or UNITS)
    variables: dict[sp.Symbol, z3.ArithRef] = {}
    for slack, op in told:
        found.add(HOLDS[op](to_z3(slack, variables, context)))
    if denied is not None:
        found.add(z3.Not(HOLDS[denied[1]](to_z3(denied[0], variables, context))))
    for symbol, variable in variables.items():
        if symbol.is_positive:
            found.add(variable > 0)
        elif symbol.is_nonnegative:
            found.add(variable >= 0)
        if whole and symbol.is_integer:
            found.add(z3.IsInt(variable))
    return found, variables


def follows(goal: Relation, given: Iterable[Relation]) -> bool:
    """Whether z3 proves the goal from the relations that are given; not if it has no word for a part of them."""
    return _follows(goal, tuple(given))


@cache
def _follows(goal: Relation, given: tuple[Relation, ...]) -> bool:
    try:
        return ask_z3(goal, {str(i): relation for i, relation in enumerate(given)}) == "proved"
    except TypeError:
        return False


def ask_z3(goal: Relation, given: Mapping[str, Relation]) -> str:
    """Put the inference to z3, without its certificate: "proved", "refuted" (a model contradicts it) or "unknown"."""
    atoms = Atoms()
    # The goal first: the order of the variables decides what z3 finds within its units.
    target = atoms(goal.slack)
    assumed = [(atoms(relation.slack), relation.op) for relation in given.values()]
    answer = str(solver(assumed, (target, goal.op))[0].check())
    if answer == "unknown":
        # The same, multiplied out.
        expanded = [(sp.expand(side), op) for side, op in (*assumed, (target, goal.op))]
        answer = str(solver(expanded[:-1], expanded[-1])[0].check())
    return {"unsat": "proved", "sat": "refuted"}.get(answer, "unknown")
