"""The proving side: rules at all declared points and vectors, then a certificate by linear programming.

A proof is a statement of the ledger's kind with its steps, and counts only if the examiner accepts it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import NamedTuple

import sympy as sp

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import Atoms, manifestly_nonnegative, slack
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.finder import find
from cflag_theory.claims.engine.operators import Index
from cflag_theory.claims.engine.relation import Relation, at_most
from cflag_theory.claims.engine.steps import Obligation, Proof, Use
from cflag_theory.claims.engine.terms import Function, Norm, TermError, dot, is_vector, norm2, parts
from cflag_theory.errors import InconsistentEvidence, InvalidInput
from cflag_theory.falsify.vector_terms.reading import Reading
from cflag_theory.falsify.vector_terms.squares import with_squares

#: More rule instances than this are not put into one linear program.
_MOST = 220


@dataclass
class _Facts:
    """What is known, by name, and the steps that show it."""

    known: dict[str, rules.Known] = field(default_factory=dict)
    steps: dict[str, Use | Obligation] = field(default_factory=dict)
    #: What is known does not imply the goal, whatever is squared.
    refused: bool = False

    def certificate(self, goal: Relation) -> sp.Expr | None:
        """A certificate of the goal with squares that are found for it, and become facts."""
        found = with_squares(goal, {name: one.relation for name, one in self.known.items()})
        self.refused = found.refused
        for name, (vector, operator) in found.squares.items():
            self.use(rules.square(name, vector, *([operator] if operator else [])))
        return found.certificate

    def prove(self, hint: Fact) -> None:
        """Add a hint, if a certificate is found."""
        certificate = None if hint.name in self.known else self.certificate(hint.relation)
        if certificate is None and hint.name not in self.known:
            certificate = find(hint.relation, self.relations())
        if certificate is not None:
            used = _named(certificate, self)
            self.known[hint.name] = rules.Known(hint.relation, frozenset().union(*(self.known[n].fixed for n in used)))
            self.steps[hint.name] = Obligation(hint.name, hint.relation, used, certificate)

    def use(self, step: Use) -> str | None:
        """Add what a rule concludes; None where it does not fit, or says nothing new."""
        try:
            premises = [self.known[name] for name in step.given]
            relation = rules.concluded(step, premises)
        except TermError:
            return None
        if sp.expand(relation.slack) == 0 or any(relation == known.relation for known in self.known.values()):
            return None
        fixed = frozenset().union(*(known.fixed for known in premises))
        self.known[step.name] = rules.Known(relation, fixed)
        self.steps[step.name] = step
        return step.name

    def relations(self) -> dict[str, Relation]:
        """What is known between numbers."""
        return {
            name: known.relation
            for name, known in self.known.items()
            if not (is_vector(known.relation.left) or is_vector(known.relation.right))
        }

    def derive(self, name: str, goal: Relation, given: list[str | None]) -> None:
        """Add a relation that follows from these, if a certificate is found."""
        known = {one: self.known[one].relation for one in given if one is not None}
        certificate = None if name in self.known else find(goal, known)
        if certificate is not None:
            fixed = frozenset().union(*(self.known[one].fixed for one in known))
            self.known[name] = rules.Known(goal, fixed)
            self.steps[name] = Obligation(name, goal, tuple(known), certificate)


class Proved(NamedTuple):
    """A statement with a proof that the examiner accepts, the engines that agree, and whether the proof was found."""

    statement: Statement
    engines: tuple[str, ...]
    found: bool = True


def prove_vectors(reading: Reading) -> Proved | None:
    """The claim as a statement with a proof that the examiner accepts, or None."""
    goal = reading.goal
    # A bound between norms is proved between their squares.
    norms = goal.op == "<=" and reading.norms and manifestly_nonnegative(Atoms()(goal.right))
    squared = at_most(sp.expand(goal.left**2), sp.expand(goal.right**2)) if norms else None
    direct = squared is None or _norm_of(goal.left) is None or _norm_of(goal.right) is None
    facts = _hypotheses(reading)
    for stage in (_functions, _norms, _gradient_steps):
        before = len(facts.known)
        _add(stage, reading, facts)
        if len(facts.known) > _MOST:
            return None
        for hint in reading.hints:
            facts.prove(hint)
        if len(facts.known) == before and stage is not _functions:
            continue
        found = facts.certificate(goal) if direct else None
        if found is None and squared is not None and stage is not _functions:
            found = _by_squares(facts, goal, squared)
        if found is None and direct and (reading.norms or not facts.refused):
            found = find(goal, facts.relations())
        if found is not None:
            return _statement(reading, facts, found)
    return None


def _add(stage: Callable[[Reading, _Facts], None], reading: Reading, facts: _Facts) -> None:
    """What a stage knows, also under means."""
    before = len(facts.known)
    stage(reading, facts)
    _under_means(reading, facts, list(facts.known)[before:])
    if stage is _functions:
        _under_means(reading, facts, list(facts.known)[:before])


def in_squares(reading: Reading) -> tuple[Relation, dict[str, Relation]]:
    """The goal, between squares where it is between two norms, and all that rules say: what programs are made of."""
    facts, goal = _hypotheses(reading), reading.goal
    for stage in (_functions, _norms) if reading.norms else (_functions, _gradient_steps):
        _add(stage, reading, facts)
    for hint in reading.hints:
        facts.prove(hint)
    left, right = _norm_of(goal.left), _norm_of(goal.right)
    if left is not None and right is not None:
        (b, u), (c, v) = left, right
        goal = at_most(norm2(b * u), sp.expand(c**2 * norm2(v)))
    return goal, {name: one.relation for name, one in facts.known.items()}


def _by_squares(facts: _Facts, goal: Relation, squared: Relation) -> sp.Expr | None:
    """The goal's certificate from its root, where the relation between the squares was proved."""
    left, right = _norm_of(goal.left), _norm_of(goal.right)
    name = "squares"
    if left is not None and right is not None:
        # Between two norms, squares of vectors are enough.
        (b, u), (c, v) = left, right
        plain = at_most(norm2(b * u), sp.expand(c**2 * norm2(v)))
        if (certificate := facts.certificate(plain)) is not None:
            facts.known["squared norms"] = rules.Known(plain)
            facts.steps["squared norms"] = Obligation("squared norms", plain, _named(certificate, facts), certificate)
            facts.derive(name, squared, ["squared norms", _named_square(facts, u), _named_square(facts, v)])
    elif (certificate := find(squared, facts.relations())) is not None:
        facts.known[name] = rules.Known(squared)
        facts.steps[name] = Obligation(name, squared, _named(certificate, facts), certificate)
    if name not in facts.known:
        return None
    root = facts.use(rules.square_root("roots", goal.left, goal.right, given=name))
    return None if root is None else slack(root)


def _named(certificate: sp.Expr, facts: _Facts) -> tuple[str, ...]:
    words = {str(symbol) for symbol in certificate.free_symbols}
    return tuple(name for name in facts.relations() if words & {f"slack[{name}]", f"residual[{name}]"})


def _hypotheses(reading: Reading) -> _Facts:
    facts = _Facts()
    for fact in reading.facts:
        free = fact.relation.left.free_symbols | fact.relation.right.free_symbols
        facts.known[fact.name] = rules.Known(fact.relation, frozenset(free - {*fact.forall}))
    return facts


def _functions(reading: Reading, facts: _Facts) -> None:
    """What the declared properties say between all pairs of points."""
    for f, points in reading.functions.items():
        declared = f.properties
        if declared.lower is not None:
            for point in points:
                facts.use(rules.bounded_below(f"{f} is bounded below at {point}", f, point))
        for x, y in permutations(points, 2):
            between = f"of {f} from {x} to {y}"
            if declared.smooth is not None:
                facts.use(rules.smooth(f"smoothness {between}", f, x, y))
            if declared.mu is not None and (declared.smooth is None or declared.mu != 0):
                facts.use(rules.convex(f"convexity {between}", f, x, y))
            if declared.mu is not None and declared.smooth is not None:
                facts.use(rules.interpolation(f"interpolation {between}", f, x, y))
        for x, y in combinations(points, 2):
            if declared.smooth is not None and declared.mu:
                facts.use(rules.cocoercive(f"co-coercivity of {f} between {x} and {y}", f, x, y))
            if declared.smooth is not None and (declared.mu is None or reading.norms):
                _lipschitz(facts, f, x, y)
    for name, known in list(facts.known.items()):
        if is_vector(known.relation.left) or is_vector(known.relation.right):
            for w in dict.fromkeys((*reading.bases, *(f.grad(x) for f, at in reading.functions.items() for x in at))):
                facts.use(rules.along(f"{name} along {w}", w, given=name))


def _lipschitz(facts: _Facts, f: Function, x: sp.Expr, y: sp.Expr) -> None:
    """||grad f(x) - grad f(y)||^2 <= L^2 ||x - y||^2."""
    between = f"of {f} between {x} and {y}"
    names = [
        facts.use(rules.lipschitz(f"Lipschitz gradient {between}", f, x, y)),
        facts.use(rules.norm_squared(f"square of the change of the gradient {between}", f.grad(x) - f.grad(y))),
        facts.use(rules.norm_squared(f"square of the distance {between}", x - y)),
    ]
    goal = at_most(norm2(f.grad(x) - f.grad(y)), sp.expand(sp.sympify(f.properties.smooth) ** 2 * norm2(x - y)))
    facts.derive(f"Lipschitz gradient {between}, squared", goal, names)


def _gradient_steps(reading: Reading, facts: _Facts) -> None:
    """What the properties say between a point x and x - grad f(x) / L."""
    for f, points in reading.functions.items():
        L = f.properties.smooth
        if L is None or not L.is_positive:
            continue
        for x in points:
            step = x - f.grad(x) / L
            facts.use(rules.smooth(f"smoothness of {f} along a gradient step from {x}", f, x, step))
            if f.properties.lower is not None:
                facts.use(rules.bounded_below(f"{f} is bounded below after a gradient step from {x}", f, step))


def _norms(reading: Reading, facts: _Facts) -> None:
    """Norms in the claim: squares, the triangle and Cauchy-Schwarz inequalities."""
    for v in reading.norms:
        _named_square(facts, v)
        summands = [c * basis for basis, c in parts(v).items()]
        if len(summands) > 1:
            facts.use(rules.triangle(f"triangle inequality for {v}", v, *summands))
        for operator in reading.operators:
            if operator.index in v.free_symbols:
                facts.use(rules.norm_of_mean(f"norm of the mean of {v}", operator, v))
    _bounded(reading, facts)
    for u, v in combinations(reading.norms, 2):
        for sign in (1, -1):
            facts.use(rules.cauchy_schwarz(f"Cauchy-Schwarz for {u} and {sign * v}", u, sign * v))


def _bounded(reading: Reading, facts: _Facts) -> None:
    """From ||u|| <= c ||v||: ||u||^2 <= c^2 ||v||^2, and <v, u> <= c ||v||^2 for u and -u."""
    for fact in reading.facts:
        left, right = _norm_of(fact.relation.left), _norm_of(fact.relation.right)
        if left is None or right is None or fact.relation.op != "<=":
            continue
        (b, u), (c, v) = left, right
        squares = [_named_square(facts, w) for w in (u, v)]
        goal = at_most(norm2(b * u), sp.expand(c**2 * norm2(v)))
        facts.derive(f"{fact.name}, squared", goal, [fact.name, *squares])
        for sign in (1, -1):
            product = f"Cauchy-Schwarz for {v} and {sign * u}"
            if product not in facts.known:
                facts.use(rules.cauchy_schwarz(product, v, sign * u))
            goal = at_most(dot(v, sign * b * u), sp.expand(c * norm2(v)))
            given = [fact.name, squares[1], product if product in facts.known else None]
            facts.derive(f"{fact.name} along {sign * v}", goal, given)


def _norm_of(expr: sp.Expr) -> tuple[sp.Expr, sp.Expr] | None:
    """The factor and the vector of a multiple of one norm."""
    norms = expr.atoms(Norm)
    if len(norms) != 1:
        return None
    norm = norms.pop()
    factor = sp.cancel(expr / norm)
    return None if factor.has(Norm) else (factor, norm.args[0])


def _named_square(facts: _Facts, v: sp.Expr) -> str:
    """The name under which ||v||^2 = <v, v> is known."""
    name = facts.use(rules.norm_squared(f"square of ||{v}||", v))
    if name is not None:
        return name
    shown = rules.concluded(rules.norm_squared("", v), [])
    return next(known for known, one in facts.known.items() if one.relation == shown)


def _under_means(reading: Reading, facts: _Facts, names: list[str]) -> None:
    """Every relation that holds for each value of an index, under the means over that index."""
    for name in names:
        known = facts.known[name]
        free = known.relation.left.free_symbols | known.relation.right.free_symbols
        if not any(isinstance(s, Index) for s in free) or is_vector(known.relation.left):
            continue
        for operator in reading.operators:
            if operator.index in free:
                facts.use(rules.mean(f"{name}, under {operator}", operator, given=name))


def _needed(facts: _Facts, names: list[str]) -> list[str]:
    """The steps that these names rest on, each before what uses it."""
    ordered: list[str] = []

    def visit(name: str) -> None:
        step = facts.steps.get(name)
        if step is None or name in ordered:
            return
        for other in step.given:
            visit(other)
        ordered.append(name)

    for name in names:
        visit(name)
    return ordered


def _statement(reading: Reading, facts: _Facts, certificate: sp.Expr) -> Proved:
    used = _named(certificate, facts)
    steps = [facts.steps[name] for name in _needed(facts, list(used))]
    last = Obligation(reading.name, reading.goal, used, certificate)
    statement = Statement(reading.name, reading.goal, reading.facts, Proof((*steps, last)))
    examination = examine(statement)
    if any("contradict each other" in fault for fault in examination.faults):
        raise InvalidInput(f"{reading.name}: the hypotheses contradict each other, and anything follows: drop one")
    if examination.faults:
        raise InconsistentEvidence(
            f"{reading.name}: a proof was found that the examiner refuses: {examination.faults[0]}"
        )
    return Proved(statement, examination.engines)
