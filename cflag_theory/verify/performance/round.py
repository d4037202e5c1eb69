"""The exact worst case of one round of C-FLAG by performance estimation: Lemma 1, descent on f, and (158)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import given
from cflag_theory.kernels.numbers import Ints
from cflag_theory.verify.instances.on_the_line import Component, exact_run, on_the_line
from cflag_theory.verify.instances.recursions import check_size, local_worst
from cflag_theory.verify.performance.pose import Pose, Posed, positive, step_size
from cflag_theory.verify.performance.results import Bound, WorstCase
from cflag_theory.verify.performance.rounds import Round, Rule, World, as_orders, play

LEMMA1, DESCENT, FORGETTING = QUANTITIES = ("lemma1", "descent", "forgetting")


def solve_round(
    *,
    N: int,
    n: int,
    E: int,
    step: Fraction | float,
    alpha: Fraction | float,
    order: Any,
    quantity: str = FORGETTING,
    m: Fraction | float = 0,
    r: Fraction | float = 1,
    lead: Fraction | float = Fraction(1, 2),
    first: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> WorstCase:
    """The worst case of one round of C-FLAG, x_{t+1} = x_t - alpha grad_f_memory - beta S.

    N clients of equal weight with n components each take E local steps (4) with tracking and delayed gradients. All
    is in units of L = 1.

    Hypotheses: f and every current component have an L-Lipschitz gradient, in any dimension, and are otherwise
    arbitrary, convex or not, and unrelated to each other; ||grad g(x_t)|| <= 1. For "lemma1" and "descent"
    moreover grad_f_memory = grad f + b with ||b||^2 <= m ||grad f||^2, which is (27), and ||grad f(x_t)|| <= 1;
    for "forgetting" ||grad_f_memory|| <= r ||grad g(x_t)||, which is (30), and no more.

    Parameters
    ----------
    N, n, E : int
        Clients, components of each and local steps, at least 1.
    step : Fraction or float
        beta L E, at least 1/1000.
    alpha : Fraction or float
        L alpha, positive; below 2/(1 + m) for "lemma1".
    order : sequence of E int, or (1, N, E) array of int
        The refreshed components, from 0 to n - 1; the entry at k = 0 is not read.
    quantity : {"lemma1", "descent", "forgetting"}
        "lemma1": ||grad f||^2 - (f(x_t) - f(x_{t+1}) + B + Gamma) / (alpha [1 - (L/2) alpha (1 + m)]), which Lemma 1
        says is at most 0. "descent": f(x_{t+1}) - f(x_t) + alpha (1 - L alpha/2) ||grad f||^2, what the bias and the
        local steps add at most to a step of gradient descent. "forgetting": Gamma of (15), bounded by (158).
    m, r : Fraction or float
        Constants of (27) and (30), not negative. The former is not read by "forgetting", the latter by no other.
    lead : Fraction or float
        For "lemma1": the coefficient of L beta^2 ||S||^2 in Gamma: 1/2 in (35), 1 in (10).
    first : {0, 1}
        For "lemma1": where the sums of B and Gamma begin; 1 is what (9) and (10) print, and fails.
    settings : mapping, optional
        Handed to Clarabel.

    Returns
    -------
    WorstCase
        For "lemma1" the paper's bound is 0.
    """
    N, n, E = check_size("N", N, 1), check_size("n", n, 1), check_size("E", E, 1)
    if quantity not in QUANTITIES:
        raise UnknownName(f"quantity {quantity!r} is unknown: use one of {', '.join(QUANTITIES)}")
    size, a = step_size(step), positive("alpha", alpha)
    bias, ratio, c = positive("m", m, zero=True), positive("r", r, zero=True), positive("lead", lead, zero=True)
    if quantity == FORGETTING and bias != 0:
        raise InvalidInput(f"m is {m} and 'forgetting' does not read it: leave m out")
    if quantity != FORGETTING and ratio != 1:
        raise InvalidInput(f"r is {r} and {quantity!r} does not read it: leave r out")
    if first not in (0, 1) or (quantity != LEMMA1 and (first, c) != (0, Fraction(1, 2))):
        raise InvalidInput(f"first is {first!r} and lead {lead}: only 'lemma1' reads them, and first is 0 or 1")
    if quantity == LEMMA1 and not a * (1 + bias) < 2:
        raise InvalidInput(f"alpha is {alpha} and m is {m}: Lemma 1 needs alpha < 2 / (L (1 + m))")
    orders = as_orders(order, n=n, E=E, clients=N)
    case = Case(N, n, E, size / E, a, bias, ratio, c, first, orders)
    question = {LEMMA1: _lemma1, DESCENT: _descent, FORGETTING: _forgetting}[quantity](case)
    components, scales = (n,) * N, (float(case.b),) * N
    if quantity != FORGETTING:
        # f belongs to no client; it comes after them, and moves by about alpha + beta E.
        components, scales = (*components, 1), (*scales, float(a + size))
    posed = Pose(components, scales, question.pose, float(question.size), root=False)
    return WorstCase(
        quantity=quantity,
        unit="with L = 1 and ||grad g(x_t)|| = 1",
        hypotheses=(
            "f and every component have an L-Lipschitz gradient, convex or not",
            "||grad g(x_t)|| <= 1",
            *question.hypotheses,
        ),
        setting={"N": N, "n": n, "E": E, "beta L E": size, "L alpha": a} | question.numbers,
        orders=orders,
        posed=posed,
        solution=posed.solve(settings),
        above=question.above,
        closed=question.closed,
        simulate=question.simulate,
        simulated="f = x^2/2 and concave components, simulated in fractions",
    )


@dataclass(frozen=True, eq=False)
class Case:
    """The numbers of a round, with L = 1: b is beta."""

    N: int
    n: int
    E: int
    b: Fraction
    a: Fraction
    m: Fraction
    r: Fraction
    lead: Fraction
    first: int
    orders: Ints

    @property
    def sigma(self) -> Fraction:
        """The largest ||S|| in units of ||grad g(x_t)||: the mean over clients of their largest drift over beta."""
        drifts = [local_worst([int(j) for j in row[1:]], n=self.n, step=self.b).drift[-1] for row in self.orders[0]]
        return sum(drifts, Fraction(0)) / (self.N * self.b)

    @property
    def factor(self) -> Fraction:
        """1 / (alpha [1 - (L/2) alpha (1 + m)]) of Lemma 1."""
        return 1 / (self.a * (1 - self.a * (1 + self.m) / 2))

    def play(self, world: World) -> Round:
        """The local steps of the round."""
        p = (1 / self.N,) * self.N
        rule = Rule(delayed=True, tracking=True, server_gradient=False, beta=float(self.b), E=self.E, p=p)
        (played,) = play(world, rule, self.orders, (self.n,) * self.N)
        return played

    def play_on_f(self, world: World) -> tuple[Round, Any, Any, Any, Any, list[Any]]:
        """The round, grad f, b, f before and after it, and the hypotheses on all of these."""
        played, of_f = self.play(world), (0.0,) * self.N + (1.0,)
        grad = world.gradient(self.N, 0, played.start)
        # A vector of length at most 0 would leave the solver no interior.
        bias = world.vector("b") if self.m > 0 else world.zero
        after = played.start - float(self.a) * (grad + bias) - float(self.b) * played.S
        bounded = [world.dot(played.gradient, played.gradient) - 1, world.dot(grad, grad) - 1]
        if self.m > 0:
            bounded.append(world.dot(bias, bias) - float(self.m) * world.dot(grad, grad))
        return played, grad, bias, world.value(played.start, of_f), world.value(after, of_f), bounded

    def attain(self, size: int) -> dict[str, Fraction]:
        """The round in which the bias and S oppose grad f = 1, or are along grad f = -1 for alpha > 1/L, exactly."""
        sign = 1 if self.a <= 1 else -1
        return memory_round(
            self.orders,
            n=self.n,
            b=self.b,
            alpha=self.a,
            grad_f=Fraction(sign),
            bias=-rational_root(self.m),
            size=size,
        )


@dataclass(frozen=True)
class Question:
    """What is asked of a round, and what the answer is compared with."""

    pose: Callable[[World], Posed]
    size: Fraction
    hypotheses: tuple[str, ...]
    numbers: dict[str, Any]
    above: Bound | None
    closed: Bound | None
    simulate: Callable[[], Fraction] | None


_BIAS = ("||grad f(x_t)|| <= 1", "||b(x_t)||^2 <= m ||grad f(x_t)||^2")


def _forgetting(case: Case) -> Question:
    size = case.b * case.E * (1 + case.r)

    def pose(world: World) -> Posed:
        played = case.play(world)
        S, beta = played.S, float(case.b)
        bounded = [world.dot(played.gradient, played.gradient) - 1]
        memory = world.zero
        if case.r > 0:
            memory = world.vector("grad_f_memory")
            bounded.append(world.dot(memory, memory) - float(case.r**2) * world.dot(played.gradient, played.gradient))
        Gamma = 0.5 * beta**2 * world.dot(S, S) - beta * (1 - float(case.a)) * world.dot(memory, S)
        return [1 / float(size) * Gamma], bounded

    reach = case.b * case.sigma
    against = case.r if case.a <= 1 else -case.r

    def simulate() -> Fraction:
        return memory_round(case.orders, n=case.n, b=case.b, alpha=case.a, grad_f=against, bias=Fraction(0))["Gamma"]

    return Question(
        pose,
        size,
        ("||grad_f_memory(x_t)|| <= r ||grad g(x_t)||",),
        {"r": case.r},
        _eq158(case),
        Bound(reach**2 / 2 + case.r * abs(1 - case.a) * reach, "ours.forgetting_step, for this order"),
        simulate,
    )


def _eq158(case: Case) -> Bound | None:
    """(158), whose proof needs alpha <= 1/L and beta <= 1/(12 L E)."""
    u = case.b * case.E
    if case.a > 1 or u > Fraction(1, 12):
        return None
    return Bound(36 * u**4 + 2 * u**2 + case.r * u * (1 - case.a) * (6 * u + 1), "(158)")


def _descent(case: Case) -> Question:
    a, size = case.a, case.b * case.E + case.a

    def pose(world: World) -> Posed:
        _, grad, _, before, after, bounded = case.play_on_f(world)
        added = after - before + float(a * (1 - a / 2)) * world.dot(grad, grad)
        return [1 / float(size) * added], bounded

    def simulate() -> Fraction:
        met = case.attain(1)
        return met["f_after"] - met["f"] + a * (1 - a / 2) * met["grad_f2"]

    reach = float(a) * math.sqrt(case.m) + float(case.b * case.sigma)
    closed = Bound(abs(1 - float(a)) * reach + reach**2 / 2, "|1 - L alpha| w + w^2/2, w = alpha sqrt(m) + beta ||S||")
    return Question(pose, size, _BIAS, {"m": case.m}, None, closed, simulate)


def _lemma1(case: Case) -> Question:
    a, c, half = case.a, case.lead, Fraction(1, 2)

    def pose(world: World) -> Posed:
        played, grad, bias, before, after, bounded = case.play_on_f(world)
        S, beta = played.S - played.gradient if case.first else played.S, float(case.b)
        B = float(a**2 - a) * world.dot(grad, bias) + beta * world.dot(bias, S)
        Gamma = float(c) * beta**2 * world.dot(S, S) - beta * float(1 - a) * world.dot(grad + bias, S)
        return [world.dot(grad, grad) - float(case.factor) * (before - after + B + Gamma)], bounded

    def simulate() -> Fraction:
        # A coefficient above 1/2 is wasted wherever S is not 0.
        met = case.attain(1 if c < half else 0)
        Gamma = met["Gamma"] + (c - half) * case.b**2 * met["S2"]
        return met["grad_f2"] - case.factor * (met["f"] - met["f_after"] + met["B"] + Gamma)

    gain = case.factor * (case.b * case.sigma) ** 2 * max(Fraction(0), half - c)
    known = case.first == 0
    return Question(
        pose,
        Fraction(1),
        _BIAS,
        {"m": case.m, "lead": c, "first": case.first},
        Bound(Fraction(0), "Lemma 1, (8) and (33)"),
        Bound(gain, "max(0, 1/2 - lead) beta^2 ||S||^2 times the factor") if known else None,
        simulate if known else None,
    )


def memory_round(
    orders: Ints, *, n: int, b: Fraction, alpha: Fraction, grad_f: Fraction, bias: Fraction, size: int = 1
) -> dict[str, Fraction]:
    """A round of C-FLAG with f = x^2/2 + grad_f x and components -x^2/2 - size x, exactly; L = 1.

    Parameters
    ----------
    orders : (1, N, E) array of int
        The component that each client refreshes at each local step.
    grad_f, bias : Fraction
        grad f(x_0) and b(x_0).
    size : int
        ||grad g(x_0)||: with 1 S is negative, with 0 it is 0.

    Returns
    -------
    dict of str to Fraction
        "f", "f_after", "grad_f2", "Gamma", "B" and "S2" of the round.
    """
    clients = orders.shape[1]
    # Memory keeps the first of two components, whose mean is f.
    past: list[list[Component]] = [[(1, -grad_f - bias), (1, bias - grad_f)]] * clients
    problem = on_the_line(past, [[(-1, size)] * n] * clients, start=0, L=1)
    memory = given([[2 * i] for i in range(clients)])
    trace = exact_run(problem, alpha=alpha, beta=b, local_steps=orders.shape[2], orders=orders, memory=memory)
    column = {name: trace.column(name)[0, 0] for name in ("f", "grad_f2", "Gamma", "B")}
    return {**column, "f_after": trace.end["f"][0], "S2": trace.column("delayed_sum2")[0, 0]}


def rational_root(square: Fraction) -> Fraction:
    """The root of a rational square, or a fraction at most 1e-12 below the root of another number."""
    scale = 10**12
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    return root if root**2 == square else Fraction(math.isqrt(int(square * scale**2)), scale)
