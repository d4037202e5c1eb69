"""The memory: Lemmas 8, 9 and 10."""

from __future__ import annotations

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement
from cflag_theory.claims.engine.notation import bias2, grad_f2, grad_g, m, r, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof

# Lemma 8: one coordinate of expectations over draws, at a fixed x.
mean_bias = symbol("mean_bias", r"\mathbb{E}[b(x)]", real=True)
mean_bias_i = symbol("mean_bias_i", r"\mathbb{E}[b_i(x)]", real=True)
mean_memory_i = symbol("mean_memory_i", r"\mathbb{E}[\nabla f_i^\dagger(x)]", real=True)
grad_f_i = symbol("grad_f_i_x", r"\nabla f_i(x)", real=True)
share_gap = symbol("share_gap", r"\max_j|w_j-1/n|", nonnegative=True)
theta = symbol("theta", r"\theta", real=True)
skew = symbol("skew", r"\sum_j(w_j-1/n)\nabla f_{i,j}(x)", real=True)

# Lemma 9: one client's numbers, and means over clients.
bias_i2 = symbol("bias_i2", r"{\|b_i(x)\|^2}", nonnegative=True)
grad_f_i2 = symbol("grad_f_i2", r"{\|\nabla f_i(x)\|^2}", nonnegative=True)
m_i = symbol("m_i", "m_i", nonnegative=True)
mean_bias2 = symbol("mean_bias2", r"\sum_i p_i\|b_i(x)\|^2", nonnegative=True)

# Lemma 10.
memory_norm = symbol("memory_norm", r"{\|\nabla f^\dagger(x_t)\|}", nonnegative=True)
memory_i = symbol("memory_i", r"{\|\nabla f_i^\dagger(x_t)\|}", nonnegative=True)
memory_mean = symbol("memory_mean", r"\sum_i p_i\|\nabla f_i^\dagger(x_t)\|", nonnegative=True)
r_i = symbol("r_i", "r_i", nonnegative=True)


def lemma8() -> Claim:
    """The expected bias at a fixed x."""
    uniform = Fact(
        "uniform",
        equal(share_gap, 0),
        "M^i is drawn uniformly from P^i: each of the n past components has the expected share w_j = 1/n in the "
        "memory's mean, w_j = E[1{j in M^i} / |M^i|].",
    )
    bias = Fact("(6)", equal(mean_bias_i, mean_memory_i - grad_f_i), "The expectation of (6) at one client.")
    goal = equal(mean_bias, 0)
    vanishes = equal(mean_bias_i, 0)
    proof = Proof(
        (
            rules.linear_expectation(
                "memory",
                equal(mean_memory_i, grad_f_i + skew),
                "the mean over the kept components has expectation sum_j w_j grad f_ij, and grad f_i is that sum with "
                "w_j = 1/n.",
            ),
            rules.multiple("shares", skew, theta, share_gap, "|skew| <= max_j |w_j - 1/n| sum_j |grad f_ij|."),
            Obligation(
                "(26)",
                vanishes,
                ("(6)", "memory", "shares", "uniform"),
                -residual("(6)") - residual("memory") - residual("shares") - theta * residual("uniform"),
            ),
            rules.weighted_sum("the statement follows", goal, "b = sum_i p_i b_i.", ("(26)",)),
        )
    )
    printed = Statement(
        "E[b(x)] = sum_i p_i E[b_i(x)] = 0 at every fixed x, for memories drawn uniformly from P^i at each client "
        "(one coordinate; all are alike).",
        goal,
        (uniform,),
        proof,
        (bias,),
    )
    return Claim(
        "cflag.lemma8",
        "C-FLAG",
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
            "component 4 is always kept and w = (1/6, 1/6, 1/6, 1/2), so that E[b] is not zero.",
        ),
    )


def lemma9() -> Claim:
    """The bias of the average from the biases of the clients."""
    goal = at_most(bias2, m * grad_f2)
    known = Fact(
        "Assumption 2", at_most(bias_i2, m_i * grad_f_i2), "||b_i(x)||^2 <= m_i ||grad f_i(x)||^2, each client."
    )
    dissimilarity = Fact(
        "(28)", at_most(m_i * grad_f_i2, m * grad_f2), "m_i ||grad f_i(x)||^2 <= m ||grad f(x)||^2 for each client."
    )
    proof = Proof(
        (
            rules.jensen("(a)", bias2, mean_bias2, "b = sum_i p_i b_i."),
            Obligation(
                "one client",
                at_most(bias_i2, m * grad_f2),
                ("Assumption 2", "(28)"),
                slack("Assumption 2") + slack("(28)"),
            ),
            rules.mean_of_bounds("(b)", mean_bias2, m * grad_f2, "over clients, weighted with p_i.", ("one client",)),
            Obligation("the statement follows", goal, ("(a)", "(b)"), slack("(a)") + slack("(b)")),
        )
    )
    printed = Statement("Assumption 2 gives an m with ||b(x)||^2 <= m ||grad f(x)||^2 for all x.", goal, (known,))
    mended = Statement("The same under (28), with its m.", goal, (known, dissimilarity), proof)
    repair = Repair(
        "needs-hypothesis",
        "(28), which the proof assumes: the clients' gradients must not cancel in grad f",
        mended,
    )
    return Claim(
        "cflag.lemma9",
        "C-FLAG",
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
        "Assumption 3", at_most(memory_i, r_i * grad_g), "||grad f_i_memory(x_t)|| <= r_i ||grad g(x_t)||, each client."
    )
    largest = Fact("r", at_most(r_i, r), "r is the largest r_i.")
    proof = Proof(
        (
            rules.triangle(
                "(30)",
                memory_norm,
                (memory_mean,),
                "grad f_memory = sum_i p_i grad f_i_memory, norms weighted with p_i.",
            ),
            Obligation(
                "one client",
                at_most(memory_i, r * grad_g),
                ("Assumption 3", "r"),
                slack("Assumption 3") + grad_g * slack("r"),
            ),
            rules.mean_of_bounds(
                "clients", memory_mean, r * grad_g, "over clients, weighted with p_i.", ("one client",)
            ),
            Obligation("the statement follows", goal, ("(30)", "clients"), slack("(30)") + slack("clients")),
        )
    )
    printed = Statement(
        "||grad f_memory(x_t)|| <= r ||grad g(x_t)|| with r = max_i r_i.", goal, (known, largest), proof
    )
    return Claim(
        "cflag.lemma10",
        "C-FLAG",
        "Lemma 10, (30)",
        "The memory gradient of the average",
        (Part("1", printed),),
        (
            "(30) passes through the smaller constant sum_i p_i r_i, which is the best from the r_i alone: it is "
            "attained when the clients' memory gradients point the same way and each meets its own bound.",
        ),
    )


CLAIMS = {"cflag.lemma8": lemma8, "cflag.lemma9": lemma9, "cflag.lemma10": lemma10}
