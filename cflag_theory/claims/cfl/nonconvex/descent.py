"""App. B.5: one round of the non-convex proof, (26) to (28).

Expectations of squared norms and of inner products are the symbols; a mean over clients i and local steps k is a mean
of vectors like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, R2, K, N, eta, sigma2
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, RuleUse

inner = symbol("nc_grad_dot_move", r"\mathbf{E}\langle\nabla f(\omega_t),\Delta\omega_t\rangle", real=True)
move2 = symbol("nc_move2", r"\mathbf{E}\|\Delta\omega_t\|^2", nonnegative=True)
grad2 = symbol("nc_mean_grad2", r"\mathbf{E}\|\nabla f(\omega_t)\|^2", nonnegative=True)
past = symbol("nc_past_weight", r"(1-p_t)", nonnegative=True)
past2 = symbol("nc_past_weight2", r"(1-p_t)^2", nonnegative=True)
# Means over i and k.
whole2 = symbol("nc_whole2", r"\mathbf{E}\|\sum_\tau p_\tau\nabla f_\tau\|^2", nonnegative=True)
gap2 = symbol("nc_gap2", r"\mathbf{E}\|\nabla f(\omega_t)-\sum_\tau p_\tau\nabla f_\tau\|^2", nonnegative=True)
loss2 = symbol("nc_loss2", r"\mathbf{E}\|\sum_\tau p_\tau\Delta_\tau\|^2", nonnegative=True)
grad_dot_whole = symbol(
    "nc_grad_dot_whole", r"\mathbf{E}\langle\nabla f(\omega_t),\sum_\tau p_\tau\nabla f_\tau\rangle", real=True
)
grad_dot_loss = symbol(
    "nc_grad_dot_loss", r"\mathbf{E}\langle\nabla f(\omega_t),\sum_\tau p_\tau\Delta_\tau\rangle", real=True
)
grad_dot_Delta = symbol("nc_grad_dot_Delta", r"\mathbf{E}\langle\nabla f(\omega_t),\Delta_\tau\rangle", real=True)
Delta2 = symbol("nc_Delta2", r"\mathbf{E}\|\Delta_\tau\|^2", nonnegative=True)
grad_less_Delta2 = symbol("nc_grad_less_Delta2", r"\mathbf{E}\|\nabla f(\omega_t)-\Delta_\tau\|^2", nonnegative=True)

# Delta w_t = -eta (u + v), u the mean of the gradients and v that of the noise.
sum2 = symbol("nc_mean_step2", r"\mathbf{E}\|u+v\|^2", nonnegative=True)
difference2 = symbol("nc_mean_step_difference2", r"\mathbf{E}\|u-v\|^2", nonnegative=True)
u2 = symbol("nc_u2", r"\mathbf{E}\|u\|^2", nonnegative=True)
v2 = symbol("nc_v2", r"\mathbf{E}\|v\|^2", nonnegative=True)
u_dot_v = symbol("nc_u_dot_v", r"\mathbf{E}\langle u,v\rangle", real=True)
local2 = symbol("nc_local2", r"\mathbf{E}\|\nabla\bar f_{t,i}\|^2", nonnegative=True)
local_other2 = symbol(
    "nc_local_other2", r"\mathbf{E}\|\sum_\tau p_\tau\nabla f_\tau+\sum_\tau p_\tau\Delta_\tau\|^2", nonnegative=True
)
whole_dot_loss = symbol(
    "nc_whole_dot_loss", r"\mathbf{E}\langle\sum_\tau p_\tau\nabla f_\tau,\sum_\tau p_\tau\Delta_\tau\rangle", real=True
)
noise2 = symbol("nc_noise2", r"\mathbf{E}\|\nu\|^2", nonnegative=True)

# (28), at one client and local step.
dist2 = symbol("nc_dist2", r"\mathbf{E}\|\omega_{t,i,k}-\omega_t\|^2", nonnegative=True)
change2 = symbol("nc_change2", r"\mathbf{E}\|\nabla f(\omega_t)-\nabla f(\omega_{t,i,k})\|^2", nonnegative=True)
drift2 = symbol("nc_drift2", r"\mathbf{E}\|\delta_i+\sum_\tau p_\tau\xi_\tau\|^2", nonnegative=True)
change_dot_drift = symbol(
    "nc_change_dot_drift",
    r"\mathbf{E}\langle\nabla f(\omega_t)-\nabla f(\omega_{t,i,k}),\delta_i+\sum_\tau p_\tau\xi_\tau\rangle",
    real=True,
)
gap_other2 = symbol(
    "nc_gap_other2",
    r"\mathbf{E}\|\nabla f(\omega_t)-\nabla f(\omega_{t,i,k})-\delta_i-\sum_\tau p_\tau\xi_\tau\|^2",
    nonnegative=True,
)
grad_k2 = symbol("nc_grad_k2", r"\mathbf{E}\|\nabla f(\omega_{t,i,k})\|^2", nonnegative=True)
grad_dot_change = symbol(
    "nc_grad_dot_change",
    r"\mathbf{E}\langle\nabla f(\omega_t),\nabla f(\omega_t)-\nabla f(\omega_{t,i,k})\rangle",
    real=True,
)
grad_k_other2 = symbol(
    "nc_grad_k_other2", r"\mathbf{E}\|2\nabla f(\omega_t)-\nabla f(\omega_{t,i,k})\|^2", nonnegative=True
)
squares = symbol("nc_squares", r"\sum_\tau p_\tau^2", nonnegative=True)
NOISE = Fact("Assumption 2", at_most(noise2, sigma2), "E||nu||^2 <= sigma^2; given the past, nu has mean zero.")
LOSS = Fact("Assumption 4", at_most(Delta2, R2), "||Delta|| <= R.")
SMALL = Fact("eta", at_most(eta, 1 / (2 * L)), "eta <= 1/(2L).")


def inner_bound() -> Relation:
    """(26), with p_t for the mean over clients."""
    return at_most(inner, eta / 2 * (gap2 - whole2) + eta / 2 * past * (grad2 + R2) - eta / 2 * grad2)


def move_bound(first: Any = 2, second: Any = 1) -> Relation:
    """(27): `first` and `second` are printed as 2 and 1."""
    return at_most(move2, first * eta**2 * (whole2 + loss2) + second * eta**2 * sigma2 / (N * K))


def parallelogram(
    name: str, squares_of: tuple[sp.Expr, sp.Expr, sp.Expr, sp.Expr], dot: sp.Expr, words: str, sign: int = 1
) -> tuple[RuleUse, RuleUse]:
    """||a + s b||^2 and ||a - s b||^2 expanded: half the sum of their residuals bounds the first by 2 and 2."""
    plus, minus, a2, b2 = squares_of
    gram = {("a", "a"): a2, ("b", "b"): b2, ("a", "b"): dot}
    one = sp.S.One
    first, second = ({"a": one, "b": one * sign}, {"a": one, "b": -one * sign})
    return (
        rules.bilinearity(f"{name} +", plus, first, first, gram, words),
        rules.bilinearity(f"{name} -", minus, second, second, gram, words),
    )


def _inner_proof() -> Proof:
    one = sp.S.One
    young = at_most(grad_dot_Delta, (grad2 + R2) / 2)
    gram = {("G", "G"): grad2, ("D", "D"): Delta2, ("D", "G"): grad_dot_Delta}
    both = {("G", "G"): grad2, ("G", "S"): grad_dot_whole, ("S", "S"): whole2}
    difference = {"G": one, "D": -one}
    gap = {"G": one, "S": -one}
    return Proof(
        (
            rules.linear_expectation(
                "step",
                equal(inner, -eta * (grad_dot_whole - grad_dot_loss)),
                "Algorithm 2; the noise has mean zero given w_t and the draws before it.",
            ),
            rules.bilinearity("Young", grad_less_Delta2, difference, difference, gram, "grad f(w_t) and Delta_tau."),
            Obligation(
                "one round",
                young,
                ("Young", "Assumption 4"),
                (grad_less_Delta2 - residual("Young") + slack("Assumption 4")) / 2,
            ),
            rules.mean_of_bounds(
                "past",
                grad_dot_loss,
                past * (grad2 + R2) / 2,
                "times p_tau >= 0 over tau < t, averaged over i and k.",
                ("one round",),
            ),
            rules.bilinearity("gap", gap2, gap, gap, both, "averaged over i and k."),
            Obligation(
                "the statement follows",
                inner_bound(),
                ("step", "past", "gap"),
                eta * slack("past") - residual("step") + eta / 2 * residual("gap"),
            ),
        )
    )


def _move_proof(first: Any, second: Any) -> Proof:
    goal = move_bound(first, second)
    certificate = (
        -residual("step")
        + eta**2 * (difference2 - residual("both +") - residual("both -"))
        + 2 * eta**2 * slack("Jensen")
        + 2 * eta**2 * (local_other2 - residual("local +") - residual("local -"))
        - 2 * eta**2 * residual("noise")
        + 2 * eta**2 / (N * K) * slack("Assumption 2")
        + (first - 4) * eta**2 * (whole2 + loss2)
        + (second - 2) * eta**2 * sigma2 / (N * K)
    )
    return Proof(
        (
            rules.linear_expectation("step", equal(move2, eta**2 * sum2), "Delta w_t = -eta (u + v)."),
            *parallelogram("both", (sum2, difference2, u2, v2), u_dot_v, "u the mean gradient, v the mean noise."),
            rules.jensen("Jensen", u2, local2, "the mean over i and k."),
            *parallelogram(
                "local",
                (local2, local_other2, whole2, loss2),
                whole_dot_loss,
                "grad bar f = sum_tau p_tau grad f_tau - sum_tau p_tau Delta_tau.",
                -1,
            ),
            rules.tower(
                "noise",
                equal(v2, noise2 / (N * K)),
                "noises of different clients or steps are uncorrelated: the later one has mean zero given the other.",
            ),
            Obligation(
                "the statement follows",
                goal,
                ("step", "both +", "both -", "Jensen", "local +", "local -", "noise", "Assumption 2"),
                certificate,
            ),
        )
    )


def nc_eq26(first: Any = 4, second: Any = 2, limit: Any = 2) -> Claim:
    """(26), (27) and the step size that drops the sum of gradients; `first` and `second` are those of the repair."""
    dropped = at_most(-eta / 2 + L / 2 * 2 * eta**2, 0)
    small = Fact("eta", at_most(eta, 1 / (limit * L)), "eta <= 1/(2L).")
    third = Statement(
        "With (26) and (27) as printed, the coefficient of the mean of E||sum_tau p_tau grad f_tau||^2 in (25) is at "
        "most zero for eta <= 1/(2L).",
        dropped,
        (small,),
        Proof(
            (
                Obligation(
                    "the statement follows",
                    dropped,
                    ("eta",),
                    L * eta * slack("eta") + eta * (sp.Rational(1, 2) - sp.S.One / limit),
                ),
            )
        ),
    )
    return Claim(
        "cfl.nc_eq26",
        "CFL",
        "(26)-(27)",
        "Non-convex proof: A_1 and A_2",
        (
            Part(
                "1",
                Statement("(26), first to last line.", inner_bound(), (LOSS,), _inner_proof()),
            ),
            Part(
                "2",
                Statement("(27), for every K.", move_bound(), (NOISE,)),
                Repair(
                    "typo",
                    "a factor 2 before each of the terms: 4 eta^2/(NK) and 2 eta^2 sigma^2/(NK)",
                    Statement(
                        "E||Delta w_t||^2 <= 4 eta^2 (mean of E||sum_tau p_tau grad f_tau||^2 + mean of E||sum_tau "
                        "p_tau Delta_tau||^2) + 2 eta^2 sigma^2/(NK).",
                        move_bound(first, second),
                        (NOISE,),
                        _move_proof(first, second),
                    ),
                ),
            ),
            Part("3", third),
        ),
        (
            "Nothing in (26) takes an expectation over drifts: it is algebra along the run, so that w_t may depend on "
            "them.",
            "(27) goes through Lemma A.4, which needs the noise to be uncorrelated with the later gradients; from the "
            "second local step on the gradients are taken where the noise has led. The factors 4 and 2 of the repair "
            "are those of the lemma's form for martingale differences. cfl.eq14 keeps the printed factors for local "
            "steps that do not increase distances, which a non-convex f does not grant. For K = 1 (27) is right, and "
            "so is part 1 of ours.cfl_nonconvex.",
            "Part 3: the text has 'less than 0'; at eta = 1/(2L) the coefficient is 0, which is enough. With the "
            "repaired (27) the step size becomes eta <= 1/(4L).",
            "The concave f of the instances is used near its maximum only; further out it may be continued so that it "
            "is bounded below.",
        ),
    )


def gap_bound(lead: Any = 2, drift: Any = 1) -> Relation:
    """(28), last line; `drift` before the drift terms is printed as 1."""
    b, g = B2 + A2 * squares, G2 + D2 * squares
    return at_most(gap2, lead * L**2 * dist2 + 2 * drift * b * (L**2 * dist2 + grad2) + drift * g)


def nc_eq28(drift: Any = 2) -> Claim:
    """(28): the drift terms; `drift` is the factor of the repair."""
    b, g = B2 + A2 * squares, G2 + D2 * squares
    known = (
        Fact("smooth", at_most(change2, L**2 * dist2), "f is L-smooth."),
        Fact(
            "drift",
            at_most(drift2, b * grad_k2 + g),
            "E||delta_i + sum_tau p_tau xi_tau||^2 <= (B^2 + A^2 sum p^2) E||grad f||^2 + G^2 + D^2 sum p^2 at "
            "w_{t,i,k}, as Lemma B.2 says at a fixed point.",
        ),
    )
    # grad f(w_k) = grad f(w_t) - (grad f(w_t) - grad f(w_k)).
    certificate = (
        (gap_other2 - residual("gap +") - residual("gap -"))
        + 2 * slack("smooth")
        + 2 * slack("drift")
        + 2 * b * (grad_k_other2 - residual("point +") - residual("point -"))
        + 4 * b * slack("smooth")
        + (drift - 2) * (2 * b * (L**2 * dist2 + grad2) + g)
    )
    proof = Proof(
        (
            *parallelogram(
                "gap",
                (gap2, gap_other2, change2, drift2),
                change_dot_drift,
                "grad f(w_t) - grad f(w_k), and grad f(w_k) - sum_tau p_tau grad f_tau(w_k) = delta_i + sum p xi.",
            ),
            *parallelogram(
                "point",
                (grad_k2, grad_k_other2, grad2, change2),
                grad_dot_change,
                "grad f(w_k) = grad f(w_t) - (grad f(w_t) - grad f(w_k)).",
                -1,
            ),
            Obligation(
                "the statement follows",
                gap_bound(2, drift),
                ("gap +", "gap -", "smooth", "drift", "point +", "point -"),
                certificate,
            ),
        )
    )
    return Claim(
        "cfl.nc_eq28",
        "CFL",
        "(28)",
        "Non-convex proof: distance of the local gradients from grad f(w_t)",
        (
            Part(
                "1",
                Statement("(28), first to last line, at one client and local step.", gap_bound(), known),
                Repair(
                    "typo",
                    "a factor 2 before the drift terms: 4 L^2 b, 4 b and 2 c_pG, b = B^2 + A^2 sum p^2",
                    Statement(
                        "gap <= 2 L^2 (1 + 2 b) E||w_{t,i,k} - w_t||^2 + 4 b E||grad f(w_t)||^2 + 2 (G^2 + D^2 sum "
                        "p^2), b = B^2 + A^2 sum p^2.",
                        gap_bound(2, drift),
                        known,
                        proof,
                    ),
                ),
            ),
        ),
        (
            "From the second to the third line the factor 2 of 2E||grad f(w_k) - sum p grad f_tau||^2 is lost. It is "
            "needed: w_{t,i,k} depends on delta_i and xi, and grad f(w_t) - grad f(w_{t,i,k}) is correlated with them.",
            "That the drifts at w_{t,i,k} obey Lemma B.2 is a hypothesis here; whether they do is cfl.lemB2_use.",
            "With it, (29) has 2 c_pB - 1 in place of c_pB before the distance, 2 (c_pB - 1) in place of c_pB - 1 "
            "before ||grad f(w_t)||^2, and 2 c_pG.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {"cfl.nc_eq26": nc_eq26, "cfl.nc_eq28": nc_eq28}
