"""App. B.4.2: the noises of a round, (14) and (17), and the bound (18) on a local gradient."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.moments.gradient_noise import grad2 as mean_grad2
from cflag_theory.claims.cfl.moments.gradient_noise import mixed2, weights2
from cflag_theory.claims.cfl.one_round.leaning import (
    GRADIENT,
    PATH,
    P,
    S,
    m,
)
from cflag_theory.claims.cfl.one_round.progress import gap, move2
from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, K, N, eta, eta_l, sigma2
from cflag_theory.claims.cfl.vectors import (
    EXPECTATION,
    E,
    F,
    all_clients,
    all_steps,
    averaged,
    client,
    clients,
    draw,
    f,
    gradient_by_gap,
    i,
    j,
    local_gradient,
    loss,
    mean_gradient,
    mean_noise,
    move,
    over_noises,
    over_past,
    point,
    steps,
    true_gradient,
    w_t,
    x,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Source, Statement, setting, shown
from cflag_theory.claims.engine.notation import L, k, symbol
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, deduced
from cflag_theory.claims.engine.terms import dot, norm, norm2, vector

# (14): means over clients and steps of local gradients m and noises nu.
noise2 = symbol("mean_nu2", r"{\mathbb{E}\|\bar{\nu}\|^2}", E(norm2(mean_noise)))
mean_dot_noise = symbol("mean_m_nu", r"\mathbb{E}\langle\bar{m},\bar{\nu}\rangle", E(dot(mean_gradient, mean_noise)))
own_dot = symbol(
    "own_m_nu", r"\frac{1}{N}\sum_i\mathbb{E}\langle P_{i,K},S_{i,K}\rangle", clients(E(dot(P(i, K), S(i, K))))
)
each2 = symbol(
    "each_m2", r"\frac{1}{NK}\sum_{i,k}\mathbb{E}\|m_{i,k}\|^2", E(clients(steps(norm(local_gradient(i, j)) ** 2)))
)
true2 = symbol(
    "true_m2",
    r"\frac{1}{NK}\sum_{i,k}\mathbb{E}\|\sum_\tau p_\tau\nabla f_{\tau,i}\|^2",
    E(clients(steps(norm2(true_gradient(i, j))))),
)
loss2 = symbol(
    "loss_m2",
    r"\frac{1}{NK}\sum_{i,k}\mathbb{E}\|\sum_{\tau<t}p_\tau\Delta_{\tau,i}\|^2",
    E(clients(steps(norm2(loss(i, j))))),
)

# (16)-(17): one client after k steps.
k_steps = symbol("k_steps", "k", positive=True, integer=True)
moved2 = symbol("local_moved2", r"{\mathbb{E}\|\omega_{t,i,k}-\omega_t\|^2}", E(norm(x(client, k_steps) - w_t) ** 2))
sum_nu2 = symbol("sum_nu2", r"{\mathbb{E}\|\sum_{\tau\le k}\nu_\tau\|^2}", E(norm2(S(client, k_steps))))
sum_each2 = symbol(
    "sum_each2",
    r"\sum_{\tau\le k}\mathbb{E}\|\nabla\bar{f}_{t,i}(\omega_{t,i,\tau-1})\|^2",
    sum_over(j, k_steps)(E(norm2(local_gradient(client, j)))),
)

# (18): one client at a point w; the same constants in (19) and (20). `draw` stands for all that w depends on.
c_Bi = symbol("c_pBi", r"c_{p_B,i}", positive=True)
c_Gi = symbol("c_pGi", r"c_{p_G,i}", nonnegative=True)
rho_i2 = symbol("rho_i2", r"(\sum_{\tau<t}p_{\tau,i})^2R^2", nonnegative=True)
true_at = F[client, draw].grad(point)
loss_at = vector("loss_at_point", r"\Delta_{@1}(\omega)")(client, draw)
local_grad2 = symbol(
    "local_grad2", r"{\mathbb{E}\|\nabla\bar{f}_{t,i}(\omega)\|^2}", over_past(norm2(true_at - loss_at))
)
true_grad2 = symbol(
    "true_grad2", r"{\mathbb{E}\|\sum_\tau p_\tau\nabla f_{\tau,i}(\omega)\|^2}", over_past(norm2(true_at))
)
loss_grad2 = symbol(
    "loss_grad2", r"{\mathbb{E}\|\sum_{\tau<t}p_\tau\Delta_{\tau,i}(\omega)\|^2}", over_past(norm2(loss_at))
)
grad_w2 = symbol("grad_w2", r"{\mathbb{E}\|\nabla f(\omega)\|^2}", over_past(norm2(f.grad(point))))
from_t = symbol("w_from_t", r"{(\mathbb{E}\|\omega-\omega_t\|^2)^{1/2}}", sp.sqrt(over_past(norm(point - w_t) ** 2)))

SUMS = setting(
    "sums of gradients", equal(P(client, k), sum_over(j, k)(m(client, j))), "P_k is the sum of the first k gradients."
)
#: Lemma B.2 at the point, and its constants.
LEMMA_B2_AT = ((mean_grad2, grad_w2),)
LEMMA_B2_TAKEN = ((mixed2, true_grad2),)
LEMMA_B2_CONSTANTS = ((c_Bi, 1 + B2 + A2 * weights2), (c_Gi, G2 + D2 * weights2))

VARIANCE = Fact(
    "Assumption 2",
    at_most(noise2, sigma2 / (N * K)),
    "The noises have mean zero given the past and 𝔼||nu||^2 <= sigma^2, so that their mean has variance at most "
    "sigma^2 / (NK).",
)
OWN_VARIANCE = Fact("Assumption 2", at_most(sum_nu2, k_steps * sigma2), "Noises of mean zero given the past.")
WORDS = (
    "𝔼||Delta w_t||^2 <= ({}eta^2 / NK) sum_{{i,k}} 𝔼||m_{{i,k}}||^2 + {}eta^2 sigma^2 / (NK), m being the noiseless "
    "local gradients at w_{{t,i,k-1}}",
    "𝔼||Delta w_t||^2 <= ({} eta^2 / NK) sum_{{i,k}} (𝔼||sum p grad f_{{tau,i}}||^2 + 𝔼||sum p Delta_{{tau,i}}||^2) + "
    "{}eta^2 sigma^2 / (NK)",
    "𝔼||w_{{t,i,k}} - w_t||^2 <= {}k eta_l^2 sum_{{tau<=k}} 𝔼||grad f-bar_{{t,i}}(w_{{t,i,tau-1}})||^2 + {}k eta_l^2 "
    "sigma^2",
)
#: Jensen's inequality for the mean of the local gradients.
JENSEN = (
    rules.jensen("Jensen over the steps", all_steps, local_gradient(i, j)),
    rules.mean("Jensen over the steps of all", all_clients, given="Jensen over the steps"),
    rules.jensen("Jensen over the clients", all_clients, steps(local_gradient(i, j))),
    rules.norm_squared("length of a step", local_gradient(i, j), all_steps, all_clients),
    Obligation(
        "Jensen in a draw",
        at_most(norm2(mean_gradient), clients(steps(norm(local_gradient(i, j)) ** 2))),
        ("Jensen over the steps of all", "Jensen over the clients", "length of a step"),
    ),
    rules.mean("Jensen given the past", over_noises, given="Jensen in a draw"),
    rules.mean("Jensen", over_past, given="Jensen given the past"),
)
#: 𝔼 sum_j ||m_j||^2 = sum_j 𝔼||m_j||^2, in terms of the local gradients.
_so_far = sum_over(j, k_steps)
SUM_OF_MEANS = (
    *averaged(rules.exchange("sum of means", over_noises, _so_far, norm2(m(client, j))), over_past),
    rules.exchange("sum of all means", over_past, _so_far, over_noises(norm2(m(client, j)))),
    rules.rewrite("gradients", _so_far(E(norm2(m(client, j)))), given=GRADIENT),
)
#: A local gradient as true gradient and loss.
SPLIT = (
    rules.norm_squared("length", local_gradient(i, j), all_steps, all_clients, *EXPECTATION),
    rules.square("Young", true_gradient(i, j) + loss(i, j), all_steps, all_clients, *EXPECTATION),
)


def of_round(factor: Any = 1, noise: Any = 1) -> tuple[Relation, Relation]:
    """The two inequalities of (14), their right sides times a factor; `noise` scales the last terms."""
    last = factor * noise * eta**2 * sigma2 / (N * K)
    return (
        at_most(move2, factor * eta**2 * each2 + last),
        at_most(move2, 2 * factor * eta**2 * (true2 + loss2) + last),
    )


def of_client(factor: Any = 1, noise: Any = 1) -> Relation:
    """(17), likewise."""
    return at_most(moved2, factor * k_steps * eta_l**2 * sum_each2 + factor * noise * k_steps * eta_l**2 * sigma2)


def eq14(noise: Any = 1) -> Claim:
    """The two inequalities of (14)."""
    parts = []
    for number, extra in enumerate(((), SPLIT)):
        lead = ("", 2)[number]
        mended = shown(
            WORDS[number].format(2 * (number + 1), 2) + ".",
            of_round(2, noise)[number],
            rules.norm_squared("(8)", move, *EXPECTATION),
            rules.square("gradients and noises apart", mean_gradient - mean_noise, *EXPECTATION),
            *JENSEN,
            *extra,
            given=("(8)", "gradients and noises apart", "Jensen", "Assumption 2", *(step.name for step in extra)),
            under=(VARIANCE,),
        )
        which = ", first inequality" if number == 0 else ""
        printed = Statement(f"(14){which}: {WORDS[number].format(lead, '')}.", of_round()[number], (VARIANCE,))
        parts.append(Part(str(number + 1), printed, Repair("typo", "a factor 2 before both terms", mended)))
    return Claim(
        "cfl.eq14",
        "(14)",
        "Variance of the sum of the noisy local gradients",
        tuple(parts),
        (
            "Lemma A.4 needs fixed means; m_{i,k} is evaluated at w_{t,i,k-1}, which contains the client's earlier "
            "noises, so that the gradients after a noise may lean with it. The factor is that of cfl.nc_eq26 for (27), "
            "which is the same line.",
            "With the printed constants it holds where local steps do not increase distances: ours.cfl_nonexpansive. "
            "For t = 1 or R = 0, convexity and eta_l <= 2/L are enough.",
            "For non-convex f, which (27) applies (14) to, f = -w^2/2, w_t = 0 and K = 2 break (14) for every eta_l < "
            "2/3.",
            "The noise terms are of the right size: with constant gradients both sides are equal in the first line.",
        ),
    )


def eq17(noise: Any = 1) -> Claim:
    """(16)-(17): one client's local drift after k steps."""
    total = sum_over(j, k)
    mended = shown(
        WORDS[2].format("2 ", "2 ") + ".",
        of_client(2, noise),
        *averaged(rules.jensen("Jensen", total, m(client, j)), *EXPECTATION),
        rules.norm_squared("distance", x(client, k) - w_t, *EXPECTATION),
        rules.rewrite("way of k steps", E(norm2(x(client, k) - w_t)), given=(PATH, SUMS)),
        rules.square("gradients and noises apart", P(client, k) - S(client, k), *EXPECTATION),
        rules.rewrite("sums", E(norm2(P(client, k) - S(client, k))), given=SUMS),
        *SUM_OF_MEANS,
        Obligation(
            "after k steps",
            at_most(
                E(norm(x(client, k) - w_t) ** 2),
                2 * k * eta_l**2 * E(total(norm2(m(client, j)))) + 2 * eta_l**2 * E(norm2(S(client, k))),
            ),
            ("Jensen", "distance", "way of k steps", "gradients and noises apart", "sums"),
        ),
        rules.at("(16)", k, k_steps, given="after k steps"),
        given=("(16)", *(step.name for step in SUM_OF_MEANS), "Assumption 2"),
        under=(OWN_VARIANCE,),
    )
    printed = Statement(f"(17): {WORDS[2].format('', '')}.", of_client(), (OWN_VARIANCE,))
    return Claim(
        "cfl.eq17",
        "(16)-(17)",
        "Local drift by the local gradients",
        (
            Part(
                "1",
                printed,
                Repair("typo", "a factor 2 before both terms of (17), and eta_l for eta_t in (16)", mended),
            ),
        ),
        (
            "The fault is that of (14): the sum of the noises and the sum of the gradients are not uncorrelated, and "
            "taken apart each counts twice. ours.cfl_round goes that way.",
            "With the printed constants it holds where local steps do not increase distances: ours.cfl_nonexpansive.",
        ),
    )


def eq18(curvature: Any = 8, distance_factor: Any = 4) -> Claim:
    """(18) at a fixed point, and at the points of a local path."""
    goal = at_most(
        local_grad2,
        distance_factor * L**2 * c_Bi * from_t**2 + curvature * L * c_Bi * gap + 2 * c_Gi + 2 * rho_i2,
    )
    lemma = Fact(
        "Lemma B.2",
        at_most(true_grad2, c_Bi * grad_w2 + c_Gi),
        "Lemma B.2 at a point w that does not depend on the drifts.",
        sources=(
            Source(
                "cfl.lemB2",
                "2",
                at=LEMMA_B2_AT,
                taken=LEMMA_B2_TAKEN,
                here=LEMMA_B2_CONSTANTS,
                besides=("client drift", "time drift", "mean zero", "independent", "rounds apart"),
            ),
        ),
    )
    loss = Fact("Assumption 4", at_most(loss_grad2, rho_i2), "Each Delta_{tau,i} is at most R long.")
    change = f.grad(point) - f.grad(w_t)

    def proof(bound: Relation) -> Proof:
        return deduced(
            bound,
            rules.square("Lemma A.3", true_at + loss_at, over_past),
            rules.lipschitz("Lipschitz", f, point, w_t),
            rules.norm_squared("change", change),
            rules.square("Young", change - f.grad(w_t)),
            Obligation(
                "through w_t",
                at_most(norm2(f.grad(point)), 2 * L**2 * norm(point - w_t) ** 2 + 2 * norm2(f.grad(w_t))),
                ("Lipschitz", "change", "Young"),
            ),
            rules.mean("through w_t in the mean", over_past, given="through w_t"),
            *gradient_by_gap("gradient"),
            given=("Lemma B.2", "Assumption 4", "Lemma A.3", "through w_t in the mean", "gradient"),
        )

    words = (
        "(18): 𝔼||grad f-bar_{t,i}(w)||^2 <= 4 L^2 c_{pB,i} 𝔼||w - w_t||^2 + 8 L c_{pB,i} 𝔼(f(w_t) - f(w*)) + 2 "
        "c_{pG,i} + 2 (sum_{tau<t} p_{tau,i})^2 R^2"
    )
    fixed = Statement(
        words + ", at points w and w_t that do not depend on the drifts.", goal, (lemma, loss), proof(goal)
    )
    at_iterate = Fact(
        "Lemma B.2",
        at_most(true_grad2, 2 * (c_Bi * grad_w2 + c_Gi)),
        "Twice the right side of Lemma B.2 at w = w_{t,i,k-1}.",
        sources=(
            Source(
                "cfl.lemB2_use",
                "2",
                "repair",
                at=LEMMA_B2_AT,
                taken=LEMMA_B2_TAKEN,
                here=LEMMA_B2_CONSTANTS,
                besides=("client drift", "time drift", "drifts apart"),
            ),
        ),
    )
    twice = at_most(
        local_grad2,
        2 * distance_factor * L**2 * c_Bi * from_t**2 + 2 * curvature * L * c_Bi * gap + 4 * c_Gi + 2 * rho_i2,
    )
    moving = Part(
        "2",
        Statement(words + ", at w = w_{t,i,k-1}.", goal, (loss,)),
        Repair(
            "needs-hypothesis",
            "drifts that do not depend on w (cfl.lemB2_use), and a factor 2 before all terms but the last",
            Statement(
                "(18) with a factor 2 before all terms but the last, at w = w_{t,i,k-1}, for such drifts.",
                twice,
                (at_iterate, loss),
                proof(twice),
            ),
        ),
        reading="at w = w_{t,i,k-1}, where (17) needs it",
    )
    return Claim(
        "cfl.eq18",
        "(18)",
        "Bound on the local gradient",
        (Part("1", fixed, reading="at a fixed w"), moving),
        (
            "Part 1: attained in all terms at once: f = (L/2) ||w||^2, w = 2 w_t, an information loss as long as the "
            "gradient and against it, no drifts.",
            "Part 2: in the instance a remembered drift pulls one way, the information loss first the other way, and "
            "after the step both together; every f_{tau,i} and every approximated objective is convex.",
            "Part 2: Lemma B.2 at w_{t,i,k-1} is what the text takes, and all that is missing (part 1): the steps of "
            "one round follow one drift, and with a memory those of past rounds too.",
            "In the first round (18) holds at any w, with 2 L^2 and 4 L: grad f_{1,i}(w) is a change of at most L ||w "
            "- w_1|| and grad f_{1,i}(w_1), to which Lemma B.2 applies.",
        ),
    )


CLAIMS = {
    "cfl.eq14": eq14,
    "cfl.eq17": eq17,
    "cfl.eq18": eq18,
}
