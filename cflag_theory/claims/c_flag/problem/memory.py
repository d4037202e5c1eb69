"""The memory: Lemmas 8, 9 and 10."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.c_flag.vectors import client
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Source, Statement, setting, shown
from cflag_theory.claims.engine.notation import (
    bias,
    bias2,
    clients,
    draw,
    draws,
    grad_f,
    grad_f2,
    grad_g,
    i,
    m,
    omega,
    r,
    sequence,
    symbol,
    t,
)
from cflag_theory.claims.engine.operators import index, sum_over
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation
from cflag_theory.claims.engine.terms import norm, norm2, vector

# Lemma 8: one coordinate at a fixed x. The memory's mean has the weights c_j, which depend on the draw.
_count = sequence("past_count", r"|\mathcal{P}^{@}|", integer=True, positive=True)
_weight = sequence("memory_weight", "w_{@1,@2}", nonnegative=True)
_component = sequence("past_gradient", r"\nabla f_{@1,@2}(x)", real=True)
entry, j = sp.Symbol("entry", integer=True, nonnegative=True), index("past_j")
n = symbol("n_past_of", r"{|\mathcal{P}^i|}", _count(client), positive=True, integer=True)
share = symbol("share_j", "w_j", draws(_weight(client, entry, omega)))


def _memory_gradient(of: sp.Expr) -> sp.Expr:
    return sum_over(j, _count(of))(_weight(of, j, omega) * _component(of, j))


def _gradient(of: sp.Expr) -> sp.Expr:
    return sum_over(j, _count(of))(_component(of, j)) / _count(of)


def _mean_bias(of: sp.Expr) -> sp.Expr:
    """The expectation of (6) at one client."""
    return draws(_memory_gradient(of)) - _gradient(of)


mean_bias = symbol("mean_bias", r"\mathbb{E}[b(x)]", clients(_mean_bias(i)))

#: Lemmas 9 and 10, which give (27) and (30) at any x_t and for any draw.
LEMMA9 = Source("cflag.lemma9", on="repair", besides=("Assumption 2", "(28)"))
LEMMA10 = Source("cflag.lemma10", besides=("Assumption 3", "r"))

# Lemma 9: one client's numbers.
_bias, _grad = vector("bias_of", "b_{@1}(x_{@3})"), vector("grad_of", r"\nabla f_{@1}(x_{@3})")


def bias_of(client: sp.Expr) -> sp.Expr:
    """b_i(x_t)."""
    return _bias(client, draw, t)


def grad_of(client: sp.Expr) -> sp.Expr:
    """grad f_i(x_t)."""
    return _grad(client, draw, t)


MEAN_BIAS = setting("b", equal(clients(bias_of(i)), bias), "b = sum_i p_i b_i.")
MEAN_GRADIENT = setting("grad f", equal(clients(grad_of(i)), grad_f), "grad f = sum_i p_i grad f_i.")
_m = sequence("m_of", "m_{@}", nonnegative=True)
bias_i2 = symbol("bias_i2", r"{\|b_i(x)\|^2}", norm2(bias_of(client)))
grad_f_i2 = symbol("grad_f_i2", r"{\|\nabla f_i(x)\|^2}", norm2(grad_of(client)))
m_i = symbol("m_i_of", "m_i", _m(client))

# Lemma 10.
_memory = vector("memory_of", r"\nabla f_{@1}^\dagger(x_{@3})")
_r = sequence("r_of", "r_{@}", nonnegative=True)
memory_norm = symbol("memory_norm", r"{\|\nabla f^\dagger(x_t)\|}", norm(grad_f + bias))


def memory_of(client: sp.Expr) -> sp.Expr:
    """grad f_i_memory(x_t)."""
    return _memory(client, draw, t)


MEAN_MEMORY = setting(
    "grad f_memory",
    equal(clients(memory_of(i)), grad_f + bias),
    "grad f_memory, which is grad f + b by (6), is sum_i p_i grad f_i_memory.",
)
memory_i = symbol("memory_i", r"{\|\nabla f_i^\dagger(x_t)\|}", norm(memory_of(client)))
r_i = symbol("r_i_of", "r_i", _r(client))


def lemma8() -> Claim:
    """The expected bias at a fixed x."""
    uniform = Fact(
        "uniform",
        equal(n * share, 1),
        "M^i is drawn uniformly from P^i: each of the n past components has the expected share w_j = 1/n in the "
        "memory's mean, w_j = 𝔼[1{j in M^i} / |M^i|].",
        forall=(client, entry),
    )
    goal = equal(mean_bias, 0)
    every = sum_over(j, _count(client))
    printed = shown(
        "𝔼[b(x)] = sum_i p_i 𝔼[b_i(x)] = 0 at every fixed x, for memories drawn uniformly from P^i at each client "
        "(one coordinate; all are alike).",
        goal,
        rules.at("any component", entry, j, given="uniform"),
        rules.mean("all components", every, _component(client, j), given="any component"),
        rules.exchange("order", draws, every, _weight(client, j, omega) * _component(client, j)),
        Obligation("(26)", equal(_mean_bias(client), 0), ("all components", "order")),
        rules.at("any client", client, i, given="(26)"),
        rules.mean("clients", clients, given="any client"),
        given=("clients",),
        under=(uniform,),
    )
    return Claim(
        "cflag.lemma8",
        "Lemma 8, (26)",
        "The bias has expectation zero",
        (Part("1", printed),),
        (
            "x is fixed before the memory is drawn. At x_t with t >= 1 the lemma says nothing when the memory is drawn "
            "once, since x_t depends on it; step (a) of (64) uses it there (cflag.overfitting_mean).",
            "The memory's gradient is the plain mean over what is kept, which is never empty. With or without "
            "replacement, of fixed or of independent random size, uniform draws give w_j = 1/n.",
            "A ring buffer keeps the last arrivals; it is uniform if the order of arrival is. The class-balanced "
            "buffer of the experiments is not when classes differ in size: of the classes {1, 2, 3} and {4}, two kept, "
            "component 4 is always kept and w = (1/6, 1/6, 1/6, 1/2), so that 𝔼[b] is not zero.",
        ),
    )


def lemma9() -> Claim:
    """The bias of the average from the biases of the clients."""
    goal = at_most(bias2, m * grad_f2)
    known = Fact(
        "Assumption 2",
        at_most(bias_i2, m_i * grad_f_i2),
        "||b_i(x)||^2 <= m_i ||grad f_i(x)||^2, each client.",
        forall=(client,),
    )
    dissimilarity = Fact(
        "(28)",
        at_most(m_i * grad_f_i2, m * grad_f2),
        "m_i ||grad f_i(x)||^2 <= m ||grad f(x)||^2 for each client.",
        forall=(client,),
    )
    printed = Statement("Assumption 2 gives an m with ||b(x)||^2 <= m ||grad f(x)||^2 for all x.", goal, (known,))
    mended = shown(
        "The same under (28), with its m.",
        goal,
        rules.jensen("(a)", clients, bias_of(i)),
        rules.rewrite("mean", norm2(clients(bias_of(i))), given=MEAN_BIAS),
        Obligation("one client", at_most(bias_i2, m * grad_f2), ("Assumption 2", "(28)")),
        rules.at("any client", client, i, given="one client"),
        rules.mean("(b)", clients, given="any client"),
        given=("(a)", "mean", "(b)"),
        under=(known, dissimilarity),
    )
    repair = Repair(
        "needs-hypothesis",
        "(28), which the proof assumes: the clients' gradients must not cancel in grad f",
        mended,
    )
    return Claim(
        "cflag.lemma9",
        "Lemma 9, (27)-(29)",
        "The bias of the average",
        (Part("1", printed, repair),),
        (
            "At a point where grad f = 0 by cancellation, (27) fails for every m unless the biases cancel too. For one "
            "client (27) is Assumption 2 itself, with m = m_1.",
            "Without (28), the clients' dissimilarity enters as a floor: ours.bias_floor.",
            "(28) gives no m < 1 in general: m may be any size although each m_i is below 1.",
        ),
    )


def lemma10() -> Claim:
    """The memory gradient of the average from those of the clients."""
    goal = at_most(memory_norm, r * grad_g)
    known = Fact(
        "Assumption 3",
        at_most(memory_i, r_i * grad_g),
        "||grad f_i_memory(x_t)|| <= r_i ||grad g(x_t)||, each client.",
        forall=(client,),
    )
    largest = Fact("r", at_most(r_i, r), "r is the largest r_i.", forall=(client,))
    printed = shown(
        "||grad f_memory(x_t)|| <= r ||grad g(x_t)|| with r = max_i r_i.",
        goal,
        rules.norm_of_mean("(30)", clients, memory_of(i)),
        rules.rewrite("mean", norm(clients(memory_of(i))), given=MEAN_MEMORY),
        Obligation("one client", at_most(memory_i, r * grad_g), ("Assumption 3", "r")),
        rules.at("any client", client, i, given="one client"),
        rules.mean("clients", clients, given="any client"),
        given=("(30)", "mean", "clients"),
        under=(known, largest),
    )
    return Claim(
        "cflag.lemma10",
        "Lemma 10, (30)",
        "The memory gradient of the average",
        (Part("1", printed),),
        (
            "(30) passes through the smaller constant sum_i p_i r_i, which is the best from the r_i alone: it is "
            "attained when the clients' memory gradients point the same way and each meets its own bound.",
        ),
    )


CLAIMS = {"cflag.lemma8": lemma8, "cflag.lemma9": lemma9, "cflag.lemma10": lemma10}
