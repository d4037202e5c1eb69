"""(99)-(100): the lengths of the local steps, with the error of the delayed gradient split off."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.c_flag.vectors import client, delayed, ell, grad_client, x_local
from cflag_theory.claims.engine.claim import Claim, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import L, beta, grad_current, k, sequence, x_t
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import equal
from cflag_theory.claims.engine.terms import norm

_correction = grad_current - grad_client(x_t)


def _error(step: sp.Expr) -> sp.Expr:
    return delayed(step) - grad_client(x_local(client, step))


made = sequence(
    "lengths",
    r"\textstyle\sum_{l<@}\|\beta(\nabla g-\nabla g_i+\nabla g_i'(x_{t,l}^i))\|",
    lambda k: sum_over(ell, k)(norm(beta * (_correction + delayed(ell)))),
)
with_error = sequence(
    "lengths_with_error",
    r"\textstyle\sum_{l<@}\|\nabla g-\nabla g_i+\nabla g_i'(x_{t,l}^i)+e_{t,l}^i\|",
    lambda k: sum_over(ell, k)(norm(_correction + delayed(ell) + _error(ell))),
)
split = sequence(
    "lengths_split",
    r"\textstyle\sum_{l<@}\|\nabla g-\nabla g_i+\nabla g_i(x_{t,l}^i)+e_{t,l}^i\|",
    lambda k: sum_over(ell, k)(norm(_correction + grad_client(x_local(client, ell)) + _error(ell))),
)


def eq100() -> Claim:
    """(99) = (100) as printed, and with the gradient in place of the delayed one."""
    mended = equal(L * made(k), L * beta * split(k))
    return Claim(
        "cflag.eq100",
        "(99)-(100)",
        "The error split off the delayed gradient",
        (
            Part(
                "1",
                Statement(
                    "L sum_{l<k} ||beta (grad g - grad g_i + grad g_i'(x_{t,l}))|| = L beta sum_{l<k} ||grad g - grad "
                    "g_i + grad g_i'(x_{t,l}) + e_{t,l}||.",
                    equal(L * made(k), L * beta * with_error(k)),
                ),
                Repair(
                    "typo",
                    "grad g_i(x_{t,l}) in place of grad g_i'(x_{t,l}) in (100), by (31)",
                    shown("The same with grad g_i(x_{t,l}) + e_{t,l} on the right.", mended),
                ),
            ),
        ),
        ("(101) follows from the repaired line: the smoothness of g_i is used between x_{t,l} and x_t.",),
    )


CLAIMS = {"cflag.eq100": eq100}
