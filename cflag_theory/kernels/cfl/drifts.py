"""Client and time drifts (5), and the noise of a step: random linear terms and multiples of a client's gradient.

    grad f_{t,i}(w) = grad f_i(w) - delta_i - xi_{t,i},

where delta_i is an offset of mean square G^2 plus B s_i grad f_i(w) with a fair sign s_i, so that Assumption 3 holds
with equality; xi_{t,i} likewise with D and A. The drawing functions are plain Python that the compiled loop uses too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Annotated, Any

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import draws
from cflag_theory.kernels.draws import below, lane, words
from cflag_theory.kernels.numbers import Array
from cflag_theory.public import NotNegative, one_of, require_fields

# Isotropic Gaussian vectors, or plus or minus one coordinate drawn at random, which is rational.
NORMAL, SIGNS = LAWS = ("normal", "sign")
# How the time drifts of one client depend on each other: not at all, by Assumption 6, by Assumption 7.
INDEPENDENT, COMMON, GEOMETRIC = CORRELATIONS = ("independent", "common", "geometric")

# The compiled loop knows laws and correlations by their positions.
_SIGNS, _COMMON, _GEOMETRIC = 1, 1, 2
PI2 = 2 * math.pi
# Words are below this power of two; as an integer it leaves fractions exact.
WORDS = 1 << 32


@dataclass(frozen=True)
class Drift:
    """The gradient noise model of Sec. 3.3; with all parameters zero there is no drift.

    Attributes
    ----------
    G, B : number
        𝔼||delta_i||^2 = G^2 + B^2 ||grad f_i||^2.
    D, A : number
        𝔼||xi_{t,i}||^2 = D^2 + A^2 ||grad f_i||^2.
    sigma : number
        𝔼||nu_{t,i,k}||^2 = sigma^2, drawn anew at every local step (Assumption 2).
    law : str
        "normal": isotropic Gaussian. "sign": plus or minus one coordinate drawn uniformly, rational in exact runs.
    correlation : str
        Between the time drifts of a client: "independent"; "common", 𝔼<xi_1, xi_2> = F^2 + C^2 ||grad f_i||^2
        (Assumption 6); "geometric", alpha^|t1 - t2| (D^2 + A^2 ||grad f_i||^2) (Assumption 7). Normal offsets are
        linear combinations. Those of the sign law, and all signs s, are renewed: under Assumption 7 the last draw is
        kept with probability alpha, under Assumption 6 the draw common to all rounds is taken with probability F / D
        (C / A for s).
    F, C, alpha : number
        0 <= F <= D and 0 <= C <= A for "common", 0 <= alpha < 1 for "geometric", else 0.
    stateless : bool
        Every client appears once: delta_i is drawn anew every round.

    Raises
    ------
    UnknownName
        No such law or correlation.
    InvalidInput
        A dial outside its range, or one that the correlation does not read.
    """

    G: NotNegative = 0
    B: NotNegative = 0
    D: NotNegative = 0
    A: NotNegative = 0
    sigma: NotNegative = 0
    law: Annotated[str, one_of(*LAWS)] = NORMAL
    correlation: Annotated[str, one_of(*CORRELATIONS)] = INDEPENDENT
    F: NotNegative = 0
    C: NotNegative = 0
    alpha: NotNegative = 0
    stateless: bool = False

    def __post_init__(self) -> None:
        require_fields(self)
        if self.correlation != COMMON and (self.F or self.C):
            raise InvalidInput(f"F = {self.F} and C = {self.C} belong to Assumption 6: use correlation='common'")
        if self.correlation != GEOMETRIC and self.alpha:
            raise InvalidInput(f"alpha = {self.alpha} belongs to Assumption 7: use correlation='geometric'")
        if self.F > self.D or self.C > self.A:
            raise InvalidInput(
                f"F = {self.F}, D = {self.D}, C = {self.C}, A = {self.A}: no drifts have F > D or C > A, lower F or C"
            )
        if self.alpha >= 1:
            raise InvalidInput(f"alpha is {self.alpha}: Assumption 7 needs a number below 1")


#: The fields of `Drift` that hold numbers.
NUMBERS = tuple(field.name for field in fields(Drift) if field.type == "NotNegative")


def fill_vector(
    law: int, seed: int, purpose: int, replica: int, client: int, round_: int, step: int, scale: Any, out: Array
) -> None:
    """A random vector with mean zero and E||.||^2 = scale^2 into out (d,); `law` is a position in `LAWS`."""
    d = len(out)
    if law == _SIGNS:
        four = words(seed, purpose, replica, client, round_, step)
        for c in range(d):
            out[c] = scale * 0
        out[below(four[0], d)] = scale if four[1] & 1 == 0 else -scale
        return
    blocks = (d + 3) >> 2
    size = scale / math.sqrt(d)
    four = words(seed, purpose, replica, client, round_, step * blocks)
    for c in range(d):
        if c > 0 and c & 3 == 0:
            four = words(seed, purpose, replica, client, round_, step * blocks + (c >> 2))
        # Box and Muller: two words give a radius and an angle, and these two coordinates.
        radius = math.sqrt(-2 * math.log((lane(four, c & 2) + 1) / WORDS))
        angle = PI2 * (lane(four, (c & 2) + 1) / WORDS)
        out[c] = size * (radius * (math.cos(angle) if c & 1 == 0 else math.sin(angle)))


def time_drift(
    law: int,
    correlation: int,
    seed: int,
    replica: int,
    client: int,
    t: int,
    D: Any,
    F: Any,
    share: Any,
    alpha: Any,
    xi: Array,
    scratch: Array,
) -> None:
    """The offset of xi_{t,i} into xi (d,), which holds that of round t - 1; share = F / D; scratch (d,)."""
    renewal = words(seed, draws.TIME_SIGN, replica, client, t, 0)[1]
    if law == _SIGNS:
        if correlation == _GEOMETRIC and t > 0 and renewal < alpha * WORDS:
            return
        common = correlation == _COMMON and renewal < share * WORDS
        purpose = draws.COMMON_DRIFT if common else draws.TIME_DRIFT
        fill_vector(law, seed, purpose, replica, client, 0 if common else t, 0, D, xi)
        return
    if correlation == _COMMON:
        fill_vector(law, seed, draws.COMMON_DRIFT, replica, client, 0, 0, F, xi)
        fill_vector(law, seed, draws.TIME_DRIFT, replica, client, t, 0, math.sqrt(D * D - F * F), scratch)
    else:
        keep = alpha if correlation == _GEOMETRIC and t > 0 else 0.0
        for c in range(len(xi)):
            xi[c] = keep * xi[c]
        fill_vector(law, seed, draws.TIME_DRIFT, replica, client, t, 0, D * math.sqrt(1 - keep * keep), scratch)
    for c in range(len(xi)):
        xi[c] += scratch[c]


def client_sign(seed: int, replica: int, client: int, round_: int) -> int:
    """s_i: +1 or -1."""
    return 1 - 2 * (words(seed, draws.CLIENT_SIGN, replica, client, round_, 0)[0] & 1)


def time_sign(
    correlation: int, seed: int, replica: int, client: int, t: int, share: Any, alpha: Any, previous: int
) -> int:
    """s_{t,i}: +1 or -1, given that of round t - 1; share = C / A."""
    four = words(seed, draws.TIME_SIGN, replica, client, t, 0)
    if correlation == _GEOMETRIC and t > 0 and four[3] < alpha * WORDS:
        return previous
    if correlation == _COMMON and four[3] < share * WORDS:
        return 1 - 2 * (words(seed, draws.COMMON_SIGN, replica, client, 0, 0)[0] & 1)
    return 1 - 2 * (four[2] & 1)
