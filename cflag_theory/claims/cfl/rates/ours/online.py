"""FedAvg on general convex functions where f is the sum over the rounds, (2): the regret of online gradient descent.

K = 1 and additive drifts. With equal weights (2) is h(w) = f(w) - <m, w>, f the mean objective of the clients at hand
and m the mean of the drifts of T rounds; w_0 is the origin. The drift b of a round is new: it is independent of w_t.
"""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.cfl.rates.ours.strongly_convex import (
    ROUND,
    STEPPED,
    UNBIASED,
    after,
    averaged,
    b,
    f,
    g,
    n2,
    u,
    x,
)
from cflag_theory.claims.cfl.rates.ours.sum_over_rounds import LEAST, m, summed, y
from cflag_theory.claims.cfl.rates.theorems import round_index
from cflag_theory.claims.cfl.symbols import D2, N, T, eta, sigma2
from cflag_theory.claims.cfl.vectors import E, draw, over_noises, over_past
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Source, Statement, setting, shown
from cflag_theory.claims.engine.notation import L, k, sequence, symbol, unfold
from cflag_theory.claims.engine.operators import Least, sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, by_induction
from cflag_theory.claims.engine.terms import dot, norm2, vector

STEP = Fact("eta", at_most(2 * eta * L, 1), "eta <= 1/(2 L).")

before2 = symbol("before_sum2", r"\mathbb{E}\|w_t-w_T^*\|^2", over_past(norm2(x - y)), real=True)
after2 = symbol("after_sum2", r"\mathbb{E}\|w_{t+1}-w_T^*\|^2", E(norm2(after - y)), real=True)
apart2 = symbol("drift_apart2", r"\mathbb{E}\|m-b_t\|^2", over_past(norm2(m - b)), real=True)
m_w, m_y, b_y = (
    symbol(name, rf"\mathbb{{E}}\langle {latex}\rangle", over_past(dot(*of)), real=True)
    for name, latex, of in (
        ("mean_on_w", "m,w_t", (m, x)),
        ("mean_on_y", "m,w_T^*", (m, y)),
        ("new_on_y", "b_t,w_T^*", (b, y)),
    )
)

# In round @.
far = sequence("sum_distance2", r"\mathbb{E}\|w_{@}-w_T^*\|^2", nonnegative=True)
gap = sequence("sum_gap_at", r"\mathbb{E}[h(w_{@})-h^*]", real=True)
m_at, b_at = (
    sequence("mean_on_w_at", r"\mathbb{E}\langle m,w_{@}\rangle", real=True),
    sequence("new_on_y_at", r"\mathbb{E}\langle b_{@},w_T^*\rangle", real=True),
)
apart_at = sequence("drift_apart2_at", r"\mathbb{E}\|m-b_{@}\|^2", real=True)
noise_at = sequence("new_noise2_at", r"\mathbb{E}\|n_{@}\|^2", nonnegative=True)
gaps, pulls = (sum_over(round_index, T)(of(round_index)) for of in (gap, b_at))
least = symbol("least_sum_gap", r"\min_{t<T}\mathbb{E}[h(w_t)-h^*]", Least(round_index, T, gap(round_index)))

count = symbol("rounds_since", "n", nonnegative=True, integer=True)
# Two runs that differ in the drift of one round alone, and come apart by eta c in it; e is what later rounds draw.
c = vector("drift of one round", "c")(draw)
one, other, drawn = (
    vector("with the drift", "v_{@1}"),
    vector("without the drift", "v'_{@1}"),
    vector("later", "e_{@1}"),
)
APART = setting("one drift apart", equal(one(0, draw), other(0, draw) + eta * c), "The drift c in one of the runs.")
ONE, OTHER = (
    setting(name, equal(run(k + 1, draw), run(k, draw) - eta * f.grad(run(k, draw)) + eta * drawn(k, draw)), "A round.")
    for name, run in (("a round with", one), ("a round without", other))
)
c2 = symbol("moving_drift2", r"\mathbb{E}\|c\|^2", over_past(norm2(c)), nonnegative=True)
c_w = sequence(
    "drift_on_later", r"\mathbb{E}\langle c,v_{@}\rangle", lambda t: over_past(dot(c, one(t, draw))), real=True
)


def one_round(constant: Any = 2) -> Statement:
    """A round, measured from the minimiser of the sum."""
    inner = 2 * eta * (m_y - m_w - b_y)
    goal = at_most(after2, before2 - 2 * eta * summed + inner + constant * eta**2 * apart2 + eta**2 * n2)
    return shown(
        "f convex and L-smooth: 𝔼||w_{t+1} - w_T*||^2 <= 𝔼||w_t - w_T*||^2 - 2 eta 𝔼[h(w_t) - h*] - 2 eta 𝔼<m, w_t> + "
        "2 eta 𝔼<m - b_t, w_T*> + 2 eta^2 𝔼||m - b_t||^2 + eta^2 𝔼||n_t||^2, w_T* the minimiser of h.",
        goal,
        rules.rewrite("after", norm2(after - y), given=ROUND),
        rules.mean("after, given the past", over_noises, given="after"),
        rules.mean("expanded", over_past, given="after, given the past"),
        *averaged("<u, n>", rules.along("<u, n>, given the past", u, given=UNBIASED)),
        *averaged("<b, n>", rules.along("<b, n>, given the past", b, given=UNBIASED)),
        *averaged("<y, n>", rules.along("<y, n>, given the past", y, given=UNBIASED)),
        *averaged("without n", rules.rewrite("||u + eta b - y||^2", norm2(u + eta * b - y), given=STEPPED)),
        *averaged("f", rules.interpolation("f at y", f, x, y), LEAST),
        *averaged("Young", rules.square("||g - 2 m + b||^2", g - 2 * m + b)),
        *averaged("g - m", rules.square("||g - m||^2", g - m)),
        Obligation(
            "noise apart",
            equal(after2, over_past(norm2(u + eta * b - y)) + eta**2 * n2),
            ("expanded", "<u, n>", "<b, n>", "<y, n>"),
        ),
        Obligation(
            "short", at_most(2 * eta**2 * over_past(norm2(g - m)), eta / L * over_past(norm2(g - m))), ("eta", "g - m")
        ),
        given=("noise apart", "without n", "f", "Young", "short", "new"),
        under=(STEP,),
        where=(
            Fact("new", equal(over_past(dot(b, x)), 0), "The drift of a round is new: independent of w_t, mean zero."),
        ),
    )


def moved(constant: Any = 1) -> Statement:
    """What one drift does to later iterates."""
    goal = at_most(-constant * eta * c2, c_w(count))
    now, then, end = (one(t, draw) - other(t, draw) for t in (k, k + 1, count))
    slopes = f.grad(one(k, draw)) - f.grad(other(k, draw))
    close = at_most(norm2(now), eta**2 * norm2(c))
    return shown(
        "f convex and L-smooth: a drift c of one round has 𝔼<c, w> >= -eta 𝔼||c||^2 at every later iterate w.",
        goal,
        Induction(
            "apart",
            k,
            close,
            (
                rules.rewrite("first", norm2(now.subs({k: 0})), given=APART),
                Obligation("apart at 0", close.subs({k: 0}), ("first",)),
            ),
            (
                rules.rewrite("next", norm2(then), given=(ONE, OTHER)),
                rules.interpolation("forth", f, one(k, draw), other(k, draw)),
                rules.interpolation("back", f, other(k, draw), one(k, draw)),
                rules.square("slopes", slopes),
                Obligation("short", at_most(eta**2 * norm2(slopes), 2 * eta / L * norm2(slopes)), ("eta", "slopes")),
                Obligation(
                    "apart at k + 1", close.subs({k: k + 1}), ("apart (hypothesis)", "next", "forth", "back", "short")
                ),
            ),
        ),
        Instance("at the end", "apart", k, count),
        rules.mean("end", over_past, given="at the end"),
        rules.square("Young", end + eta * c, over_past),
        given=("end", "Young", "new"),
        under=(STEP,),
        where=(Fact("new", equal(over_past(dot(c, other(count, draw))), 0), "The other run does not know c."),),
    )


def all_rounds(constant: Any = 1) -> Statement:
    """The best of T rounds."""
    kept = 4 * eta**2 * D2 / N + eta**2 * sigma2 / N

    def bound(rounds: Any) -> Relation:
        sums = sum_over(round_index, rounds)
        found = far(rounds) + 2 * eta * sums(gap(round_index)) + 2 * eta * sums(b_at(round_index))
        return at_most(found, far(0) + rounds * (2 * eta * m_y + kept))

    goal = at_most(least, far(0) / (2 * eta * T) + constant * eta * (4 * D2 + sigma2) / (2 * N))
    taken = (
        (after2, far(k + 1)),
        (before2, far(k)),
        (summed, gap(k)),
        (m_w, m_at(k)),
        (b_y, b_at(k)),
        (apart2, apart_at(k)),
        (n2, noise_at(k)),
    )
    inner = 2 * eta * (m_y - m_at(k) - b_at(k))
    return shown(
        "FedAvg with K = 1, additive time drifts and eta <= 1/(2 L), f convex and L-smooth: min_{t<T} 𝔼[h(w_t) - h*] "
        "<= 𝔼||w_0 - w_T*||^2/(2 eta T) + eta (4 D^2 + sigma^2)/(2 N), h the mean of the losses of the N clients in "
        "the T rounds.",
        goal,
        by_induction(
            "sum",
            k,
            bound(k),
            rules.last_term("gap", round_index, k, gap(round_index)),
            rules.last_term("pull", round_index, k, b_at(round_index)),
            given=("round", "moved", "apart", "noise", "gap", "pull"),
        ),
        Instance("last", "sum", k, T),
        rules.minimum("best", unfold(least)),
        given=("last", "best", "mean"),
        under=(STEP,),
        where=(
            Fact(
                "round",
                at_most(
                    far(k + 1), far(k) - 2 * eta * gap(k) + inner + 2 * eta**2 * apart_at(k) + eta**2 * noise_at(k)
                ),
                "Part round, in every round.",
                (k,),
                (Source("ours.cfl_online", "round", taken=taken, besides=("new",)),),
            ),
            Fact(
                "moved",
                at_most(-m_at(k), eta * D2 / N),
                "Part moved for each past drift, 𝔼||c||^2 = D^2/N, and their mean; w_t does not know the later ones.",
                (k,),
            ),
            Fact("apart", at_most(apart_at(k), D2 / N), "𝔼||m - b_t||^2 = (1 - 1/T) D^2/N.", (k,)),
            Fact("noise", at_most(noise_at(k), sigma2 / N), "The noises of N clients.", (k,)),
            Fact("mean", equal(pulls, T * m_y), "The mean of the drifts is m."),
        ),
    )


def online(round_: Any = 2, one_drift: Any = 1, stays: Any = 1) -> Claim:
    """FedAvg for the sum over rounds; the constants are those of the parts."""
    return Claim(
        "ours.cfl_online",
        "in place of Theorem 4.4, general convex, with f as in (2)",
        "General convex FedAvg for the sum over rounds",
        (
            Part("round", one_round(round_)),
            Part("moved", moved(one_drift)),
            Part("rounds", all_rounds(stays)),
        ),
        (
            "With eta = sqrt(H N/(T (4 D^2 + sigma^2))), H = 𝔼||w_0 - w_T*||^2, it is sqrt(H (4 D^2 + sigma^2)/(N T)) "
            "from the T on for which this eta is at most 1/(2 L): the (G^2 + D^2) H/epsilon^2 of Theorem 4.4, where "
            "clients that stay are part of h and cost nothing.",
            "f need not have a minimum; w_T* is the minimiser of h and depends on all draws.",
        ),
    )


CLAIMS = {"ours.cfl_online": online}
