"""What we prove about the decomposition (3), the assumptions and the bias: exact forms and necessary conditions."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.c_flag.problem.assumptions import bias_at_rest, bias_i, grad_f_i, kappa
from cflag_theory.claims.c_flag.problem.memory import bias_i2, grad_f_i2, m_i, mean_bias2
from cflag_theory.claims.c_flag.problem.objective import (
    current,
    current_i,
    decomposed,
    f,
    f_i,
    g,
    g_i,
    h,
    h_i,
    past,
    past_i,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import bias2, grad_f2, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof

# (3): the client's share of past data, what the shares leave over, and f and g weighted by amounts of data.
share_i = symbol("share_i", r"\lambda_i", nonnegative=True)
remainder = symbol("remainder", r"\sum_i p_i(\lambda_i-\lambda)(f_i-g_i)", real=True)
p_i = symbol("p_i", "p_i", nonnegative=True)
f_by_size = symbol("f_by_size", r"\bar{f}(x)", real=True)
g_by_size = symbol("g_by_size", r"\bar{g}(x)", real=True)

# Assumption 2: root of m_i, norm of the memory's gradient, and a worst point of a quadratic.
root_m = symbol("root_m_i", r"\sqrt{m_i}", nonnegative=True)
memory_i = symbol("memory_i_x", r"{\|\nabla f_i^\dagger(x)\|}", nonnegative=True)
bias_worst = symbol("bias_worst", r"{\|b_i(x')\|}", nonnegative=True)
grad_worst = symbol("grad_worst", r"{\|\nabla f_i(x')\|}", positive=True)
# One coordinate of component gradients at a stationary point of f_i; kept = what two memories have in common.
u_j = symbol("u_j", r"\nabla f_{i,j}(s)", real=True)
u_l = symbol("u_l", r"\nabla f_{i,l}(s)", real=True)
kept = symbol("kept", r"\sum_{o\in M\setminus j}\nabla f_{i,o}(s)", real=True)
total = symbol("total", r"\sum_o\nabla f_{i,o}(s)", real=True)
n = symbol("n_past", r"{|\mathcal{P}^i|}", positive=True, integer=True)

# The bias floor: the largest m_i, the mean of the clients' squared gradients and their spread.
m_max = symbol("m_max", r"\max_i m_i", nonnegative=True)
mean_grad2 = symbol("mean_grad2", r"\sum_i p_i\|\nabla f_i(x)\|^2", nonnegative=True)
spread2 = symbol("spread2", r"\sum_i p_i\|\nabla f_i(x)-\nabla f(x)\|^2", nonnegative=True)


def eq3() -> Claim:
    """(3) with its remainder, and (3) for losses weighted by amounts of data."""
    share = past / (past + current)
    client = Fact(
        "h_i", equal(h_i, share_i * f_i + (1 - share_i) * g_i), "h_i, with lambda_i = |P^i| / (|P^i| + |C^i|)."
    )
    exact = equal(h, decomposed(f, g) + remainder)
    one = equal(h_i, decomposed(f_i, g_i) + (share_i - share) * (f_i - g_i))
    first = Statement(
        "h = lambda f + (1 - lambda) g + sum_i p_i (lambda_i - lambda)(f_i - g_i), for any weights p_i, with lambda = "
        "|P| / (|P| + |C|).",
        exact,
        (),
        Proof(
            (
                Obligation("one client", one, ("h_i",), -residual("h_i")),
                rules.weighted_sum(
                    "clients",
                    equal((past + current) * h, past * f + current * g + (past + current) * remainder),
                    "the p-weighted sum of the clients' identities.",
                    ("one client",),
                ),
                Obligation("the statement follows", exact, ("clients",), -residual("clients") / (past + current)),
            )
        ),
        (client,),
    )
    sizes = Fact("p_i", equal(p_i * (past + current), past_i + current_i), "p_i is the client's share of all data.")
    mean = Fact(
        "h_i",
        equal((past_i + current_i) * h_i, past_i * f_i + current_i * g_i),
        "h_i is the mean loss over P^i and C^i.",
    )
    by_size = equal(h, decomposed(f_by_size, g_by_size))
    second = Statement(
        "(3) holds with p_i in proportion to |P^i| + |C^i| and with f = sum_i (|P^i| / |P|) f_i, g = sum_i (|C^i| / "
        "|C|) g_i (printed with a bar) in place of the p-weighted sums.",
        by_size,
        (sizes,),
        Proof(
            (
                Obligation(
                    "one client",
                    equal(p_i * h_i, (past_i * f_i + current_i * g_i) / (past + current)),
                    ("h_i", "p_i"),
                    (-residual("h_i") - h_i * residual("p_i")) / (past + current),
                ),
                rules.weighted_sum(
                    "clients",
                    equal((past + current) * h, past * f_by_size + current * g_by_size),
                    "the sum over clients of p_i h_i.",
                    ("one client",),
                ),
                Obligation("the statement follows", by_size, ("clients",), -residual("clients") / (past + current)),
            )
        ),
        (mean,),
    )
    return Claim(
        "ours.eq3",
        "ours",
        "in place of (3)",
        "The decomposition of h, exactly",
        (Part("1", first), Part("2", second)),
        (
            "By part 1, (3) holds for all losses if and only if every client with p_i > 0 has lambda_i = lambda: take "
            "f_i - g_i = 1 at one client and 0 at the others.",
        ),
    )


def assumption2(order: Any = 1) -> Claim:
    """What Assumption 2 with m_i < 1 forces; `order` scales the constant of part 1."""
    bounded = Fact("Assumption 2", at_most(bias_i, root_m * grad_f_i), "||b_i(x)|| <= sqrt(m_i) ||grad f_i(x)||.")
    lower = at_most((1 - root_m) * grad_f_i, order * memory_i)
    first = Statement(
        "(1 - sqrt(m_i)) ||grad f_i(x)|| <= ||grad f_i_memory(x)||: with m_i < 1 the memory's f_i has no stationary "
        "point that f_i has not.",
        lower,
        (bounded,),
        Proof(
            (
                rules.triangle("(6)", grad_f_i, (memory_i, bias_i), "grad f_i = grad f_i_memory - b_i."),
                Obligation(
                    "the statement follows",
                    lower,
                    ("(6)", "Assumption 2"),
                    slack("(6)") + slack("Assumption 2") + (order - 1) * memory_i,
                ),
            )
        ),
    )
    rest = Fact("s", equal(grad_f_i, 0), "x = s is a stationary point of f_i.")
    at_rest = at_most(bias_at_rest, 0)
    second = Statement(
        "At a stationary point s of f_i the bias vanishes, so that s is stationary for the memory's f_i too.",
        at_rest,
        (
            Fact("Assumption 2", at_most(bias_at_rest, root_m * grad_f_i), "||b_i(s)|| <= sqrt(m_i) ||grad f_i(s)||."),
            rest,
        ),
        Proof(
            (
                Obligation(
                    "the statement follows",
                    at_rest,
                    ("Assumption 2", "s"),
                    slack("Assumption 2") - root_m * residual("s"),
                ),
            )
        ),
    )
    needed = at_most(kappa, root_m)
    third = Statement(
        "For quadratic components with mean Hessian A > 0, Assumption 2 forces kappa = ||(A_memory - A) A^{-1}|| <= "
        "sqrt(m_i).",
        needed,
        (Fact("Assumption 2", at_most(bias_worst, root_m * grad_worst), "Assumption 2 at the point x'."),),
        Proof(
            (
                Obligation(
                    "the statement follows",
                    needed,
                    ("Assumption 2", "worst point"),
                    (slack("Assumption 2") + residual("worst point")) / grad_worst,
                ),
            )
        ),
        (
            Fact(
                "worst point",
                equal(bias_worst, kappa * grad_worst),
                "x' = s + A^{-1} v with v a top right singular vector of (A_memory - A) A^{-1}; b_i(s) = 0 by part 2.",
            ),
        ),
    )
    interpolates = equal(u_j, 0)
    fourth = Statement(
        "If Assumption 2 holds for every memory of a size below |P^i|, as Lemma 8's uniform draw needs, then every "
        "component is stationary wherever f_i is (one coordinate).",
        interpolates,
        (
            Fact("M", equal(kept + u_j, 0), "The memory with j has gradient zero at s, by part 2."),
            Fact("M'", equal(kept + u_l, 0), "So has the memory with any l outside in place of j."),
            Fact("s", equal(total, 0), "s is a stationary point of f_i."),
        ),
        Proof(
            (
                Obligation("swap", equal(u_l, u_j), ("M", "M'"), residual("M") - residual("M'")),
                rules.weighted_sum(
                    "all alike",
                    equal(total, n * u_j),
                    "the sum over the n components, any two of them alike.",
                    ("swap",),
                ),
                Obligation(
                    "the statement follows",
                    interpolates,
                    ("all alike", "s"),
                    (residual("all alike") - residual("s")) / n,
                ),
            )
        ),
    )
    return Claim(
        "ours.assumption2",
        "ours",
        "on Assumption 2",
        "What a bounded bias with m_i < 1 forces",
        (Part("1", first), Part("2", second), Part("3", third), Part("4", fourth)),
        (
            "Parts 2 and 3 with the repair of cflag.assumption2 say which quadratics (A > 0) and memories satisfy the "
            "assumption: those with b_i(s) = 0 and kappa^2 <= m_i, and no others.",
            "Part 4 is interpolation: the old task must be fitted exactly, component by component. A memory of one "
            "component needs it too, with |P^i| >= 2.",
        ),
    )


def bias_floor(factor: Any = 1) -> Claim:
    """Lemma 9 without (28); `factor` scales the bound."""
    bound = factor * m_max * (grad_f2 + spread2)
    goal = at_most(bias2, bound)
    known = (
        Fact("Assumption 2", at_most(bias_i2, m_i * grad_f_i2), "||b_i(x)||^2 <= m_i ||grad f_i(x)||^2, each client."),
        Fact("m", at_most(m_i, m_max), "m is the largest m_i."),
    )
    statement = Statement(
        "||b(x)||^2 <= max_i m_i (||grad f(x)||^2 + sum_i p_i ||grad f_i(x) - grad f(x)||^2), by Assumption 2 alone.",
        goal,
        known,
        Proof(
            (
                rules.jensen("(a)", bias2, mean_bias2, "b = sum_i p_i b_i."),
                Obligation(
                    "one client",
                    at_most(bias_i2, m_max * grad_f_i2),
                    ("Assumption 2", "m"),
                    slack("Assumption 2") + grad_f_i2 * slack("m"),
                ),
                rules.mean_of_bounds(
                    "clients", mean_bias2, m_max * mean_grad2, "over clients, weighted with p_i.", ("one client",)
                ),
                rules.variance("spread", mean_grad2, grad_f2, spread2, "u_i = grad f_i(x)."),
                Obligation(
                    "the statement follows",
                    goal,
                    ("(a)", "clients", "spread"),
                    slack("(a)")
                    + slack("clients")
                    - m_max * residual("spread")
                    + (factor - 1) * m_max * (grad_f2 + spread2),
                ),
            )
        ),
    )
    return Claim(
        "ours.bias_floor",
        "ours",
        "in place of Lemma 9",
        "The bias of the average without (28)",
        (Part("1", statement),),
        (
            "Attained: two clients whose gradients cancel and whose biases are equal, with grad f = 0; then the bias "
            "is a floor that no step size removes.",
            "A bound on the dissimilarity of the clients, sum_i p_i ||grad f_i - grad f||^2 <= zeta^2 + c ||grad "
            "f||^2, turns it into ||b||^2 <= m (1 + c) ||grad f||^2 + m zeta^2.",
        ),
    )


CLAIMS = {"ours.eq3": eq3, "ours.assumption2": assumption2, "ours.bias_floor": bias_floor}
