"""What we prove about the decomposition (3), the assumptions and the bias: exact forms and necessary conditions."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.problem.assumptions import bias_at_rest, bias_i, bias_one, grad_f_i, grad_one, kappa
from cflag_theory.claims.c_flag.problem.memory import (
    MEAN_BIAS,
    MEAN_GRADIENT,
    bias_i2,
    bias_of,
    grad_f_i2,
    grad_of,
    m_i,
)
from cflag_theory.claims.c_flag.problem.objective import (
    current,
    current_i,
    current_of,
    decomposed,
    f,
    f_i,
    f_of,
    g,
    g_i,
    g_of,
    h,
    h_i,
    of_client,
    past,
    past_i,
    past_of,
)
from cflag_theory.claims.c_flag.vectors import client
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement, shown
from cflag_theory.claims.engine.notation import bias2, clients, grad_f, grad_f2, i, sequence, symbol
from cflag_theory.claims.engine.operators import index, sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Use
from cflag_theory.claims.engine.terms import norm, norm2

# (3): the client's share of past data, what the shares leave over, and f and g weighted by amounts of data.
share_i, share_of = of_client("share_i", r"\lambda_i", nonnegative=True)
_share = past / (past + current)
remainder = symbol(
    "remainder", r"\sum_i p_i(\lambda_i-\lambda)(f_i-g_i)", clients((share_of(i) - _share) * (f_of(i) - g_of(i)))
)
p_i = symbol("p_i", "p_i", nonnegative=True)
# Where p_i is |P^i| + |C^i| over all, p_i (|P| + |C|) |P^i| / (|P^i| + |C^i|) is |P^i|.
_sizes = past_of(i) + current_of(i)
f_by_size = symbol("f_by_size", r"\bar{f}(x)", clients(past_of(i) / _sizes * f_of(i)) * (past + current) / past)
g_by_size = symbol("g_by_size", r"\bar{g}(x)", clients(current_of(i) / _sizes * g_of(i)) * (past + current) / current)

# Assumption 2: root of m_i, norm of the memory's gradient, and a worst point of a quadratic.
root_m = symbol("root_m_i", r"\sqrt{m_i}", nonnegative=True)
memory_i = symbol("memory_i_x", r"{\|\nabla f_i^\dagger(x)\|}", norm(grad_one + bias_one))
bias_worst = symbol("bias_worst", r"{\|b_i(x')\|}", nonnegative=True)
grad_worst = symbol("grad_worst", r"{\|\nabla f_i(x')\|}", positive=True)
# One coordinate of component gradients at a stationary point of f_i; kept = what two memories have in common.
_component = sequence("gradient_at_rest", r"\nabla f_{i,@}(s)", real=True)
_j, _l, _o = (
    sp.Symbol("j_kept", integer=True, nonnegative=True),
    sp.Symbol("l_out", integer=True, nonnegative=True),
    index("o"),
)
u_j = symbol("u_j", r"\nabla f_{i,j}(s)", _component(_j))
u_l = symbol("u_l", r"\nabla f_{i,l}(s)", _component(_l))
_kept = sequence("kept_of", r"\mathrm{kept}_{@}", real=True)
kept = symbol("kept", r"\sum_{o\in M\setminus j}\nabla f_{i,o}(s)", _kept(_l))
n = symbol("n_past", r"{|\mathcal{P}^i|}", positive=True, integer=True)
total = symbol("total", r"\sum_o\nabla f_{i,o}(s)", sum_over(_o, n)(_component(_o)))

# The bias floor: the largest m_i, the mean of the clients' squared gradients and their spread.
m_max = symbol("m_max", r"\max_i m_i", nonnegative=True)
spread2 = symbol("spread2", r"\sum_i p_i\|\nabla f_i(x)-\nabla f(x)\|^2", clients(norm2(grad_of(i) - grad_f)))


def eq3() -> Claim:
    """(3) with its remainder, and (3) for losses weighted by amounts of data."""
    one = Fact(
        "h_i",
        equal(h_i, share_i * f_i + (1 - share_i) * g_i),
        "h_i, with lambda_i = |P^i| / (|P^i| + |C^i|).",
        (client,),
    )
    exact = equal(h, decomposed(f, g) + remainder)

    def summed(goal: Relation, each: str) -> tuple[Use | Obligation, ...]:
        return (
            rules.at("any client", client, i, given=each),
            rules.mean("clients", clients, given="any client"),
            Obligation("the statement follows", goal, ("clients",)),
        )

    first = Statement(
        "h = lambda f + (1 - lambda) g + sum_i p_i (lambda_i - lambda)(f_i - g_i), for any weights p_i, with lambda = "
        "|P| / (|P| + |C|).",
        exact,
        proof=Proof(summed(exact, "h_i")),
        definitions=(one,),
    )
    sizes = Fact("p_i", equal(p_i * (past + current), past_i + current_i), "p_i is the client's share of all data.")
    mean = Fact(
        "h_i",
        equal((past_i + current_i) * h_i, past_i * f_i + current_i * g_i),
        "h_i is the mean loss over P^i and C^i.",
        (client,),
    )
    by_size = equal(h, decomposed(f_by_size, g_by_size))
    weighed = equal(h_i, past_i / (past_i + current_i) * f_i + current_i / (past_i + current_i) * g_i)
    second = Statement(
        "(3) holds with p_i in proportion to |P^i| + |C^i| and with f = sum_i (|P^i| / |P|) f_i, g = sum_i (|C^i| / "
        "|C|) g_i (printed with a bar) in place of the p-weighted sums.",
        by_size,
        (sizes,),
        Proof((Obligation("one client", weighed, ("h_i",)), *summed(by_size, "one client"))),
        (mean,),
    )
    return Claim(
        "ours.eq3",
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
    first = shown(
        "(1 - sqrt(m_i)) ||grad f_i(x)|| <= ||grad f_i_memory(x)||: with m_i < 1 the memory's f_i has no stationary "
        "point that f_i has not.",
        lower,
        rules.triangle("(6)", grad_one, grad_one + bias_one, -bias_one),
        given=("(6)", "Assumption 2"),
        under=(bounded,),
    )
    rest = Fact("s", equal(grad_f_i, 0), "x = s is a stationary point of f_i.")
    at_rest = at_most(bias_at_rest, 0)
    second = shown(
        "At a stationary point s of f_i the bias vanishes, so that s is stationary for the memory's f_i too.",
        at_rest,
        given=("Assumption 2", "s"),
        under=(
            Fact("Assumption 2", at_most(bias_at_rest, root_m * grad_f_i), "||b_i(s)|| <= sqrt(m_i) ||grad f_i(s)||."),
            rest,
        ),
    )
    needed = at_most(kappa, root_m)
    third = shown(
        "For quadratic components with mean Hessian A > 0, Assumption 2 forces kappa = ||(A_memory - A) A^{-1}|| <= "
        "sqrt(m_i).",
        needed,
        given=("Assumption 2", "worst point"),
        under=(Fact("Assumption 2", at_most(bias_worst, root_m * grad_worst), "Assumption 2 at the point x'."),),
        where=(
            Fact(
                "worst point",
                equal(bias_worst, kappa * grad_worst),
                "x' = s + A^{-1} v with v a top right singular vector of (A_memory - A) A^{-1}; b_i(s) = 0 by part 2.",
            ),
        ),
    )
    interpolates = equal(u_j, 0)
    fourth = shown(
        "If Assumption 2 holds for every memory of a size below |P^i|, as Lemma 8's uniform draw needs, then every "
        "component is stationary wherever f_i is (one coordinate).",
        interpolates,
        Obligation("swap", equal(u_l, u_j), ("M", "M'")),
        rules.at("any other", _l, _o, given="swap"),
        rules.mean("all alike", sum_over(_o, n), given="any other"),
        given=("all alike", "s"),
        under=(
            Fact("M", equal(kept + u_j, 0), "The memory with j has gradient zero at s, by part 2.", (_l,)),
            Fact("M'", equal(kept + u_l, 0), "So has the memory with any l outside in place of j.", (_l,)),
            Fact("s", equal(total, 0), "s is a stationary point of f_i."),
        ),
    )
    return Claim(
        "ours.assumption2",
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
        Fact(
            "Assumption 2",
            at_most(bias_i2, m_i * grad_f_i2),
            "||b_i(x)||^2 <= m_i ||grad f_i(x)||^2, each client.",
            (client,),
        ),
        Fact("m", at_most(m_i, m_max), "m is the largest m_i.", (client,)),
    )
    statement = shown(
        "||b(x)||^2 <= max_i m_i (||grad f(x)||^2 + sum_i p_i ||grad f_i(x) - grad f(x)||^2), by Assumption 2 alone.",
        goal,
        rules.jensen("(a)", clients, bias_of(i)),
        rules.rewrite("mean bias", norm2(clients(bias_of(i))), given=MEAN_BIAS),
        Obligation("one client", at_most(bias_i2, m_max * grad_f_i2), ("Assumption 2", "m")),
        rules.at("any client", client, i, given="one client"),
        rules.mean("clients", clients, given="any client"),
        rules.along("spread", grad_f, given=MEAN_GRADIENT),
        given=("(a)", "mean bias", "clients", "spread"),
        under=known,
    )
    return Claim(
        "ours.bias_floor",
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
