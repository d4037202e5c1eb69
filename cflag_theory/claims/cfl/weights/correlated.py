"""Theorem 4.9, Lemma B.9, Table 2 and Example 1: the weights of the rounds under Assumption 7."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import A2, D2, R2, t
from cflag_theory.claims.cfl.symbols import correlation as alpha
from cflag_theory.claims.cfl.vectors import client, f, mean_xi, over_past, p, point, rounds, tau, xi
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement
from cflag_theory.claims.engine.notation import k, sequence, symbol
from cflag_theory.claims.engine.operators import Least, index, sum_over
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof, Step, deduced
from cflag_theory.claims.engine.terms import dot, vector
from cflag_theory.claims.engine.terms import norm2 as norm_2

delta = symbol("one_less_alpha", r"(1-\alpha)", positive=True)
RANGE = Fact("alpha", equal(alpha + delta, 1), "0 <= alpha < 1; 1 - alpha is positive.")

# A vector x of t = k + 1 entries, taken in from its last entry x_t on: x(k) is x_{t-k}.
x = sequence("entry", "x_{t-@}", real=True)
form = sequence("form", r"\sum_{i,j\ge t-@}\alpha^{|i-j|}x_i x_j", real=True)
front = sequence("front", r"\sum_{j\ge t-@}\alpha^{j-t+@}x_j", real=True)
norm2 = sequence("norm2", r"\sum_{j\ge t-@}x_j^2", nonnegative=True)
past_sum = symbol("past_sum", r"\sum_{j<t}x_j", real=True)

_FIRST = "The last entry alone."
VECTOR = (
    RANGE,
    Fact("form at 0", equal(form(0), x(0) ** 2), _FIRST),
    Fact("front at 0", equal(front(0), x(0)), _FIRST),
    Fact("norm at 0", equal(norm2(0), x(0) ** 2), _FIRST),
    Fact(
        "form",
        equal(form(k + 1), form(k) + 2 * alpha * x(k + 1) * front(k) + x(k + 1) ** 2),
        "One more entry in front, at distance 1, 2, ... from the others.",
    ),
    Fact("front", equal(front(k + 1), x(k + 1) + alpha * front(k)), "The sum that the next entry meets."),
    Fact("norm", equal(norm2(k + 1), norm2(k) + x(k + 1) ** 2), "One more square."),
)
NONZERO = Fact("x != 0", below(0, norm2(k)), "x is not zero.")
D_POSITIVE = Fact("D > 0", below(0, D2), "D > 0.")
#: x^T Q x for the vector of k + 1 entries.
QUADRATIC = D2 * form(k) + R2 * past_sum**2


def _least(index: sp.Expr) -> Any:
    return at_most(delta * norm2(index) + alpha * (1 + alpha) * front(index) ** 2, (1 + alpha) * form(index))


def least_eigenvalue() -> Induction:
    """(1 - alpha) ||x||^2 <= (1 + alpha) sum_ij alpha^|i-j| x_i x_j, and more, as "least eigenvalue"."""
    base = Obligation("one entry", _least(sp.S.Zero), ("alpha", "form at 0", "front at 0", "norm at 0"))
    step = Obligation(
        "one more entry", _least(k + 1), ("least eigenvalue (hypothesis)", "alpha", "form", "front", "norm")
    )
    return Induction("least eigenvalue", k, _least(k), base, (step,))


def _size(scale: sp.Expr, length: sp.Expr) -> sp.Expr:
    """x^T Q x as a certificate, for scale = D^2 and length = ||x||^2, from "least eigenvalue"."""
    kept = slack("least eigenvalue") + delta * length + alpha * (1 + alpha) * square(front(k))
    return scale * kept / (1 + alpha) + R2 * square(past_sum)


def positive() -> sp.Expr:
    """x^T Q x > 0 as a certificate, from "least eigenvalue", "x != 0" and "D > 0"."""
    return _size(slack("D > 0"), slack("x != 0"))


_POSITIVE_USES = ("least eigenvalue", "x != 0", "D > 0")


def lemB9() -> Claim:
    """Lemma B.9."""
    goal = below(0, QUADRATIC)
    words = "x^T Q x > 0 for every x != 0 of t = 1, 2, ... entries and every 0 <= alpha < 1"
    steps: tuple[Step, ...] = (
        least_eigenvalue(),
        Obligation("the statement follows", goal, _POSITIVE_USES),
    )
    printed = Statement(f"{words}, D and R.", goal, (NONZERO,), None, VECTOR)
    mended = Statement(f"{words}, R, and D > 0.", goal, (NONZERO, D_POSITIVE), Proof(steps), VECTOR)
    return Claim(
        "cfl.lemB9",
        "Lemma B.9",
        "Q is positive definite",
        (
            Part("1", printed, Repair("needs-hypothesis", "D > 0; only the degenerate D = 0 is lost", mended)),
            Part(
                "2",
                Statement(
                    "App. B.8: Q_ij = alpha^{|i-j| D^2 + R^2} for i, j < t and alpha^{|i-j| D^2} for the others are "
                    "the entries of (34).",
                    None,
                ),
                Repair(
                    "typo",
                    "D^2 before the power, and R^2 beside it",
                    Statement("alpha^|i-j| D^2 + R^2 and alpha^|i-j| D^2 are the entries of (34).", None),
                ),
            ),
        ),
        (
            "False in a degenerate case only: D = 0, which is allowed where the paper recovers conventional rates "
            "(caption of Table 1). Q then has rank 1: only positive semidefinite for t >= 2, and zero for t = 1.",
            "How positive it is, for every t: ours.cfl_least_eigenvalue.",
        ),
    )


# Weights as vectors with <u, v> = u^T Q v: p-hat solves (7), p' = p-hat + x.
solution, change = vector("weights of eq 7", r"\hat{p}")(), vector("change of the weights", "x")()
value = symbol("value_solution", r"\hat{p}^\top Q\hat{p}", norm_2(solution))
other = symbol("value_other", r"{p'}^\top Q p'", norm_2(solution + change))
between = symbol("solution_dot_x", r"\hat{p}^\top Q x", dot(solution, change))
change_form = symbol("change_form", r"x^\top Q x", norm_2(change))
row = sequence("row_of_Q", r"(Q\hat{p})_{t-@}", real=True)
sum_x = symbol("sum_x", r"\sum_\tau x_\tau", sum_over(tau, k + 1)(x(tau)))
multiplier = symbol("multiplier", r"\lambda", real=True)

# Two rounds, any; and the moments of the time drifts of one client.
sigma = index("sigma")
one_round, another = (sp.Symbol(name, integer=True, nonnegative=True) for name in ("tau_1", "tau_2"))
others = sum_over(sigma, t)


def _product(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    return dot(xi(first, client), xi(second, client))


drift2 = symbol(
    "drift_moment",
    r"\mathbb{E}\|\sum_\tau p_\tau\xi_{\tau,i}\|^2",
    over_past(dot(mean_xi, others(p(sigma) * xi(sigma, client)))),
)
kms = symbol(
    "weights_form",
    r"\sum_{\tau_1,\tau_2}\alpha^{|\tau_1-\tau_2|}p_{\tau_1}p_{\tau_2}",
    rounds(p(tau) * others(p(sigma) * alpha ** sp.Abs(tau - sigma))),
)
pair = symbol(
    "drift_pair", r"\mathbb{E}\langle\xi_{\tau_1,i},\xi_{\tau_2,i}\rangle", over_past(_product(one_round, another))
)
power = symbol("correlation_power", r"\alpha^{|\tau_1-\tau_2|}", alpha ** sp.Abs(one_round - another))
grad2 = symbol("mean_grad2_cfl", r"\mathbb{E}\|\nabla f(\omega)\|^2", over_past(norm_2(f.grad(point))))
least_weight = symbol("least_weight", r"\min_\tau p_\tau", Least(tau, t, p(tau)))

ZERO_SUM = Fact("sums", equal(sum_x, 0), "x = p' - p, and the weights of both sum to one.")
FORM = Fact("form of x", equal(change_form, QUADRATIC), "<x, x> = x^T Q x.")
_ROWS = (
    Fact("rows", equal(between, sum_over(tau, k + 1)(x(tau) * row(tau))), "<p, x> is the sum of (Q p)_tau x_tau."),
    Fact("(7)", equal(row(tau), -multiplier), "(Q p)_tau = -lambda by (7)."),
)
SOLVED = (FORM, *_ROWS, ZERO_SUM, *VECTOR)
_SYSTEM = (
    rules.mean("rows times x", sum_over(tau, k + 1), x(tau), given="(7)"),
    Obligation("system", equal(between, -multiplier * sum_x), ("rows", "rows times x")),
)


def optimality(extra: sp.Expr = sp.S.Zero, system: tuple[Step, ...] = _SYSTEM, *, strict: bool = True) -> Proof:
    """p^T Q p < p'^T Q p' from "system": <p, x> = -lambda sum_x + extra, where extra is not negative.

    Without `strict` only <=, for every D and x.
    """
    rest = 2 * residual("system") - 2 * multiplier * residual("sums") + 2 * extra + residual(FORM.name)
    return deduced(
        below(value, other) if strict else at_most(value, other),
        least_eigenvalue(),
        *system,
        given=("system", "sums", FORM.name, *(_POSITIVE_USES if strict else _POSITIVE_USES[:1])),
        certificate=(positive() if strict else _size(D2, norm2(k))) + rest,
    )


def _optimum() -> Part:
    words = "A solution p of (7) minimises p^T Q p among weights that sum to one, for every D and R."
    goal = at_most(value, other)
    return Part("1", Statement(words, goal, proof=optimality(strict=False), definitions=SOLVED))


def _uniqueness() -> Part:
    goal = below(value, other)
    words = "(7) determines the optimal weights: a solution p is the only minimiser"
    printed = Statement(f"{words}, for every D and R.", goal, (NONZERO,), None, SOLVED)
    mended = Statement(f"{words}, for D > 0.", goal, (NONZERO, D_POSITIVE), optimality(), SOLVED)
    return Part("3", printed, Repair("needs-hypothesis", "D > 0; only the degenerate D = 0 is lost", mended))


_WITHIN = tuple(Fact(str(one), at_most(one + 1, t), "It runs over the rounds.") for one in (tau, sigma))


def _bound(factor: sp.Expr) -> Part:
    goal = at_most(drift2, factor * kms * (D2 + A2 * grad2))
    each = Fact(
        "Assumption 7",
        at_most(pair, power * (D2 + A2 * grad2)),
        "𝔼 <xi_tau1, xi_tau2> <= alpha^|tau1-tau2| (D^2 + A^2 𝔼 ||grad f||^2); for tau1 = tau2 it is Assumption 3.",
        (one_round, another),
    )
    signs = Fact("p >= 0", at_most(0, least_weight), "No weight is negative.")
    bound, weight = D2 + A2 * grad2, p(tau) * p(sigma)
    mixed = others(p(sigma) * xi(sigma, client))
    steps = (
        rules.at("first round", one_round, tau, given="Assumption 7"),
        rules.at("both rounds", another, sigma, given="first round"),
        rules.least_member("weight of tau", Least(tau, t, p(tau)), tau, given="tau"),
        rules.least_member("weight of sigma", Least(tau, t, p(tau)), sigma, given="sigma"),
        Obligation(
            "weighted",
            at_most(weight * over_past(_product(tau, sigma)), weight * alpha ** sp.Abs(tau - sigma) * bound),
            ("both rounds", "weight of tau", "weight of sigma", "p >= 0"),
            (slack("weight of tau") + slack("p >= 0"))
            * (slack("weight of sigma") + slack("p >= 0"))
            * slack("both rounds"),
        ),
        rules.mean("over the others", others, given="weighted"),
        rules.mean("over all", rounds, given="over the others"),
        rules.exchange("the others inside", over_past, others, p(sigma) * _product(tau, sigma)),
        rules.mean("the others inside, summed", rounds, p(tau), given="the others inside"),
        rules.exchange("all inside", over_past, rounds, p(tau) * dot(xi(tau, client), mixed)),
        Obligation("the statement follows", goal, ("over all", "the others inside, summed", "all inside")),
    )
    words = "𝔼 ||sum p_tau xi_tau||^2 <= (D^2 + A^2 𝔼 ||grad f||^2) sum alpha^|tau1-tau2| p_tau1 p_tau2"
    printed = Statement(f"{words} for the p of (7): the bound that it is chosen to minimise.", goal, (each,))
    mended = Statement(f"{words} for weights that are not negative.", goal, (each, signs), Proof(steps), _WITHIN)
    return Part("2", printed, Repair("needs-hypothesis", "p_tau >= 0 for every tau", mended))


def thm4_9(factor: Any = 1) -> Claim:
    """Theorem 4.9; `factor` scales the bound of part 2."""
    return Claim(
        "cfl.thm4_9",
        "Theorem 4.9",
        "The optimal weights from the linear system (7), and their use in the bound",
        (_optimum(), _bound(sp.sympify(factor)), _uniqueness()),
        (
            "Part 3: the paper goes on to solve (7) by LU factorization. For D = 0 and t >= 3 the matrix of (7) is "
            "singular; among its solutions are p_t = 1 with past weights that sum to zero.",
            "Assumptions 5 to 7 bound the inner products from above only. A bound on sum p_tau1 p_tau2 𝔼 <xi_tau1, "
            "xi_tau2> follows only where p_tau1 p_tau2 >= 0, and for t >= 3 (7) makes p_{t-1} negative as soon as "
            "alpha R^2 (alpha + (t-2)(1-alpha)) > (1-alpha)^2 (1+alpha) D^2: three of five rows of Table 2. "
            "Independent drifts satisfy Assumption 7 for every alpha, and exceed the bound. If the assumption held "
            "with equality, the bound would hold for all signs.",
            "In closed form for every t, with the exact condition: ours.cfl_correlated_weights. The optimum among "
            "weights that are not negative: ours.cfl_nonnegative_weights.",
        ),
    )


@dataclass(frozen=True)
class Row:
    """A row of Table 2 as printed: alpha, D, R and p_1, ..., p_4."""

    alpha: str
    D: str
    R: str
    p: tuple[str, str, str, str]


TABLE_2 = (
    Row("0", "2", "1", ("0.1818", "0.1818", "0.1818", "0.4545")),
    Row("0.5", "1", "0.5", ("0.2857", "0.1429", "0.0000", "0.5714")),
    Row("0.5", "1", "1", ("0.2632", "0.1316", "-0.0789", "0.6842")),
    Row("0.8", "1", "0.5", ("0.3870", "0.0774", "-0.2077", "0.7434")),
    Row("0.8", "2", "0.5", ("0.3960", "0.0792", "-0.1188", "0.6436")),
)


def table2() -> Claim:
    """Table 2."""
    words = "Every row of Table 2 is the solution of (7) at the {}, rounded to four digits."
    return Claim(
        "cfl.table2",
        "Table 2",
        "The optimal weights of five settings, t = 4",
        (
            Part(
                "1",
                Statement(words.format("alpha, D and R of its columns"), None),
                Repair(
                    "typo",
                    "the columns D and R contain D^2 and R^2",
                    Statement(words.format("alpha, D^2 and R^2 in its columns 'D' and 'R'"), None),
                ),
            ),
        ),
        (
            "Read as D and R, only the third row (D = R = 1) is reproduced; as D and R^2, rows 2, 3 and 4; as D^2 and "
            "R, rows 1 and 3; as D^2 and R^2, all five.",
            "Exactly: 2/11, 2/11, 2/11, 5/11; 2/7, 1/7, 0, 4/7; 5/19, 5/38, -3/38, 13/19; 190/491, 38/491, -102/491, "
            "365/491; 40/101, 8/101, -12/101, 65/101.",
            "Three rows have p_3 < 0; there the bound that is minimised is no bound: cfl.thm4_9, part 2.",
        ),
    )


#: t - 3, for t >= 3 rounds.
further = symbol("rounds_from_three", "(t-3)", nonnegative=True, integer=True)
D2_positive = symbol("time_drift2_positive", "D^2", positive=True)
alpha_1 = symbol("correlation_1", r"\alpha_1", nonnegative=True)
rise = symbol("correlation_rise", r"(\alpha_2-\alpha_1)", positive=True)
delta_2 = symbol("one_less_alpha_2", r"(1-\alpha_2)", positive=True)
low = symbol("current_low", r"p_t(\alpha_1)", nonnegative=True)
high = symbol("current_high", r"p_t(\alpha_2)", nonnegative=True)
now_1 = symbol("now_1", "u_1", positive=True)
now_2 = symbol("now_2", "u_2", positive=True)
before_1 = symbol("before_1", "v_1", positive=True)
before_2 = symbol("before_2", "v_2", positive=True)
excess = symbol("odds_excess", "e", real=True)
first_low = symbol("first_low", r"p_1(\alpha_1)", nonnegative=True)
first_high = symbol("first_high", r"p_1(\alpha_2)", nonnegative=True)


def shares(correlation: sp.Expr, rest: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """p_t and 1 - p_t but for their common denominator, for rest = 1 - correlation."""
    m = further + 1
    own = D2_positive * rest * (1 + correlation)
    return own + R2 * (1 + correlation + m * rest), own * (1 + m * rest)


def first_share(correlation: sp.Expr, rest: sp.Expr) -> sp.Expr:
    """p_1, for rest = 1 - correlation."""
    m = further + 1
    own = D2_positive * rest * (1 + correlation) + R2 * correlation
    return own / ((2 + m * rest) * own + R2 * rest * (1 + m * rest))


def ex1(sign: Any = 1) -> Claim:
    """Example 1; `sign` -1 turns the statement round."""
    now, before = shares(alpha_1, rise + delta_2)
    then, after = shares(alpha_1 + rise, delta_2)
    words = "u = D^2 (1-alpha^2) + R^2 (1 + alpha + (t-2)(1-alpha)), v = D^2 (1-alpha^2)(1 + (t-2)(1-alpha))."
    definitions = (
        Fact("alpha", equal(alpha_1 + rise + delta_2, 1), "0 <= alpha_1 < alpha_2 < 1."),
        Fact("u_1", equal(now_1, now), words),
        Fact("v_1", equal(before_1, before), words),
        Fact("u_2", equal(now_2, then), words),
        Fact("v_2", equal(before_2, after), words),
        Fact("excess", equal(excess, then * before - now * after), "What u_2 v_1 has more than u_1 v_2."),
        Fact("p_t(alpha_1)", equal(low, now_1 / (now_1 + before_1)), "The solution of (7)."),
        Fact("p_t(alpha_2)", equal(high, now_2 / (now_2 + before_2)), "The solution of (7)."),
    )
    goal = below(low, high) if sign == 1 else below(high, low)
    steps = (
        Obligation("positive", below(0, excess), ("alpha", "excess")),
        Obligation("left", equal(now_1 * before_2, now * after), ("u_1", "v_2")),
        Obligation("right", equal(now_2 * before_1, then * before), ("u_2", "v_1")),
        Obligation("difference", equal(now_2 * before_1, now_1 * before_2 + excess), ("excess", "left", "right")),
        Obligation("odds of p_t", below(now_1 * before_2, now_2 * before_1), ("difference", "positive")),
        Obligation("the statement follows", goal, ("odds of p_t", "p_t(alpha_1)", "p_t(alpha_2)")),
    )
    each = Statement(
        "p_tau decreases with alpha for every tau < t, t >= 3, D > 0 and R: here tau = 1.",
        below(first_high, first_low),
        definitions=(
            definitions[0],
            Fact("p_1(alpha_1)", equal(first_low, first_share(alpha_1, rise + delta_2)), "The solution of (7)."),
            Fact("p_1(alpha_2)", equal(first_high, first_share(alpha_1 + rise, delta_2)), "The solution of (7)."),
        ),
    )
    statement = Statement(
        "p_t, the last entry of the solution of (7), increases with alpha, for t >= 3, D > 0 and every R.",
        goal,
        proof=Proof(steps),
        definitions=definitions,
    )
    return Claim(
        "cfl.ex1",
        "Example 1",
        "The weight of the current round increases with alpha",
        (
            Part("1", statement, reading="the importance of previous rounds is their total weight 1 - p_t"),
            Part("2", each, kind="question", reading="the importance of previous rounds is the weight of each"),
        ),
        (
            "The closed form of p_t is a part of ours.cfl_correlated_weights; the example has t = 4 and calls it "
            "difficult to find. For t = 2 the weight p_2 increases for R > 0 and is 1/2 for R = 0.",
            "'Lower importance' names no quantity: the total weight 1 - p_t decides; whether each falls is a question.",
            "Part 2: the example compares with the p_{tau,i} of Theorem 4.7, each of which decreases. Those of (7) do "
            "not: p_1 grows with alpha for every t >= 3, in Table 2 from 0.2857 to 0.3870 (rows 2 and 4). As alpha "
            "tends to 1, p_1 tends to 1/2, p_{t-1} to -1/2 and p_t to 1 (R > 0, t >= 3).",
            "That larger F^2 reduces the impact of the time drifts in Theorem 4.7 is refuted: cfl.rem4_8.",
        ),
    )


CLAIMS = {
    "cfl.thm4_9": thm4_9,
    "cfl.lemB9": lemB9,
    "cfl.table2": table2,
    "cfl.ex1": ex1,
}
