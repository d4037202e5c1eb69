"""Forty-five lemmas of the field, thirty true and fifteen false, from papers other than the two of the ledger."""

from __future__ import annotations

import pytest
import sympy as sp

from cflag_theory.claims.engine.examiner import examine
from cflag_theory.falsify import Conjecture, decide, dot, function, index, mean, norm, norm2, prove, vector, vectors

L, a, mu, s, d, rho, rate = sp.symbols("L a mu s d rho rate", positive=True)
m, b, A, sigma, D, G, omega = sp.symbols("m b A sigma D G omega", nonnegative=True)
c = sp.Symbol("c", positive=True)
K = sp.Symbol("K", integer=True, positive=True)
x, y, z, xs, u, v, w, e, g, p, q, x0 = vectors("x y z xs u v w e g p q x0")
i, k = index("i"), index("k")
E, clients = mean("E", i), mean("clients", k)
n_i, g_i, m_i = vector("noise", i), vector("estimate", i), vector("message", i)
x_k, g_k = vector("local", k), vector("step", k)

smooth = function("lemma smooth", smooth=L)
convex = function("lemma convex", smooth=L, convex=True)
rough = function("lemma rough", convex=True)
strong = function("lemma strong", mu=mu)
both = function("lemma strong and smooth", smooth=L, mu=mu)
F = function("lemma losses", smooth=L)
H = function("lemma convex losses", smooth=L, convex=True)

at_rest = sp.Eq(E(H[i].grad(xs)), 0)
gap = E(H[i](x)) - E(H[i](xs))
short = a * L <= 1


def change(at, other):
    return H[i].grad(at) - H[i].grad(other)


def claim(left, right, *given):
    return Conjecture(name="a lemma", left=left, right=right, given=given)


def biased_step(bias):
    left = E(smooth(x - a * (smooth.grad(x) + e + n_i)))
    right = smooth(x) - a / 2 * (1 - m) * norm2(smooth.grad(x)) + a * bias * sigma + L * a**2 / 2 * D
    given = (sp.Eq(E(n_i), 0), E(norm2(n_i)) <= D, norm2(e) <= m * norm2(smooth.grad(x)) + sigma, short)
    return claim(left, right, *given)


def saga(factor):
    left = E(norm2(change(x, vector("phi", i)) + E(H[i].grad(vector("phi", i)))))
    return claim(left, factor * (E(norm2(change(x, xs))) + E(norm2(change(vector("phi", i), xs)))), at_rest)


def diana(*given):
    left = E(norm2(u + a * m_i - w))
    second = E(norm2(m_i)) <= (1 + omega) * norm2(v - u)
    return claim(left, (1 - a) * norm2(u - w) + a * norm2(v - w), sp.Eq(E(m_i), v - u), second, *given)


def storm(factor):
    left = E(norm2(F[i].grad(y) + (1 - s) * (v - F[i].grad(x)) - E(F[i].grad(y))))
    right = (1 - s) ** 2 * norm2(v - E(F[i].grad(x))) + factor * (s**2 * sigma**2 + (1 - s) ** 2 * L**2 * norm2(y - x))
    return claim(left, right, E(norm2(F[i].grad(y) - E(F[i].grad(y)))) <= sigma**2, s <= 1)


def memory(factor):
    return claim(
        norm2(e + a * g - p),
        (1 - d / 2) * norm2(e) + factor * a**2 / d * norm2(g),
        norm2(e + a * g - p) <= (1 - d) * norm2(e + a * g),
        d <= 1,
    )


def ef21(second):
    shift = smooth.grad(y) - smooth.grad(x)
    contracted = norm2(g + p - smooth.grad(y)) <= (1 - d) * norm2(g - smooth.grad(y))
    right = (1 - d) * (1 + s) * norm2(g - smooth.grad(x)) + (1 - d) * second * norm2(shift)
    return claim(norm2(g + p - smooth.grad(y)), right, contracted, d <= 1)


def moving_average(noise):
    left = E(norm2((1 - s) * v + s * (smooth.grad(y) + n_i) - smooth.grad(y)))
    right = (1 - s) * norm2(v - smooth.grad(x)) + L**2 / s * norm2(y - x) + noise * sigma**2
    return claim(left, right, sp.Eq(E(n_i), 0), E(norm2(n_i)) <= sigma**2, s <= 1)


def heavy_ball(scale):
    """The bound times (1 - b)^2."""
    left = norm2(x - a * rough.grad(x) - b * x0 - (1 - b) * xs)
    right = norm2(x - b * x0 - (1 - b) * xs) + a**2 * norm2(rough.grad(x))
    return claim(left, right - scale * a * ((1 - b) * (rough(x) - rough(xs)) + b * (rough(x) - rough(x0))), b < 1)


def accelerated(*given):
    mixed = (A * y + c * z) / (A + c)
    new = mixed - convex.grad(mixed) / L
    left = (A + c) * (convex(new) - convex(xs)) + L / 2 * norm2(z - c / L * convex.grad(mixed) - xs)
    return claim(left, A * (convex(y) - convex(xs)) + L / 2 * norm2(z - xs), *given)


def extragradient(factor):
    left = norm2(x - a * convex.grad(x - a * convex.grad(x)) - xs)
    right = norm2(x - xs) - (1 - factor * a**2 * L**2) * a**2 * norm2(convex.grad(x))
    return claim(left, right, sp.Eq(convex.grad(xs), 0))


def page(factor):
    right = smooth(x) - a / 2 * norm2(smooth.grad(x)) - (1 / (2 * a) - L / 2) * a**2 * norm2(v)
    return claim(smooth(x - a * v), right + factor * a * norm2(v - smooth.grad(x)))


def weak(at):
    return rough.grad(at) - rho * at


def weak_prox(factor):
    points = sp.Eq(x, p + a * weak(p)), sp.Eq(y, q + a * weak(q))
    return claim(factor * norm(p - q), norm(x - y), *points, a * rho <= 1)


def frank_wolfe(factor):
    right = smooth(x) + s * dot(smooth.grad(x), v - x) + factor * L * s**2 * D**2
    return claim(smooth(x + s * (v - x)), right, norm(v - x) <= D)


TRUE = {
    "strong convexity implies PL (Karimi, Nutini, Schmidt 2016)": claim(
        2 * mu * (strong(x) - strong(xs)), norm2(strong.grad(x))
    ),
    "a step under PL (Polyak 1963)": claim(
        smooth(x - smooth.grad(x) / L) - sigma,
        (1 - mu / L) * (smooth(x) - sigma),
        2 * mu * (smooth(x) - sigma) <= norm2(smooth.grad(x)),
    ),
    "quadratic growth": claim(mu / 2 * norm2(x - xs), strong(x) - strong(xs), sp.Eq(strong.grad(xs), 0)),
    "biased SGD (Ajalloeian, Stich 2020)": biased_step(sp.Rational(1, 2)),
    "stochastic subgradients (Nemirovski et al. 2009)": claim(
        E(norm2(x - a * g_i - xs)),
        norm2(x - xs) - 2 * a * (rough(x) - rough(xs)) + a**2 * G**2,
        sp.Eq(E(g_i), rough.grad(x)),
        E(norm2(g_i)) <= G**2,
    ),
    "expected smoothness (Gower et al. 2019)": claim(E(norm2(change(x, xs))), 2 * L * gap, at_rest),
    "SGD's second moment (Gower et al. 2019)": claim(
        E(norm2(H[i].grad(x))), 4 * L * gap + 2 * E(norm2(H[i].grad(xs))), at_rest
    ),
    "SVRG's variance (Johnson, Zhang 2013)": claim(
        E(norm2(change(x, y) + E(H[i].grad(y)))), 4 * L * (gap + E(H[i](y)) - E(H[i](xs))), at_rest
    ),
    "SAGA's variance (Defazio et al. 2014)": saga(2),
    "DIANA's shifts (Mishchenko et al. 2019)": diana(a * (1 + omega) <= 1),
    "EF21's estimator (Richtarik et al. 2021)": ef21(1 + 1 / s),
    "error feedback's memory (Stich et al. 2018)": memory(2),
    "STORM's estimator (Cutkosky, Orabona 2019)": storm(2),
    "error of a moving average (Cutkosky, Mehta 2020)": moving_average(s**2),
    "heavy ball's potential (Ghadimi et al. 2015)": heavy_ball(2),
    "accelerated potential (Bansal, Gupta 2019)": accelerated(c**2 <= A + c),
    "gradient descent's potential (Bansal, Gupta 2019)": claim(
        (A + 1) * (convex(x - convex.grad(x) / L) - convex(xs)) + L / 2 * norm2(x - convex.grad(x) / L - xs),
        A * (convex(x) - convex(xs)) + L / 2 * norm2(x - xs),
    ),
    "three points of a proximal step (Chen, Teboulle 1993)": claim(
        2 * a * rough(p) + norm2(p - x) + norm2(z - p), 2 * a * rough(z) + norm2(z - x), sp.Eq(x, p + a * rough.grad(p))
    ),
    "proximal gradient step (Beck, Teboulle 2009)": claim(
        convex(p) + rough(p) + L / 2 * norm2(z - p),
        convex(z) + rough(z) + L / 2 * norm2(z - y),
        sp.Eq(p, y - (convex.grad(y) + rough.grad(p)) / L),
    ),
    "a weakly convex proximal point (Davis, Drusvyatskiy 2019)": claim(
        (1 / a - rho) * norm2(x - p), dot(weak(x), x - p), sp.Eq(x, p + a * weak(p))
    ),
    "proximal map of a weakly convex function": weak_prox(1 - a * rho),
    "a gradient taken elsewhere (Karimireddy et al. 2020)": claim(
        convex(y) - convex(z), dot(convex.grad(x), y - z) + L / 2 * norm2(y - x)
    ),
    "Young for three": claim(norm2(u + v + w), (1 + s) * norm2(u) + 2 * (1 + 1 / s) * (norm2(v) + norm2(w))),
    "interpolated points (Zhang et al. 2019)": claim(
        norm2((1 - s) * x + s * y - z), (1 - s) * norm2(x - z) + s * norm2(y - z), s <= 1
    ),
    "consensus of local steps (Koloskova et al. 2020)": claim(
        clients(norm2(x_k - a * g_k - clients(x_k - a * g_k))),
        (1 + s) * clients(norm2(x_k - clients(x_k))) + (1 + 1 / s) * a**2 * clients(norm2(g_k)),
    ),
    "descent along gradients at the clients' points (Wang et al. 2020)": claim(
        clients(F[k](x - a * clients(F[k].grad(x_k)))),
        clients(F[k](x)) - a / 2 * norm2(clients(F[k].grad(x))) + a * L**2 / 2 * clients(norm2(x_k - x)),
        short,
    ),
    "extragradient (Korpelevich 1976)": extragradient(1),
    "PAGE's descent (Li et al. 2021)": page(sp.Rational(1, 2)),
    "Frank-Wolfe's step (Jaggi 2013)": frank_wolfe(sp.Rational(1, 2)),
    "exact rate of gradient descent (Taylor, Hendrickx, Glineur 2018)": claim(
        both(x - a * both.grad(x)) - both(xs), (1 - a * mu) ** 2 * (both(x) - both(xs)), sp.Eq(both.grad(xs), 0), short
    ),
}
FALSE = {
    "PL with 3 mu": claim(3 * mu * (strong(x) - strong(xs)), norm2(strong.grad(x))),
    "a step under PL without the factor 2": claim(
        smooth(x - smooth.grad(x) / L) - sigma,
        (1 - mu / L) * (smooth(x) - sigma),
        mu * (smooth(x) - sigma) <= norm2(smooth.grad(x)),
    ),
    "biased SGD with a quarter of the bias": biased_step(sp.Rational(1, 4)),
    "SAGA's variance without the factor 2": saga(1),
    "DIANA's shifts with a longer step": diana(a * omega <= 1),
    "EF21's estimator with 1/s": ef21(1 / s),
    "error feedback's memory with half the factor": memory(1),
    "STORM's estimator without the factor 2": storm(1),
    "moving average with too little noise": moving_average(s**3),
    "accelerated potential, twice too fast": accelerated(c**2 <= 2 * (A + c)),
    "extragradient without the change of the gradient": extragradient(0),
    "PAGE's descent with a quarter": page(sp.Rational(1, 4)),
    "proximal map of a weakly convex function as of a convex one": weak_prox(1),
    "Frank-Wolfe's step with a quarter": frank_wolfe(sp.Rational(1, 4)),
    "co-coercivity without convexity": claim(
        norm2(smooth.grad(x) - smooth.grad(y)), L * dot(smooth.grad(x) - smooth.grad(y), x - y)
    ),
}
#: What squares of vectors and the rules do not prove: how a function is interpolated that is both smooth and convex.
OPEN = ("exact rate of gradient descent (Taylor, Hendrickx, Glineur 2018)",)
QUICK = [name for name in TRUE if name.startswith(("strong convexity", "SAGA", "Young"))]


@pytest.mark.parametrize("name", QUICK)
def test_a_square_is_found_that_no_hypothesis_names(name):
    found = prove(TRUE[name])
    assert found.proved
    assert any(line.why == "square" for line in found.derivation.lines)
    assert examine(found.derivation.statement).faults == ()


@pytest.mark.full
@pytest.mark.parametrize("name", TRUE)
def test_true_lemmas_are_proved(name):
    assert decide(TRUE[name]).outcome == ("neither" if name in OPEN else "proved")


@pytest.mark.full
@pytest.mark.parametrize("name", FALSE)
def test_false_lemmas_are_refuted(name):
    assert decide(FALSE[name]).refuted


def test_a_root_takes_the_name_of_no_other_number():
    other = sp.Symbol("root_s", positive=True)
    right = (1 + sp.sqrt(s)) * norm2(u)
    assert prove(claim(norm2(u + v), right + (1 + 1 / sp.sqrt(s)) * norm2(v))).proved
    assert not prove(claim(norm2(u + v), right + (1 + 1 / other) * norm2(v))).proved


def test_a_number_that_an_equation_gives_is_put_in():
    halved = claim(smooth(x - a * smooth.grad(x)), smooth(x) - norm2(smooth.grad(x)) / (2 * L), sp.Eq(a, 1 / L))
    assert prove(halved).proved
