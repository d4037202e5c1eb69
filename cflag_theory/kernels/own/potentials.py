"""A potential of the user's own: phi, phi' and the bound of |phi''|, for problems of ridge functions.

The code of a potential that Numba can compile is the address of a table of its three compiled functions. So the
compiled loops, which are made once and kept on disk, call it like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import formulas
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.own.files import is_plug_in, load
from cflag_theory.kernels.own.functions import Function, identity
from cflag_theory.public import Number, Positive

#: Places at which phi and phi' are compared and |phi''| is measured.
PLACES = np.concatenate([np.linspace(-8, 8, 1025), [sign * 2.0**k for k in range(4, 9) for sign in (-1, 1)]])
#: Codes below this are of potentials that Numba cannot compile; no address is that small.
LEAST_ADDRESS = 4096


@dataclass(frozen=True, eq=False)
class Potential:
    """phi with its derivatives; `own_potential` makes one."""

    name: str
    #: phi, phi' and phi'' of a number; without phi'' nothing that needs second derivatives runs.
    value: Function
    slope: Function
    curvature: Function | None
    #: sup |phi''|.
    bound: Any
    #: Whether the user gave it; otherwise it is measured, a lower bound.
    stated: bool
    #: inf phi.
    lower: Any
    #: Whether phi is bounded, so that weights may be negative.
    bounded: bool
    #: Whether the loss of a sample with label y = +-1 is phi(y a.x), and not phi(a.x - y).
    margin: bool
    #: Whether phi has its minimum at 0, as far as one can see.
    centred: bool
    #: Whether phi and phi' take fractions to fractions.
    rational: bool

    def __str__(self) -> str:
        return self.name

    @cached_property
    def identity(self) -> str:
        """A hash of its functions and its bound."""
        parts = [part.function for part in (self.value, self.slope, self.curvature) if part is not None]
        return f"{identity(*parts)} {self.bound}"

    @cached_property
    def code(self) -> int:
        """What stands for it among the codes of `formulas.POTENTIALS`."""
        from cflag_theory.kernels.engines.own.potentials import compile_potential

        parts = [None if part is None else part.function for part in (self.value, self.slope, self.curvature)]
        address = compile_potential(parts)
        code = address if address is not None else formulas.FIRST_OWN + sum(key < LEAST_ADDRESS for key in OWN)
        OWN[code] = self
        formulas.OWN[code] = tuple(_called(part) for part in (self.value, self.slope, self.curvature))
        return code

    @property
    def compiled(self) -> bool:
        """Whether Numba can compile it."""
        return self.code >= LEAST_ADDRESS


#: Every potential of the user that a problem was made with, by its code.
OWN: dict[int, Potential] = {}


def own_potential(
    value: Callable[[Any], Any],
    slope: Callable[[Any], Any],
    curvature: Callable[[Any], Any] | None = None,
    *,
    bound: Positive | None = None,
    lower: Number | None = None,
    bounded: bool = False,
    margin: bool = False,
    name: str | None = None,
) -> Potential:
    """A potential of your own, to pass to `glm`, `separable` and `load_data` instead of a name.

    Parameters
    ----------
    value, slope : callable
        phi(z) and phi'(z) of a number, with the functions of `math`. If Numba can compile them, all compiled engines
        run them, else the reference engine. Where they take fractions to fractions, exact runs may use them.
    curvature : callable, optional
        phi''(z), for models of past rounds by second derivatives.
    bound : number, optional
        sup |phi''|, with which L of a problem is computed. Without it, it is measured, which gives a lower bound.
    lower : number, optional
        A number that phi is never below; bounds of rates need it.
    bounded : bool
        Whether phi is bounded, so that weights may be negative.
    margin : bool
        Whether the loss of a sample with label y = +-1 is phi(y a.x), and not phi(a.x - y).

    Raises
    ------
    InvalidInput
        A function that raises or returns no finite number, a slope that is not that of phi, or a bound that two slopes
        contradict.
    """
    parts = {"value": value, "slope": slope} | ({} if curvature is None else {"curvature": curvature})
    functions = {what: Function(what, part) for what, part in parts.items()}
    phi, phi1 = _values(functions["value"]), _values(functions["slope"])
    _compare(functions["value"], functions["slope"], phi1)
    if curvature is not None:
        _compare(functions["slope"], functions["curvature"], _values(functions["curvature"]))
    order = np.argsort(PLACES)
    with np.errstate(all="ignore"):
        measured = float((abs(np.diff(phi1[order])) / np.diff(PLACES[order])).max())
    if bound is not None and measured > float(bound) * (1 + 1e-6):
        raise InvalidInput(f"bound is stated as {bound} and two slopes need {measured:.6g}: state at least that")
    if bound is None and measured <= 0:
        raise InvalidInput("slope is constant, so that phi'' cannot be measured: state bound=")
    if lower is not None and lower > phi.min():
        raise InvalidInput(f"lower is {lower!r} and value falls to {phi.min():.6g}: state a number below")
    return Potential(
        name=name or str(getattr(value, "__name__", "own")),
        value=functions["value"],
        slope=functions["slope"],
        curvature=functions.get("curvature"),
        bound=measured if bound is None else bound,
        stated=bound is not None,
        lower=lower,
        bounded=bounded,
        margin=margin,
        centred=bool(phi.min() >= _called(functions["value"])(0.0) and _called(functions["slope"])(0.0) == 0),
        rational=all(map(_rational, functions.values())),
    )


def potential_code(potential: str | Potential) -> int:
    """The code of a potential: a name of `formulas.POTENTIALS`, FILE.py:name, or one of the user's own."""
    if isinstance(potential, str) and is_plug_in(potential):
        found = load(potential)
        if not isinstance(found, Potential):
            raise InvalidInput(f"{potential} is {type(found).__name__}: let it name own_potential(...)")
        return found.code
    if isinstance(potential, Potential):
        return potential.code
    if potential not in formulas.POTENTIALS:
        known = f"use one of {', '.join(formulas.POTENTIALS)}, or FILE.py:name for your own"
        raise UnknownName(f"potential {potential!r} is unknown: {known}")
    return formulas.POTENTIALS[potential]


def potential_name(code: int) -> str:
    """The name of the potential of a code."""
    if code in OWN:
        return OWN[code].name
    return next(name for name, known in formulas.POTENTIALS.items() if known == code)


def is_rational(code: int) -> bool:
    """Whether the potential of a code takes fractions to fractions."""
    return OWN[code].rational if code in OWN else code in formulas.RATIONAL


def _called(function: Function | None) -> Callable[[Any], Any]:
    def missing(z: Any) -> Any:
        raise InvalidInput("the potential has no curvature, which models of second derivatives need: pass curvature")

    if function is None:
        return missing

    def call(z: Any) -> Any:
        like = np.array([z], dtype=object if isinstance(z, Fraction) else np.float64)
        return function.scalar(function.of(z), like)

    return call


def _values(function: Function) -> Array:
    call = _called(function)
    found = np.array([call(float(z)) for z in PLACES])
    if not np.isfinite(found).all():
        at = PLACES[~np.isfinite(found)][0]
        raise InvalidInput(f"{function.where}{function.what} is not finite at {at:g}: fix it there")
    return found


def _compare(function: Function, derivative: Function, stated: Array) -> None:
    call, h = _called(function), 2.0**-16
    for z, expected in zip(PLACES.tolist(), stated.tolist(), strict=True):
        step = h * max(1.0, abs(z))
        ahead, behind = call(z + step), call(z - step)
        ends = [_called(derivative)(z + side * step) for side in (-1, 1)]
        numeric = (ahead - behind) / (2 * step)
        rounding = 64 * np.finfo(np.float64).eps * max(abs(ahead), abs(behind)) / step
        allowed = abs(ends[1] - ends[0]) + rounding + 1e-6 * max(abs(numeric), abs(expected))
        if not abs(numeric - expected) <= allowed + 1e-9:
            raise InvalidInput(
                f"{derivative.where}{derivative.what} is {expected:.6g} at {z:g}, where {function.what} changes by "
                f"{numeric:.6g} a unit: make it the derivative of {function.what}"
            )


def _rational(function: Function) -> bool:
    try:
        return all(isinstance(function.function(Fraction(k, 3)), Fraction | int) for k in (-7, -1, 0, 1, 7))
    except Exception:
        return False
