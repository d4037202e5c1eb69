"""What the exact worst case of the local steps makes of the 60 L of Lemma 3, for (67)-(68).

A round moves by -beta ((1 + E) grad h~(x_t) + e_t) with ||e_t|| <= rho ||grad h~(x_t)||, rho = ||S|| - E in the worst
case of `recursions`. By `ours.union_descent` a round with beta L (1 + E) <= 1 then decreases h~ by (1 - q^2)/(2 L)
||grad h~(x_t)||^2 at least, q = 1 - beta L (1 + E - rho), which is (73) with 2/(1 - q^2) in place of 60. The paper
has 60 at beta = 1/(30 L E), where its own line (72) is best.

rho is attained by concave components and the descent step by convex ones, so 2/(1 - q^2) is proved and need not be
attained: what no proof can go below is met by h~ = (L/2) x^2 and by a linear h~.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from cflag_theory.errors import InvalidInput
from cflag_theory.public import Count, taking
from cflag_theory.studies.worst_cases.ranges import Interval, exp_bounds, last_place
from cflag_theory.verify.instances import orders
from cflag_theory.verify.instances.recursions import Place, Steps, local_descent, local_worst

PRINTED, PRINTED_STEP = Fraction(60), Fraction(1, 30)
_BITS = 20


@dataclass(frozen=True)
class UnionConstant:
    """The constant C of min_t ||grad h~(x_t)||^2 <= (C L / T)(h~(x_0) - h~(x_T)) at one step size."""

    #: Components of a client; None for every n.
    n: int | None
    #: E.
    local_steps: int
    #: beta L E.
    u: Fraction
    #: C that `ours.union_descent` gives; for a given n, by the same proof with the rho of n in place of the largest,
    #: that of one component.
    proved: Fraction
    #: What an instance with T = 1 needs: (L/2) x^2 with all components alike, or a linear h~.
    needed: Fraction


@taking
def union_constant(*, local_steps: Steps, u: Place, n: Count | None = None) -> UnionConstant:
    """C for E local steps with beta L E = u, for every order.

    Parameters
    ----------
    local_steps : int
        E.
    u : Fraction
        beta L E, positive, with beta L (1 + E) <= 1.
    n : int, optional
        Components of a client, memory and current data together; without it C serves every n.
    """
    E, place = int(local_steps), Fraction(u)
    b = place / E
    if b * (1 + E) > 1:
        raise InvalidInput(
            f"u = {u} is beta L (1 + E) = {b * (1 + E)}: use a u of at most {Fraction(E, 1 + E)} for E = {E}"
        )
    # One component is the worst n.
    size = 1 if n is None else int(n)
    order = orders.cyclic(size, E)
    rho = local_worst(order, n=size, step=b).delayed_sum - E
    q = 1 - b * (1 + E - rho)
    # (L/2) x^2 goes from x to factor x; h~ = -x falls by beta (1 + E).
    factor = 1 - b - b * local_descent(order, n=size, step=b)
    needed = max(1 / (b * (1 + E)), 2 / (1 - factor**2))
    return UnionConstant(n, E, place, 2 / (1 - q**2), needed)


@taking
def best_union_constant(local_steps: Steps, n: Count | None = None) -> UnionConstant:
    """The step size with the smallest proved C, and that C; the step size is a fraction next to the best.

    q is convex in beta L with slope -(1 + E) at 0, so it falls up to one place, and |q| < 1 is smallest there or at
    beta L (1 + E) = 1.
    """
    E = int(local_steps)
    end = Fraction(E, 1 + E)
    grid = Fraction(1, 2**_BITS)

    def falls(u: Fraction) -> bool:
        here, next_ = (union_constant(local_steps=E, u=one, n=n).proved for one in (u, u + grid))
        return next_ < here

    if falls(end - grid):
        return union_constant(local_steps=E, u=end, n=n)
    found = last_place(lambda u: u < end - grid and falls(u), Fraction(1, 64), bits=_BITS - 4)
    return union_constant(local_steps=E, u=found[0] if found else end, n=n)


@taking
def printed_range(local_steps: Steps, n: Count | None = None) -> Interval:
    """The beta L E between which 60 L is proved: from a fraction just above the smallest to the end E/(1 + E)."""
    E = int(local_steps)
    best = best_union_constant(E, n)
    # Along 1/u, so that the condition holds first and fails later.
    found = last_place(
        lambda inverse: union_constant(local_steps=E, u=1 / inverse, n=n).proved <= PRINTED, 1 / best.u, bits=_BITS
    )
    end = Fraction(E, 1 + E)
    if found is None or union_constant(local_steps=E, u=end, n=n).proved > PRINTED:
        raise ArithmeticError(f"60 L has no range of step sizes at E = {E}, n = {n}")
    return 1 / found[0], end


def many_steps(u: Fraction) -> Interval:
    """C as E grows at fixed u < 1, for every n: fractions around 2 / (1 - (exp(u) - 2 u)^2)."""
    if not 0 < u < 1:
        raise InvalidInput(f"u = {u}: use a fraction between 0 and 1")
    low, high = exp_bounds(Fraction(u))
    return 2 / (1 - (low - 2 * u) ** 2), 2 / (1 - (high - 2 * u) ** 2)
