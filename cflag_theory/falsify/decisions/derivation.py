"""The derivation of a proof: its lines, the chain of relations that they make, and the same in LaTeX and as a page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from cflag_theory.claims.coq.lemmas import Lemma
from cflag_theory.claims.coq.theorem import theorem
from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.printing import to_latex
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Induction, Obligation, Use
from cflag_theory.claims.engine.terms import TermError
from cflag_theory.claims.engine.transcript import transcript
from cflag_theory.falsify.decisions.writing import Link, Unwritten, chain, page

_MARK = re.compile(r"^(slack|residual)\[(.*)\]$", re.DOTALL)


@dataclass(frozen=True)
class Line:
    """One relation of a derivation."""

    name: str
    relation: Relation
    #: "given", the name of the rule, or "sum of" the lines that are added.
    why: str


@dataclass(frozen=True)
class Summand:
    """A multiplier times slacks (right minus left) of lines; without lines it is not negative by itself."""

    multiplier: sp.Expr
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Derivation:
    """A proof that the examiner accepted."""

    goal: Relation
    lines: tuple[Line, ...]
    #: Their sum is right minus left of the goal.
    summands: tuple[Summand, ...]
    #: The same for the engines.
    statement: Statement

    def text(self) -> list[str]:
        """Lines for people."""
        number = {line.name: place for place, line in enumerate(self.lines, start=1)}
        shown = (line.name if line.why == "square" else f"{line.relation}  [{line.why}]" for line in self.lines)
        found = [f"({place}) {words}" for place, words in enumerate(shown, start=1)]

        def product(multiplier: sp.Expr, names: tuple[str, ...]) -> str:
            factors = [f"({multiplier})" if multiplier.is_Add else str(multiplier)]
            factors = [] if multiplier == 1 and names else factors
            return " * ".join([*factors, *(f"[{number[name]}]" for name in names)])

        if self.chain:
            found.append(str(self.goal.left))
            found += [f"  {op} {right}  (by {product(by, names)})" for op, right, by, names in self.chain]
        else:
            found.append(f"right - left of {self.goal} is the sum of")
            found += [f"  {product(one.multiplier, one.lines)}" for one in self.summands]
        return [*found, "where [n] is right - left of line (n)"]

    @cached_property
    def chain(self) -> list[Link]:
        """The goal as a chain of relations; empty where its sides have no form for one."""
        shown = {line.name: line.relation for line in self.lines}
        try:
            return chain(self.goal, shown, [(one.multiplier, one.lines) for one in self.summands])
        except (sp.PolynomialError, sp.CoercionFailed, TermError, ValueError):
            return []

    def page(self) -> str | None:
        """The claim with its proof as a page, which `cflag verify` takes; None where pages have no words for a term."""
        with suppress(Unwritten, KeyError):
            return page(self.statement, self.statement.words)
        return None

    def latex(self) -> str:
        """The derivation as an align* environment."""
        number = {line.name: place for place, line in enumerate(self.lines, start=1)}
        signs = {"==": "=", "<=": r"\le", "<": "<"}
        rows = [
            rf"{to_latex(line.relation.left)} &{signs[line.relation.op]} {to_latex(line.relation.right)}"
            rf" && \text{{({number[line.name]}) {_text(line.why)}}} \\"
            for line in self.lines
        ]
        shown = to_latex(self.goal.left)
        for op, right, multiplier, names in self.chain:
            by = "".join(rf"\,({number[name]})" for name in names)
            reason = f"\\text{{by }} {'' if multiplier == 1 and names else to_latex(multiplier)}{by}"
            rows.append(rf"{shown} &{signs.get(op, '=')} {to_latex(right)} && {reason} \\")
            shown = ""
        if not self.chain:
            total = " + ".join(
                rf"{to_latex(one.multiplier)}" + "".join(rf"\,\Delta_{{{number[name]}}}" for name in one.lines)
                for one in self.summands
            )
            rows.append(rf"{to_latex(self.goal.right)} - \bigl({to_latex(self.goal.left)}\bigr) &= {total}")
        body = "\n".join(rows)
        mark = "(n)" if self.chain else "\\Delta_n"
        return f"% {mark} is right minus left of line (n)\n" + "\\begin{align*}\n" + body + "\n\\end{align*}"

    def theorem(self, name: str = "claim") -> Lemma | None:
        """The claim as one Coq theorem over any real inner-product space; None where Coq has no words for a step."""
        try:
            return theorem(name, self.statement)
        except TypeError:
            return None

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        written = self.theorem()
        return {
            "coq": None if written is None else written.text,
            "lines": [{"name": one.name, "relation": str(one.relation), "why": one.why} for one in self.lines],
            "sum": [{"multiplier": str(one.multiplier), "lines": list(one.lines)} for one in self.summands],
            "latex": self.latex(),
            "page": self.page(),
        }


def _text(words: str) -> str:
    return words.replace("_", r"\_").replace("^", r"\^{}")


def derivation(statement: Statement) -> Derivation:
    """The lines of a statement whose proof is uses of rules and sums, or one induction with such a base and step."""
    assert statement.proof is not None
    steps = statement.proof.steps
    lines: list[Line] = []
    if isinstance(whole := steps[0], Induction):
        steps = whole.inner
        lines = [Line(f"{whole.name} (hypothesis)", whole.relation, f"for induction on {whole.index}")]
    last = next(step for step in reversed(steps) if isinstance(step, Obligation))
    steps = steps[: steps.index(last)]
    assert isinstance(last, Obligation)
    assert last.certificate is not None
    shown = {line.step.name: line.conclusion for line in transcript(statement)}
    needed = {name for step in (*steps, last) if isinstance(step, Use | Obligation) for name in step.given}
    lines = [
        *(
            Line(fact.name, fact.relation, f"{fact.name}, given")
            for fact in statement.hypotheses
            if fact.name in needed
        ),
        *lines,
    ]
    for step in steps:
        why = f"{step.rule}" if isinstance(step, Use) else "sum"
        if isinstance(step, Use | Obligation) and step.given:
            why += f" of {', '.join(step.given)}"
        if isinstance(whole, Induction) and isinstance(whole.base, tuple) and step == whole.base[-1]:
            why = f"for the first {whole.index}"
        lines.append(Line(step.name, shown[step.name], why))
    relations = {line.name: line.relation for line in lines}
    return Derivation(last.goal, tuple(lines), tuple(summands(last.certificate, relations)), statement)


def summands(certificate: sp.Expr, shown: Mapping[str, Relation]) -> list[Summand]:
    """The certificate by products of slacks, a residual being minus a slack; denominators have what `shown` says."""
    marks = {symbol: _MARK.match(symbol.name) for symbol in certificate.free_symbols}
    named = {symbol: match for symbol, match in marks.items() if match}
    below = {symbol: shown[match.group(2)].slack for symbol, match in named.items()}
    found: dict[tuple[str, ...], sp.Expr] = {}
    for term in sp.Add.make_args(sp.expand(certificate)):
        names: list[str] = []
        multiplier = sp.S.One
        for base, power in term.as_powers_dict().items():
            match = named.get(base)
            if match is None or not power.is_Integer or power < 0:
                multiplier *= (base**power).xreplace(below)
                continue
            names += [match.group(2)] * int(power)
            multiplier *= (-1 if match.group(1) == "residual" else 1) ** int(power)
        key = tuple(sorted(names))
        found[key] = found.get(key, sp.S.Zero) + multiplier
    return [Summand(sp.factor_terms(value), key) for key, value in sorted(found.items())]
