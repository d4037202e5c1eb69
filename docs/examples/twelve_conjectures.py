"""Twelve claims that the ledger does not have, true and false. Try: cflag decide docs/examples/twelve_conjectures.py

Each name says what is expected. Six are about vectors and functions, six about numbers.
"""

from fractions import Fraction

import sympy as sp

from cflag_theory.falsify import Conjecture, Range, dot, function, index, mean, norm2, vector, vectors
from cflag_theory.falsify.search.exact_numbers import sqrt

L, alpha, mu = sp.symbols("L alpha mu", positive=True)
x, y, z, a = vectors("x y z a")
f = function("f", smooth=L)
h = function("h", smooth=L, convex=True)
q = function("q", smooth=L, mu=mu)
low = function("low", smooth=L, lower=0)
i = index("i")
clients = mean("clients", i)
g = vector("g", i)
UNIT = {"s": Range(0, 1), "t": Range(0, 1)}

conjectures = [
    Conjecture(
        name="01 true: gradient steps of convex losses do not part",
        left=norm2(x - alpha * h.grad(x) - y + alpha * h.grad(y)),
        right=norm2(x - y),
        given=(alpha * L <= 1,),
    ),
    Conjecture(
        name="02 false: gradient steps of smooth losses do not part",
        left=norm2(x - alpha * f.grad(x) - y + alpha * f.grad(y)),
        right=norm2(x - y),
        given=(alpha * L <= 1,),
    ),
    Conjecture(
        name="03 true: perturbed strong convexity, Lemma 5 of SCAFFOLD",
        left=q(z) - q(y) + mu / 4 * norm2(y - z) - L * norm2(z - x),
        right=dot(q.grad(x), z - y),
    ),
    Conjecture(
        name="04 false: the same with mu/2 and half of L",
        left=q(z) - q(y) + mu / 2 * norm2(y - z) - L / 2 * norm2(z - x),
        right=dot(q.grad(x), z - y),
    ),
    Conjecture(
        name="05 true: the mean gradient is off by at most the mean of squares around any vector",
        left=norm2(clients(g) - a),
        right=clients(norm2(g - a)),
    ),
    Conjecture(
        name="06 false: squared gradients below L times the loss",
        left=norm2(low.grad(x)),
        right=L * low(x),
    ),
    Conjecture(
        name="07 true: AM-GM of three",
        ranges=UNIT | {"r": Range(0, 1)},
        left=lambda r, s, t: 3 * r * s * t,
        right=lambda r, s, t: r**3 + s**3 + t**3,
    ),
    Conjecture(
        name="08 false: AM-GM of three with 31/10",
        ranges=UNIT | {"r": Range(0, 1)},
        left=lambda r, s, t: Fraction(31, 10) * r * s * t,
        right=lambda r, s, t: r**3 + s**3 + t**3,
    ),
    Conjecture(
        name="09 true: a root below its tangent",
        ranges={"s": Range(0, 10)},
        left=lambda s: sqrt(1 + s),
        right=lambda s: 1 + s / 2,
    ),
    Conjecture(
        name="10 false: a root above its parabola",
        ranges={"s": Range(0, 10)},
        left=lambda s: 1 + s / 2 - s**2 / 9,
        right=lambda s: sqrt(1 + s),
    ),
    Conjecture(
        name="11 true: contraction of a step",
        ranges={"mu": Range("1/10", 1), "step": Range(0, 1)},
        left=lambda mu, step: (1 - step * mu) ** 2,
        right=lambda mu, step: 1 - step * mu,
    ),
    Conjecture(
        name="12 false: contraction of a longer step",
        ranges={"mu": Range("1/10", 1), "step": Range(0, 2)},
        left=lambda mu, step: (1 - step * mu) ** 2,
        right=lambda mu, step: 1 - step * mu,
    ),
]
