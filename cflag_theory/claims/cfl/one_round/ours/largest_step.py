"""The steps that (22) allows, exactly."""

from __future__ import annotations

from cflag_theory.claims.cfl.one_round.progress import c_B
from cflag_theory.claims.cfl.one_round.thresholds import LEFT, QUOTIENT
from cflag_theory.claims.cfl.symbols import eta
from cflag_theory.claims.engine.claim import Claim, Fact, Part, shown
from cflag_theory.claims.engine.notation import L
from cflag_theory.claims.engine.relation import at_most, below


def cfl_step() -> Claim:
    """The steps for which (22) leaves -eta (f - f*), exactly."""
    within = Fact("range", below(QUOTIENT, 1), "4 K^2 eta_l^2 L^2 c < 1, with K eta_l = eta / eta_g.")
    enough = at_most(16 * eta * L * c_B + 5 * QUOTIENT, 1)
    reached = at_most(LEFT, -eta)
    first = shown(
        "If 16 eta L c + 20 eta^2 L^2 c / eta_g^2 <= 1, the left side of (22) is at most -eta.",
        reached,
        given=("enough", "range"),
        under=(within, Fact("enough", enough, "16 eta L c + 20 eta^2 L^2 c / eta_g^2 <= 1.")),
    )
    second = shown(
        "If the left side of (22) is at most -eta, then 16 eta L c + 20 eta^2 L^2 c / eta_g^2 <= 1.",
        enough,
        given=("progress", "range"),
        under=(within, Fact("progress", reached, "The left side of (22) is at most -eta.")),
    )
    return Claim(
        "ours.cfl_step",
        "in place of the step sizes after (22)",
        "The steps for which (22) leaves its progress",
        (Part("1", first), Part("2", second)),
        (
            "So the largest step is (sqrt(16 c eta_g^4 + 5 eta_g^2) - 4 eta_g^2 sqrt(c)) / (10 L sqrt(c)), (22) being "
            "taken with its factor eta.",
        ),
    )


CLAIMS = {"ours.cfl_step": cfl_step}
