"""Named rules: how statements about vectors and limits become relations between scalars.

A rule is a well-known theorem. Its instances enter a proof as steps, by name, and the report lists them, so that a
reader sees what a proof uses besides algebra.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import RuleUse

RULES: dict[str, str] = {
    "bilinearity": "<u, v> and ||u||^2 of linear combinations expand into the Gram entries of the basis vectors.",
    "smoothness": "An L-smooth f has f(y) <= f(x) + <grad f(x), y - x> + (L/2) ||y - x||^2.",
    "triangle inequality": "||u_1 + ... + u_n|| <= ||u_1|| + ... + ||u_n||.",
    "component smoothness": "||grad g_ij(x) - grad g_ij(y)|| <= L ||x - y|| for every component.",
    "mean of bounds": "A mean of numbers, each at most the corresponding bound, is at most the mean of the bounds.",
    "maximum": "max(a, b) <= c when a <= c and b <= c.",
    "monotone sum": "A sum of k terms of a non-decreasing sequence, none past its k-th, is at most k times that.",
    "monotone refresh": "tau_{k,j} never decreases in k and is at most k, and d(k) is non-decreasing; hence so is "
    "the mean over j of d(tau_{k,j}).",
    "weighted sum": "If u_i = v_i for every client, then sum_i p_i u_i = sum_i p_i v_i, and sums expand linearly.",
    "tangent of exp": "(1 + u)^k <= exp(k u) for u >= 0, and for every u if k = 1, since 1 + u <= exp(u).",
    "chord of exp": "exp(y) - 1 <= (exp(a) - 1) y / a for 0 <= y <= a, since exp is convex.",
    "value of exp": "exp(1/4) <= 9/7: the remainder of its series after 1 + 1/4 is below (1/32) / (1 - 1/12) < 1/28.",
    "operator norm": "||K v + w|| <= ||K|| ||v|| + ||w||, with ||K|| the largest singular value of K.",
    "Lipschitz gradient": "||grad u(x)|| <= ||grad u(y)|| + L ||x - y|| for an L-smooth u.",
    "Jensen": "||sum_i p_i u_i||^2 <= sum_i p_i ||u_i||^2.",
    "variance": "sum_i p_i ||u_i||^2 = ||u||^2 + sum_i p_i ||u_i - u||^2 with u = sum_i p_i u_i.",
    "linear expectation": "The expectation of a sum with fixed coefficients is the sum of the expectations.",
    "tower": "E[U] = E[E[U | V]], and a factor that V determines may be taken out of the inner expectation.",
    "multiple": "A number that is at most c v in absolute value, with c fixed and v >= 0, is theta v for some theta.",
    "Cauchy-Schwarz": "|<u, v>| <= ||u|| ||v||.",
    "telescoping": "If a_t <= c (v_t - v_{t+1}) + w_t for every t < T, with a fixed c, then T min_t a_t <= "
    "c (v_0 - v_T) + sum_t w_t.",
    "largest member": "A member of a set, a mean of members, or the maximum over a part, is at most the maximum.",
    "parabola over exp": "exp(y) - 1 - y <= (exp(a) - 1 - a) y^2 / a^2 for 0 <= y <= a: every further term of the "
    "series grows at least as fast as y^2.",
    "least member": "The least of finitely many numbers is at most their mean.",
    "bounded bias": "Where (27) is assumed, ||b(x)||^2 <= m ||grad f(x)||^2 holds at every x, hence in sums over x_t.",
    "lower bound": "Where f is assumed to be bounded below, f(x) >= inf f at every x.",
    "tangent of ln": "ln(b) - ln(a) >= 1 - a/b for a, b >= 1, since ln(x) <= x - 1.",
    "convexity": "A mu-convex f has f(y) >= f(x) + <grad f(x), y - x> + (mu/2) ||y - x||^2.",
    "mean value": "||grad u(y) - grad u(x) - H (y - x)|| <= s ||y - x|| if ||Hessian of u - H|| <= s on the segment: "
    "grad u(y) - grad u(x) is the mean of the Hessian along it, times y - x.",
    "Lipschitz map": "||T(x) - T(y)||^2 <= Lip(T)^2 ||x - y||^2 for a map T, and so in the mean over draws of x and y.",
    "decay": "(1 - u)^k <= exp(-k u) for 0 <= u <= 1, since 1 - u <= exp(-u).",
    "co-coercivity": "A mu-convex, L-smooth f with grad f(y) = 0 has (mu + L) <grad f(x), x - y> >= mu L ||x - y||^2 + "
    "||grad f(x)||^2.",
    "square root": "u <= v where u^2 <= v^2 and neither is negative.",
    "induction": "A relation that holds at 0, and at k + 1 whenever it holds at every b <= k, holds for every k.",
}

#: A vector as a linear combination of named basis vectors.
Combination = Mapping[str, sp.Expr]
#: Gram entries by sorted pair of names.
Gram = Mapping[tuple[str, str], sp.Expr]


def _use(name: str, rule: str, conclusion: Relation, words: str, premises: tuple[str, ...] = ()) -> RuleUse:
    return RuleUse(name, rule, conclusion, f"{RULES[rule]} Here: {words}", premises)


def inner_product(u: Combination, v: Combination, gram: Gram) -> sp.Expr:
    """<u, v> in Gram entries."""
    terms = [a * b * gram[(min(i, j), max(i, j))] for i, a in u.items() for j, b in v.items()]
    return sp.expand(sp.Add(*terms))


def bilinearity(name: str, symbol: sp.Expr, u: Combination, v: Combination, gram: Gram, words: str) -> RuleUse:
    """symbol = <u, v>, expanded by this function and not by hand."""
    return _use(name, "bilinearity", equal(symbol, inner_product(u, v, gram)), words)


def smoothness(
    name: str, after: sp.Expr, before: sp.Expr, inner: sp.Expr, distance2: sp.Expr, L: sp.Expr, words: str
) -> RuleUse:
    """f(y) <= f(x) + <grad f(x), y - x> + (L/2) ||y - x||^2."""
    return _use(name, "smoothness", at_most(after, before + inner + L * distance2 / 2), words)


def triangle(name: str, whole: sp.Expr, parts: tuple[sp.Expr, ...], words: str) -> RuleUse:
    """||sum of vectors|| <= sum of norms."""
    return _use(name, "triangle inequality", at_most(whole, sp.Add(*parts)), words)


def component_smoothness(name: str, difference: sp.Expr, distance: sp.Expr, L: sp.Expr, words: str) -> RuleUse:
    """A (mean) difference of component gradients is at most L times the (mean) distance."""
    return _use(name, "component smoothness", at_most(difference, L * distance), words)


def mean_of_bounds(name: str, mean: sp.Expr, bound: sp.Expr, words: str, premises: tuple[str, ...]) -> RuleUse:
    """mean <= bound, each member being at most its bound by the premises."""
    return _use(name, "mean of bounds", at_most(mean, bound), words, premises)


def maximum(name: str, largest: sp.Expr, bound: sp.Expr, words: str, premises: tuple[str, ...]) -> RuleUse:
    """max(...) <= bound, each member being at most the bound by the premises."""
    return _use(name, "maximum", at_most(largest, bound), words, premises)


def monotone_sum(name: str, total: sp.Expr, count: sp.Expr, last: sp.Expr, premises: tuple[str, ...]) -> RuleUse:
    """total <= count * last for a non-decreasing sequence."""
    return _use(name, "monotone sum", at_most(total, count * last), f"{total} <= {count} * {last}", premises)


def monotone_refresh(name: str, before: sp.Expr, after: sp.Expr, words: str) -> RuleUse:
    """The mean of d over the table's indices does not decrease with k."""
    return _use(name, "monotone refresh", at_most(before, after), words)


def weighted_sum(name: str, conclusion: Relation, words: str, premises: tuple[str, ...]) -> RuleUse:
    """The p-weighted sum over clients of an identity that holds for each."""
    return _use(name, "weighted sum", conclusion, words, premises)


def tangent_of_exp(name: str, u: sp.Expr, k: sp.Expr) -> RuleUse:
    """(1 + u)^k <= exp(k u)."""
    return _use(name, "tangent of exp", at_most((1 + u) ** k, sp.exp(k * u)), f"u = {u}")


def chord_of_exp(name: str, y: sp.Expr, end: sp.Expr, premises: tuple[str, ...]) -> RuleUse:
    """exp(y) - 1 <= (exp(end) - 1) y / end for 0 <= y <= end."""
    return _use(name, "chord of exp", chord(y, end), f"y = {y}, a = {end}", premises)


def chord(y: sp.Expr, end: sp.Expr) -> Relation:
    """exp(y) - 1 <= (exp(end) - 1) y / end."""
    return at_most(sp.exp(y) - 1, (sp.exp(end) - 1) / end * y)


def exp_quarter(name: str) -> RuleUse:
    """exp(1/4) <= 9/7."""
    return _use(name, "value of exp", QUARTER, "exp(1/4) = 1.28402...")


QUARTER = at_most(sp.exp(sp.Rational(1, 4)), sp.Rational(9, 7))
_EQUATIONS = frozenset({"bilinearity", "linear expectation", "multiple", "tower", "variance", "weighted sum"})


def fault(step: RuleUse, premises: Sequence[Relation]) -> str | None:
    """What is wrong with an instance of a rule, as far as scalars can tell; None if nothing is.

    Rules about vectors cannot be derived again from scalars: what they are applied to is for the reader, and is
    printed with every instance.
    """
    if step.rule not in RULES or step.rule == "induction":
        return f"{step.rule!r} is no rule"
    conclusion = step.conclusion
    if conclusion.op != ("==" if step.rule in _EQUATIONS else "<="):
        return f"the rule {step.rule!r} concludes no {conclusion.op!r}"
    left, right = conclusion.left, conclusion.right
    if step.rule == "maximum":
        wrong = len(premises) < 2 or any(premise.op == "==" or premise.right != right for premise in premises)
        return "a member of the maximum is not bounded by its bound" if wrong else None
    if step.rule == "mean of bounds":
        return None if premises else "a mean of bounds needs the bounds as premises"
    if step.rule == "tangent of exp":
        base, power = left.as_base_exp()
        above = (base - 1).is_nonnegative and power.is_nonnegative and power.is_integer
        sound = above or (power == 1 and base.is_real)
        return None if sound and right == sp.exp(power * (base - 1)) else "this is no tangent of exp"
    if step.rule == "chord of exp":
        y, end = (premises[0].left, premises[0].right) if premises else (sp.S.Zero, sp.S.Zero)
        sound = y.is_nonnegative and end.is_positive and conclusion == chord(y, end)
        return None if sound else "this is no chord of exp between 0 and the end that the premise gives"
    if step.rule == "parabola over exp":
        y, end = (premises[0].left, premises[0].right) if premises else (sp.S.Zero, sp.S.Zero)
        sound = y.is_nonnegative and end.is_positive and conclusion == parabola(y, end)
        return None if sound else "this is no parabola over exp between 0 and the end that the premise gives"
    if step.rule == "tangent of ln":
        return _tangent_fault(conclusion)
    if step.rule == "telescoping":
        return _telescoping_fault(conclusion, premises)
    if step.rule == "decay":
        u = premises[0].left if premises else sp.S.Zero
        power = left.as_base_exp()[1]
        small = premises and premises[0] == at_most(u, 1) and u.is_nonnegative
        sound = small and power.is_nonnegative and power.is_integer and conclusion == decayed(u, power)
        return None if sound else "this is no decay for 0 <= u <= 1"
    if step.rule == "square root":
        sound = left.is_nonnegative and right.is_nonnegative and [*premises] == [at_most(left**2, right**2)]
        return None if sound else "the premise does not compare the squares of two numbers that are not negative"
    if step.rule == "value of exp":
        return None if conclusion == QUARTER else "this is not the value that the rule states"
    return None


def operator_norm(name: str, whole: sp.Expr, K: sp.Expr, v: sp.Expr, w: sp.Expr, words: str) -> RuleUse:
    """||K v + w|| <= ||K|| ||v|| + ||w||."""
    return _use(name, "operator norm", at_most(whole, K * v + w), words)


def lipschitz_gradient(name: str, here: sp.Expr, there: sp.Expr, distance: sp.Expr, L: sp.Expr, words: str) -> RuleUse:
    """||grad u(x)|| <= ||grad u(y)|| + L ||x - y||."""
    return _use(name, "Lipschitz gradient", at_most(here, there + L * distance), words)


def jensen(name: str, whole2: sp.Expr, mean2: sp.Expr, words: str) -> RuleUse:
    """||sum_i p_i u_i||^2 <= sum_i p_i ||u_i||^2."""
    return _use(name, "Jensen", at_most(whole2, mean2), words)


def variance(name: str, mean2: sp.Expr, whole2: sp.Expr, spread2: sp.Expr, words: str) -> RuleUse:
    """sum_i p_i ||u_i||^2 = ||u||^2 + sum_i p_i ||u_i - u||^2."""
    return _use(name, "variance", equal(mean2, whole2 + spread2), words)


def linear_expectation(name: str, conclusion: Relation, words: str) -> RuleUse:
    """An expectation taken term by term."""
    return _use(name, "linear expectation", conclusion, words)


def tower(name: str, conclusion: Relation, words: str) -> RuleUse:
    """An expectation taken in two stages."""
    return _use(name, "tower", conclusion, words)


def multiple(name: str, value: sp.Expr, theta: sp.Expr, bound: sp.Expr, words: str) -> RuleUse:
    """value = theta * bound, value being at most a constant times the bound."""
    return _use(name, "multiple", equal(value, theta * bound), words)


def cauchy_schwarz(name: str, inner: sp.Expr, u: sp.Expr, v: sp.Expr, words: str) -> RuleUse:
    """inner <= ||u|| ||v||, for inner = <u, v> or its negative."""
    return _use(name, "Cauchy-Schwarz", at_most(inner, u * v), words)


def telescoping(
    name: str, count: sp.Expr, least: sp.Expr, drop: sp.Expr, rest: sp.Expr, words: str, premise: str
) -> RuleUse:
    """count * least <= drop + rest: drop is c (v(0) - v(T)), rest the sum of the w_t of the premise."""
    return _use(name, "telescoping", at_most(count * least, drop + rest), words, (premise,))


def _telescoping_fault(conclusion: Relation, premises: Sequence[Relation]) -> str | None:
    """The premise's c (v(t) - v(t + 1)) must have become c (v(0) - v(T)) in the conclusion, with the same c."""
    wrong = "this does not telescope its premise"
    if len(premises) != 1 or premises[0].op != "<=":
        return "telescoping needs the relation of one round as its premise"
    right = sp.expand(premises[0].right)
    for now in sorted(right.atoms(AppliedUndef), key=str):
        (index, *others) = now.args
        after = now.func(index + 1) if not others else None
        if after is None or not right.has(after):
            continue
        c = right.coeff(now)
        closed = sp.expand(c * (now.func(0) - now.func(_count(conclusion))))
        unchanged = c.free_symbols.isdisjoint(index.free_symbols) and sp.expand(right.coeff(after) + c) == 0
        rest = sp.expand(sp.expand(conclusion.right) - closed)
        alone = sp.expand(right - c * (now - after)) == 0
        if unchanged and not rest.has(now.func) and (rest == 0) == alone:
            return None
    return wrong


def _count(conclusion: Relation) -> sp.Expr:
    """The number of rounds in count * least."""
    found = [factor for factor in sp.Mul.make_args(conclusion.left) if factor.is_integer and factor.is_positive]
    return found[0] if found else sp.S.Zero


def largest_member(name: str, member: sp.Expr, largest: sp.Expr, words: str) -> RuleUse:
    """member <= max, for a member of the set, a mean of members or the maximum over a part."""
    return _use(name, "largest member", at_most(member, largest), words)


def parabola_over_exp(name: str, y: sp.Expr, end: sp.Expr, premises: tuple[str, ...]) -> RuleUse:
    """exp(y) - 1 - y <= (exp(end) - 1 - end) y^2 / end^2 for 0 <= y <= end."""
    return _use(name, "parabola over exp", parabola(y, end), f"y = {y}, a = {end}", premises)


def parabola(y: sp.Expr, end: sp.Expr) -> Relation:
    """exp(y) - 1 - y <= (exp(end) - 1 - end) y^2 / end^2."""
    return at_most(sp.exp(y) - 1 - y, (sp.exp(end) - 1 - end) / end**2 * y**2)


def least_member(name: str, least: sp.Expr, mean: sp.Expr, words: str, premises: tuple[str, ...] = ()) -> RuleUse:
    """min <= mean; of a part of the numbers, if the premises say that it is one."""
    return _use(name, "least member", at_most(least, mean), words, premises)


def bounded_bias(name: str, bias2: sp.Expr, bound: sp.Expr, words: str, premise: str) -> RuleUse:
    """||b(x)||^2 <= m ||grad f(x)||^2, at one x or summed; the premise is the hypothesis that says so."""
    return _use(name, "bounded bias", at_most(bias2, bound), words, (premise,))


def lower_bound(name: str, drop: sp.Expr, most: sp.Expr, words: str) -> RuleUse:
    """f(x_0) - f(x) <= f(x_0) - inf f."""
    return _use(name, "lower bound", at_most(drop, most), words)


def convexity(
    name: str, before: sp.Expr, inner: sp.Expr, distance2: sp.Expr, after: sp.Expr, mu: sp.Expr, words: str
) -> RuleUse:
    """f(x) + <grad f(x), y - x> + (mu/2) ||y - x||^2 <= f(y)."""
    return _use(name, "convexity", at_most(before + inner + mu * distance2 / 2, after), words)


def mean_value(name: str, error: sp.Expr, spread: sp.Expr, distance: sp.Expr, words: str) -> RuleUse:
    """||grad u(y) - grad u(x) - H (y - x)|| <= spread * ||y - x||."""
    return _use(name, "mean value", at_most(error, spread * distance), words)


def lipschitz_map(name: str, after2: sp.Expr, before2: sp.Expr, lipschitz: sp.Expr, words: str) -> RuleUse:
    """||T(x) - T(y)||^2 <= lipschitz^2 ||x - y||^2, or the same in the mean."""
    return _use(name, "Lipschitz map", at_most(after2, lipschitz**2 * before2), words)


def decay(name: str, u: sp.Expr, k: sp.Expr, premise: str) -> RuleUse:
    """(1 - u)^k <= exp(-k u); the premise is u <= 1."""
    return _use(name, "decay", decayed(u, k), f"u = {u}", (premise,))


def decayed(u: sp.Expr, k: sp.Expr) -> Relation:
    """(1 - u)^k <= exp(-k u)."""
    return at_most((1 - u) ** k, sp.exp(-k * u))


def cocoercivity(
    name: str, inner: sp.Expr, distance2: sp.Expr, grad2: sp.Expr, mu: sp.Expr, L: sp.Expr, words: str
) -> RuleUse:
    """mu L ||x - y||^2 + ||grad f(x)||^2 <= (mu + L) <grad f(x), x - y>, with grad f(y) = 0."""
    return _use(name, "co-coercivity", at_most(mu * L * distance2 + grad2, (mu + L) * inner), words)


def tangent_of_ln(name: str, ln: Any, a: sp.Expr, b: sp.Expr) -> RuleUse:
    """1 - a/b <= ln(b) - ln(a) for a, b >= 1, for a sequence `ln` of that name."""
    return _use(name, "tangent of ln", at_most(1 - sp.sympify(a) / b, ln(b) - ln(a)), f"a = {a}, b = {b}")


def _tangent_fault(conclusion: Relation) -> str | None:
    """The conclusion must be 1 - a/b <= ln(b) - ln(a), with a and b from 1 on: `ln` may be declared non-negative."""
    terms = sorted(conclusion.right.atoms(AppliedUndef), key=str)
    for first, second in ((x, y) for x in terms for y in terms if x.func == y.func and str(x.func) == "ln"):
        (a,), (b,) = first.args, second.args
        if (a - 1).is_nonnegative and (b - 1).is_nonnegative and conclusion == at_most(1 - a / b, second - first):
            return None
    return "this is no tangent of ln at arguments from 1 on"


def square_root(name: str, u: sp.Expr, v: sp.Expr, premise: str) -> RuleUse:
    """u <= v; the premise is u^2 <= v^2."""
    return _use(name, "square root", at_most(u, v), f"u = {u}, v = {v}", (premise,))
