"""App. B.4.2: the recursion for the local drift, (19)-(20), and one round put together, (21)-(22)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.one_round.local_drift import (
    c_Bi,
    c_Gi,
    from_t,
    k_steps,
    local_grad2,
    moved2,
    rho_i2,
    sum_each2,
)
from cflag_theory.claims.cfl.one_round.progress import (
    AVERAGED_12,
    SMALL_LOSS,
    c_B,
    dist,
    dist2,
    dist_dot_move,
    drift2,
    gap,
    move2,
    next2,
    pull,
    rho,
    round_bound,
)
from cflag_theory.claims.cfl.one_round.turning import last_gradient2, turn, turned, turned2
from cflag_theory.claims.cfl.symbols import K, N, eta, eta_g, eta_l, mu, sigma2
from cflag_theory.claims.cfl.vectors import E, client, j, local_gradient, no_less_than_least, w_t, x
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Source, Statement
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.operators import Largest, sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof
from cflag_theory.claims.engine.terms import norm, norm2

# (19), (20).
_moved2 = E(norm(x(client, j) - w_t) ** 2)
before2 = symbol(
    "moved_before2",
    r"{\mathbb{E}\|\omega_{t,i,k-1}-\omega_t\|^2}",
    E(norm(x(client, k_steps - 1) - w_t) ** 2),
    nonnegative=True,
)
_most_before = Largest(j, k_steps - 1, _moved2)
most_before2 = symbol(
    "most_before2", r"\max_{\tau<k}\mathbb{E}\|\omega_{t,i,\tau}-\omega_t\|^2", _most_before, nonnegative=True
)
_so_far = sum_over(j, k_steps)
sum_before2 = symbol(
    "sum_before2", r"\sum_{\tau<k}\mathbb{E}\|\omega_{t,i,\tau}-\omega_t\|^2", _so_far(_moved2), nonnegative=True
)
_most = Largest(j, K, _moved2)
most2 = symbol("most_moved2", r"\max_{\tau\le K}\mathbb{E}\|\omega_{t,i,\tau}-\omega_t\|^2", _most, nonnegative=True)
BEFORE = Fact("j < k", at_most(j + 1, k_steps), "j runs over the steps before the k-th.")

# (21): means over clients.
c_G = symbol("c_pG", r"c_{p_G}", nonnegative=True)
rho2 = symbol("c_R", r"c_R", nonnegative=True)
#: For whom a display is said, where it is also a step from the displays before it.
OF_THE_RUN = "for Algorithm 2"
OF_THE_STEP = "as a step from what is printed before it"


def eq20(base: Any = 8) -> Claim:
    """(19), and (20) with its geometric sum."""
    constant = base * L * c_Bi * gap + 2 * c_Gi + 2 * rho_i2
    true_constant = 8 * L * c_Bi * gap + 2 * c_Gi + 2 * rho_i2

    def bounded(left: sp.Expr) -> Relation:
        return at_most(
            left,
            k_steps * eta_l**2 * (4 * L**2 * c_Bi * sum_before2 + k_steps * true_constant)
            + k_steps * eta_l**2 * sigma2,
        )

    def recursion(earlier: sp.Expr) -> Relation:
        return at_most(
            moved2,
            4 * k_steps**2 * eta_l**2 * L**2 * c_Bi * earlier
            + k_steps**2 * eta_l**2 * constant
            + k_steps * eta_l**2 * sigma2,
        )

    def of_17_18(left: sp.Expr, count: sp.Symbol = k_steps) -> tuple[Source, ...]:
        each = E(norm2(local_gradient(client, j)))
        at = ((local_grad2, each), (from_t, sp.sqrt(_moved2)))
        so_far = sum_over(j, count)
        return (
            Source("cfl.eq17", at=((moved2, left), (sum_each2, so_far(each)), (k_steps, count)), granted=True),
            Source("cfl.eq18", "2", at=at, over=(so_far,), granted=True),
        )

    combined = Fact("(17), (18)", bounded(moved2), "(17) with (18) in it.", sources=of_17_18(moved2))
    grows = Fact(
        "drifts grow",
        at_most(most_before2, before2),
        "The last local drift E||w_{t,i,k-1} - w_t||^2 is the largest so far.",
    )
    words = (
        "(19): E||w_{t,i,k} - w_t||^2 <= 4 k^2 eta_l^2 L^2 c_{pB,i} E||w_{t,i,k-1} - w_t||^2 + k^2 eta_l^2 (8 L "
        "c_{pB,i} (f(w_t) - f(w*)) + 2 c_{pG,i} + 2 (sum p)^2 R^2) + k eta_l^2 sigma^2"
    )
    goal = recursion(before2)
    mended = Statement(
        f"{words}, granted (17) and (18), where no earlier local drift is larger than the last.",
        goal,
        (combined, grows),
        Proof(
            (
                Obligation("earlier step", at_most(j, k_steps - 1), ("j < k",)),
                rules.member("each", _most_before, j, given="earlier step"),
                rules.mean("earlier", _so_far, given="each"),
                *no_less_than_least("gap"),
                Obligation("with the maximum", recursion(most_before2), ("(17), (18)", "earlier", "gap")),
                Obligation("the statement follows", goal, ("with the maximum", "drifts grow")),
            )
        ),
        (BEFORE,),
    )
    first = Part("1", Statement(f"{words}.", goal), reading=OF_THE_RUN)
    third = Part("3", mended, reading=OF_THE_STEP)
    after_turn = turned(
        f"{words}, granted (17) and (18), where an earlier local drift is larger than the last.",
        goal,
        before2=before2,
        most_before2=most_before2,
        bound=lambda moved: 4 * L**2 * c_Bi * moved + true_constant,
        sources=(
            of_17_18(turned2, turn),
            (Source("cfl.eq18", "2", at=((local_grad2, last_gradient2), (from_t, sp.sqrt(before2))), granted=True),),
        ),
    )
    quotient = 4 * K**2 * eta_l**2 * L**2 * c_Bi
    closed = at_most(most2, (K**2 * eta_l**2 * constant + K * eta_l**2 * sigma2) / (1 - quotient))
    within = Fact("range", below(quotient, 1), "4 K^2 eta_l^2 L^2 c_{pB,i} < 1, for the geometric sum to converge.")
    at_largest = Fact(
        "(17), (18)",
        bounded(most2),
        "(17) with (18) in it, at the k <= K with the largest drift.",
        sources=of_17_18(most2),
    )
    count = Fact("k <= K", at_most(k_steps, K), "The largest drift is after k of the K steps.")
    top = 4 * L**2 * c_Bi * most2 + true_constant
    proof = Proof(
        (
            Obligation("earlier step", at_most(j, K), ("j < k", "k <= K")),
            rules.member("each", _most, j, given="earlier step"),
            rules.mean("earlier", _so_far, given="each"),
            *no_less_than_least("gap"),
            Obligation(
                "at the largest",
                at_most(most2, K**2 * eta_l**2 * top + K * eta_l**2 * sigma2),
                ("(17), (18)", "earlier", "k <= K", "gap"),
            ),
            Obligation("the statement follows", closed, ("at the largest", "range", "gap")),
        )
    )
    words = (
        "(20): for all k <= K, E||w_{t,i,k} - w_t||^2 <= (8 K^2 eta_l^2 L c_{pB,i} (f(w_t) - f(w*)) + 2 K^2 eta_l^2 "
        "c_{pG,i} + 2 K^2 eta_l^2 (sum p)^2 R^2 + K eta_l^2 sigma^2) / (1 - 4 K^2 eta_l^2 L^2 c_{pB,i})."
    )
    second = Part("2", Statement(words, closed, (within, count)), reading=OF_THE_RUN)
    fourth = Part(
        "4",
        Statement(words + " Granted (17) and (18).", closed, (within, count, at_largest), proof, (BEFORE,)),
        reading=OF_THE_STEP,
    )
    return Claim(
        "cfl.eq20",
        "(19)-(20)",
        "Recursion for the local drift and its sum",
        (first, second, third, Part("3b", after_turn, reading=OF_THE_STEP), fourth),
        (
            "Parts 1 and 2: drifts that enter a step have moved the iterate of that step, and noises lean on later "
            "gradients (cfl.lemB2_use, cfl.eq17). Neither goes away with a memory, nor without one where K >= 2. A "
            "bound on the local drift that holds: ours.cfl_round.",
            "(20) does not follow by iterating (19), but from the largest drift among k <= K, by the same algebra; it "
            "needs 4 K^2 eta_l^2 L^2 c < 1, which (20) does not say and the step sizes after (22) imply.",
            "Parts 3 and 3b are the two cases of (19): E||w_{t,i,k} - w_t||^2 need not grow with k, and the sum over "
            "tau < k of (17) is at most k times its largest term, not k times its last one. Where the last one is not "
            "the largest, the step that leads to w_{t,i,k} is bounded by itself. The instance that refutes part 1 "
            "breaks (17) already.",
        ),
    )


def coefficient(drift: sp.Expr, quotient: sp.Expr) -> sp.Expr:
    """Of f(w_t) - f(w*) in (21): -2 eta + 16 eta^2 L c + drift (1 + 4 eta L c) / (1 - quotient)."""
    return -2 * eta + 16 * eta**2 * L * c_B + drift * (1 + 4 * eta * L * c_B) / (1 - quotient)


def eq21() -> Claim:
    """(21) as it follows from (10), (13), (15) and (20), and (22) against its printed solution."""
    near2 = K**2 * eta_l**2
    quotient = 4 * near2 * L**2 * c_B
    ratio = (1 + 4 * eta * L * c_B) / (1 - quotient)

    def relation(first: sp.Expr, rest: sp.Expr) -> Relation:
        return at_most(
            next2,
            (1 - mu * eta / 2) * dist2
            + coefficient(16 * near2 * first * c_B, quotient) * gap
            + 2 * eta**2 * c_G
            + eta**2 * sigma2 / (N * K)
            + (2 * eta**2 + 4 * near2 * rest * ratio) * rho2
            + 2 * K * eta_l**2 * rest * (2 * K * c_G + sigma2) * ratio
            + 2 * eta * rho * dist,
        )

    common = 2 * eta**2 * (c_G + rho2) + eta**2 * sigma2 / (N * K)
    known = (
        Fact(
            "(10)",
            equal(next2, dist2 + 2 * eta * pull + move2),
            "(10), with (8) and its sign mended.",
            sources=(Source("cfl.eq10", on="repair", at=((dist_dot_move, eta * pull),)),),
        ),
        Fact(
            "(13)",
            round_bound(gap),
            "(13) with f.",
            sources=(Source("cfl.eq21", "4", granted=True),),
        ),
        Fact(
            "(15)",
            at_most(move2, 16 * eta**2 * L * c_B * gap + 8 * eta**2 * L**2 * c_B * drift2 + common),
            "(15), c_{pB,i} being the same for all clients.",
        ),
        Fact(
            "(20)",
            at_most(
                drift2,
                near2 * (8 * L * c_B * gap + 2 * c_G + 2 * rho2 + sigma2 / K) / (1 - quotient),
            ),
            "(20), averaged over clients and steps.",
            sources=(
                Source("cfl.eq20", "2", at=((most2, drift2), (c_Bi, c_B), (c_Gi, c_G), (rho_i2, rho2)), granted=True),
            ),
        ),
        Fact("range", below(quotient, 1), "4 K^2 eta_l^2 L^2 c_pB < 1."),
    )
    mended = relation(eta * L**2, eta * L)
    factor = 2 * eta * L + 8 * eta**2 * L**2 * c_B
    bare = (1 - mu * eta / 2) * dist2 + (-2 * eta + 16 * eta**2 * L * c_B) * gap + common + 2 * eta * rho * dist
    follows = (
        Obligation("with the drift", at_most(next2, bare + factor * drift2), ("(10)", "(13)", "(15)")),
        Obligation(
            "the drift",
            at_most(drift2 * (1 - quotient), near2 * (8 * L * c_B * gap + 2 * c_G + 2 * rho2 + sigma2 / K)),
            ("(20)", "range"),
        ),
        Obligation("the statement follows", mended, ("with the drift", "the drift", "range")),
    )
    first = Part(
        "1",
        Statement(
            "(21) from (10), (13), (15) and (20), with the same weights p_tau for all clients.", relation(L, L), known
        ),
        Repair(
            "typo",
            "the three quotients in (21) lack a factor eta, the first one also an L: all are 2 eta L (1 + 4 eta L c) "
            "times (20)",
            Statement(
                "(21) with 16 eta K^2 eta_l^2 L^2 c, 4 eta K^2 eta_l^2 L and 2 eta K eta_l^2 L.",
                mended,
                known,
                Proof(follows),
            ),
        ),
        reading=OF_THE_STEP,
    )
    third = Part(
        "3",
        Statement(
            "(21), mended as in part 1, for Algorithm 2 under Assumptions 1-4, in any round.", mended, (known[-1],)
        ),
        reading=OF_THE_RUN,
    )
    fourth = Part(
        "4",
        Statement(
            "(21) has f where (13) has f_t: (13) with f in its place.", round_bound(gap), (AVERAGED_12, SMALL_LOSS)
        ),
    )
    far = 4 * eta**2 * L**2 * c_B / eta_g**2
    solution = Fact(
        "threshold",
        equal(12 * eta**2 * L**2 * c_B + 8 * eta * L * c_B * eta_g**2, eta_g**2),
        "eta is the printed solution (sqrt(3 eta_g^2 + 4 c eta_g^4) - sqrt(4 c eta_g^4)) / (6 L sqrt(c)), the positive "
        "root of this equation.",
    )
    inside = Fact("range", below(far, 1), "4 K^2 eta_l^2 L^2 c_pB < 1.")
    zero = equal(coefficient(4 * eta * far, far), 0)
    second = Part(
        "2",
        Statement(
            "The left side of (22), with K eta_l = eta / eta_g, vanishes at the printed solution.",
            equal(coefficient(4 * far, far), 0),
            (solution, inside),
        ),
        Repair(
            "typo",
            "(22) has 16 eta K^2 eta_l^2 L^2 c in its last term: with it the printed solution is right",
            Statement(
                "The left side of (22) with that factor vanishes at the printed solution.",
                zero,
                (solution, inside),
                Proof(
                    (
                        Obligation(
                            "the statement follows",
                            zero,
                            ("threshold", "range"),
                            -2 * eta / (eta_g**2 * slack("range")) * residual("threshold"),
                        ),
                    )
                ),
            ),
        ),
    )
    return Claim(
        "cfl.eq21",
        "(21)-(22)",
        "One round put together",
        (first, second, third, fourth),
        (
            "By its units (eta is a 1/L) the printed (21) adds eta c_pG to eta^2 c_pG, and (22) a pure number to eta. "
            "The step sizes after (22) solve the mended one, so the slip is in the displays.",
            "With eta < 1 and eta L < 1 the printed (21) is weaker than the mended one; it fails where eta is large.",
            "The same algebra inside the mean over clients gives part 1 with each client's own c_{p_B,i}, c_{p_G,i}.",
            "Part 4: w_t has been pulled along the past drifts, which are in f_t again: E<xi_tau, w_t> > 0, so that "
            "f_t(w_t) - f_t(w*) is smaller than f(w_t) - f(w*) on average. Drifts that are independent of w_t would "
            "mend parts 3 and 4, but no method has them that weighs past rounds: p_{tau,i}, tau < t, brings back the "
            "drifts that have moved w_t. So that is no hypothesis for Algorithm 2 with a memory.",
            "Part 3: no c_2 mends it. With L = 1/100 and eta = 5 its first instance breaks the printed (21) as well.",
            "What can be proved of a round without the faults of its ingredients is ours.cfl_round.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {"cfl.eq20": eq20, "cfl.eq21": eq21}
