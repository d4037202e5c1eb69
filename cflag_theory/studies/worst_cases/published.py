"""Published bounds of federated methods beside the exact worst case of what each of them bounds.

All are for full local gradients, all clients in every round, convex L-smooth f_i, R = ||x_0 - x*|| and G^2 the mean of
||grad f_i(x*)||^2. Where a paper bounds the heterogeneity everywhere, by mean_i ||grad f_i||^2 <= G'^2 + 2 L B^2 (F -
F*), convex and L-smooth f_i have it with G'^2 = 2 G^2 and B^2 = 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from scipy.optimize import minimize_scalar

from cflag_theory.shown import Sheet, Shown
from cflag_theory.verify.worst_cases import union_problem
from cflag_theory.worstcase.certificate import solve_and_prove
from cflag_theory.worstcase.methods import CONVEX, VALUE, Setting, pose
from cflag_theory.worstcase.model import Problem
from cflag_theory.worstcase.playing import method
from cflag_theory.worstcase.solving import solve
from cflag_theory.worstcase.threads import one_thread
from cflag_theory.worstcase.vectors import Form, Vector

LOCAL_MEAN, ROUNDS = "F at the mean of all local points - F*", "mean over t < T of F(x_t) - F*"
LEAST, LAST = "min ||grad h~||^2", "F(x_T) - F*, F the mean over clients and rounds"
#: How a statement was read: from the text itself, or from memory, its constants not yet compared with the text.
READ, RECALLED = "checked against the text", "recalled, to be checked"
#: E and T of the table.
SETTINGS = ((2, 2), (2, 5), (3, 5), (5, 2), (5, 5), (10, 3))
_ROUGH = 1e-5

#: A bound for E, T and h = eta E L, in units of L = R = G = 1.
Bound = Callable[[int, int, float], float]


@dataclass(frozen=True)
class Published:
    """A bound as its paper states it.

    Attributes
    ----------
    largest : callable or None
        The largest h = eta E L that it allows, for E local steps; None for a tuned step, of which the paper says only
        what the bound is up to a constant.
    drift : callable or None
        Its terms are `value` R^2 + `drift` G^2 for explicit constants; None: they do not add up so.
    """

    name: str
    where: str
    read: str
    row: str
    quantity: str
    value: Bound
    drift: Bound | None = None
    largest: Callable[[int], float] | None = None

    def bound(self, setting: Setting) -> float:
        """Its right side, in the setting's units."""
        L, E, T = float(setting.L), setting.E, setting.T
        h, start, spread = float(setting.step) * E, float(setting.radius) ** 2, float(setting.heterogeneity)
        if self.largest is None or self.drift is None:
            return self.value(E, T, h)
        return L * start * self.value(E, T, h) + spread / L * self.drift(E, T, h)

    def allows(self, setting: Setting) -> bool:
        """Whether it is about this method and class, and this step is in its range."""
        return (
            self.largest is not None
            and self.quantity != LEAST
            and setting.row.name == self.row
            and setting.row.server_rate == 1
            and (setting.kind, setting.measure) == (CONVEX, VALUE)
            and setting.clients > 1
            and float(setting.step) * setting.E <= self.largest(setting.E) * (1 + 1e-12)
        )


PUBLISHED = (
    Published(
        "Khaled et al. 2019",
        "First analysis of local GD on heterogeneous data, Theorem 1",
        RECALLED,
        "fedavg",
        LOCAL_MEAN,
        lambda E, T, h: 2 / (h * T),
        lambda E, T, h: 24 * h**2,
        lambda E: 1 / 4,
    ),
    Published(
        "Khaled et al. 2020",
        "Tighter theory for local SGD, Theorem 5, many clients",
        RECALLED,
        "fedavg",
        LOCAL_MEAN,
        lambda E, T, h: 4 / (h * T),
        lambda E, T, h: 16 * h**2 * (E - 1) ** 2 / E**2,
        lambda E: min(E / 4, E / (8 * (E - 1)) if E > 1 else math.inf),
    ),
    Published(
        "Karimireddy et al. 2020, FedAvg",
        "SCAFFOLD, Theorem V",
        RECALLED,
        "fedavg",
        ROUNDS,
        lambda E, T, h: 3 / (h * T),
        lambda E, T, h: 2 * 54 * h**2,
        lambda E: 1 / 24,
    ),
    Published(
        "Karimireddy et al. 2020, SCAFFOLD",
        "SCAFFOLD, Theorem VII",
        RECALLED,
        "scaffold",
        ROUNDS,
        lambda E, T, h: 1 / (h * T),
        lambda E, T, h: 9 * h / T,
        lambda E: 1 / 81,
    ),
    Published(
        "Koloskova et al. 2020",
        "A unified theory of decentralized SGD, Theorem 2",
        RECALLED,
        "fedavg",
        LOCAL_MEAN,
        lambda E, T, h: 1 / T + T ** (-2 / 3),
    ),
    Published(
        "Woodworth et al. 2020",
        "Minibatch vs local SGD, Theorem 3",
        RECALLED,
        "fedavg",
        LOCAL_MEAN,
        lambda E, T, h: 1 / (E * T) + T ** (-2 / 3),
    ),
    Published("CFL, FedAvg", "Theorems 4.4 and B.6, one task", READ, "fedavg", ROUNDS, lambda E, T, h: 1 / T + T**-0.5),
    Published("CFL, all rounds kept", "Theorems 4.1 and B.5", READ, "cfl", LAST, lambda E, T, h: 1 / T + T**-0.5),
    Published("C-FLAG, (67)-(68)", "Lemma 3", READ, "union", LEAST, lambda E, T, h: 60 / T, None, lambda E: 1 / 30),
)


@dataclass(frozen=True)
class Compared:
    """A bound, and the exact worst case of what it bounds: at most `exact`, proved in fractions.

    `factor` is bound / exact: how loose it is, or, where the paper leaves a constant open, 1 over the least constant.
    """

    published: Published
    E: int
    T: int
    h: float
    bound: float
    exact: float

    @property
    def factor(self) -> float:
        """bound / exact."""
        return self.bound / self.exact

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        one = self.published
        return {
            "name": one.name,
            "where": one.where,
            "read": one.read,
            "quantity": one.quantity,
            "constant": one.largest is not None,
            "E": self.E,
            "T": self.T,
            "h": self.h,
            "bound": self.bound,
            "exact": self.exact,
            "factor": self.factor,
        }


@dataclass(frozen=True, repr=False)
class Table(Shown):
    """All bounds in all settings, L = R = G = 1."""

    compared: Sequence[Compared]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"compared": [one.to_json() for one in self.compared]}

    def sheet(self) -> Sheet:
        """How loose each is, by setting."""
        names = list(dict.fromkeys(one.published.name for one in self.compared))
        settings = list(dict.fromkeys((one.E, one.T) for one in self.compared))
        factors = {(one.published.name, one.E, one.T): one.factor for one in self.compared}
        rows = [(name, *(f"{factors[name, *at]:.3g}" for at in settings if (name, *at) in factors)) for name in names]
        head = ("bound / exact worst case", *(f"E = {E}, T = {T}" for E, T in settings))
        notes = [f"{one.name}: {one.where}, {one.read}." for one in PUBLISHED if one.name in names]
        return Sheet("Published bounds, over the exact worst cases of what they bound", head, rows, notes)


def posed(published: Published, setting: Setting) -> tuple[Problem, Fraction]:
    """The worst case of what the bound bounds, and by what its value is multiplied."""
    if published.quantity == LEAST:
        return union_problem(setting.E, setting.T, setting.step), Fraction(1)
    problem = pose(setting)
    if published.quantity == LAST:
        return problem, setting.factor
    (function,) = problem.functions
    if published.quantity == LOCAL_MEAN:
        points = [x.averaged for x, _, _ in function.points[: setting.E * setting.T]]
        at = [sum(points, Vector()) / len(points)]
    else:
        at = problem.shared[:-1]
    values = [Fraction(1, len(at)) * function.value(x) for x in at]
    problem.maximise(sum(values, Form()) - function.value(Vector()))
    return problem, setting.factor


def compare(published: Published, setting: Setting, *, prove: bool = True) -> Compared:
    """The bound in a setting whose step it allows; the exact value is proved, or only solved."""
    problem, factor = posed(published, setting)
    with one_thread():
        if prove:
            exact = solve_and_prove(problem, period=setting.E)[1].bound
        else:
            exact = Fraction(solve(problem, _ROUGH, period=setting.E).value)
    h = float(setting.step) * setting.E
    return Compared(published, setting.E, setting.T, h, published.bound(setting), float(exact * factor))


def that_apply(setting: Setting) -> list[Compared]:
    """The published bounds that allow this method, class and step, beside what they bound."""
    return [compare(one, setting, prove=False) for one in PUBLISHED if one.allows(setting)]


def table(settings: Sequence[tuple[int, int]] = SETTINGS, *, progress: Callable[[str], None] | None = None) -> Table:
    """All bounds in these settings: at the step for which a bound is least, or, for open constants, the best step."""
    found = []
    for published in PUBLISHED:
        for E, T in settings:
            found.append(compare(published, _at(published, E, T)))
            if progress is not None:
                progress(f"{published.name}, E = {E}, T = {T}")
    return Table(tuple(found))


def _at(published: Published, E: int, T: int) -> Setting:
    """The setting with the step of the least bound, or of the least exact value."""
    name = "fedavg" if published.quantity == LEAST else published.row
    base = Setting(method(name), E, T, Fraction(1))

    def stepped(h: float) -> Setting:
        return replace(base, eta=Fraction(f"{h:.4g}") / E)

    def value(power: float) -> float:
        setting = stepped(math.exp(power))
        if published.largest is not None:
            return published.bound(setting)
        problem, _ = posed(published, setting)
        return solve(problem, _ROUGH, period=E).value

    top = published.largest(E) if published.largest is not None else 2.0
    if published.quantity == LEAST:
        return replace(base, eta=Fraction(1, 30 * E))
    ends = math.log(top / 100), math.log(top)
    with one_thread():
        power = float(minimize_scalar(value, bounds=ends, method="bounded", options={"xatol": 0.02}).x)
    best = stepped(math.exp(power))
    last = replace(base, eta=Fraction(top).limit_denominator(1000) / E)
    return min((best, last), key=published.bound) if published.largest is not None else best
