"""The proof of a worst case as a page, which `cflag verify FILE.page` decides anew, for every number of clients.

Means m_k and deviations d_k(i) of the clients' gradients are vectors of the page, pair conditions uses of its rule
"interpolation" in the mean over the clients, and both matrices sums of squares. Engines that know nothing of the solver
and of certificates here then check the sum.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

from cflag_theory.worstcase.certificate import Certificate, combined, matrix, short
from cflag_theory.worstcase.methods import DISTANCE, GRADIENT, SMOOTH, VALUE, Setting, pose
from cflag_theory.worstcase.model import Problem
from cflag_theory.worstcase.playing import Method
from cflag_theory.worstcase.vectors import Pair, Vector

#: Local steps in all up to which a page is written.
MOST = 6
_WIDTH = 118
_ONE = Fraction(1)
Terms = Iterable[tuple[str, Fraction]]


def covers(setting: Setting) -> bool:
    """Whether a page says it: few explicit steps on one function of each of several clients, who all take part."""
    explicit = not (isinstance(setting.row, Method) and setting.row.implicit)
    several = setting.clients > 1 and setting.participants is None
    plain = setting.functions == 1 and not setting.row.memory and not setting.growth
    return explicit and several and plain and setting.E * setting.T <= MOST


def page(setting: Setting, certificate: Certificate, attained: float) -> str:
    """The page, in units of L = 1 and `Setting.unit`; its bound is up to 0.1% larger, its multipliers have few digits.

    Parameters
    ----------
    setting : Setting
        One that `covers` allows.
    certificate : Certificate
        The proof whose pair conditions are used.
    attained : float
        What a run reaches, in the user's units.
    """
    problem = pose(setting)
    proof = short(problem, certificate)
    names, steps, mu = _Names(problem, setting.kind != SMOOTH), _Steps(), setting.curvature
    # The conditions of other than convex functions are stated without fractions.
    strongly, scale = (", 1", 1 / (2 * (1 - mu))) if mu else ("", _ONE)
    for (_, i, j), by in proof.pairs.items():
        x, y = (names.places[k].replace("(i)", "(client)") for k in (j, i))
        steps.use(f"pair {x}, {y}", by * scale)
    total = combined(problem, proof)
    M, D = dict(total.M), dict(total.D)
    zeros, rests = dict[int, Fraction](), dict[int, Fraction]()
    if setting.kind != SMOOTH:
        if setting.apart:
            M[names.zero, names.zero] = M.get((names.zero, names.zero), Fraction(0)) + proof.rows[1]
        else:
            rests = {b: D.pop((b, k)) for b, k in [*D] if k == names.rest}
        zeros = {b: M.pop((b, k)) for b, k in [*M] if k == names.zero}
    for vector, by in _squares(M):
        steps.use(f"square {_sum((names.means[b], a) for b, a in vector.items())}", by)
    for vector, by in _squares(D):
        steps.use(f"square {_sum((names.owns[b], a) for b, a in vector.items())}, clients", by)
    for b, by in zeros.items():
        steps.use(f"along {names.means[b]} from minimum", by, equation=True)
    for b, by in rests.items():
        steps.use(f"at_rest {names.owns[b].replace('(i)', '(client)')}", by, equation=True)
    facts = dict(zip(_hypotheses(setting, problem, names), proof.rows, strict=True))
    if setting.kind != SMOOTH and not setting.apart:
        facts["rest: for every client, grad f[client](best) = 0"] = Fraction(0)
    measured, least = _measured(setting, names), ""
    if len(measured) > 1:
        facts |= {f"at_{t}: least <= {measured[t]}": by for t, by in enumerate(proof.measures)}
        measured, least = ["least"], "; least nonnegative"
    steps.sums += [(f"[{fact.partition(':')[0]}]", by) for fact, by in facts.items()]
    name = re.sub(r"\W", "_", setting.row.name, flags=re.ASCII)
    what = f"{setting.row.name}, E = {setting.E}, T = {setting.T}, eta = {setting.eta}"
    used = ", ".join(name.strip("[]= ") for name, by in steps.sums if by)
    lines = [
        f"# {what}: written by cflag sharp.",
        f"# Units: L = 1, and {setting.unit} for squared lengths; in yours the bound is {setting.factor} times this.",
        f"# A run attains {attained / float(setting.factor):.9g}.",
        "index i",
        "mean clients over i",
        "symbol client natural" + least,
        "function f; smooth = 1" + ("" if setting.kind == SMOOTH else f"; mu = {mu}") + " : f_{@}",
        "vector x_0",
        "vector best : x^*",
        *names.lets,
        *([] if setting.kind == SMOOTH else ["setting minimum: clients(grad f[i](best)) = 0"]),
        *_scheme("pair(x, y)", f"interpolation f[client], x, y{strongly}"),
        *(_scheme("at_rest(v)", "along v from rest") if rests else []),
        f"claim worst.{name} | {what} | Worst case, for all N and all weights",
        f"  say {measured[0]} <= {proof.bound}",
        *(f"  for {fact}" for fact in facts),
        "  proof",
        *(f"    {line}" for line in steps.lines),
        f"    hence from {used} | because {_sum(steps.sums)}",
    ]
    return "\n".join(one for line in lines for one in _wrapped(line)) + "\n"


def _hypotheses(setting: Setting, problem: Problem, names: _Names) -> Iterator[str]:
    """The conditions of the problem, in their order."""
    start, spread = setting.bounds
    for name in problem.names:
        if name == "the start" and setting.kind == SMOOTH:
            yield f"start: clients(f[i](x_0)) - clients(f[i]({names.last})) <= {start}"
        elif name == "the start":
            yield f"start: |x_0 - best|^2 <= {start}"
        elif name == "heterogeneity at x*":
            yield f"spread: clients(|grad f[i](best)|^2) <= {spread}"
        else:
            place = name.rpartition(" ")[2]
            yield f"spread_at_{place}: clients(|d_{names.places.index(place)}(i)|^2) <= {spread}"


class _Names:
    """What the points and the basis vectors of a problem are called, with the lines that say what they are."""

    def __init__(self, problem: Problem, convex: bool) -> None:
        (function,) = problem.functions
        rounds = {x.key: t for t, x in enumerate(problem.shared)}
        self.convex = convex
        self.means: dict[int, str] = {}
        self.owns: dict[int, str] = {}
        self.places: list[str] = []
        self.lets: list[str] = []
        for k, (x, gradient, value) in enumerate(function.points):
            place = f"x_{rounds[x.key]}" if x.key in rounds else f"y_{k}" + "(i)" * bool(x.own)
            if convex and not x.mean and not x.own:
                place, self.zero, self.rest = "best", problem.means, next(iter(gradient.own), problem.owns)
                gradient = Vector({self.zero: _ONE}, {self.rest: _ONE})
                # Its mean is 0, which is a fact of the page; without heterogeneity each of them is.
                function.points[k] = x, gradient, value
            elif k == 0:
                # For functions that need not be convex x_0 is the origin.
                self.means |= {0: "(x_0 - best)"} if convex else {}
            else:
                self.lets.append(f"let {place} = {self.named(x)}")
            self.places.append(place)
            g, m, d = f"grad f[i]({place})", f"m_{k}", f"d_{k}(i)"
            self.lets.append(f"let {m} = clients({g}); {d} = {g} - {m}")
            self.means |= dict.fromkeys(gradient.mean, m)
            self.owns |= dict.fromkeys(gradient.own, d)
        # x_T, where nothing is asked at it.
        self.last = f"x_{len(problem.shared) - 1}"
        if self.last not in self.places:
            self.lets.append(f"let {self.last} = {self.named(problem.shared[-1])}")

    def named(self, x: Vector) -> str:
        """A point as a sum."""
        terms = [(self.means[k], a) for k, a in x.mean.items()] + [(self.owns[k], a) for k, a in x.own.items()]
        if not self.convex:
            return _sum([("x_0", _ONE), *terms])
        from_start = terms and terms[0] == (self.means[0], _ONE)
        return _sum([("x_0", _ONE), *terms[1:]] if from_start else [("best", _ONE), *terms])


@dataclass
class _Steps:
    """Lines of a proof, and what is added up: the names of steps with their multipliers."""

    lines: list[str] = field(default_factory=list)
    sums: list[tuple[str, Fraction]] = field(default_factory=list)

    def use(self, line: str, by: Fraction, *, equation: bool = False) -> None:
        """One more step."""
        name = f"line{len(self.lines) + 1}"
        self.lines.append(f"{name}: {line}")
        self.sums.append((f"[{'= ' * equation}{name}]", by))


def _scheme(name: str, line: str) -> list[str]:
    """A step about one client, in the mean over all."""
    one, each = "{name} of one", "{name} of each"
    steps = f"{one}: {line}", f"{each}: put client, i from {one}", f"{{name}}: mean clients from {each}"
    return [f"scheme {name}", *(f"  {step}" for step in steps)]


def _measured(setting: Setting, names: _Names) -> list[str]:
    slopes = [f"|m_{names.places.index(f'x_{t}')}|^2" for t in range(setting.T + 1) if f"x_{t}" in names.places]
    if setting.measure == VALUE:
        return [f"clients(f[i]({names.last})) - clients(f[i](best))"]
    if setting.measure == DISTANCE:
        return [f"|{names.last} - best|^2"]
    return slopes[-1:] if setting.measure == GRADIENT else slopes[: setting.T]


def _squares(part: Mapping[Pair, Fraction]) -> Iterator[tuple[dict[int, Fraction], Fraction]]:
    """A positive semidefinite form as a sum of squares: whole vectors and what each square is multiplied by."""
    size = 1 + max((k for pair in part for k in pair), default=-1)
    A = matrix(part, size)
    for k in range(size):
        pivot = A[k][k]
        if pivot == 0:
            continue
        row = [value / pivot for value in A[k]]
        whole = lcm(*(value.denominator for value in row[k:]))
        yield {j: row[j] * whole for j in range(k, size) if row[j]}, pivot / whole**2
        for i in range(k + 1, size):
            for j in range(k + 1, size):
                A[i][j] -= pivot * row[i] * row[j]


def _sum(terms: Terms) -> str:
    text = ""
    for name, by in terms:
        if by:
            text += (" - " if by < 0 else " + ") + (name if abs(by) == 1 else f"{abs(by)} {name}")
    return text.removeprefix(" + ") if text.startswith(" + ") else f"-{text[3:]}"


def _wrapped(line: str) -> Iterator[str]:
    """Lines of a page, which go on behind a comma or with a sign."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    first, *rest = re.split(r"(?<=,) | (?=[+-] )", line)
    for piece in rest:
        if len(first) + len(piece) < _WIDTH:
            first += f" {piece}"
        else:
            yield first
            first = indent + piece
    yield first
