"""Whether Algorithm 3 divides by zero."""

from __future__ import annotations

from cflag_theory.claims.c_flag.adaptive.algorithm3 import length
from cflag_theory.claims.c_flag.adaptive.clients import INTERFERENCE, Lambda_i, a, memory, memory_gradient
from cflag_theory.claims.c_flag.vectors import client
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement, shown
from cflag_theory.claims.engine.relation import at_most, below, equal


def alg3_division() -> Claim:
    """The divisions of lines 8 and 10."""
    zero = Fact("a_i", equal(length, 0), "a_i = 0.")
    line8 = Part(
        "line 8",
        shown(
            "Where a_i = 0, line 6 leads to line 10 and not to line 8: Lambda_{t,i} <= 0.",
            at_most(Lambda_i, 0),
            rules.cauchy_schwarz("product", memory_gradient, a(client)),
            given=("product", "a_i"),
            under=(zero,),
        ),
        kind="question",
    )
    line10 = Part(
        "line 10",
        Statement(
            "Wherever line 10 is reached, with Lambda_{t,i} <= 0, it divides by a positive number: grad_f_memory(x_t) "
            "is not zero.",
            below(0, memory),
            (INTERFERENCE,),
        ),
        kind="question",
    )
    return Claim(
        "cflag.alg3_division",
        "Algorithm 3, lines 8 and 10",
        "Whether the rates are defined",
        (line8, line10),
        (
            "Where grad_f_memory(x_t) = 0, every client reaches line 10, whose rate is 0/0. Any rate makes the same "
            "step there, since it multiplies grad_f_memory; the simulation keeps alpha.",
            "Line 4 computes beta a_i (cflag.alg3_line4), which is zero where a_i is. Line 8 also divides by p_i, "
            "which is positive for a client that counts.",
        ),
    )


CLAIMS = {"cflag.alg3_division": alg3_division}
