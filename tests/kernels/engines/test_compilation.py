"""A loop keeps what it calls to itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit

from cflag_theory.kernels.engines.codegen.cache import allocating, compiled, inner
from cflag_theory.kernels.engines.codegen.versions import REASON


def _long_function():
    """Too long to be copied to where it is called."""
    body = "\n".join(f"    z = math.sin(z + {k}) / 2" for k in range(60))
    space = {"math": math}
    exec(f"def long_one(z):\n{body}\n    return z\n", space)
    return space["long_one"]


def _visible(loop):
    (overload,) = loop.overloads.values()
    return {
        function.name for function in overload.library.get_defined_functions() if function.linkage.name != "internal"
    }


def _twice(part):
    def twice(z):
        return part(z) - part(z + 1)

    return twice


def test_numba_alone_lets_other_loops_see_a_copy():
    loop = njit(_twice(njit(_long_function())))
    loop(0.5)
    assert any("long_one" in name for name in _visible(loop))


@pytest.mark.skipif(bool(REASON), reason=f"Numba compiles by itself: {REASON}")
@pytest.mark.parametrize("decorate", [inner, allocating])
def test_a_loop_keeps_its_parts_to_itself(decorate):
    plain = _long_function()
    part = decorate(plain)
    loop = compiled(_twice(part))
    assert loop(0.5) == pytest.approx(plain(0.5) - plain(1.5), rel=1e-9)
    assert not any("long_one" in name for name in _visible(loop))
    (overload,) = part.overloads.values()
    assert overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name) == 0


def test_parts_may_make_arrays_for_their_loop():
    @allocating
    def ramp(n):
        return np.arange(n) * 0.5

    @compiled
    def total(n):
        return ramp(n).sum()

    assert total(5) == 5.0
