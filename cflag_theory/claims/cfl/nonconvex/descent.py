"""App. B.5: one round of the non-convex proof, (26) to (28).

A mean over clients i and local steps k is a mean over pairs; the round is any.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, R2, K, N, eta, sigma2
from cflag_theory.claims.cfl.symbols import t as now
from cflag_theory.claims.cfl.vectors import EXPECTATION, E, averaged, draw, fresh, over_noises, over_past, tau, w
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, setting, shown
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.operators import index, mean_over
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Proof, Use, deduced
from cflag_theory.claims.engine.terms import dot, function, norm, norm2, vector

#: f need not be convex; w_t, and grad f there.
f_star = symbol("nc_f_star", "f_*", real=True)
f = function("nonconvex f", "f", smooth=L, lower=f_star)
w_t = w(now)
G = f.grad(w_t)
#: Pairs (i, k) of a client and a local step, and earlier rounds with the weights p_tau/(1 - p_t).
pair = index("ik")
means = mean_over("clients and steps", pair)
earlier_rounds = mean_over("earlier rounds", tau)
past = symbol("nc_past_weight", r"(1-p_t)", nonnegative=True)
past2 = symbol("nc_past_weight2", r"(1-p_t)^2", nonnegative=True)
x = vector("nc local iterate", r"\omega_{t,@1}")(pair, draw, fresh)
#: sum_tau p_tau grad f_tau there, and grad f less that: delta_i + sum_tau p_tau xi_tau.
mixed = vector("nc mixed gradient", r"\sum_\tau p_\tau\nabla f_{\tau,@1}")(pair, draw, fresh)
drift = vector("nc drift", r"(\delta+\sum_\tau p_\tau\xi_\tau)_{@1}")(pair, draw, fresh)
Delta = vector("nc loss", r"\Delta_{@1,@2}")(tau, pair, draw, fresh)
noise = vector("nc noise", r"\nu_{@1}")(pair, draw, fresh)
loss = past * earlier_rounds(Delta)
local = mixed - loss
#: Delta w_t = -eta (u + v), u the mean of the gradients and v that of the noise.
u, v = means(local), means(noise)
move = -eta * (u + v)

inner = symbol("nc_grad_dot_move", r"\mathbb{E}\langle\nabla f(\omega_t),\Delta\omega_t\rangle", E(dot(G, move)))
move2 = symbol("nc_move2", r"\mathbb{E}\|\Delta\omega_t\|^2", E(norm(move) ** 2))
grad2 = symbol("nc_mean_grad2", r"\mathbb{E}\|\nabla f(\omega_t)\|^2", E(norm2(G)))


def _mean2(name: str, latex: str, of: sp.Expr) -> sp.Symbol:
    """The mean over pairs of 𝔼||of||^2."""
    square = norm(of) ** 2 if of.is_Add else norm2(of)
    return symbol(name, rf"\mathbf{{E}}\|{latex}\|^2", E(means(square)), nonnegative=True)


whole2 = _mean2("nc_whole2", r"\sum_\tau p_\tau\nabla f_\tau", mixed)
gap2 = _mean2("nc_gap2", r"\nabla f(\omega_t)-\sum_\tau p_\tau\nabla f_\tau", G - mixed)
loss2 = _mean2("nc_loss2", r"\sum_\tau p_\tau\Delta_\tau", loss)
local2 = _mean2("nc_local2", r"\nabla\bar f_{t,i}", local)
noise2 = _mean2("nc_noise2", r"\nu", noise)
Delta2 = symbol("nc_Delta2", r"\mathbb{E}\|\Delta_\tau\|^2", E(means(earlier_rounds(norm2(Delta)))))
dist2 = _mean2("nc_dist2", r"\omega_{t,i,k}-\omega_t", x - w_t)
change2 = _mean2("nc_change2", r"\nabla f(\omega_t)-\nabla f(\omega_{t,i,k})", G - f.grad(x))
drift2 = _mean2("nc_drift2", r"\delta_i+\sum_\tau p_\tau\xi_\tau", drift)
grad_k2 = _mean2("nc_grad_k2", r"\nabla f(\omega_{t,i,k})", f.grad(x))
squares = symbol("nc_squares", r"\sum_\tau p_\tau^2", nonnegative=True)

MIXED = setting("(5), mixed", equal(mixed, f.grad(x) - drift), "By (5), at the local iterate.")
CENTRED = setting("nc noise", equal(over_noises(v), 0), "The noises of a round have mean zero given w_t.")


def uncorrelated(count: sp.Expr) -> Fact:
    """𝔼||v||^2 = 𝔼||nu||^2 / count."""
    return Fact(
        "noise",
        equal(E(norm2(v)), noise2 / count),
        "Noises of different clients or steps are uncorrelated: the later one has mean zero given the other.",
    )


NOISE = Fact("Assumption 2", at_most(noise2, sigma2), "𝔼||nu||^2 <= sigma^2; given the past, nu has mean zero.")
LOSS = Fact("Assumption 4", at_most(Delta2, R2), "||Delta|| <= R.")
SMALL = Fact("eta", at_most(eta, 1 / (2 * L)), "eta <= 1/(2L).")


def inner_bound() -> Relation:
    """(26), with p_t for the mean over clients."""
    return at_most(inner, eta / 2 * (gap2 - whole2) + eta / 2 * past * (grad2 + R2) - eta / 2 * grad2)


def move_bound(first: Any = 2, second: Any = 1) -> Relation:
    """(27): `first` and `second` are printed as 2 and 1."""
    return at_most(move2, first * eta**2 * (whole2 + loss2) + second * eta**2 * sigma2 / (N * K))


def _inner_proof() -> Proof:
    return deduced(
        inner_bound(),
        rules.square("Young", G - Delta, earlier_rounds, means, *EXPECTATION),
        rules.norm_squared("gap", G - mixed, means, *EXPECTATION),
        *averaged(rules.along("noise", G, given=CENTRED), over_past),
        given=("Young", "Assumption 4", "gap", "noise"),
    )


def jensen_of_round() -> tuple[Use, ...]:
    """𝔼||u||^2 is at most the mean of 𝔼||grad f-bar||^2, as "Jensen"."""
    return averaged(rules.jensen("Jensen", means, local), *EXPECTATION)


def _move_proof(first: Any, second: Any) -> Proof:
    return deduced(
        move_bound(first, second),
        rules.norm_squared("step", move, *EXPECTATION),
        rules.square("u - v", u - v, *EXPECTATION),
        *jensen_of_round(),
        rules.square("gradient and loss", mixed + loss, means, *EXPECTATION),
        given=("step", "u - v", "Jensen", "gradient and loss", "noise", "Assumption 2"),
    )


def nc_eq26(first: Any = 4, second: Any = 2, limit: Any = 2) -> Claim:
    """(26), (27) and the step size that drops the sum of gradients; `first` and `second` are those of the repair."""
    dropped = at_most(-eta / 2 + L / 2 * 2 * eta**2, 0)
    small = Fact("eta", at_most(eta, 1 / (limit * L)), "eta <= 1/(2L).")
    third = shown(
        "With (26) and (27) as printed, the coefficient of the mean of 𝔼||sum_tau p_tau grad f_tau||^2 in (25) is at "
        "most zero for eta <= 1/(2L).",
        dropped,
        given=("eta",),
        under=(small,),
    )
    return Claim(
        "cfl.nc_eq26",
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
                        "𝔼||Delta w_t||^2 <= 4 eta^2 (mean of 𝔼||sum_tau p_tau grad f_tau||^2 + mean of 𝔼||sum_tau "
                        "p_tau Delta_tau||^2) + 2 eta^2 sigma^2/(NK).",
                        move_bound(first, second),
                        (NOISE,),
                        _move_proof(first, second),
                        (uncorrelated(N * K),),
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
            "are those of the lemma's form for martingale differences. ours.cfl_nonexpansive has the printed ones, for "
            "local steps that do not increase distances, which a non-convex f does not grant. For K = 1 (27) is right, "
            "and so is part 1 of ours.cfl_nonconvex.",
            "Part 3: the text has 'less than 0'; at eta = 1/(2L) the coefficient is 0, which is enough. With the "
            "repaired (27) the step size becomes eta <= 1/(4L).",
            "The concave f of the instances is used near its maximum only; further out it may be continued so that it "
            "is bounded below.",
        ),
    )


def gap_bound(lead: Any = 2, drift_factor: Any = 1) -> Relation:
    """(28), last line; `drift_factor` before the drift terms is printed as 1."""
    b, g = B2 + A2 * squares, G2 + D2 * squares
    return at_most(gap2, lead * L**2 * dist2 + 2 * drift_factor * b * (L**2 * dist2 + grad2) + drift_factor * g)


def nc_eq28(drift_factor: Any = 2) -> Claim:
    """(28): the drift terms; `drift_factor` is the factor of the repair."""
    b, g = B2 + A2 * squares, G2 + D2 * squares
    known = (
        Fact("smooth", at_most(change2, L**2 * dist2), "f is L-smooth."),
        Fact(
            "drift",
            at_most(drift2, b * grad_k2 + g),
            "𝔼||delta_i + sum_tau p_tau xi_tau||^2 <= (B^2 + A^2 sum p^2) 𝔼||grad f||^2 + G^2 + D^2 sum p^2 at "
            "w_{t,i,k}, as at a fixed point: so it is for drifts that do not depend on w.",
        ),
    )
    here, under = f.grad(x), (means, *EXPECTATION)
    return Claim(
        "cfl.nc_eq28",
        "(28)",
        "Non-convex proof: distance of the local gradients from grad f(w_t)",
        (
            Part(
                "1",
                Statement("(28), first to last line, at one client and local step.", gap_bound(), known[:1]),
                Repair(
                    "needs-hypothesis",
                    "drifts that do not depend on w (cfl.lemB2_use), and a factor 2 before the drift terms: 4 L^2 b, 4 "
                    "b and 2 c_pG, b = B^2 + A^2 sum p^2",
                    shown(
                        "gap <= 2 L^2 (1 + 2 b) 𝔼||w_{t,i,k} - w_t||^2 + 4 b 𝔼||grad f(w_t)||^2 + 2 (G^2 + D^2 sum "
                        "p^2), b = B^2 + A^2 sum p^2.",
                        gap_bound(2, drift_factor),
                        rules.norm_squared("gap", G - mixed, *under),
                        rules.rewrite("change and drift", E(means(norm2(G - mixed))), given=MIXED),
                        rules.norm_squared("change", G - here, *under),
                        rules.square("change - drift", G - here - drift, *under),
                        rules.square("2 grad f(w_t) - grad f(w_k)", 2 * G - here, *under),
                        given=(
                            *("gap", "change and drift", "change", "change - drift", "2 grad f(w_t) - grad f(w_k)"),
                            *("smooth", "drift"),
                        ),
                        under=known,
                    ),
                ),
            ),
        ),
        (
            "From the second to the third line the factor 2 of 2E||grad f(w_k) - sum p grad f_tau||^2 is lost. It is "
            "needed: w_{t,i,k} depends on delta_i and xi, and grad f(w_t) - grad f(w_{t,i,k}) is correlated with them.",
            "The drifts at w_{t,i,k} need not obey Lemma B.2: cfl.lemB2_use. In the instance they do.",
            "With it, (29) has 2 c_pB - 1 in place of c_pB before the distance, 2 (c_pB - 1) in place of c_pB - 1 "
            "before ||grad f(w_t)||^2, and 2 c_pG.",
        ),
    )


CLAIMS = {"cfl.nc_eq26": nc_eq26, "cfl.nc_eq28": nc_eq28}
