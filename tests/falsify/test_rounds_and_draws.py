"""Claims about T rounds for every T, about means of means, and about K of N members for every K and N."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
import sympy as sp
from needs import quick

from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.steps import Induction, Use
from cflag_theory.errors import InconsistentEvidence
from cflag_theory.falsify import (
    Conjecture,
    decide,
    dot,
    draws,
    function,
    index,
    least,
    mean,
    norm,
    norm2,
    prove,
    sequence,
    sum_over,
    vector,
    vectors,
)
from cflag_theory.falsify.vector_terms import draws as drawing
from cflag_theory.falsify.vector_terms.proving import prove_vectors
from cflag_theory.falsify.vector_terms.reading import read_vectors

L, a, mu, s, c = sp.symbols("L a mu s c", positive=True)
b, sigma, G, D = sp.symbols("b sigma G D", nonnegative=True)
low = sp.Symbol("low", real=True)
T, N, K = sp.symbols("T N K", integer=True, positive=True)
x, y, xs, u, v, g, r = vectors("x y xs u v g r")
t, i, j = index("t"), index("i"), index("j")
E, clients = mean("E", j), mean("clients", i)
S = sum_over(t, T)
f = function("rounds f", smooth=L, lower=low)
F = function("rounds F", smooth=L)
h = function("rounds h", smooth=L, convex=True)
q = function("rounds q", convex=True)
strong = function("rounds strong", mu=mu)
both = function("rounds both", smooth=L, mu=mu)
A, error = sequence("A", nonnegative=True), sequence("error", nonnegative=True)
phi = sequence("phi")
member, noise = vector("member", i), vector("noise", i, j)
chance, some = draws("some", clients, K)
other_chance, other = draws("other", clients, K)
without, part = draws("part", clients, K, out_of=N)
losses = function("rounds losses", smooth=L)


def X(n):
    return vector("X", n)


def push(n):
    return vector("push", n)


def random(n):
    return vector("random", n, j)


def fresh(n):
    return vector("fresh", n, j)


def claim(left, right, *given, relation="<="):
    return Conjecture(name="rounds", left=left, right=right, given=given, relation=relation)


stale = f.grad(X(T)) - f.grad(X(0))
descent = sp.Eq(X(t + 1), X(t) - a * f.grad(X(t))), a * L <= 1
subgradient = sp.Eq(X(t + 1), X(t) - a * q.grad(X(t))), norm2(q.grad(X(t))) <= G**2
pushed = sp.Eq(X(t + 1), X(t) - a * push(t))
shrinks = A(t + 1) <= (1 - c) * A(t) + b, c <= 1
spread = clients(norm2(member - clients(member)))
stochastic = (
    sp.Eq(random(t + 1), random(t) - a * (f.grad(random(t)) + fresh(t))),
    sp.Eq(random(0), x),
    sp.Eq(E(dot(fresh(t), f.grad(random(t)))), 0),
    E(norm2(fresh(t))) <= sigma**2,
    a * L <= 1,
)
minibatch = (
    sp.Eq(clients(losses[i].grad(x)), F.grad(x)),
    clients(norm2(losses[i].grad(x) - F.grad(x))) <= sigma**2,
    a * L <= 1,
)
projected = g - dot(g, r) / norm2(r) * r

TRUE = {
    "gradients over a run": claim(a / 2 * S(norm2(f.grad(X(t)))), f(X(0)) - low, *descent),
    "the least gradient": claim(least(t, T, norm2(f.grad(X(t)))), 2 * (f(X(0)) - low) / (a * T), *descent),
    "a step summed": claim(S(error(t)), A(0) - A(T) + T * b, A(t + 1) <= A(t) - error(t) + b),
    "telescoping": claim(S(phi(t) - phi(t + 1)), phi(0) - phi(T), relation="=="),
    "biased gradients over a run": claim(
        a / 2 * S(norm2(f.grad(X(t)))),
        f(X(0)) - low + a / 2 * S(norm2(push(t))),
        sp.Eq(X(t + 1), X(t) - a * (f.grad(X(t)) + push(t))),
        a * L <= 1,
    ),
    "SGD with fresh draws (Ghadimi, Lan 2013)": claim(
        a / 2 * S(E(norm2(f.grad(random(t))))), f(x) - low + a**2 * L * sigma**2 * T / 2, *stochastic
    ),
    "subgradients at the mean iterate": claim(
        q(S(X(t)) / T) - q(xs), norm2(X(0) - xs) / (2 * a * T) + a * G**2 / 2, *subgradient
    ),
    "regret": claim(S(dot(push(t), X(t) - u)), norm2(X(0) - u) / (2 * a) + a / 2 * S(norm2(push(t))), pushed),
    "a linear recursion": claim(A(T), (1 - c) ** T * A(0) + b / c, *shrinks),
    "a weighted sum": claim(S((1 - c) ** (-t - 1) * error(t)), A(0), A(t + 1) <= (1 - c) * A(t) - error(t), c < 1),
    "1/T": claim(A(T), b / (T + 1), A(t + 1) <= (1 - 2 / (t + 2)) * A(t) + b / (t + 2) ** 2, A(0) <= b),
    "a distance that shrinks": claim(
        norm2(X(T) - xs),
        (1 - a * mu) ** T * norm2(X(0) - xs),
        sp.Eq(X(t + 1), X(t) - a * both.grad(X(t))),
        sp.Eq(both.grad(xs), 0),
        a * L <= 1,
    ),
    "PL over a run (Karimi et al. 2016)": claim(
        F(X(T)) - low,
        (1 - mu / L) ** T * (F(X(0)) - low),
        sp.Eq(X(t + 1), X(t) - F.grad(X(t)) / L),
        2 * mu * (F(X(t)) - low) <= norm2(F.grad(X(t))),
        mu <= L,
    ),
    "the last iterate": claim(
        h(X(T)) - h(xs), L * norm2(X(0) - xs) / (2 * T), sp.Eq(X(t + 1), X(t) - h.grad(X(t)) / L), sp.Eq(h.grad(xs), 0)
    ),
    "drift": claim(norm(X(T) - X(0)), a * T * G, pushed, norm(push(t)) <= G),
    "momentum stays bounded": claim(
        norm(X(T)), G, sp.Eq(X(t + 1), s * X(t) + (1 - s) * push(t)), norm(push(t)) <= G, s <= 1, norm(X(0)) <= G
    ),
    "two rounds later": claim(norm2(X(t + 2) - X(t)), 2 * a**2 * (norm2(push(t + 1)) + norm2(push(t))), pushed),
    "noise of clients": claim(
        E(norm2(clients(member + noise))),
        norm2(clients(member)) + sigma**2,
        sp.Eq(E(noise), 0),
        E(norm2(noise)) <= sigma**2,
    ),
    "K draws": claim(chance(norm2(some(member) - clients(member))), spread / K, relation="=="),
    "K of N": claim(without(norm2(part(member) - clients(member))), (N - K) / (K * (N - 1)) * spread, relation="=="),
    "a step on K draws": claim(
        chance(F(x - a * some(losses[i].grad(x)))),
        F(x) - a / 2 * norm2(F.grad(x)) + L * a**2 * sigma**2 / (2 * K),
        *minibatch,
    ),
    "two draws are independent": claim(
        chance(other_chance(dot(some(member) - clients(member), other(member) - clients(member)))), 0
    ),
    "A-GEM's projection (Chaudhry et al. 2019)": claim(norm2(projected), norm2(g)),
    "a normalized step": claim(F(x - a * F.grad(x) / norm(F.grad(x))), F(x) - a * norm(F.grad(x)) + L * a**2 / 2),
    "contraction of gradient descent": claim(
        norm2(x - 2 / (L + mu) * both.grad(x) - xs), ((L - mu) / (L + mu)) ** 2 * norm2(x - xs), sp.Eq(both.grad(xs), 0)
    ),
    "a strongly convex proximal map": claim(
        (1 + a * mu) * norm(x - y), norm(u - v), sp.Eq(u, x + a * strong.grad(x)), sp.Eq(v, y + a * strong.grad(y))
    ),
    "a step of gossip": claim(
        clients(norm2((1 - s) * member + s * clients(member) - clients(member))), (1 - s) ** 2 * spread, relation="=="
    ),
    "a gradient of T rounds before": claim(norm(stale), L * S(norm(X(t + 1) - X(t)))),
    "a gradient of T rounds before, by its steps": claim(norm(stale), L * a * S(norm(push(t))), pushed),
    "a gradient of T rounds before, with bounded steps": claim(norm(stale), L * a * T * G, pushed, norm(push(t)) <= G),
    "two potentials": claim(
        A(T) + error(T),
        (1 - c) ** T * (A(0) + error(0)),
        A(t + 1) <= (1 - c) * A(t),
        error(t + 1) <= (1 - c) * error(t),
        c <= 1,
    ),
    "partial participation": claim(
        chance(norm2(x - a * some(member) - xs)),
        norm2(x - a * clients(member) - xs) + a**2 / K * clients(norm2(member)),
    ),
}
FALSE = {
    "gradients without the factor 2": claim(a * S(norm2(f.grad(X(t)))), f(X(0)) - low, *descent),
    "the least gradient, twice as small": claim(least(t, T, norm2(f.grad(X(t)))), (f(X(0)) - low) / (a * T), *descent),
    "a stale gradient, half": claim(norm(stale), L * S(norm(X(t + 1) - X(t))) / 2),
    "a stale gradient, by half of its steps": claim(norm(stale), L * a / 2 * S(norm(push(t))), pushed),
    "a stale gradient, whatever L": claim(norm(stale), S(norm(X(t + 1) - X(t)))),
    "errors that do not add up": claim(S(error(t)), A(0) - A(T) + b, A(t + 1) <= A(t) - error(t) + b),
    "one term too many": claim(S(phi(t) - phi(t + 1)), phi(0) - phi(T + 1), relation="=="),
    "half of the subgradients": claim(S(q(X(t)) - q(xs)), norm2(X(0) - xs) / (2 * a) + a * T * G**2 / 4, *subgradient),
    "a recursion without 1/c": claim(A(T), (1 - c) ** T * A(0) + b, *shrinks),
    "a recursion with c > 1": claim(A(T), (1 - c) ** T * A(0) + b / c, shrinks[0]),
    "a recursion at its first round alone": claim(A(T), (1 - c) ** T * A(0), A(1) <= (1 - c) * A(0), c <= 1),
    "a hypothesis on the last round alone": claim(A(T), A(0), A(t + 1) <= A(t) + b, T * b <= 1),
    "every second round": claim(A(T), A(0), A(t + 2) <= A(t)),
    "weights of either sign": claim(S((1 - c) ** t * error(t)), S((1 - c) ** t * A(t)), error(t) <= A(t)),
    "noise without its mean": claim(E(norm2(clients(noise))), clients(E(norm2(noise))) / 2, sp.Eq(E(noise), 0)),
    "K draws as if K^2": claim(chance(norm2(some(member) - clients(member))), spread / K**2),
    "K of N as if N were N - 1": claim(without(norm2(part(member) - clients(member))), (N - K) / (K * N) * spread),
    "with replacement as without": claim(
        chance(norm2(some(member) - clients(member))), (N - K) / (K * (N - 1)) * spread, N >= 2
    ),
    "partial participation, twice as good": claim(
        chance(norm2(x - a * some(member) - xs)),
        norm2(x - a * clients(member) - xs) + a**2 / (2 * K) * clients(norm2(member)),
    ),
    "one draw twice": claim(chance(other_chance(norm2(some(member) - other(member)))), 0),
    "a projection that halves": claim(norm2(projected), norm2(g) / 2),
    "a divisor of either sign": claim(0, norm2(u) / dot(u, v)),
    "a multiple of either sign": claim(norm((1 - s) * u), (1 - s) * norm(u)),
}
QUICK = ("telescoping", "a linear recursion", "K of N", "A-GEM's projection (Chaudhry et al. 2019)", "noise of clients")


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.full) for n in TRUE])
def test_true_claims_are_proved(name):
    found = decide(TRUE[name])
    assert found.outcome == "proved"
    assert examine(found.derivation.statement).faults == ()


#: z3 searches long for proofs that there are not.
LONG = ("a recursion without 1/c", "a stale gradient, half", "a stale gradient, whatever L")


@pytest.mark.parametrize("name", quick(FALSE, *LONG, *(name for name in FALSE if "half of" in name), of=2))
def test_false_claims_are_refuted_and_have_no_proof(name):
    assert decide(FALSE[name]).refuted
    assert prove_vectors(read_vectors(FALSE[name]).as_proved()) is None


def test_a_claim_for_every_number_of_rounds_is_proved_by_induction():
    found = prove(TRUE["a linear recursion"])
    first, last = found.derivation.statement.proof.steps
    assert isinstance(first, Induction)
    assert last.value == T
    assert "for induction on" in "\n".join(found.derivation.text())


def test_a_new_name_is_that_of_no_other_number():
    rest, less, many = (
        sp.Symbol("rest_c", positive=True),
        sp.Symbol("N_less_1", integer=True, positive=True),
        sp.Symbol("T'", integer=True, nonnegative=True),
    )
    weighted = S((1 - c) ** (-t - 1) * error(t))
    assert not prove(claim(weighted * rest, A(0) * (1 - c), A(t + 1) <= (1 - c) * A(t) - error(t), c < 1)).proved
    second = without(norm2(part(member) - clients(member)))
    assert not prove(claim(second, (N - K) / (K * less) * spread)).proved
    assert not prove(claim(A(T) + many * G, A(0) + T * G, A(t + 1) <= A(t))).proved


def test_a_sum_is_proved_by_the_rule_of_telescoping_sums():
    steps = prove(TRUE["a step summed"]).derivation.statement.proof.steps
    assert "telescoping" in [step.rule for step in steps if isinstance(step, Use)]


@pytest.mark.parametrize(("members", "count"), list(product((2, 3, 4), (1, 2, 3))))
def test_moments_of_draws_are_those_of_every_outcome(members, count):
    values = [Fraction(k * k + 1, k + 2) for k in range(members)]
    for over, whole in ((some, 0), (part, members)):
        if whole and count > members:
            continue
        (drawn,) = over(member).atoms(drawing.Drawn)
        of_all = drawn.func(*drawn.args[:3], sp.Integer(count), sp.Integer(whole))
        weights = [Fraction(1, members)] * members
        found = drawing.outcomes(of_all, weights, count)
        means = [(sum(values[k] for k in one) / count, chance) for one, chance in found]
        center, square = sum(values) / members, sum(one * one for one in values) / members
        known = drawing._moment(of_all, of_all, {})
        second, middle = clients(norm2(member)), norm2(clients(member))
        assert sum(chance for _, chance in found) == 1
        assert sum(one * chance for one, chance in means) == center
        assert sum(one * one * chance for one, chance in means) == known.subs({second: square, middle: center**2})


def test_a_planted_moment_is_seen(monkeypatch):
    moment = drawing._moment
    monkeypatch.setattr(drawing, "_moment", lambda u, v, sizes: moment(u, v, sizes).subs({1 / K: 1 / K**2}))
    assert decide(FALSE["K draws as if K^2"]).refuted
    with pytest.raises(InconsistentEvidence, match="rules and a certificate prove it"):
        prove(FALSE["K draws as if K^2"])


def test_what_holds_at_every_round_is_enough_for_a_claim_about_every_round():
    x_t = vector("iterate", t)
    given = (norm2(x_t) <= c,)
    assert prove(Conjecture(name="every round", left=norm2(x_t), right=c, given=given)).proved
    assert prove(Conjecture(name="scaled", left=c * norm2(x_t), right=c * t, given=(norm2(x_t) <= t,))).proved
    assert not prove(Conjecture(name="less", left=norm2(x_t), right=c / 2, given=given)).proved


def test_multipliers_that_are_sums_and_claims_that_are_rules():
    """Lemma 4 of Hardt, Recht, Singer (2016), the definition of smoothness, and a multiplier a^2 + a / L."""
    f = function("lemma smooth", smooth=L)
    change = f.grad(x) - f.grad(y)
    assert prove(claim(norm(x - y - a * change), (1 + a * L) * norm(x - y))).proved
    assert prove(claim(norm(change), L * norm(x - y))).proved
    left = a**2 * norm2(change) - 2 * a * dot(change, x - y)
    assert prove(claim(left, (L**2 * a**2 + 2 * a * L) * norm2(x - y))).proved
    assert decide(claim(left, (L**2 * a**2 + a * L) * norm2(x - y))).refuted


def test_bounds_of_every_round_hold_at_the_last():
    phi, total = sequence("phi"), sum_over(t, T)
    step = phi(t + 1) <= phi(t) - a * norm2(vector("d", t))
    assert prove(claim(a * total(norm2(vector("d", t))), phi(0) - low, step, phi(t) >= low)).proved
    assert not prove(claim(a * total(norm2(vector("d", t))), phi(0) - low, step)).proved


@pytest.mark.full
def test_geometric_sums():
    total = sum_over(t, T)
    assert prove(claim(total((1 - c) ** t), 1 / c, c <= 1)).proved
    assert prove(claim(c * total((1 - c) ** t), 1 - (1 - c) ** T, c <= 1, relation="==")).proved
    assert not prove(claim(total((1 - c) ** t), 1 / (2 * c), c <= 1)).proved
