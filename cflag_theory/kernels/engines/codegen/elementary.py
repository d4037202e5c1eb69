"""log(1 + y) for compiled loops, which vectorises: the library's is a call for every number, eight times slower."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from cflag_theory.kernels import formulas

#: Bits of sqrt(1/2) and of 2^52 as float64, bits of a fraction, and the exponent of 1.
ROOT_HALF, INTEGERS, FRACTION, BIAS = 0x3FE6A09E667F3BCD, 0x4330000000000000, 52, 1023
TWO_52 = 4503599627370496.0
#: log 2 as a number with few bits, whose multiples are exact, and the rest.
LOG_2, LOG_2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10


def log1p(y: Any) -> Any:
    """log(1 + y) for y >= 0, within an ulp of the true value; NaN where y is infinite or NaN.

    With 1 + y = 2^e (1 + f) and s = f / (2 + f), log(1 + f) = 2 (s + s^3 / 3 + s^5 / 5 + ...); the series is replaced
    by the polynomial of least error for sqrt(1/2) < 1 + f < sqrt(2), known from fdlibm. What 1 + y loses in rounding
    comes back as its share of the derivative.
    """
    y = np.float64(y)
    u = 1.0 + y
    bits = np.float64(u).view(np.int64)
    exponent = (bits - np.int64(ROOT_HALF)) >> np.int64(FRACTION)
    f = np.int64(bits - (exponent << np.int64(FRACTION))).view(np.float64) - 1.0
    # Without a conversion from int64, which few processors have for vectors.
    e = np.int64(exponent + np.int64(INTEGERS)).view(np.float64) - TWO_52
    # Over u, to within a fifteenth, which is enough for what is so small.
    per_u = np.int64((np.int64(BIAS) - exponent) << np.int64(FRACTION)).view(np.float64) * (1.0 - f + f * f)
    lost = (y - (u - 1.0)) * per_u
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    odd = 2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860510658591e-01)
    tail = even + z * (6.666666666666735130e-01 + w * odd)
    half = 0.5 * f * f
    small = half - (s * (half + tail) + (e * LOG_2_REST + lost))
    # The last term is 0, or NaN where u is not finite.
    return e * LOG_2 - (small - f) + (u - u)


def register() -> None:
    """Let compiled code use it wherever a formula calls `formulas.log1p`."""
    # Sums are not reordered in it: that would drop what was lost in rounding.
    options: Any = {"fastmath": {"contract"}, "error_model": "numpy"}
    overload(formulas.log1p, jit_options=options)(_implementation)


def _implementation(y: Any) -> Any:
    return log1p
