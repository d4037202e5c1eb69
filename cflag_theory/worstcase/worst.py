"""The exact worst case of a federated method: an interval, its lower end attained by a run, its upper end proved."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from typing import Any

from cflag_theory.kernels.algorithms import Algorithm
from cflag_theory.shown import Sheet, Shown
from cflag_theory.worstcase.attaining import Attained, attain
from cflag_theory.worstcase.certificate import Certificate, solve_and_prove, sparse
from cflag_theory.worstcase.drawing import attain_drawn, pose_drawn
from cflag_theory.worstcase.methods import CONVEX, SMOOTH, VALUE, Setting, pose
from cflag_theory.worstcase.page import covers, page
from cflag_theory.worstcase.playing import method as named
from cflag_theory.worstcase.threads import one_thread

#: Relative widths of an interval that are remarked on.
_WIDE = 1e-4
#: Local steps in all up to which a proof is written out.
_SHOWN = 4

UNITS = {
    "f": "F(x_T) - F*",
    "distance": "||x_T - x*||^2",
    "grad": "||grad F(x_T)||^2",
    "min-grad": "min_{t<T} ||grad F(x_t)||^2",
}


@dataclass(frozen=True, eq=False, repr=False)
class WorstCase(Shown):
    """The largest value of a measure over all functions that fit the hypotheses lies in [lower, upper].

    Attributes
    ----------
    setting : Setting
        Method, numbers and hypotheses.
    attained : Attained or None
        Worst functions, and the run on them that reaches `lower`; None for draws among many clients.
    certificate : Certificate
        The proof of `upper`, in units of L = 1 and `Setting.unit`.
    value : float
        What the solver found; it proves nothing.
    seconds : float
        CPU time of all of it.
    """

    setting: Setting
    attained: Attained | None = field(repr=False)
    certificate: Certificate = field(repr=False)
    value: float
    seconds: float

    @property
    def lower(self) -> float:
        """Reached by the simulator's plain loop on explicit functions, in floats; nan where no run was made."""
        return math.nan if self.attained is None else self.attained.value

    @property
    def upper(self) -> Fraction:
        """Proved: the certificate's bound."""
        return self.certificate.bound * self.setting.factor

    @property
    def exact_for(self) -> str:
        """The numbers of clients, and weights, for which this is the worst case."""
        setting = self.setting
        if setting.clients == 1:
            return "N = 1"
        if setting.drawn > 0:
            return f"{setting.participants} of N = {setting.clients} clients of equal weight, drawn in a round"
        return "every N >= 2 with weights up to 1/2; beyond, upper is an upper bound"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        setting = self.setting
        return {
            "algorithm": setting.row.name,
            "server_rate": str(setting.row.server_rate),
            "proximal": str(setting.row.proximal),
            "E": setting.E,
            "T": setting.T,
            "N": setting.clients,
            **{name: str(getattr(setting, name)) for name in ("eta", "L", "mu", "radius", "heterogeneity")},
            **{name: getattr(setting, name) for name in ("participants", "components", "order")},
            **{name: str(getattr(setting, name)) for name in ("bias", "ratio")},
            "class": setting.kind,
            "measure": setting.measure,
            "unit": UNITS[setting.measure],
            "hypotheses": list(setting.hypotheses),
            "lower": None if self.attained is None else self.lower,
            "upper": rounded_up(self.upper),
            "upper_exact": str(self.upper),
            "exact_for": self.exact_for,
            "certificate": self.certificate.to_json(),
            "dimension": None if self.attained is None else self.attained.dimension,
            "seconds": self.seconds,
        }

    def proof(self) -> list[str]:
        """The bound as a sum of few conditions, a line each, in units of L = 1 and `Setting.unit`; empty if it is long.

        A line says which multiple of f_i >= f_j + <g_j, x_i - x_j> + ... the sum has, for two points of one function.
        """
        setting = self.setting
        if setting.E * setting.T > _SHOWN or setting.families:
            return []
        problem = pose(setting)
        short = sparse(problem, self.certificate)

        def name(q: int, k: int) -> str:
            x, _, _ = problem.functions[q].points[k]
            if not x.mean and not x.own and setting.kind != SMOOTH:
                return "x*"
            shared = [t for t, one in enumerate(problem.shared) if one.key == x.key]
            # Other points are local ones, in the order in which they were met.
            return f"x_{shared[0]}" if shared else f"y_{k}"

        several = len(problem.functions) > 1
        lines = [f"the sum of these conditions is: measure <= {rounded_up(short.bound):.9g} minus squares"]
        for (q, i, j), value in short.pairs.items():
            of = f" of function {q + 1}" if several else ""
            lines.append(f"{float(value):.6g} times that at {name(q, i)} from {name(q, j)}{of}")
        lines += [f"{float(y):.6g} times {words}" for words, y in zip(problem.names, short.rows, strict=True)]
        return lines

    def page(self) -> str:
        """The proof as a page that `cflag verify FILE.page` decides anew; empty where `page.covers` says no."""
        return page(self.setting, self.certificate, self.lower) if covers(self.setting) else ""

    def sheet(self) -> Sheet:
        """The interval, for whom it holds and what is assumed."""
        setting, upper = self.setting, rounded_up(self.upper)
        lower = "no run" if self.attained is None else _decimals(self.lower, ROUND_FLOOR)
        rows = [
            ("attained by a run", lower),
            ("proved in fractions", _decimals(upper, ROUND_CEILING)),
            ("exact for", self.exact_for),
            ("conditions that the proof uses", sum(value > 0 for value in self.certificate.pairs.values())),
            ("dimension of the worst functions", "" if self.attained is None else self.attained.dimension),
            ("CPU seconds", round(self.seconds, 2)),
        ]
        line = (
            f"{UNITS[setting.measure]} of {setting.row.name}, E = {setting.E}, T = {setting.T}, eta = {setting.eta}: "
        )
        notes = [*setting.hypotheses]
        if self.attained is None:
            notes.append("runs of all draws are made for few clients; the solver's value is " + f"{self.value:.9g}")
        if upper - self.lower > _WIDE * upper:
            notes.append("the interval is wide: radius, heterogeneity and steps are too far apart for the solver")
        return Sheet(f"{line}{rows[0][1]} to {rows[1][1]}", ("worst case", ""), rows, notes)


def _decimals(value: float, rounding: str) -> str:
    """Nine digits, rounded outwards."""
    return f"{Context(prec=9, rounding=rounding).create_decimal(value).normalize():f}"


def rounded_up(value: Fraction) -> float:
    """The least float that is not below the fraction."""
    found = float(value)
    return found if Fraction(found) >= value else math.nextafter(found, math.inf)


def worst_case(
    method: str | Algorithm = "fedavg",
    *,
    E: int,
    T: int,
    eta: Fraction | int,
    L: Fraction | int = 1,
    mu: Fraction | int = 0,
    kind: str = CONVEX,
    radius: Fraction | int = 1,
    heterogeneity: Fraction | int = 1,
    measure: str = VALUE,
    N: int = 2,
    S: int | None = None,
    n: int = 1,
    order: Sequence[int] = (),
    alpha: Fraction | int | None = None,
    m: Fraction | int = 0,
    r: Fraction | int = 1,
    progress: Callable[[float], None] | None = None,
) -> WorstCase:
    """The exact worst case of T rounds of a method over all clients' functions of a class, for every number of clients.

    Clients take full gradients, but for delayed ones, and all of them take part in every round, unless S is given.

    Parameters
    ----------
    method : str or Algorithm
        A row of the algorithm table or of `playing.METHODS`, `own_algorithm(...)`, or the name of one. "fedavg" and
        other rows that draw components use full gradients here.
    E, T : int
        Local steps and rounds.
    eta : Fraction or int
        Step size of the local steps.
    L, mu : Fraction or int
        Smoothness, and strong convexity for class "strongly-convex".
    kind : {"convex", "strongly-convex", "smooth"}
        The class of every client's function; "smooth" ones need not be convex.
    radius : Fraction or int
        Bounds ||x_0 - x*||; for "smooth" it bounds F(x_0) - F(x_T).
    heterogeneity : Fraction or int
        Bounds the mean of ||grad f_i(x*)||^2; for "smooth" that of ||grad f_i(x_t) - grad F(x_t)||^2 at every x_t.
    measure : {"f", "distance", "grad", "min-grad"}
        F(x_T) - F*, ||x_T - x*||^2, ||grad F(x_T)||^2, or the least ||grad F(x_t)||^2 over t < T.
    N : int
        Clients: 1, or any larger number, which changes nothing where all take part.
    S : int, optional
        Clients that are drawn in a round, for T = 1 and "distance", whose mean over the draws is meant.
    n, order : int and sequence of int
        Components of a client, for delayed gradients, and which of them is refreshed at k = 1, ..., E - 1; default: in
        turn.
    alpha, m, r : Fraction or int
        Of C-FLAG: step along the memory, by default 1 / (L (1 + m)); ||b_t||^2 <= m ||grad f(x_t)||^2; and the mean of
        ||grad g_i(x_t)||^2 is at most r^2 ||grad f(x_t)||^2. `radius` bounds f(x_0) - f(x_T), and f is measured.
    progress : callable, optional
        Called with the value of every relaxed program.

    Raises
    ------
    InvalidInput
        A number outside its range; `NotLinear` for a method that is not covered.
    Unsolved
        `Unbounded`, `NoInterior` or `NotConverged`.
    """
    row = named(method) if isinstance(method, str) else method
    step, smooth, strong, start, spread = (Fraction(value) for value in (eta, L, mu, radius, heterogeneity))
    setting = Setting(
        *(row, E, T, step, smooth, strong, kind, start, spread, measure, N),
        participants=S,
        components=n,
        order=tuple(order),
        alpha=None if alpha is None else Fraction(alpha),
        bias=Fraction(m),
        ratio=Fraction(r),
    )
    return solve_setting(setting, progress=progress)


def solve_setting(setting: Setting, *, progress: Callable[[float], None] | None = None) -> WorstCase:
    """As `worst_case`."""
    began = time.process_time()
    drawn = pose_drawn(setting) if setting.families else None
    problem = pose(setting) if drawn is None else drawn.families.problem
    with one_thread():
        solution, certificate = solve_and_prove(problem, period=setting.E, progress=progress)
        if drawn is None:
            attained: Attained | None = attain(setting, problem, solution)
        else:
            attained = attain_drawn(setting, drawn, solution)
    value = solution.value * float(setting.factor)
    return WorstCase(setting, attained, certificate, value, time.process_time() - began)
