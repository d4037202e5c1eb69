"""How evidence is made: proofs examined, exact instances replayed, relations evaluated along runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.core.function import AppliedUndef

from cflag_theory.claims import standing
from cflag_theory.claims.engine import algebra
from cflag_theory.claims.engine.claim import Part, Statement, statements
from cflag_theory.claims.engine.examiner import Examination, examine
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.plain import plain
from cflag_theory.claims.engine.points import Exact, consistent, covered_by, holds_at, sides_at
from cflag_theory.claims.engine.printing import to_latex
from cflag_theory.claims.engine.relation import Relation, at_most
from cflag_theory.claims.engine.terms import Term
from cflag_theory.verify.complete import left_open
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, UNDECIDED, Evidence

# A float run contradicts a relation only beyond this part of the sum of the absolute terms.
TOLERANCE = 1e-11


@dataclass(frozen=True)
class Point:
    """An exact instance: a value for every symbol of the statements, and where it refutes one, the `story` behind it.

    The story is lines from which to replay it, besides the values. `part` restricts it to one part of the claim.
    `members` are the other values, by the name of a fact, at all the indices for which that fact is meant: the complete
    finite family of the instance. `unseen` says what a reader must see, where the values cannot cover everything.
    """

    values: Mapping[sp.Expr, Any]
    story: tuple[str, ...] = ()
    part: str | None = None
    members: Mapping[str, Sequence[Mapping[sp.Expr, Any]]] = field(default_factory=dict)
    unseen: str = ""

    def __post_init__(self) -> None:
        consistent(self.values)

    @cached_property
    def exact(self) -> Exact:
        """The values, checked."""
        return Exact(self.values)

    @property
    def lines(self) -> tuple[str, ...]:
        """The story; without one, the values."""
        return self.story or (", ".join(f"{key} = {value}" for key, value in self.values.items()),)


@dataclass(frozen=True)
class Sample:
    """Float values along runs: arrays that broadcast together, one entry a case.

    `part` and `on` restrict it to one part and to its "printed", "repair" or "sharp" statement, where the values were
    chosen to satisfy hypotheses that only that statement has.
    """

    values: Mapping[sp.Expr, Any]
    part: str | None = None
    on: str | None = None


#: What is wrong with the imports of a claim's statements, by part and role: see `claims.imports`.
Faults = Mapping[tuple[str, str], Sequence[str]]


def _examined(statement: Statement, wrong: Sequence[str], *, second: bool = True) -> Examination:
    """The examiner's finding, which a fault of the imports turns."""
    result = examine(statement, second=second)
    return replace(result, accepted=False, faults=(*wrong, *result.faults)) if wrong else result


def prove(part: Part, imports: Faults = MappingProxyType({}), *, second: bool = True) -> list[Evidence]:
    """Examine every proof that a part offers; `second` as in `examine`."""
    found = []
    for on, statement in statements(part).items():
        if statement.proof is None:
            continue
        result = _examined(statement, imports.get((part.key, on), ()), second=second)
        steps = f"{result.obligations} algebraic step{'s' if result.obligations != 1 else ''}"
        data = {
            "engines": list(result.engines),
            "obligations": result.obligations,
            "rules": list(result.rules),
            "undecided": list(result.undecided),
            "assumed": list(result.assumed),
            "faults": list(result.faults),
        }
        if result.accepted:
            summary = f"{steps} verified by {' and '.join(result.engines)}"
            if result.undecided:
                summary += f"; z3 answers unknown on {', '.join(result.undecided)}"
            found.append(Evidence("proof", part.key, on, SUPPORTS, summary + ".", data))
        else:
            summary = f"The proof is not accepted: {result.faults[0]}."
            found.append(Evidence("proof", part.key, on, UNDECIDED, summary, data))
    return found


def refute(part: Part, imports: Faults = MappingProxyType({})) -> list[Evidence]:
    """Examine the proof of an explicit contradiction to the printed statement."""
    if part.refutation is None:
        return []
    result = _examined(part.refutation, imports.get((part.key, "refutation"), ()))
    facts = [fact.relation for fact in part.refutation.facts]
    if algebra.follows(at_most(1, 0), facts):
        result = replace(result, accepted=False, faults=("its hypotheses contradict each other",))
    elif part.printed.relation is not None and algebra.follows(part.refutation.relation or at_most(1, 0), ()):
        result = replace(result, accepted=False, faults=("what it shows is true of everything",))
    elif result.accepted and (fault := _apart(part)) is not None:
        result = replace(result, accepted=False, faults=(fault,))
    data: dict[str, Any] = {
        "engines": list(result.engines),
        "rules": list(result.rules),
        "faults": list(result.faults),
        "refutation": True,
        "family": {str(term): str(value) for term, value in part.family},
        "unseen": part.unseen,
    }
    if not result.accepted:
        return [Evidence("counterexample", part.key, "printed", UNDECIDED, f"Not accepted: {result.faults[0]}.", data)]
    data["instance"] = [part.refutation.words, *(fact.words for fact in part.refutation.hypotheses)]
    summary = f"A family with a proved closed form contradicts it; checked by {' and '.join(result.engines)}."
    if part.unseen:
        summary += f" This last step is not machine-checked: {part.unseen}."
    return [Evidence("counterexample", part.key, "printed", REFUTES, summary, data)]


def _apart(part: Part) -> str | None:
    """Why a refutation does not contradict the printed statement, or not where that one's hypotheses hold."""
    assert part.refutation is not None
    assert part.refutation.relation is not None
    never = at_most(1, 0)
    family = {term: sp.sympify(value) for term, value in part.family}
    facts = [fact.relation for fact in part.refutation.facts]
    assumed = {f.name: f.relation.xreplace(family) for f in part.printed.facts}
    relations = [part.refutation.relation, *facts, *assumed.values()]
    symbols = set().union(*(one.slack.free_symbols for one in relations))
    facts += [at_most(1, symbol) for symbol in symbols if symbol.is_integer and symbol.is_positive]
    if algebra.follows(never, [*facts, *assumed.values()]):
        return "it contradicts the hypotheses of the printed statement"
    if part.unseen:
        return None
    if part.printed.relation is None:
        return "no relation is printed for it to contradict: say why that cannot be seen"
    for name, relation in assumed.items():
        if relation not in facts and not algebra.follows(relation, facts):
            return f"it need not satisfy {name!r} of the printed statement"
    printed = part.printed.relation.xreplace(family)
    if not algebra.follows(never, [*facts, part.refutation.relation, printed]):
        return "what it shows does not contradict the printed statement"
    return None


def applies(statement: Statement, point: Point) -> bool:
    """Whether a point satisfies the hypotheses of a statement."""
    for fact in statement.definitions:
        if covered_by(fact.relation, point.values) and not holds_at(fact.relation, point.exact):
            raise ValueError(
                f"the instance {point.lines[0]!r} contradicts the definition {fact.name!r}: {fact.relation}"
            )
    return all(holds_at(fact.relation, point.exact) for fact in statement.hypotheses)


def broken(statement: Statement, points: Iterable[Point]) -> Point | None:
    """The first point that satisfies the hypotheses of a statement and not its relation."""
    if statement.relation is None:
        return None
    valid = (point for point in points if applies(statement, point))
    return next((point for point in valid if not holds_at(statement.relation, point.exact)), None)


def replay(part: Part, points: Iterable[Point], paper: str = "") -> list[Evidence]:
    """Evaluate the statements of a part at exact points, each where its hypotheses hold.

    A point refutes only if it covers everything that the statement assumes, see `complete`, or says what a reader must
    see, and where the standing assumptions of the paper hold.
    """
    cases = [point for point in points if point.part in (None, part.key)]
    found = []
    for on, statement in statements(part).items():
        if statement.relation is None:
            continue
        valid = [point for point in cases if applies(statement, point)]
        against, wrong = refuting(statement, valid, paper)
        if against is not None and wrong:
            summary = f"An exact instance contradicts it, which decides nothing: {wrong}."
            found.append(Evidence("counterexample", part.key, on, UNDECIDED, summary, {"faults": [wrong]}))
        elif against is not None:
            left, right = sides_at(statement.relation, against.exact)
            summary = f"An exact instance has {_number(left)} on the left and {_number(right)} on the right."
            instance: dict[str, Any] = {
                "instance": list(against.story),
                "values": {str(key): str(value) for key, value in against.values.items()},
                "shown": [f"{plain(to_latex(key))} = {value}" for key, value in _own_values(statement, against)],
                "left": _number(left),
                "right": _number(right),
                "numbers_alone": numbers_alone(statement),
            }
            if instance["numbers_alone"]:
                summary += " No symbol of it stands for vectors or a sequence: numbers alone decide, no run is needed."
            if against.members:
                instance["members"] = {name: len(family) for name, family in against.members.items()}
            if against.unseen and any(left_open(statement, against)):
                instance["unseen"] = against.unseen
                summary += f" This last step is not machine-checked: {against.unseen}."
            found.append(Evidence("counterexample", part.key, on, REFUTES, summary, instance))
        elif valid:
            ratios = [ratio for point in valid if (ratio := _ratio(statement.relation, point)) is not None]
            data: dict[str, Any] = {"cases": len(valid), "exact": True}
            summary = f"{len(valid)} exact instances agree."
            if ratios:
                closest = max(ratios)
                data["largest_ratio"] = closest
                summary = f"{len(valid)} exact instances agree; the largest left/right is {closest:.6g}."
            found.append(Evidence("property", part.key, on, SUPPORTS, summary, data))
    return found


def refuting(statement: Statement, points: Iterable[Point], paper: str) -> tuple[Point | None, str]:
    """A point that breaks the relation, and what is wrong with it: the first with nothing wrong, or else the first."""
    found: list[tuple[Point, str]] = []
    for point in points:
        if statement.relation is not None and not holds_at(statement.relation, point.exact):
            outside = next(iter(standing.broken(paper, point.values)), "")
            gap = next(left_open(statement, point), "")
            if not outside and (point.unseen or not gap):
                return point, ""
            found.append((point, outside or gap))
    return found[0] if found else (None, "")


def _own_values(statement: Statement, point: Point) -> list[tuple[sp.Expr, Any]]:
    """The values of a point that a statement and its facts name."""
    named = {
        term
        for one in statement.relations
        for side in (one.left, one.right)
        for term in side.atoms(sp.Symbol, AppliedUndef)
    }
    return [(key, value) for key, value in point.values.items() if key in named]


def numbers_alone(statement: Statement) -> bool:
    """Whether no symbol of a statement stands for something made of vectors, or is a member of a sequence."""
    sides = [unfold(side) for one in statement.relations for side in (one.left, one.right)]
    return not any(side.atoms(Term, AppliedUndef) for side in sides)


def along_runs(part: Part, samples: Iterable[Sample], seed: int) -> list[Evidence]:
    """Evaluate the statements of a part along float runs; beyond the tolerance a case contradicts."""
    cases = [sample for sample in samples if sample.part in (None, part.key)]
    found = []
    for on, statement in statements(part).items():
        if statement.relation is None:
            continue
        total, bad, strange, worst = 0, 0, 0, -np.inf
        for sample in cases:
            if sample.on not in (None, on) or not covered_by(statement.relation, sample.values):
                continue
            gap, terms, ratio = evaluate(statement.relation, sample.values)
            within = _within(statement, sample, gap.shape)
            finite = np.isfinite(gap) & np.isfinite(terms)
            strange += int(np.sum(within & ~finite))
            counted = within & finite
            total += int(np.sum(counted))
            bad += int(np.sum(gap[counted] < -TOLERANCE * terms[counted]))
            worst = max(worst, float(np.max(ratio[counted], initial=-np.inf)))
        if not total + strange:
            continue
        data: dict[str, Any] = {"cases": total, "violations": bad, "seed": seed, "exact": False}
        summary = f"{bad} of {total} cases along simulated runs contradict (seed {seed})"
        if strange:
            data["not_finite"] = strange
            summary += f"; {strange} more are not finite and do not count"
        if np.isfinite(worst):
            data["worst_ratio"] = worst
            summary += f"; worst left/right {worst:.4g}"
        finding = REFUTES if bad else SUPPORTS if total else UNDECIDED
        found.append(Evidence("property", part.key, on, finding, summary + ".", data))
    return found


def _within(statement: Statement, sample: Sample, shape: tuple[int, ...]) -> NDArray[Any]:
    """Where the hypotheses that the sample can speak of hold, up to the tolerance."""
    inside = np.ones(shape, dtype=bool)
    for fact in statement.hypotheses:
        if covered_by(fact.relation, sample.values):
            gap, terms, _ = evaluate(fact.relation, sample.values)
            inside &= ~(gap < -TOLERANCE * terms)
    return inside


def evaluate(relation: Relation, values: Mapping[sp.Expr, Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """A relation at float arrays: signed gap (not negative where it holds), sum of absolute terms, left/right.

    Terms are those of the expanded difference, so that a value which cancels is judged by what it cancels from.
    Ratios are -inf where the right side is within the tolerance of zero, and for equations.
    """
    arrays = np.broadcast_arrays(*[np.asarray(v, dtype=float) for v in values.values()])
    of = _numeric(relation, tuple(values))(*arrays)
    a, b, *terms = [np.broadcast_to(np.asarray(v, dtype=float), arrays[0].shape) for v in of]
    absolute, gap = np.sum(np.abs(terms), axis=0), np.sum(terms, axis=0)
    if relation.op == "==":
        return -np.abs(gap), absolute, np.full(gap.shape, -np.inf)
    usable = b > TOLERANCE * absolute
    return gap, absolute, np.where(usable, a / np.where(usable, b, 1.0), -np.inf)


@cache
def _numeric(relation: Relation, terms: tuple[sp.Expr, ...]) -> Callable[..., Any]:
    """Both sides and the terms of the expanded difference, from values of these terms; samples of a claim share it."""
    names = {term: sp.Symbol(f"v{i}") for i, term in enumerate(terms)}
    a, b = relation.left.xreplace(names), relation.right.xreplace(names)
    return sp.lambdify([*names.values()], [a, b, *sp.Add.make_args(sp.expand(b - a))], "numpy")  # type: ignore[no-any-return]


def _ratio(relation: Relation, point: Point) -> float | None:
    left, right = sides_at(relation, point.exact)
    return float(left / right) if relation.op != "==" and right.is_positive else None


def _number(value: sp.Expr) -> str:
    return str(value) if value.is_Rational and len(str(value)) <= 24 else f"{float(value):.10g}"
