"""What the checks of `c_flag.problem.update` must find and reject."""

from __future__ import annotations

from expecting import Expectation
from planting import MORE, related, scaled, shifted

from cflag_theory.claims.c_flag.problem import update as claim
from cflag_theory.claims.engine.notation import alpha, beta

EXPECTED = {
    "cflag.eq7": Expectation(
        "typo", plants=related("the other sign of beta S", right=lambda side: side.subs({beta: -beta}), on="repair")
    ),
    "cflag.alg1": Expectation(
        "typo", plants=related("the memory step uphill", left=lambda side: side.subs({alpha: -alpha}), on="repair")
    ),
    "cflag.eq22": Expectation(
        "holds",
        plants=(
            *scaled(2),
            *scaled(-1),
            *scaled("1/2"),
            *scaled(MORE),
            *related("the sum for the difference", left=lambda side: side + 2 * claim.x),
        ),
    ),
    "cflag.eq25": Expectation(
        "holds holds typo",
        plants=(
            *shifted(-alpha * claim.grad_f_memory, part="client", on="repair"),
            *shifted(-alpha * claim.grad_f_memory, 3 * beta * claim.S, (1 - MORE) * beta * claim.S),
            *related("alpha twice", right=lambda side: side.subs({alpha: 2 * alpha}), part="2"),
            *related("beta squared", right=lambda side: side.subs({beta: beta**2}), part="2"),
        ),
    ),
}
