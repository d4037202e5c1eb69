"""App. B.4.2: the noises of a round, (14) and (17), and the bound (18) on a local gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.one_round.leaning import NONEXPANSIVE, RUNS, leaning, no_leaning
from cflag_theory.claims.cfl.one_round.progress import gap, move2
from cflag_theory.claims.cfl.symbols import K, N, eta, eta_l, sigma2
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof

# (14): means over clients and steps of local gradients m and noises nu.
mean2 = symbol("mean_m2", r"{\mathbb{E}\|\bar{m}\|^2}", nonnegative=True)
noise2 = symbol("mean_nu2", r"{\mathbb{E}\|\bar{\nu}\|^2}", nonnegative=True)
mean_dot_noise = symbol("mean_m_nu", r"\mathbb{E}\langle\bar{m},\bar{\nu}\rangle", real=True)
each2 = symbol("each_m2", r"\frac{1}{NK}\sum_{i,k}\mathbb{E}\|m_{i,k}\|^2", nonnegative=True)
true2 = symbol("true_m2", r"\frac{1}{NK}\sum_{i,k}\mathbb{E}\|\sum_\tau p_\tau\nabla f_{\tau,i}\|^2", nonnegative=True)
loss2 = symbol("loss_m2", r"\frac{1}{NK}\sum_{i,k}\mathbb{E}\|\sum_{\tau<t}p_\tau\Delta_{\tau,i}\|^2", nonnegative=True)

# (16)-(17): one client after k steps.
k_steps = symbol("k_steps", "k", positive=True, integer=True)
moved2 = symbol("local_moved2", r"{\mathbb{E}\|\omega_{t,i,k}-\omega_t\|^2}", nonnegative=True)
sum_m2 = symbol("sum_m2", r"{\mathbb{E}\|\sum_{\tau\le k}m_\tau\|^2}", nonnegative=True)
sum_nu2 = symbol("sum_nu2", r"{\mathbb{E}\|\sum_{\tau\le k}\nu_\tau\|^2}", nonnegative=True)
sum_m_dot_nu = symbol("sum_m_dot_nu", r"\mathbb{E}\langle\sum m_\tau,\sum\nu_\tau\rangle", real=True)
sum_each2 = symbol(
    "sum_each2", r"\sum_{\tau\le k}\mathbb{E}\|\nabla\bar{f}_{t,i}(\omega_{t,i,\tau-1})\|^2", nonnegative=True
)

# (18): one client at a point w; the same constants in (19) and (20).
c_Bi = symbol("c_pBi", r"c_{p_B,i}", positive=True)
c_Gi = symbol("c_pGi", r"c_{p_G,i}", nonnegative=True)
rho_i2 = symbol("rho_i2", r"(\sum_{\tau<t}p_{\tau,i})^2R^2", nonnegative=True)
local_grad2 = symbol("local_grad2", r"{\mathbb{E}\|\nabla\bar{f}_{t,i}(\omega)\|^2}", nonnegative=True)
true_grad2 = symbol("true_grad2", r"{\mathbb{E}\|\sum_\tau p_\tau\nabla f_{\tau,i}(\omega)\|^2}", nonnegative=True)
loss_grad2 = symbol("loss_grad2", r"{\mathbb{E}\|\sum_{\tau<t}p_\tau\Delta_{\tau,i}(\omega)\|^2}", nonnegative=True)
grad_w2 = symbol("grad_w2", r"{\mathbb{E}\|\nabla f(\omega)\|^2}", nonnegative=True)
grad_wt2 = symbol("grad_wt2", r"{\mathbb{E}\|\nabla f(\omega_t)\|^2}", nonnegative=True)
grad_change = symbol("grad_change", r"{(\mathbb{E}\|\nabla f(\omega)-\nabla f(\omega_t)\|^2)^{1/2}}", nonnegative=True)
from_t = symbol("w_from_t", r"{(\mathbb{E}\|\omega-\omega_t\|^2)^{1/2}}", nonnegative=True)
value_t = symbol("value_t", r"\mathbb{E}f(\omega_t)", real=True)
value_below = symbol("value_below", r"\mathbb{E}f(\omega_t-\nabla f(\omega_t)/L)", real=True)

_MENDED = (
    "local steps must not increase distances: approximated objectives convex and L-smooth too, and eta_l <= 2/L; else "
    "the gradients after a noise may lean with it, and Lemma A.4 does not apply to means that depend on noise"
)


def eq14(noise: Any = 1) -> Claim:
    """The two inequalities of (14)."""
    definition = Fact(
        "(8)",
        equal(move2, eta**2 * (mean2 + 2 * mean_dot_noise + noise2)),
        "Delta w_t = -eta (m-bar + nu-bar), m_{i,k} the noiseless local gradient, means over clients and steps.",
    )
    noiseless = Fact(
        "noiseless run",
        equal(N**2 * K**2 * mean_dot_noise, leaning(K)),
        "sum_k m_{i,k} is Gamma_K plus the gradients of the noiseless run from w_t, which do not depend on the noises; "
        "clients' noises are independent.",
    )
    variance = Fact(
        "Assumption 2",
        at_most(noise2, sigma2 / (N * K)),
        "The noises have mean zero given the past and E||nu||^2 <= sigma^2, so that their mean has variance at most "
        "sigma^2 / (NK).",
    )
    first = at_most(move2, eta**2 * each2 + noise * eta**2 * sigma2 / (N * K))
    second = at_most(move2, 2 * eta**2 * (true2 + loss2) + noise * eta**2 * sigma2 / (N * K))
    lemma = (
        rules.jensen("Jensen", mean2, each2, "m-bar is a mean of NK vectors."),
        *no_leaning(K),
        Obligation(
            "cross term",
            at_most(mean_dot_noise, 0),
            ("no leaning", "noiseless run"),
            (slack("no leaning") - residual("noiseless run")) / (N**2 * K**2),
        ),
    )
    given = ("(8)", "Jensen", "cross term", "Assumption 2")
    common = (
        -residual("(8)")
        + eta**2 * (slack("Jensen") + 2 * slack("cross term") + slack("Assumption 2"))
        + (noise - 1) * eta**2 * sigma2 / (N * K)
    )
    split = rules.jensen(
        "Lemma A.3",
        each2 / 4,
        true2 / 2 + loss2 / 2,
        "m_{i,k} / 2 is the mean of sum p grad f_{tau,i} and -sum p Delta_{tau,i}.",
    )
    words = (
        "(14), first inequality: E||Delta w_t||^2 <= (eta^2 / NK) sum_{i,k} E||m_{i,k}||^2 + eta^2 sigma^2 / (NK), m "
        "being the noiseless local gradients at w_{t,i,k-1}.",
        "(14): E||Delta w_t||^2 <= (2 eta^2 / NK) sum_{i,k} (E||sum p grad f_{tau,i}||^2 + E||sum p "
        "Delta_{tau,i}||^2) + eta^2 sigma^2 / (NK).",
    )
    parts = []
    for key, relation, extra in (("1", first, ()), ("2", second, (split,))):
        more = eta**2 * 4 * slack("Lemma A.3") if extra else sp.S.Zero
        used = (*given, "Lemma A.3") if extra else given
        mended = Statement(
            words[int(key) - 1] + " With local steps that do not increase distances.",
            relation,
            (variance, NONEXPANSIVE),
            Proof((*lemma, *extra, Obligation("the statement follows", relation, used, common + more))),
            (definition, noiseless, *RUNS),
        )
        printed = Statement(words[int(key) - 1], relation, (variance,), None, (definition,))
        parts.append(Part(key, printed, Repair("needs-hypothesis", _MENDED, mended)))
    return Claim(
        "cfl.eq14",
        "CFL",
        "(14)",
        "Variance of the sum of the noisy local gradients",
        tuple(parts),
        (
            "The repair compares a run with the one without noises from the same w_t: e_k is their distance, Gamma_k "
            "and S_k the sums of the changes of the gradients and of the noises.",
            "Lemma A.4 needs fixed means; m_{i,k} is evaluated at w_{t,i,k-1}, which contains the client's earlier "
            "noises. For t = 1 or R = 0, convexity and eta_l <= 2/L give the hypothesis of the repair.",
            "For non-convex f, which (27) applies (14) to, the hypothesis fails: f = -w^2/2, w_t = 0 and K = 2 break "
            "(14) for every eta_l < 2/3.",
            "The noise terms are of the right size: with constant gradients both sides are equal in the first line.",
        ),
    )


def eq17(noise: Any = 1) -> Claim:
    """(16)-(17): one client's local drift after k steps."""
    definition = Fact(
        "(16)",
        equal(moved2, eta_l**2 * (sum_m2 + 2 * sum_m_dot_nu + sum_nu2)),
        "(16), whose first factor eta_t^2 is read as eta_l^2.",
    )
    noiseless = Fact(
        "noiseless run",
        equal(sum_m_dot_nu, leaning(k_steps)),
        "sum m is Gamma_k plus the gradients of the noiseless run from w_t, which do not depend on the noises.",
    )
    variance = Fact("Assumption 2", at_most(sum_nu2, k_steps * sigma2), "Noises of mean zero given the past.")
    goal = at_most(moved2, k_steps * eta_l**2 * sum_each2 + noise * k_steps * eta_l**2 * sigma2)
    proof = Proof(
        (
            rules.jensen("Jensen", sum_m2 / k_steps**2, sum_each2 / k_steps, "the mean of k gradients."),
            *no_leaning(k_steps),
            Obligation(
                "cross term",
                at_most(sum_m_dot_nu, 0),
                ("no leaning", "noiseless run"),
                slack("no leaning") - residual("noiseless run"),
            ),
            Obligation(
                "the statement follows",
                goal,
                ("(16)", "Jensen", "cross term", "Assumption 2"),
                -residual("(16)")
                + eta_l**2 * (k_steps**2 * slack("Jensen") + 2 * slack("cross term") + slack("Assumption 2"))
                + (noise - 1) * k_steps * eta_l**2 * sigma2,
            ),
        )
    )
    words = (
        "(17): E||w_{t,i,k} - w_t||^2 <= k eta_l^2 sum_{tau<=k} E||grad f-bar_{t,i}(w_{t,i,tau-1})||^2 + k eta_l^2 "
        "sigma^2."
    )
    printed = Statement(words, goal, (variance,), None, (definition,))
    mended = Statement(
        words + " With local steps that do not increase distances.",
        goal,
        (variance, NONEXPANSIVE),
        proof,
        (definition, noiseless, *RUNS),
    )
    return Claim(
        "cfl.eq17",
        "CFL",
        "(16)-(17)",
        "Local drift by the local gradients",
        (Part("1", printed, Repair("needs-hypothesis", _MENDED, mended)),),
        (
            "(16) prints eta_t^2 for eta_l^2. The fault is that of (14); for t = 1 or R = 0, convexity and eta_l <= "
            "2/L are enough.",
            "Without any such hypothesis twice the right side is enough: the sum of the noises and the sum of the "
            "gradients apart. ours.cfl_round goes that way.",
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
        "Lemma B.2 at a point w that does not depend on the drifts (cfl.lemB2).",
    )
    loss = Fact("Assumption 4", at_most(loss_grad2, rho_i2), "Each Delta_{tau,i} is at most R long.")
    proof = Proof(
        (
            rules.jensen(
                "Lemma A.3", local_grad2 / 4, true_grad2 / 2 + loss_grad2 / 2, "the difference of two vectors."
            ),
            rules.component_smoothness("Lipschitz", grad_change, from_t, L, "f is an average of L-smooth f_{t,i}."),
            Obligation(
                "squared",
                at_most(grad_change**2, L**2 * from_t**2),
                ("Lipschitz",),
                slack("Lipschitz") * (L * from_t + grad_change),
            ),
            rules.jensen(
                "through w_t",
                grad_w2 / 4,
                grad_change**2 / 2 + grad_wt2 / 2,
                "grad f(w) = (grad f(w) - grad f(w_t)) + grad f(w_t).",
            ),
            rules.smoothness(
                "descent",
                value_below,
                value_t,
                -grad_wt2 / L,
                grad_wt2 / L**2,
                L,
                "between w_t and w_t - grad f(w_t)/L.",
            ),
            rules.lower_bound("least", value_t - value_below, gap, "gap = f(w_t) - f(w*)."),
            Obligation(
                "the statement follows",
                goal,
                ("Lemma B.2", "Assumption 4", "Lemma A.3", "squared", "through w_t", "descent", "least"),
                4 * slack("Lemma A.3")
                + 2 * slack("Lemma B.2")
                + 2 * slack("Assumption 4")
                + 8 * c_Bi * slack("through w_t")
                + 4 * c_Bi * slack("squared")
                + 8 * L * c_Bi * (slack("descent") + slack("least"))
                + (curvature - 8) * L * c_Bi * gap
                + (distance_factor - 4) * L**2 * c_Bi * from_t**2,
            ),
        )
    )
    words = (
        "(18): E||grad f-bar_{t,i}(w)||^2 <= 4 L^2 c_{pB,i} E||w - w_t||^2 + 8 L c_{pB,i} E(f(w_t) - f(w*)) + 2 "
        "c_{pG,i} + 2 (sum_{tau<t} p_{tau,i})^2 R^2"
    )
    fixed = Statement(words + ", at points w and w_t that do not depend on the drifts.", goal, (lemma, loss), proof)
    on_path = words + ", at w = w_{t,i,k-1}, where (17) needs it."
    not_correlated = Fact(
        "Lemma B.2",
        lemma.relation,
        "Lemma B.2 at w = w_{t,i,k-1}: E||sum p grad f_{tau,i}(w)||^2 <= c_{pB,i} E||grad f(w)||^2 + c_{pG,i} "
        "(cfl.lemB2_use says when).",
    )
    moving = Part(
        "2",
        Statement(on_path, goal, (loss,)),
        Repair(
            "needs-hypothesis",
            "Lemma B.2 must hold at w_{t,i,k-1}: the drifts must not be correlated with it",
            Statement(on_path + " Granted Lemma B.2 there.", goal, (not_correlated, loss), proof),
        ),
    )
    return Claim(
        "cfl.eq18",
        "CFL",
        "(18)",
        "Bound on the local gradient",
        (Part("1", fixed), moving),
        (
            "Part 1: attained in all terms at once: f = (L/2) ||w||^2, w = 2 w_t, an information loss as long as the "
            "gradient and against it, no drifts.",
            "Part 2: in the instance a remembered drift pulls one way, the information loss first the other way, and "
            "after the step both together; every f_{tau,i} and every approximated objective is convex.",
            "In the first round (18) holds at any w, with 2 L^2 and 4 L: grad f_{1,i}(w) is a change of at most L ||w "
            "- w_1|| and grad f_{1,i}(w_1), to which Lemma B.2 applies.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {
    "cfl.eq14": eq14,
    "cfl.eq17": eq17,
    "cfl.eq18": eq18,
}
RESUMES = {"cfl.eq17": "cfl.eq15"}
