"""A proof as a mathematician writes it: a chain of relations with its reasons, and a page that `cflag verify` takes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import sympy as sp
from sympy.printing.str import StrPrinter

from cflag_theory.claims.engine.algebra import square
from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.operators import Index, Operator, Total, TotalVector
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.rules import RULES
from cflag_theory.claims.engine.sorts import sort_of
from cflag_theory.claims.engine.steps import Obligation, Use
from cflag_theory.claims.engine.terms import Dot, Function, Gradient, Named, Norm, Value, is_vector
from cflag_theory.claims.pages.page import RESERVED
from cflag_theory.claims.pages.text import bare
from cflag_theory.falsify.vector_terms.gram import linear

_MARK = re.compile(r"(slack|residual)\[(.*)\]", re.DOTALL)


class Link(NamedTuple):
    """One relation of a chain: its sign, what stands behind it, and what was added, as a multiplier and lines."""

    op: str
    right: sp.Expr
    multiplier: sp.Expr
    lines: tuple[str, ...]


def chain(
    goal: Relation, shown: Mapping[str, Relation], summands: Sequence[tuple[sp.Expr, tuple[str, ...]]]
) -> list[Link]:
    """The goal's left side, enlarged by one summand after the other until it is the right side; empty if it is not.

    Squares come last: what they add is what is left over.
    """
    ordered = sorted(summands, key=lambda one: (not one[1], all(shown[name].left == 0 for name in one[1])))
    links: list[Link] = []
    now = goal.left
    for multiplier, lines in ordered:
        now = collected(now + multiplier * sp.Mul(*(shown[name].slack for name in lines)))
        same = any(shown[name].op == "==" for name in lines)
        links.append(Link("=" if same else "<=", now, multiplier, lines))
    if links and collected(now - goal.right) == 0:
        return [*links[:-1], links[-1]._replace(right=goal.right)]
    return []


def collected(expr: sp.Expr) -> sp.Expr:
    """A sum with one coefficient, short as it can be, before each product, value and mean."""
    terms = linear(sp.expand(expr), {}, apart=False)
    return sp.Add(*(min((c, sp.factor(c)), key=sp.count_ops) * key for key, c in terms.items()))


class Unwritten(Exception):
    """A page has no words for a term."""


class _Printer(StrPrinter):  # type: ignore[misc]
    """Formulas as pages have them; names of what is declared are given."""

    # Terms bring their own text for other printers.
    printmethod = "_page_text"

    def __init__(self, names: Mapping[object, str], marks: Mapping[str, str]) -> None:
        super().__init__()
        self.names, self.marks = names, marks

    def emptyPrinter(self, expr: object) -> str:
        raise Unwritten(str(expr))

    def _print_Symbol(self, expr: sp.Symbol) -> str:
        if match := _MARK.fullmatch(expr.name):
            return f"[{'= ' if match[1] == 'residual' else ''}{self.marks[match[2]]}]"
        return self.names[expr]

    _print_Dummy = _print_Index = _print_Symbol

    def _print_Rational(self, expr: sp.Rational) -> str:
        return f"{expr.p}/{expr.q}" if expr.p >= 0 else f"(-{-expr.p}/{expr.q})"

    def _print_Integer(self, expr: sp.Integer) -> str:
        return str(expr) if expr >= 0 else f"({expr})"

    def _print_Add(self, expr: sp.Add, order: object = None) -> str:
        found = ""
        for term in expr.as_ordered_terms():
            minus = term.could_extract_minus_sign()
            text = self._print(-term if minus else term)
            found += (" - " if found else "-") + text if minus else (" + " if found else "") + text
        return found

    def _print_Mul(self, expr: sp.Mul) -> str:
        above, below = expr.as_numer_denom()
        if below != 1:
            return f"{self._factor(above)}/{self._factor(below, whole=True)}"
        minus = expr.could_extract_minus_sign()
        factors = sp.Mul.make_args(-expr if minus else expr)
        ordered = sorted(factors, key=lambda one: (not one.is_number, is_vector(one)))
        text = " ".join(self._factor(one) for one in ordered if one != 1)
        return f"(-{text})" if minus else text

    def _factor(self, expr: sp.Expr, whole: bool = False) -> str:
        text = self._print(expr)
        simple = expr.is_Symbol or expr.is_Pow or isinstance(expr, Dot | Norm | Value | Gradient | Total | TotalVector)
        simple = simple or (expr.is_Integer and expr >= 0) or (expr.is_Mul and not whole and text[0] != "(")
        return text if simple or isinstance(expr, Named) else f"({text})"

    def _print_Pow(self, expr: sp.Pow, rational: bool = False) -> str:
        base, power = expr.args
        if power.is_negative:
            return f"1/{self._factor(base**-power, whole=True)}"
        if power == sp.Rational(1, 2):
            return f"sqrt({self._print(base)})"
        text = self._print(base)
        return f"{text if base.is_Symbol else f'({text})'}^{self._print(power)}"

    def _print_Dot(self, expr: Dot) -> str:
        u, v = map(self._print, expr.args)
        return f"|{u}|^2" if u == v else f"<{u}, {v}>"

    def _print_Norm(self, expr: Norm) -> str:
        return f"|{self._print(expr.args[0])}|"

    def _called(self, name: str, indices: Sequence[sp.Expr], brackets: str) -> str:
        inside = ", ".join(map(self._print, indices))
        return f"{name}{brackets[0]}{inside}{brackets[1]}" if indices else name

    def _print_Named(self, expr: Named) -> str:
        return self._called(self.names[expr.func, expr.args[0]], expr.args[1:], "()")

    def _print_Function(self, expr: sp.Basic) -> str:
        if not isinstance(expr, Function):
            if expr.func == square:
                return f"square({self._print(expr.args[0])})"
            raise Unwritten(str(expr))
        return self._called(self.names[Function, expr.args[0]], expr.args[1:], "[]")

    _print_square = _print_Function

    def _print_Value(self, expr: Value) -> str:
        return f"{self._print(expr.args[0])}({self._print(expr.args[1])})"

    def _print_Gradient(self, expr: Gradient) -> str:
        return f"grad {self._print_Value(expr)}"

    def _print_Total(self, expr: Total) -> str:
        return f"{self._print(expr.operator)}({self._print(expr.body)})"

    _print_TotalVector = _print_Total

    def _print_Operator(self, expr: Operator) -> str:
        return self.names[Operator, expr.args[0]]


class _Names:
    """A word for everything that is declared, no two alike and none that pages use."""

    def __init__(self) -> None:
        self.of: dict[object, str] = {}

    def __call__(self, thing: object, name: str) -> str:
        plain = re.sub(r"\W+", "_", bare(name)).strip("_") or "v"
        word = plain if plain[0].isalpha() else f"v{plain}"
        taken = {*RESERVED, *self.of.values()}
        number = 2
        while word in taken:
            word, number = f"{plain}_{number}", number + 1
        self.of[thing] = word
        return word


def page(statement: Statement, words: str) -> str:
    """The statement with its proof as a page. Unwritten where a term of it has no words on a page, such as a sum over
    an index.
    """
    steps = [one for one in (statement.proof.steps if statement.proof else ()) if isinstance(one, Use | Obligation)]
    if statement.proof is None or statement.relation is None or len(steps) < len(statement.proof.steps):
        raise Unwritten("there is no proof, or one with an induction")
    known = [*statement.relations, *(s.goal for s in steps if isinstance(s, Obligation))]
    inside: set[sp.Basic] = set()
    used = [term for step in steps if isinstance(step, Use) for term in step.terms]
    for expr in (*(side for one in known for side in (one.left, one.right)), *used):
        inside |= {*sp.preorder_traversal(sp.sympify(expr))}
    names = _Names()
    lines: list[str] = []
    for f in sorted((one for one in inside if isinstance(one, Function)), key=str):
        for constant in f.properties.constants:
            inside |= {*sp.preorder_traversal(constant)}
    for symbol in sorted((one for one in inside if isinstance(one, sp.Symbol)), key=str):
        if isinstance(symbol, Index):
            lines.append(f"index {names(symbol, symbol.name)}")
        elif not _MARK.fullmatch(symbol.name):
            lines.append(f"symbol {names(symbol, symbol.name)} {sort_of(symbol)}")
    printer = _Printer(names.of, {})
    for term in sorted((one for one in inside if isinstance(one, Operator | Named | Function)), key=str):
        if isinstance(term, Operator) and term.is_sum:
            raise Unwritten(str(term))
        kind = Operator if isinstance(term, Operator) else Named if isinstance(term, Named) else Function
        if (kind, term.args[0]) in names.of:
            continue
        name = names((kind, term.args[0]), term.args[0].name)
        if kind is Operator:
            lines.append(f"mean {name} over {printer.doprint(term.index)}")
        elif kind is Named:
            places = ",".join(f"@{place}" for place in range(1, len(term.args)))
            lines.append(f"vector {name}" + (f" : {name}_{{{places}}}" if places else ""))
        else:
            declared = {key: getattr(term.properties, key) for key in ("smooth", "mu", "lower")}
            told = (f"; {key} = {printer.doprint(value)}" for key, value in declared.items() if value is not None)
            place = " : " + name + "_{@}" if len(term.args) > 1 else ""
            lines.append(f"function {name}" + "".join(told) + place)
    marks = {fact.name: f"h{place}" for place, fact in enumerate(statement.hypotheses, start=1)}
    marks |= {step.name: f"s{place}" for place, step in enumerate(steps, start=1)}
    printer = _Printer(names.of, marks)

    def related(one: Relation) -> str:
        return f"{printer.doprint(one.left)} {one.op.replace('==', '=')} {printer.doprint(one.right)}"

    for fact in statement.hypotheses:
        every = f"for every {', '.join(map(printer.doprint, fact.forall))}, " if fact.forall else ""
        lines.append(f"fact {marks[fact.name].upper()} = {marks[fact.name]}: {every}{related(fact.relation)}")
    lines += ["", f"claim own.{names(None, words)} | here | {words}", f"    say {related(statement.relation)}"]
    if statement.hypotheses:
        lines.append(f"    for {'; '.join(marks[fact.name].upper() for fact in statement.hypotheses)}")
    lines.append("    proof")
    for step in steps:
        given = f" from {', '.join(marks[name] for name in step.given)}" if step.given else ""
        if isinstance(step, Use):
            terms = ", ".join(map(printer.doprint, step.terms))
            lines.append(f"        {marks[step.name]}: {RULES[step.rule].conclude.__name__} {terms}".rstrip() + given)
            continue
        last = step is steps[-1]
        lines.append("        hence" + given if last else f"        {marks[step.name]}: {related(step.goal)}{given}")
        if step.certificate is not None:
            lines.append(f"            because {printer.doprint(step.certificate)}")
    return "\n".join(lines) + "\n"
