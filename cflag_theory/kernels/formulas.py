"""Every scalar formula of the papers, each once.

Plain functions of plain numbers: the compiled loop inlines them, the NumPy reference calls them, they run on
``Fraction`` wherever the formula is rational, and ``sympy`` traces through them when a test compares them with
the claim that they implement.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

# Potentials are scaled so that sup |phi''| = 1: the curvature bound of a component is then its row norm alone.
CAUCHY, COSINE, GEMAN_MCCLURE, QUADRATIC, LOGISTIC, HUBER = 0, 1, 2, 3, 4, 5
POTENTIALS = {
    "cauchy": CAUCHY,
    "cosine": COSINE,
    "geman_mcclure": GEMAN_MCCLURE,
    "quadratic": QUADRATIC,
    "logistic": LOGISTIC,
    "huber": HUBER,
}
#: Potentials with bounded values: only these may carry negative weights, or the objective has no infimum.
BOUNDED = frozenset({COSINE, GEMAN_MCCLURE})
#: Potentials with their minimum at 0, so that a separable problem knows its stationary points.
CENTRED = frozenset({CAUCHY, COSINE, GEMAN_MCCLURE, QUADRATIC, HUBER})
#: Potentials whose value and derivatives are rational functions: only these run on ``Fraction``.
RATIONAL = frozenset({GEMAN_MCCLURE, QUADRATIC, HUBER})
#: From here on codes are of potentials of the user, see `own.potentials`: phi, phi' and phi'' of each.
FIRST_OWN = 6
OWN: dict[int, tuple[Callable[[Any], Any], ...]] = {}


def own(kind: int, derivative: int, z: Any) -> Any:
    """phi, phi' or phi'' of a user's potential; compiled loops have their own, see `engines.own.potentials`."""
    return OWN[kind][derivative](z)


def log1p(y: Any) -> Any:
    """log(1 + y), y >= 0; compiled loops have their own, see `elementary`."""
    return math.log1p(y)


def potential(kind: int, z: Any) -> Any:
    """phi(z): log(1 + z^2/2), 1 - cos z, z^2 / (2 (1 + z^2)), 4 log(1 + e^-z), Huber's or z^2 / 2.

    Huber's is z^2 / 2 up to |z| = 1 and |z| - 1/2 beyond.
    """
    if kind == CAUCHY:
        return log1p(z * z / 2)
    if kind == COSINE:
        # 2 sin^2 keeps the relative accuracy that 1 - cos loses near zero.
        return 2 * math.sin(z / 2) * math.sin(z / 2)
    if kind == GEMAN_MCCLURE:
        return z * z / (2 * (1 + z * z))
    if kind == LOGISTIC:
        # e^-|z| is at most 1, so that nothing overflows.
        return 4 * (log1p(math.exp(-abs(z))) + max(-z, 0.0))
    if kind >= FIRST_OWN:
        return own(kind, 0, z)
    if kind == HUBER and abs(z) > 1:
        return (2 * abs(z) - 1) / 2
    return z * z / 2


def slope(kind: int, z: Any) -> Any:
    """phi'(z)."""
    if kind == CAUCHY:
        return z / (1 + z * z / 2)
    if kind == COSINE:
        return math.sin(z)
    if kind == GEMAN_MCCLURE:
        return z / ((1 + z * z) * (1 + z * z))
    if kind == LOGISTIC:
        small = math.exp(-abs(z))
        return -4 * (small if z > 0 else 1.0) / (1 + small)
    if kind >= FIRST_OWN:
        return own(kind, 1, z)
    if kind == HUBER and abs(z) > 1:
        return z / abs(z)
    return z


def curvature(kind: int, z: Any) -> Any:
    """phi''(z), between -1 and 1."""
    if kind == CAUCHY:
        return (1 - z * z / 2) / ((1 + z * z / 2) * (1 + z * z / 2))
    if kind == COSINE:
        return math.cos(z)
    if kind == GEMAN_MCCLURE:
        return (1 - 3 * z * z) / ((1 + z * z) * (1 + z * z) * (1 + z * z))
    if kind == LOGISTIC:
        # 4 e^-z / (1 + e^-z)^2, in a form that rounding keeps at or below 1.
        small = math.exp(-abs(z))
        away = (1 - small) / (1 + small)
        return 1 - away * away
    if kind >= FIRST_OWN:
        return own(kind, 2, z)
    if kind == HUBER and abs(z) > 1:
        return z * 0
    return z * 0 + 1


def refreshed_mean(mean: Any, new: Any, old: Any, count: Any) -> Any:
    """The delayed gradient (5) after one of its `count` components went from `old` to `new`."""
    return mean + (new - old) / count


def round_update(x: Any, grad_f_memory: Any, delayed_sum: Any, alpha: Any, beta: Any) -> Any:
    """Round update (24): x - alpha grad_f_memory - beta S, S the weighted sum of the delayed gradients."""
    return x - alpha * grad_f_memory - beta * delayed_sum


def forgetting(L: Any, alpha: Any, beta: Any, sum_norm2: Any, memory_dot_sum: Any) -> Any:
    """Gamma(t) of (15): (L beta^2 / 2) ||S||^2 - beta (1 - L alpha) <grad_f_memory, S>."""
    return L * beta * beta * sum_norm2 / 2 - beta * (1 - L * alpha) * memory_dot_sum


def transference_rate(L: Any, alpha: Any, product: Any, weighted_norm2: Any) -> Any:
    """(1 - L alpha) Lambda / (L w ||a||^2): beta of (16) with w = 1 and a = S, and beta_{t,i} of Table 1.

    w = p_i gives its average case, w = N p_i its worst case.
    """
    return (1 - L * alpha) * product / (L * weighted_norm2)


def interference_rate(alpha: Any, product: Any, memory_norm2: Any) -> Any:
    """alpha_{t,i} of Table 1: alpha (1 - Lambda_{t,i} / ||grad_f_memory||^2)."""
    return alpha * (1 - product / memory_norm2)


def table1_rates(L: Any, alpha: Any, beta: Any, product: Any, memory_norm2: Any, weighted_norm2: Any) -> Any:
    """(alpha_{t,i}, beta_{t,i}) by the sign of Lambda_{t,i}; interference keeps beta, as in Algorithm 3.

    Where Table 1 divides by zero nothing moves along the vector in question, and the rates stay as they are.
    """
    if product > 0 and weighted_norm2 > 0:
        return alpha, transference_rate(L, alpha, product, weighted_norm2)
    if memory_norm2 > 0:
        return interference_rate(alpha, product, memory_norm2), beta
    return alpha, beta


def common_rate(L: Any, alpha: Any, product: Any, sum_norm2: Any) -> Any:
    """The beta >= 0 with the least Gamma for a given S: (16) where (1 - L alpha) Lambda is positive, else 0."""
    if (1 - L * alpha) * product > 0 and sum_norm2 > 0:
        return transference_rate(L, alpha, product, sum_norm2)
    return product * 0


def interaction_rate(L: Any, alpha: Any, beta: Any, product: Any, interaction: Any, norm2: Any) -> Any:
    """max(0, beta + ((1 - L alpha) Lambda_{t,i} - L beta <a_i, S>) / (L ||a_i||^2)), or beta where a_i = 0.

    Every client at this rate lowers Gamma of the step really taken.
    """
    if norm2 > 0:
        return max(beta * 0, beta + ((1 - L * alpha) * product - L * beta * interaction) / (L * norm2))
    return beta


def overfitting(L: Any, alpha: Any, beta: Any, grad_dot_bias: Any, bias_dot_sum: Any) -> Any:
    """B(t) of (34) with its sum from k = 0: (L alpha^2 - alpha) <grad_f, b> + beta <b, S>."""
    return (L * alpha * alpha - alpha) * grad_dot_bias + beta * bias_dot_sum


def state_columns(
    share: Any, rest: Any, f: Any, g: Any, f_memory: Any, grad_f2: Any, grad_g2: Any, grad_h2: Any, grad_memory2: Any,
    b2: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """The columns of `trace.STATE` in their order; `share` is the memory's in h~ and `rest` = 1 - share that of g."""
    return f, g, share * f_memory + rest * g, grad_f2, grad_g2, grad_h2, grad_memory2, b2


def round_columns(
    L: Any, alpha: Any, beta: Any, sum_norm2: Any, memory_dot_sum: Any, grad_dot_bias: Any, bias_dot_sum: Any,
    drift2_max: Any, error2_max: Any, rho_sum2: Any, error_sum2: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """The columns of `trace.ROUND` in their order, but for the last, the information loss."""
    Gamma = forgetting(L, alpha, beta, sum_norm2, memory_dot_sum)
    B = overfitting(L, alpha, beta, grad_dot_bias, bias_dot_sum)
    return Gamma, B, sum_norm2, drift2_max, error2_max, rho_sum2, error_sum2


def descent_factor(L: Any, m: Any, alpha: Any) -> Any:
    """The factor 1 / (alpha [1 - (L/2) alpha (1 + m)]) of Lemma 1."""
    return 1 / (alpha * (1 - L * alpha * (1 + m) / 2))
