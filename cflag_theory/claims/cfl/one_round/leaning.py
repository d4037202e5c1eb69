"""Local steps that do not increase distances: their gradients do not lean along the noises that moved them.

Two runs from the same point, one with noises nu_j of mean zero given all that came before, one without: e_k is their
distance after k steps, gamma_k = g(x_{k-1}) - g(x-bar_{k-1}) the change of the k-th gradient, Gamma_k and S_k the sums
of the first k changes and noises, so that e_k = -eta_l (Gamma_k + S_k). The terms are means over the draws, summed over
clients, whose noises are independent.
"""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.cfl.symbols import eta_l
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.notation import k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Step

lipschitz = symbol("step_lipschitz", r"\mathrm{Lip}(x\mapsto x-\eta_l\nabla\bar{f}_{t,i}(x))", nonnegative=True)

leaning = sequence("leaning", r"\mathbb{E}\langle\Gamma_{@},S_{@}\rangle", real=True)
changes2 = sequence("changes2", r"\mathbb{E}\|\Gamma_{@}\|^2", nonnegative=True)
change2 = sequence("change2", r"\mathbb{E}\|\gamma_{@+1}\|^2", nonnegative=True)
with_changes = sequence("change_dot_changes", r"\mathbb{E}\langle\gamma_{@+1},\Gamma_{@}\rangle", real=True)
with_noises = sequence("change_dot_noises", r"\mathbb{E}\langle\gamma_{@+1},S_{@}\rangle", real=True)
with_distance = sequence("change_dot_distance", r"\mathbb{E}\langle\gamma_{@+1},e_{@}\rangle", real=True)
apart2 = sequence("runs_apart2", r"\mathbb{E}\|e_{@}\|^2", nonnegative=True)
stepped2 = sequence("stepped_apart2", r"\mathbb{E}\|e_{@}-\eta_l\gamma_{@+1}\|^2", nonnegative=True)

NONEXPANSIVE = Fact(
    "nonexpansive",
    at_most(lipschitz, 1),
    "A noiseless local step does not increase distances; so it is if the approximated objectives are convex and "
    "L-smooth like f_{t,i} and eta_l <= 2/L.",
)
#: What the terms stand for.
RUNS = (
    Fact("no noise", equal(leaning(0), 0), "Empty sums."),
    Fact("no change", equal(changes2(0), 0), "An empty sum."),
    Fact(
        "one more noise",
        equal(leaning(k + 1), leaning(k) + with_noises(k)),
        "The noise of step k + 1 has mean zero given Gamma_{k+1} and S_k, which the draws before it decide.",
    ),
    Fact(
        "one more change",
        equal(changes2(k + 1), changes2(k) + 2 * with_changes(k) + change2(k)),
        "||Gamma_k + gamma_{k+1}||^2.",
    ),
    Fact(
        "runs",
        equal(with_distance(k), -eta_l * (with_changes(k) + with_noises(k))),
        "e_k = -eta_l (Gamma_k + S_k), both runs starting at the same point.",
    ),
    Fact(
        "one step",
        equal(stepped2(k), apart2(k) - 2 * eta_l * with_distance(k) + eta_l**2 * change2(k)),
        "||e_k - eta_l gamma_{k+1}||^2: both runs after a noiseless step from where they are.",
    ),
)


def no_leaning(end: sp.Expr) -> tuple[Step, ...]:
    """E<Gamma, S> <= 0 at `end`, as "no leaning", from `NONEXPANSIVE` and `RUNS`."""
    relation = at_most(2 * leaning(k) + changes2(k), 0)
    hypothesis = "comparison (hypothesis)"
    return (
        Induction(
            "comparison",
            k,
            relation,
            Obligation(
                "at the start",
                relation.subs({k: 0}),
                ("no noise", "no change"),
                -2 * residual("no noise") - residual("no change"),
            ),
            (
                rules.lipschitz_map(
                    "noiseless step",
                    stepped2(k),
                    apart2(k),
                    lipschitz,
                    "x and y are where the two runs are after k steps, T a local step without noise.",
                ),
                Obligation(
                    "after one more step",
                    relation.subs({k: k + 1}),
                    (
                        hypothesis,
                        "noiseless step",
                        "nonexpansive",
                        "one more noise",
                        "one more change",
                        "runs",
                        "one step",
                    ),
                    slack(hypothesis)
                    - 2 * residual("one more noise")
                    - residual("one more change")
                    - 2 * residual("runs") / eta_l
                    + (
                        residual("one step")
                        + slack("noiseless step")
                        + (1 + lipschitz) * apart2(k) * slack("nonexpansive")
                    )
                    / eta_l**2,
                ),
            ),
        ),
        Instance("all steps", "comparison", k, end),
        Obligation("no leaning", at_most(leaning(end), 0), ("all steps",), (slack("all steps") + changes2(end)) / 2),
    )
