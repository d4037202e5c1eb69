"""The surrogate on memory and current data: (67)-(68) against Algorithm 1, Lemma 3 for it, and Lemma 11."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.problem.memory import LEMMA10, memory_norm
from cflag_theory.claims.c_flag.problem.update import S, e, grad_f_memory, grad_g, x
from cflag_theory.claims.c_flag.union.iterates import (
    EQUAL_SHARES,
    LOCAL_STEPS,
    ROUNDS,
    STEP,
    T,
    both,
    component,
    h,
    least,
    off,
)
from cflag_theory.claims.c_flag.union.surrogate import equal_shares
from cflag_theory.claims.c_flag.vectors import grad_client
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, setting, shown
from cflag_theory.claims.engine.notation import (
    E,
    L,
    alpha,
    beta,
    bias,
    clients,
    grad_current,
    grad_f,
    i,
    j,
    k,
    r,
    sequence,
    symbol,
    t,
    unfold,
    x_t,
)
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Instance, Obligation, Proof, Step, by_induction
from cflag_theory.claims.engine.terms import dot, norm, norm2, vector

# One coordinate of a round, for (68).
grad_h = symbol("grad_h", r"\nabla\tilde h(x_t)", dot(clients(both(component[i, j].grad(x_t))), e))
S_union = symbol("S_union", r"\tilde S", real=True)

share = symbol("share", "s", nonnegative=True)
#: grad f_memory and grad h~ by (3), h~ = s f_memory + (1 - s) g.
memory = grad_f + bias
union_slope = share * memory + (1 - share) * grad_current
#: grad f_memory,i - grad g_i, and grad h~_i of a client, whose share is s + off_i.
_apart = vector("grad_apart_of", r"\nabla(f_{@}^\dagger-g_{@})(x_t)")
_slope = grad_client(x_t, i) + (share + off(i)) * _apart(i)
slope_by_client = clients(_slope)
_gap = grad_client(x_t, i) - _slope
CLIENT_MEMORY = setting(
    "f_memory by clients",
    equal(clients(_apart(i)), memory - grad_current),
    "grad f_memory = sum_i p_i grad f_memory,i, and grad g = sum_i p_i grad g_i.",
)

# Sizes of vectors at x_t, for the remark and Lemma 11.
grad_g2 = symbol("grad_g2", r"{\|\nabla g(x_t)\|^2}", norm2(grad_current))
grad_h2 = symbol("grad_h2", r"{\|\nabla\tilde h(x_t)\|^2}", norm2(union_slope))
by_client2 = symbol("grad_h2_by_client", r"{\|\textstyle\sum_ip_i\nabla\tilde h_i(x_t)\|^2}", norm2(slope_by_client))
mean_gap2 = symbol(
    "mean_gap2", r"{\left[\sum_i p_i\|\nabla g_i(x_t)-\nabla\tilde h_i(x_t)\|^2\right]}", clients(norm2(_gap))
)
omega2 = symbol("omega2", r"\omega^2", nonnegative=True)
SUPREMUM = Fact(
    "(79)-(82)",
    at_most(mean_gap2, omega2),
    "D^i = C^i is one of the sets, and x_t one of the points, of the suprema in omega^2.",
)
size_g = symbol("size_g", r"{\|\nabla g(x_t)\|}", norm(grad_current), nonnegative=True)
size_h = symbol("size_h", r"{\|\nabla\tilde h(x_t)\|}", norm(union_slope), nonnegative=True)
size_by_client = symbol(
    "size_h_by_client", r"{\|\textstyle\sum_ip_i\nabla\tilde h_i(x_t)\|}", norm(slope_by_client), nonnegative=True
)
size_memory = symbol("size_memory", r"{\|\nabla f^\dagger(x_t)\|}", norm(memory), nonnegative=True)
RATIO = Fact(
    "ratio",
    at_most(size_memory, r * size_g),
    "||grad f_memory(x_t)|| <= r ||grad g(x_t)||.",
    sources=(replace(LEMMA10, at=((memory_norm, size_memory),)),),
)
SHARES = Fact("shares", below(r * share, 1 - share), "r s < 1 - s, that is r |M| < |C|.")
#: grad g is what grad h~ and the memory's part of it leave.
FROM_UNION = rules.triangle("triangle", grad_current, union_slope, -share * memory, share * grad_current)

__all__ = ["S", "grad_f_memory", "grad_g", "x"]

#: Iterates of the one-dimensional family that refutes Lemma 3.
line = sequence("x_line", r"x_{@}", real=True)


def eq68() -> Claim:
    """What Algorithm 1 does with a common step size, against (67)-(68)."""
    common = Fact("common step", equal(alpha, beta), "alpha = beta.")
    first = Statement(
        "With the delayed gradient still full at k = 0, the first local step (4), x_t - beta grad g(x_t), is that of "
        "(67), x_t - beta grad h~(x_t).",
        equal(x - beta * grad_g, x - beta * grad_h),
        (common,),
    )
    second = Statement(
        "The server update (25) of Algorithm 1, x_t - alpha grad_f_memory - beta S, is (68), x_t - beta grad h~(x_t) - "
        "beta S~, with S~ the sum of delayed gradients on memory and current data.",
        equal(x - alpha * grad_f_memory - beta * S, x - beta * grad_h - beta * S_union),
        (common,),
    )
    return Claim(
        "cflag.eq68",
        "(67)-(68)",
        "Algorithm 1 with a common step size against (67)-(68)",
        (Part("1", first), Part("2", second)),
        (
            "Algorithm 1 takes one memory gradient and E gradients on current data, and weighs neither by its number "
            "of samples: to first order in beta it descends f_memory + E g. (67)-(68) descend (1 + E) h~, with weights "
            "|M| and |C|. The two agree to first order only if |C| = E |M|, and exactly for E = 1 and |M^i| = |C^i|: "
            "ours.union_round.",
            "(68) is not the average of the local iterates (67) either, but that and one more full gradient step: "
            "ours.union_round.",
        ),
    )


def _loss(value: sp.Expr) -> sp.Expr:
    return value * (value - 1) / 2


#: What the symbols of (11) are in the refutation. Its gradient is that of every round, so of the least one.
FAMILY = (
    (least, (line(t) - sp.Rational(1, 2)) ** 2),
    *((h(end), _loss(line(end))) for end in (0, T)),
    *((rate, sp.Rational(1, 60)) for rate in (alpha, beta)),
    (L, sp.S.One),
    (E, sp.Integer(2)),
)


def _refutation() -> Statement:
    """Algorithm 1 started where it stays, on f_memory = x^2/2 and g = (x - 1)^2/2 with E = 2."""
    step = sp.Rational(1, 60)
    rest = (2 - step) / (3 - step)
    floor = (rest - sp.Rational(1, 2)) ** 2

    def at(index: sp.Expr) -> Relation:
        return equal(line(index), rest)

    first, last, now = line(0), line(T), line(t)
    goal = below(60 / T * (_loss(first) - _loss(last)), (now - sp.Rational(1, 2)) ** 2)
    moved = line(k) - step * line(k) - step * (line(k) - 1) * (2 - step)
    return shown(
        f"Algorithm 1 with N = 1, f_memory = x^2/2, g = x^2/2 - x, |M| = |C| = 1, E = 2, alpha = beta = 1/60 = "
        f"1/(30 L E) stays at x_0 = {rest}, where grad f_memory + S = 0. So the right side of (11) is 0 for every T, "
        f"and ||grad h~(x_t)||^2 = {floor} for every t.",
        goal,
        by_induction("at rest", k, at(k), start=("start",), given=("round",)),
        Instance("at t", "at rest", k, t),
        Instance("at T", "at rest", k, T),
        given=("start", "at t", "at T"),
        under=(Fact("start", equal(first, rest), f"x_0 = {rest}."),),
        where=(
            Fact(
                "round",
                equal(line(k + 1), moved),
                "A round (24): grad f_memory = x, and S = (x - 1) + (1 - beta)(x - 1) with one component.",
            ),
        ),
    )


def lemma3(constant: Any = 60) -> Claim:
    """Lemma 3 for the iterates of Algorithm 1."""
    printed = Statement(
        f"min_{{t<T}} ||grad h~(x_t)||^2 <= ({constant} L / T) (h~(x_0) - h~(x_T)) for the iterates of Algorithm 1 "
        "with alpha = beta = 1/(30 L E), under Assumption 1.",
        at_most(least, constant * L / T * (h(0) - h(T))),
        (Fact("common step", equal(alpha, beta), "alpha = beta."), STEP, LOCAL_STEPS, ROUNDS),
    )
    return Claim(
        "cflag.lemma3",
        "Lemma 3, (11)",
        "Convergence on the union, for Algorithm 1",
        (Part("1", printed, refutation=_refutation(), family=FAMILY),),
        (
            "The proof is about other iterates, those of (67)-(68), for which the bound is true: "
            "cflag.lemma3_surrogate.",
            "Algorithm 1 comes to rest where alpha grad f_memory + beta S = 0, not where grad h~ = 0. Even with |C| = "
            "E |M|, where both agree to first order in beta, a distance of the order of beta remains for E >= 2.",
            "What it does descend is the mean of f_memory and g with weights alpha and beta E, up to a term in "
            "||grad g(x_t)||^2 that is attained: ours.algorithm1_descent. For E = 1 that term vanishes, and Lemma 3 "
            "holds for |M| = |C|, with 30 L, if f_memory is L-smooth too, which Assumption 1 says of f, g and h only.",
            "h~ = (|M| f_memory + |C| g) / (|M| + |C|), which is (3) on memory and current data.",
        ),
    )


def from_union(words: str, scale: Any = 1) -> Statement:
    """||grad g|| <= ||grad h~|| / (1 - s - r s), times `scale`, with one r for the run and r |M| < |C|."""
    goal = at_most(size_g, sp.sympify(scale) * size_h / (1 - share - r * share))
    return shown(words, goal, FROM_UNION, given=("triangle", "ratio", "shares"), under=(RATIO, SHARES))


def from_clients(words: str, scale: Any = 1) -> Statement:
    """The same for h~ = sum_i p_i h~_i, which equal shares of memory make the pooled one."""
    goal = at_most(size_g, sp.sympify(scale) * size_by_client / (1 - share - r * share))
    gap = clients(off(i) * _apart(i))
    pieces = (slope_by_client, -share * memory, share * grad_current, -gap)
    steps = (
        *equal_shares(_apart(i)),
        rules.norm_squared("size of the gap", gap),
        Obligation("no more than 0", at_most(norm(gap) ** 2, 0), ("size of the gap", "null gap")),
        rules.square_root("no gap", norm(gap), sp.S.Zero, given="no more than 0"),
        rules.triangle("triangle", grad_current, *pieces, given=CLIENT_MEMORY),
    )
    given = ("triangle", "no gap", "ratio", "shares")
    return shown(words, goal, *steps, given=given, under=(RATIO, SHARES, EQUAL_SHARES))


def lemma3_remark() -> Claim:
    """Convergence on the current task from convergence on the union."""
    stationary = Fact("stationary", equal(size_h, 0), "grad h~(x_t) = 0.")
    words = "the point that Lemma 3 promises in the limit, also grad g(x_t) = 0, because C is a subset of M u C"
    bound = (
        "<= ||grad h~(x_t)|| / (1 - s - r s), so that grad g tends to 0 with grad h~, if ||grad f_memory(x_t)|| <= r"
    )
    pooled = Part(
        "1",
        Statement(
            f"Where grad h~(x_t) = 0, {words}; h~ = (|M| f_memory + |C| g) / (|M| + |C|).",
            at_most(size_g, 0),
            (stationary,),
        ),
        Repair(
            "needs-hypothesis",
            "a memory that is small against the current data: r |M| < |C|, with one r of Assumption 3 for the whole "
            "run; being a subset is not enough",
            from_union(f"In every round ||grad g(x_t)|| {bound} ||grad g(x_t)|| with r |M| < |C|; h~ is pooled."),
        ),
        reading="h~ is pooled, as in (3)",
    )
    by_client = Part(
        "2",
        Statement(
            f"Where grad h~(x_t) = 0, {words}; h~ = sum_i p_i h~_i.",
            at_most(size_g, 0),
            (Fact("stationary", equal(size_by_client, 0), "sum_i p_i grad h~_i(x_t) = 0."),),
        ),
        Repair(
            "needs-hypothesis",
            "the same where all clients keep the same share of memory, |M^i| / |C^i| = |M| / |C|; elsewhere this h~ is "
            "another function, and r |M| < |C| is not enough",
            from_clients(
                f"In every round ||grad g(x_t)|| {bound} ||grad g(x_t)|| with r |M| < |C|, and all shares of memory "
                f"are "
                "equal; h~ = sum_i p_i h~_i."
            ),
        ),
        reading="h~ = sum_i p_i h~_i, as in (2), (68) and (77)",
    )
    return Claim(
        "cflag.lemma3_remark",
        "text after Lemma 3",
        "Convergence on the current task as a part of the union",
        (pooled, by_client),
        (
            "Read as: ||grad h~(x_t)|| -> 0 gives ||grad g(x_t)|| -> 0; being a norm, ||grad g|| <= 0 says that it "
            "is 0. The instance stays at a minimiser of h~, so grad h~ is 0 in every round and ||grad g||^2 is 1/4 in "
            "every round.",
            "A mean of gradients can vanish while its parts do not. That memory and current gradients do not conflict "
            "at such a point, or that some r fits it, says the conclusion in other words, and is no repair: there "
            "grad f_memory = -(|C|/|M|) grad g. So r is one number for the run.",
            "The two readings of h~ differ where shares of memory do: p = (1/2, 1/2), |M| = (1, 1), |C| = (1, 3), "
            "grad f_memory = 0 and grad g_i = (3, -2) have sum_i p_i grad h~_i = 0 and grad g = 1/2, though r = 0; "
            "pooled, grad h~ is 1/3.",
        ),
    )


def _lemma11_statement(constant: Any, hypotheses: tuple[Fact, ...], words: str) -> Statement:
    slope2 = grad_h2 if hypotheses else by_client2
    goal = at_most(grad_g2, constant * slope2 + constant * omega2)
    same: tuple[Step, ...] = ()
    if hypotheses:
        same = (
            *equal_shares(_apart(i)),
            rules.null("along", clients(off(i) * _apart(i)), union_slope, given="null gap"),
            rules.rewrite("by client", unfold(by_client2), given=CLIENT_MEMORY),
            Obligation("same h~", at_most(by_client2, grad_h2), ("null gap", "along", "by client")),
        )
    steps = (
        rules.jensen("(78)", clients, _gap),
        rules.square("(83)", grad_current - 2 * slope_by_client),
        Obligation("(84)", at_most(grad_g2, 2 * by_client2 + 2 * norm2(clients(_gap))), ("(83)",)),
        *same,
        Obligation("the statement follows", goal, ("(84)", "(78)", "(79)-(82)", *(step.name for step in same[-1:]))),
    )
    return Statement(words, goal, (*hypotheses, SUPREMUM), Proof(steps))


def lemma11(constant: Any = 2) -> Claim:
    """Lemma 11 with h~ as a mean over clients, as its proof has it, and with h~ by total sizes, as in (3)."""
    words = f"||grad g(x_t)||^2 <= {constant} ||grad h~(x_t)||^2 + {constant} omega^2"
    first = _lemma11_statement(constant, (), f"{words}, with h~ = sum_i p_i h~_i as in (77).")
    whole = f"{words}, with h~ = (|M| f_memory + |C| g) / (|M| + |C|), that is (3) on memory and current data."
    mended = _lemma11_statement(constant, (EQUAL_SHARES,), whole)
    second = Part(
        "2",
        Statement(whole, mended.relation, (SUPREMUM,)),
        Repair(
            "needs-hypothesis",
            "all clients keep the same share of memory, |M^i| / |C^i| = |M| / |C|; then h~ by (3) is sum_i p_i h~_i",
            mended,
        ),
    )
    return Claim(
        "cflag.lemma11",
        "Lemma 11, (75)",
        "The current gradient from the union's",
        (Part("1", first), second),
        (
            "h~ is h restricted to M u C. Restricting (2) client by client gives sum_i p_i h~_i, which the proof uses "
            "in (77); (3) weighs f_memory and g by total sizes instead, and that h~ is another function unless all "
            "shares are equal. The two readings are decided apart.",
            "omega^2 may be infinite, and the bound then says nothing. It depends on the data that are kept, not on "
            "f_i: for quadratics it is finite only if every kept component has the Hessian of g_i. With D^i = C^i "
            "alone, a memory whose mean Hessian is that of g_i is enough.",
            "The subset signs are read as allowing equality: D^i = C^i is needed.",
            "Both factors 2 are attained together, where grad f_memory = 0 and |M| = |C|: then grad h~ = grad g / 2. "
            "The supremum over D^i is not needed, D^i = C^i is all that the proof uses.",
        ),
    )


CLAIMS = {
    "cflag.eq68": eq68,
    "cflag.lemma3": lemma3,
    "cflag.lemma3_remark": lemma3_remark,
    "cflag.lemma11": lemma11,
}
