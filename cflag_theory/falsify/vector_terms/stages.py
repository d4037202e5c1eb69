"""What rules say of a claim's functions, gradient steps and norms: a stage of facts after the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product

import sympy as sp

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.operators import TotalVector
from cflag_theory.claims.engine.relation import Relation, at_most
from cflag_theory.claims.engine.steps import Use
from cflag_theory.claims.engine.terms import Function, Norm, dot, is_vector, norm, norm2, parts
from cflag_theory.falsify.vector_terms import rounds
from cflag_theory.falsify.vector_terms.facts import Facts
from cflag_theory.falsify.vector_terms.reading import Reading

#: Relations between lengths from which the sign of a quotient of these is sought.
_LENGTHS = 4


def functions(reading: Reading, facts: Facts) -> None:
    """What the declared properties say between all pairs of points."""
    for f, points in reading.functions.items():
        declared = f.properties
        if declared.lower is not None:
            for point in points:
                facts.use(rules.bounded_below(f"{f} is bounded below at {point}", f, point))
        for x, y in (pair for pair in permutations(points, 2) if not rounds.apart(reading, *pair)):
            between = f"of {f} from {x} to {y}"
            if declared.smooth is not None:
                facts.use(rules.smooth(f"smoothness {between}", f, x, y))
            if declared.mu is not None and (declared.smooth is None or declared.mu != 0 or rounds.weighed(reading)):
                facts.use(rules.convex(f"convexity {between}", f, x, y))
            if declared.mu is not None and declared.smooth is not None:
                facts.use(rules.interpolation(f"interpolation {between}", f, x, y))
                facts.use(rules.interpolation(f"strong interpolation {between}", f, x, y, 1))
        for x, y in (pair for pair in combinations(points, 2) if not rounds.apart(reading, *pair)):
            if declared.smooth is not None and (declared.mu is None or reading.norms):
                _lipschitz(facts, f, x, y)
    for name, known in list(facts.known.items()):
        if is_vector(known.relation.left) or is_vector(known.relation.right):
            gradients = (f.grad(x) for f, at in reading.functions.items() for x in at)
            for w in dict.fromkeys((*reading.bases, *gradients, *_means(reading, known.relation))):
                if (shown := facts.steps.get(name)) is None:
                    facts.use(rules.along(f"{name} along {w}", w, given=name))
                    continue
                assert isinstance(shown, Use)
                every, once = rounds.along(shown, f"{name} along {w}", w)
                if facts.use(every, behind=True):
                    facts.use(once)


def _means(reading: Reading, equation: Relation) -> Iterator[sp.Expr]:
    """The means of all vectors of an equation where the claim has that of one."""
    means = [one for one in reading.bases if isinstance(one, TotalVector)]
    of = parts(equation.slack) if means else {}
    for mean in (one for one in means if one.body in of):
        yield from (mean.operator(other) for other in of if mean.operator.index in other.free_symbols)


def _lipschitz(facts: Facts, f: Function, x: sp.Expr, y: sp.Expr) -> None:
    """||grad f(x) - grad f(y)||^2 <= L^2 ||x - y||^2."""
    between = f"of {f} between {x} and {y}"
    names = [
        facts.use(rules.lipschitz(f"Lipschitz gradient {between}", f, x, y)),
        facts.use(rules.norm_squared(f"square of the change of the gradient {between}", f.grad(x) - f.grad(y))),
        facts.use(rules.norm_squared(f"square of the distance {between}", x - y)),
    ]
    goal = at_most(norm2(f.grad(x) - f.grad(y)), sp.expand(sp.sympify(f.properties.smooth) ** 2 * norm2(x - y)))
    facts.derive(f"Lipschitz gradient {between}, squared", goal, names)


def gradient_steps(reading: Reading, facts: Facts) -> None:
    """What the properties say between a point x and x - grad f(x) / L, and of smooth functions from below."""
    for f, points in reading.functions.items():
        for x, y in permutations(points, 2) if f.properties.mu is None else ():
            if not rounds.apart(reading, x, y):
                facts.use(rules.interpolation(f"strong interpolation of {f} from {x} to {y}", f, x, y, 1))
        L = f.properties.smooth
        for x in points if L is not None and L.is_positive else ():
            step = x - f.grad(x) / L
            facts.use(rules.smooth(f"smoothness of {f} along a gradient step from {x}", f, x, step))
            if f.properties.lower is not None:
                facts.use(rules.bounded_below(f"{f} is bounded below after a gradient step from {x}", f, step))


def norms(reading: Reading, facts: Facts) -> None:
    """Norms in the claim: squares, the triangle and Cauchy-Schwarz inequalities."""
    for v in reading.norms:
        facts.square_of(v)
        summands = [c * basis for basis, c in parts(v).items()]
        if len(summands) > 1:
            facts.use(rules.triangle(f"triangle inequality for {v}", v, *summands))
        for u in reading.norms:
            if len(parts(v)) == len(parts(v - u)) == 2:
                facts.use(rules.triangle(f"triangle inequality for {v} from {u}", v, u, v - u))
        for operator in reading.operators:
            if operator.index in v.free_symbols:
                facts.use(rules.norm_of_mean(f"norm of the mean of {v}", operator, v))
                facts.use(rules.jensen(f"square of {operator} of ||{v}||", operator, norm(v)))
                facts.use(rules.norm_squared(f"square of ||{v}||, under {operator}", v, operator))
    shown = [one for one in facts.steps.values() if isinstance(one, Use) and one.given and one.given[0] in facts.behind]
    for use, v in product(shown, rounds.lengths(reading)):
        if use.rule == "at one value":
            for every, once in rounds.triangles(use, facts.behind[use.given[0]].relation, v):
                if facts.use(every, behind=True):
                    facts.use(once)
    _multiples(facts)
    _bounded(reading, facts)
    for u, v in combinations(reading.norms, 2):
        for sign in (1, -1):
            facts.use(rules.cauchy_schwarz(f"Cauchy-Schwarz for {u} and {sign * v}", u, sign * v))


def _multiples(facts: Facts) -> None:
    """||c v|| = c ||v|| where a relation says that c is not negative, or two say it of a quotient of lengths."""
    spoken = {v for one in facts.known.values() for v in one.relation.slack.atoms(Norm)}
    for v in sorted(spoken, key=str):
        of = parts(v.args[0])
        (c, basis), *others = [(c, basis) for basis, c in of.items()]
        if not others and any(p.exp.is_negative for p in c.atoms(sp.Pow)):
            lengths = [name for name, one in facts.relations().items() if one.slack.atoms(Norm) & c.atoms(Norm)]
            for sign in (1, -1):
                facts.derive(f"sign of {sign * c}", at_most(0, sign * c), lengths[:_LENGTHS])
        for name, one in facts.relations().items() if not others else ():
            for sign in (1, -1):
                if sp.expand(one.slack - sign * c) == 0:
                    facts.use(rules.norm_of_multiple(f"norm of {v.args[0]}", sign * basis, sign * c, given=name))


def _bounded(reading: Reading, facts: Facts) -> None:
    """From ||u|| <= c: ||u||^2 <= c^2. From ||u|| <= c ||v|| that too, and <v, u> <= c ||v||^2 for u and -u."""
    for fact in reading.facts:
        left, right = norm_of(fact.relation.left), norm_of(fact.relation.right)
        if left is not None and not fact.relation.right.has(Norm):
            goal = at_most(norm2(left[0] * left[1]), sp.expand(fact.relation.right**2))
            facts.derive(f"{fact.name}, squared", goal, [fact.name, facts.square_of(left[1])])
        if left is None or right is None or fact.relation.op != "<=":
            continue
        (b, u), (c, v) = left, right
        squares = [facts.square_of(w) for w in (u, v)]
        goal = at_most(norm2(b * u), sp.expand(c**2 * norm2(v)))
        facts.derive(f"{fact.name}, squared", goal, [fact.name, *squares])
        for sign in (1, -1):
            product = f"Cauchy-Schwarz for {v} and {sign * u}"
            if product not in facts.known:
                facts.use(rules.cauchy_schwarz(product, v, sign * u))
            goal = at_most(dot(v, sign * b * u), sp.expand(c * norm2(v)))
            given = [fact.name, squares[1], product if product in facts.known else None]
            facts.derive(f"{fact.name} along {sign * v}", goal, given)


def norm_of(expr: sp.Expr) -> tuple[sp.Expr, sp.Expr] | None:
    """The factor and the vector of a multiple of one norm."""
    found = expr.atoms(Norm)
    if len(found) != 1:
        return None
    norm = found.pop()
    factor = sp.cancel(expr / norm)
    return None if factor.has(Norm) else (factor, norm.args[0])
