"""A proof as lines: what is given, what rules conclude, and the sum that is right minus left of the claim."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import sympy as sp

from cflag_theory.claims.coq.lemmas import Lemma
from cflag_theory.claims.coq.theorem import theorem
from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.printing import to_latex
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Obligation, Use
from cflag_theory.claims.engine.transcript import transcript

_MARK = re.compile(r"^(slack|residual)\[(.*)\]$", re.DOTALL)


@dataclass(frozen=True)
class Line:
    """One relation of a derivation.

    Attributes
    ----------
    name, relation : str, Relation
    why : str
        "given", the name of the rule, or "sum of" the lines that are added.
    """

    name: str
    relation: Relation
    why: str


@dataclass(frozen=True)
class Summand:
    """A multiplier times slacks (right minus left) of lines; without lines it is not negative by itself."""

    multiplier: sp.Expr
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Derivation:
    """A proof that the examiner accepted.

    Attributes
    ----------
    goal : Relation
    lines : tuple of Line
    summands : tuple of Summand
        Their sum is right minus left of the goal.
    statement : Statement
        The same for the engines.
    """

    goal: Relation
    lines: tuple[Line, ...]
    summands: tuple[Summand, ...]
    statement: Statement

    def text(self) -> list[str]:
        """Lines for people."""
        number = {line.name: place for place, line in enumerate(self.lines, start=1)}
        found = [f"({number[line.name]}) {line.relation}  [{line.why}]" for line in self.lines]
        found.append(f"right - left of {self.goal} is the sum of")
        for one in self.summands:
            factors = [f"({one.multiplier})" if one.multiplier.is_Add else str(one.multiplier)]
            found.append("  " + " * ".join([*factors, *(f"[{number[name]}]" for name in one.lines)]))
        found.append("where [n] is right - left of line (n)")
        return found

    def latex(self) -> str:
        """The derivation as an align* environment."""
        number = {line.name: place for place, line in enumerate(self.lines, start=1)}
        signs = {"==": "=", "<=": r"\le", "<": "<"}
        rows = [
            rf"{to_latex(line.relation.left)} &{signs[line.relation.op]} {to_latex(line.relation.right)}"
            rf" && \text{{({number[line.name]}) {_text(line.why)}}} \\"
            for line in self.lines
        ]
        total = " + ".join(
            rf"{to_latex(one.multiplier)}" + "".join(rf"\,\Delta_{{{number[name]}}}" for name in one.lines)
            for one in self.summands
        )
        rows.append(rf"{to_latex(self.goal.right)} - \bigl({to_latex(self.goal.left)}\bigr) &= {total}")
        body = "\n".join(rows)
        return "% \\Delta_n is right minus left of line (n)\n\\begin{align*}\n" + body + "\n\\end{align*}"

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
        }


def _text(words: str) -> str:
    return words.replace("_", r"\_").replace("^", r"\^{}")


def derivation(statement: Statement) -> Derivation:
    """The lines of a statement whose proof is uses of rules and sums, the last of them the statement."""
    assert statement.proof is not None
    last = statement.proof.steps[-1]
    assert isinstance(last, Obligation)
    assert last.certificate is not None
    shown = {line.step.name: line.conclusion for line in transcript(statement)}
    needed = _needed(statement)
    lines = [
        Line(fact.name, fact.relation, f"{fact.name}, given") for fact in statement.hypotheses if fact.name in needed
    ]
    for step in statement.proof.steps[:-1]:
        why = f"{step.rule}" if isinstance(step, Use) else "sum"
        if isinstance(step, Use | Obligation) and step.given:
            why += f" of {', '.join(step.given)}"
        lines.append(Line(step.name, shown[step.name], why))
    return Derivation(last.goal, tuple(lines), tuple(summands(last.certificate)), statement)


def _needed(statement: Statement) -> set[str]:
    assert statement.proof is not None
    return {name for step in statement.proof.steps if isinstance(step, Use | Obligation) for name in step.given}


def summands(certificate: sp.Expr) -> list[Summand]:
    """The certificate by products of slacks; the slack of an equation is minus its residual."""
    marks = {symbol: _MARK.match(symbol.name) for symbol in certificate.free_symbols}
    named = {symbol: match for symbol, match in marks.items() if match}
    found: dict[tuple[str, ...], sp.Expr] = {}
    for term in sp.Add.make_args(sp.expand(certificate)):
        names: list[str] = []
        multiplier = term
        for symbol, match in named.items():
            power = sp.degree(term, symbol) if term.has(symbol) else 0
            for _number in range(int(power)):
                names.append(match.group(2))
                multiplier = multiplier / symbol * (-1 if match.group(1) == "residual" else 1)
        key = tuple(sorted(names))
        found[key] = found.get(key, sp.S.Zero) + multiplier
    return [Summand(sp.factor_terms(value), key) for key, value in sorted(found.items())]
