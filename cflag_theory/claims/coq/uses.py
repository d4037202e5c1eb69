"""Uses of rules in Coq: each applies the theorem behind the rule, and writes its conclusion as the ledger does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import sympy as sp

from cflag_theory.claims.coq import extremes, numbers
from cflag_theory.claims.coq.forms import BRIDGE, Forms, Writer
from cflag_theory.claims.engine.operators import Operator, sum_over
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Use
from cflag_theory.claims.engine.terms import dot, is_vector, norm, norm2


def consumed(step: Use) -> frozenset[sp.Symbol]:
    """The indices for all of whose values a rule uses its premises."""
    of = {"mean of bounds": "index", "maximum of bounds": "bound"}.get(step.rule)
    if of:
        return frozenset({getattr(step.terms[0], of)})
    return frozenset(step.terms[:1] if step.rule in ("monotone sequence", "at one value") else ())


def script(writer: Writer, step: Use, relation: Relation) -> list[str]:
    """The lines that prove what a use of a rule shows.

    Raises
    ------
    TypeError
        A rule that has no words in Coq yet.
    """
    if step.rule not in _SCRIPTS:
        raise TypeError(f"no script for the rule {step.rule!r}")
    return _SCRIPTS[step.rule](Forms(writer), step, relation)


def at_value(
    writer: Writer, name: str, index: sp.Symbol, value: sp.Expr, relation: Relation, within: str = ""
) -> list[str]:
    """What holds for every value of an index, at one."""
    every = f"{name} (every)" if f"{name} (every)" in writer.shown else name
    ranges = {one: writer.premise(within) for one in writer.established(every).ranges if within}
    instance = writer.premise(every, {index: writer.text.natural(value)}, ranges)
    return [f"{BRIDGE[relation.op]} {instance}."]


def _cauchy_schwarz(at: Forms, step: Use, relation: Relation) -> list[str]:
    u, v = step.terms
    U, W = at.text.vector(u), at.text.vector(v)
    return at.bridge(relation, f"exact (cauchy_schwarz V {U} {W})", at.dots(u, v), at.norms(u, v))


def _triangle(at: Forms, step: Use, relation: Relation) -> list[str]:
    whole, *summands = step.terms
    shown = [at.text.vector(one) for one in summands]
    listed = "(" + " :: ".join([*shown, "nil"]) + ")"
    equations = [at.writer.premise(name) for name in step.given]
    rewritten = "".join(f"rewrite ?{one}; " for one in equations)
    lemma, c, w = at.multiple(whole)
    left = f"transitivity ({c} * norm {w}); [apply {lemma}; [sign | cbn [Inner.total]; {rewritten}collinear] | same]"
    right = f"cbn [lengths]; {at.norms(*summands)}"
    return at.bridge(relation, f"exact (triangles V {listed})", left, right)


def _norm_squared(at: Forms, step: Use, relation: Relation) -> list[str]:
    v, *operators = step.terms
    U = at.text.vector(v)
    if not operators:
        return at.bridge(relation, f"exact (norm_square V {U})", at.norms(v), at.dots(v))
    proof = f"transitivity {_nested(at, operators, lambda: f'norm {at.text.vector(v)} ^ 2')}; [reflexivity |]"
    proof += "; repeat (apply avg_ext; intro); apply norm_square"
    left = at.nested(operators, norm(v) ** 2, lambda: at.norms(v))
    return at.bridge(relation, proof, left, at.nested(operators, norm2(v), lambda: at.dots(v)))


def _nested(at: Forms, operators: list[Operator], inner: Callable[[], str]) -> str:
    """avg A (fun i => ...) with the first operator innermost."""
    if not operators:
        return inner()
    *others, last = operators
    word = at.text.binder(last.index)
    with at.text.binding({last.index: word}):
        body = _nested(at, others, inner)
    return f"(avg {at.text.operator(last)} (fun {word} : nat => {body}))"


def _square(at: Forms, step: Use, relation: Relation) -> list[str]:
    v, *operators = step.terms
    numbers = not is_vector(v)

    def inner() -> str:
        return f"({at.text.number(v)}) ^ 2" if numbers else f"dot {at.text.vector(v)} {at.text.vector(v)}"

    positive = f"repeat (apply avg_nonneg; intros); apply {'pow2_ge_0' if numbers else 'dot_square'}"
    proof = f"assert (Square : 0 <= {_nested(at, operators, inner)}) by ({positive}); exact Square"
    expanded, shown = (sp.expand(v**2), lambda: "ring") if numbers else (norm2(v), lambda: at.dots(v))
    return at.bridge(relation, proof, "reflexivity", at.nested(operators, expanded, shown))


def _rewrite(at: Forms, step: Use, relation: Relation) -> list[str]:
    return [f"{at.replacing(relation.left, step.given)}."]


def _replaced(at: Forms, step: Use, relation: Relation) -> list[str]:
    first, *others = step.given
    before = at.writer.known[first]
    sides = (at.replacing(side, tuple(others)) for side in (before.left, before.right))
    return at.bridge(relation, f"exact {at.writer.premise(first)}", *sides)


def _along(at: Forms, step: Use, relation: Relation) -> list[str]:
    (w,) = step.terms
    (name,) = step.given
    equation = at.writer.known[name]
    proof = f"exact (f_equal (fun z : V => dot z {at.text.vector(w)}) {at.writer.premise(name)})"
    return at.bridge(relation, proof, at.dots(equation.left, w), at.dots(equation.right, w))


def _function(kind: str, *, lipschitz: bool = False) -> Callable[[Forms, Use, Relation], list[str]]:
    def lines(at: Forms, step: Use, relation: Relation) -> list[str]:
        f, x, y = step.terms
        has, X, Y = at.writer.declared(f, kind), at.text.vector(x), at.text.vector(y)
        proof = f"exact ({has} {X} {Y})"
        if lipschitz:
            G = at.text.gradient(f)
            left = at.norms(f.grad(x) - f.grad(y), shown=(f"(({G} {X}) +^ (-1) *^ ({G} {Y}))",))
            return at.bridge(relation, proof, left, at.norms(x - y, shown=(f"({X} +^ (-1) *^ {Y})",)))
        dots = at.dots(f.grad(x), y, x)
        return at.bridge(relation, proof, dots, dots)

    return lines


def _interpolation(at: Forms, step: Use, relation: Relation) -> list[str]:
    f, x, y, *strongly = step.terms
    smooth, convex = at.writer.declared(f, "smooth"), at.writer.declared(f, "convex")
    X, Y = at.text.vector(x), at.text.vector(y)
    L, F, G = at.text.number(f.properties.smooth), at.text.function(f), at.text.gradient(f)
    least = sp.Mul(-1, f.properties.smooth) if f.properties.mu is None else f.properties.mu
    mu, dots = at.text.number(least), at.dots(f.grad(x), f.grad(y), x, y)
    if strongly:
        proof = f"exact (strong_interpolation V {mu} {L} {F} {G} {X} {Y} {smooth} {convex})"
        return at.bridge(relation, proof, dots, dots)
    weaker = f"(convex_weaker V {mu} {F} {G} ltac:(sign) {convex})"
    proof = f"exact (interpolation V {L} {F} {G} {X} {Y} ltac:(sign) {smooth} {weaker})"
    return at.bridge(relation, proof, dots, "same")


def _norm_of_multiple(at: Forms, step: Use, relation: Relation) -> list[str]:
    v, c = step.terms
    U, W, by = at.text.vector(sp.expand(c * v)), at.text.vector(v), at.text.number(c)
    sign = f"ltac:(pose proof {at.writer.premise(step.given[0])}; lra)"
    proof = f"exact (norm_multiple V {U} {W} {by} {sign} ltac:(collinear))"
    right = f"transitivity ({by} * norm {W}); [same | apply f_equal2; [reflexivity | {at.norms(v)}]]"
    return at.bridge(relation, proof, at.norms(sp.expand(c * v)), right)


def _lower(at: Forms, step: Use, relation: Relation) -> list[str]:
    f, x = step.terms
    return [f"exact ({at.writer.declared(f, 'lower')} {at.text.vector(x)})."]


def _mean(at: Forms, step: Use, relation: Relation) -> list[str]:
    operator, *weights = step.terms
    weight = sp.sympify(weights[0]) if weights else sp.S.One
    (name,) = step.given
    premise = at.writer.known[name]
    A, i = at.text.operator(operator), operator.index
    here = f"{at.text.binder(i)}_here"
    ranges = [r for r in at.writer.established(name).ranges if i in r.left.free_symbols]
    instance = at.writer.premise(name, {i: here}, dict.fromkeys(ranges, f"(domain_sums V _ {here} Inside)"))
    W, *sides = (at.text.under(i, one) for one in (weight, premise.left, premise.right))
    if premise.op == "==":
        both = " ".join(f"(fun i => {W} i * {side} i)" for side in sides)
        proof = f"apply (avg_eq V nat {A} {both}); intros {here} Inside; cbv beta; rewrite {instance}; reflexivity"
    else:
        inside = f"intros {here} Inside; cbv beta; [sign | exact {instance}]"
        proof = f"apply (weighted_le V nat {A} {W} {' '.join(sides)}); {inside}"
    left, right = (at.operator(operator, weight * side) for side in (premise.left, premise.right))
    return at.bridge(relation, proof, left, right)


def _norm_of_mean(at: Forms, step: Use, relation: Relation) -> list[str]:
    operator, v = step.terms
    A, of = at.text.operator(operator), operator(v)
    mean = f"apply f_equal; exact {at.vectors(operator, v)}"
    left = f"transitivity (norm {at.text.vector(of)}); [{mean} | {at.norms(of)}]"
    right = at.under(operator, norm(v), lambda: at.norms(v))
    proof = f"exact (norm_avgv V nat {A} {at.text.under(operator.index, v, 'vector')})"
    return at.bridge(relation, proof, left, right)


def _jensen(at: Forms, step: Use, relation: Relation) -> list[str]:
    operator, v = step.terms
    A, i, of = at.text.operator(operator), operator.index, operator(v)
    if is_vector(v):
        square = norm2(v)
        W, mean = at.text.vector(of), f"exact {at.vectors(operator, v)}"
        left = f"transitivity (dot {W} {W}); [apply f_equal2; {mean} | {at.dots(of)}]"
        inside = at.under(operator, square, lambda: at.dots(v))
        proof = f"exact (jensen_total V nat {A} {at.text.under(i, v, 'vector')})"
    else:
        square = v**2
        inner = at.under(operator, v)
        left = f"transitivity ({at.text.number(of)} ^ 2); [apply (f_equal (fun z => z ^ 2)); {inner} | same]"
        inside = at.under(operator, square)
        proof = f"exact (jensen_numbers V nat {A} {at.text.under(i, v)})"
    squares = f"apply f_equal2; [reflexivity | {inside}]"
    right = f"transitivity (total {A} * {at.text.number(operator(square))}); [{squares} | {at.total(operator)}; same]"
    return at.bridge(relation, proof, left, right)


def _cauchy_schwarz_mean(at: Forms, step: Use, relation: Relation) -> list[str]:
    operator, u, v = step.terms
    A, i = at.text.operator(operator), operator.index
    U, W = at.text.under(i, u, "vector"), at.text.under(i, v, "vector")
    left = at.under(operator, dot(u, v), lambda: at.dots(u, v))
    roots = [at.under(operator, norm2(one), partial(at.dots, one)) for one in (u, v)]
    shown = [f"sqrt {at.text.number(operator(norm2(one)))}" for one in (u, v)]
    each = " | ".join(f"apply f_equal; {one}" for one in roots)
    right = f"transitivity ({shown[0]} * {shown[1]}); [apply f_equal2; [{each}] | same]"
    return at.bridge(relation, f"exact (cauchy_schwarz_vectors V nat {A} {U} {W})", left, right)


def _cauchy_schwarz_numbers(at: Forms, step: Use, relation: Relation) -> list[str]:
    a, b, *operators = step.terms
    a, b = sp.sympify(a), sp.sympify(b)
    names = [at.text.binder(one.index) for one in reversed(operators)]
    composed = reduce(lambda made, one: f"(compose {one} {made})", map(at.text.operator, operators))
    kind, places = "nat", ["p"]
    for _ in names[1:]:
        kind, places = f"(nat * {kind})", [*places[:-1], f"(fst {places[-1]})", f"(snd {places[-1]})"]
    with at.text.binding({one.index: at.text.binder(one.index) for one in operators}):
        bodies = [f"(fun {' '.join(names)} : nat => {at.text.number(one)})" for one in (a, b)]
    shown = [f"(fun p : {kind} => {body} {' '.join(places)})" for body in bodies]
    opening = "cbn [avg compose fst snd]; "
    left = opening + at.nested(operators, a * b, lambda: "cbv beta; same")
    squares = [opening + at.nested(operators, one**2, lambda: "cbv beta; same") for one in (a, b)]
    roots = [reduce(lambda made, one: one(made), operators, one**2) for one in (a, b)]
    ends = " * ".join(f"sqrt {at.text.number(one)}" for one in roots)
    each = " | ".join(f"apply f_equal; {one}" for one in squares)
    right = f"transitivity ({ends}); [apply f_equal2; [{each}] | same]"
    return at.bridge(relation, f"exact (cauchy_schwarz_numbers V _ {composed} {' '.join(shown)})", left, right)


def _null(at: Forms, step: Use, relation: Relation) -> list[str]:
    v, w = step.terms
    (name,) = step.given
    U, W, zero = at.text.vector(v), at.text.vector(w), at.writer.premise(name)
    if at.writer.known[name].left == norm2(v):
        square = f"transitivity {at.text.number(norm2(v))}; [{at.dots(v)} | exact {zero}]"
    else:
        length = f"transitivity {at.text.number(norm(v))}; [{at.norms(v)} | exact {zero}]"
        square = f"rewrite <- norm_square; assert (Null : norm {U} = 0) by ({length}); rewrite Null; ring"
    proof = f"exact (null_vector V {U} {W} ltac:({square}))"
    return at.bridge(relation, proof, at.dots(v, w), "reflexivity")


def _exchange(at: Forms, step: Use, relation: Relation) -> list[str]:
    operator, total, expr = step.terms
    i, word = operator.index, at.text.binder(operator.index)
    with at.text.binding({i: word}):
        both = f"(fun {word} : nat => {at.text.under(total.index, expr)})"
    n = at.text.natural(total.total)
    proof = f"exact (exchange_sum V nat {at.text.operator(operator)} {n} {both})"
    left = at.under(operator, total(expr), lambda: at.operator(total, expr))
    right = at.under(total, operator(expr), lambda: at.operator(operator, expr))
    return at.bridge(relation, proof, left, right)


def _last_term(at: Forms, step: Use, relation: Relation) -> list[str]:
    over, count, expr = step.terms
    a, n = at.text.under(over, expr), at.text.natural(sp.sympify(count))
    left, before = (at.operator(sum_over(over, sp.sympify(count) + more), expr) for more in (1, 0))
    total = f"avg (sums V {n}) {a} = {at.text.number(sum_over(over, count)(expr))}"
    return at.bridge(
        relation, f"exact (sums_last V {n} {a})", left, f"rewrite (ltac:({before}) : {total}); cbv beta; same"
    )


def _telescoping(at: Forms, step: Use, relation: Relation) -> list[str]:
    over, count, v = step.terms
    a, n = at.text.under(over, v), at.text.natural(sp.sympify(count))
    left = at.under(sum_over(over, count), v - v.xreplace({over: over + 1}))
    return at.bridge(relation, f"exact (sums_telescope V {n} {a})", left, "cbv beta; same")


def _monotone(at: Forms, step: Use, relation: Relation) -> list[str]:
    over, expr = step.terms
    order = at.writer.known[step.given[1]]
    here = f"{at.text.binder(over)}_here"
    instance = at.writer.premise(step.given[0], {over: here})
    j, k = at.text.natural(order.left), at.text.natural(order.right)
    within = f"ltac:(pose proof {at.writer.premise(step.given[1])}; apply INR_le; natural)"
    a = at.text.under(over, expr)
    proof = f"exact (monotone_of_steps {a} (fun {here} => ltac:(cbv beta; bridged_le {instance})) {j} {k} {within})"
    return at.bridge(relation, proof, "cbv beta; same", "cbv beta; same")


def _at(at: Forms, step: Use, relation: Relation) -> list[str]:
    over, value = step.terms
    return at_value(at.writer, step.given[0], over, sp.sympify(value), relation)


_SCRIPTS: dict[str, Callable[[Any, Use, Relation], list[str]]] = {
    "Cauchy-Schwarz": _cauchy_schwarz,
    "triangle inequality": _triangle,
    "square of a norm": _norm_squared,
    "norm of a multiple": _norm_of_multiple,
    "square": _square,
    "equal vectors": _rewrite,
    "equal vectors in a relation": _replaced,
    "equation along a vector": _along,
    "smoothness": _function("smooth"),
    "Lipschitz gradient": _function("lipschitz", lipschitz=True),
    "convexity": _function("convex"),
    "interpolation": _interpolation,
    "lower bound": _lower,
    "mean of bounds": _mean,
    "norm of a mean": _norm_of_mean,
    "Jensen": _jensen,
    "Cauchy-Schwarz under a mean": _cauchy_schwarz_mean,
    "Cauchy-Schwarz for numbers": _cauchy_schwarz_numbers,
    "null vector": _null,
    "exchange with a sum": _exchange,
    "last term": _last_term,
    "telescoping": _telescoping,
    "monotone sequence": _monotone,
    "at one value": _at,
    **extremes.SCRIPTS,
    **numbers.SCRIPTS,
}
