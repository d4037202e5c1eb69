"""The convex rates of the CFL paper compared with runs: 𝔼 f(w_T) - f* against T on the noisy quadratic model.

Everything is exact but the simulated band: on the model all second moments have closed recursions (`kernels.moments`).
The printed rate is (23), or (24) for FedAvg, summed over the rounds with the printed c_1, c_2 and phi. Ours is the
proved inequality of one round, iterated: `ours.cfl_strongly_convex`, `ours.cfl_round` or `ours.cfl_general_convex`. The
floor is that of `ours.cfl_lower_bounds`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import Algorithm, Drift, Problem, RoundWeights, algorithm, simulate
from cflag_theory.kernels.cfl.drift_models import shared_quadratic
from cflag_theory.kernels.cfl.moments import Moments, moments, responses
from cflag_theory.kernels.numbers import Array
from cflag_theory.public import Count, NotNegative, Positive, require_fields
from cflag_theory.shown import Sheet, Shown
from cflag_theory.sizes import require_room
from cflag_theory.studies.rates.past_task import HORIZONS, LEVEL, RESAMPLES, fit_start, fitted_slopes, increasing

METHODS = ("FedAvg", "CFL")
#: Longest horizon that is simulated too: every round meets all earlier ones again.
SIMULATED = 512


@dataclass(frozen=True)
class Model:
    """The noisy quadratic model of Sec. 5.1 and one way of running it."""

    #: d, N; all clients take part in every round.
    dimension: Count = 10
    clients: Count = 10
    #: The eigenvalues of the Hessian are d equal steps from mu to L.
    L: Positive = 5.0
    mu: NotNegative = 1.0
    #: Every coordinate of w_0 - w*.
    distance: NotNegative = 1.0
    #: Client drift, time drift, gradient noise; their squares are second moments of vectors.
    G: NotNegative = 1.0
    D: NotNegative = 1.0
    sigma: NotNegative = 1e-5**0.5
    #: Every remembered gradient is off by a draw of N(I, I/1000) in each coordinate (Sec. 5.1.1).
    information_loss: NotNegative = 0.0
    #: Whether delta_i is drawn anew in every round, or stays with its client as (5) has it.
    stateless: bool = False
    #: Local steps.
    K: Count = 1

    def __post_init__(self) -> None:
        require_fields(self)
        if self.mu > self.L:
            raise InvalidInput(f"mu is {self.mu} and L is {self.L}: use mu <= L")

    @property
    def eigenvalues(self) -> Array:
        """(d,)."""
        return np.linspace(self.mu, self.L, self.dimension) if self.dimension > 1 else np.array([float(self.L)])

    @property
    def h(self) -> float:
        """||w_0 - w*||^2."""
        return float(self.dimension * self.distance**2)

    @property
    def R(self) -> float:
        """Root mean square of the information loss."""
        return math.sqrt(self.dimension * (self.information_loss**2 + self.information_loss / 1000))

    def weights(self, method: str) -> RoundWeights:
        """FedAvg's or Lemma B.4's; with D = R = 0 all rounds are alike and share equally."""
        if method == "FedAvg":
            return RoundWeights("current")
        return RoundWeights("lemma B.4", D2=self.D**2, R2=self.R**2) if self.D or self.R else RoundWeights("uniform")

    def step(self, T: int) -> float:
        """eta = K eta_l of Lemma A.1 or A.2 for the printed c_1 of FedAvg, at most 1/(10 L)."""
        if self.mu > 0:
            wanted = 2 * math.log(max(math.e, T)) / (self.mu * T)
        else:
            c_1 = 2 * (self.G**2 + self.D**2) + self.sigma**2 / (self.clients * self.K)
            wanted = math.sqrt(self.h / (c_1 * (T + 1))) if c_1 > 0 else math.inf
        return float(min(1 / (10 * self.L), wanted))


@dataclass(frozen=True)
class MethodRate:
    """One method at every horizon; each sequence has one entry a horizon."""

    method: str
    #: Step size K eta_l of the runs.
    eta: tuple[float, ...] = ()
    #: 𝔼 f(w_T) - f*, and the mean of 𝔼 f(w_t) - f* over t < T with the weights q_t of App. B.4.4; exact.
    last: tuple[float, ...] = ()
    mean: tuple[float, ...] = ()
    #: Mean of f(w_T) - f* over simulated replicas, with its bootstrap band; as far as `SIMULATED`.
    simulated: tuple[float, ...] = ()
    band: tuple[tuple[float, float], ...] = ()
    #: (23), for FedAvg (24), summed over the rounds; it bounds `mean` if the paper is right.
    printed: tuple[float, ...] = ()
    #: What is proved instead; for mu > 0 it bounds `last`, else the least gap. None where nothing is proved.
    ours: tuple[float | None, ...] = ()
    #: Least-squares slope of log last on log T, over the larger half of the horizons.
    slope: float = math.nan


@dataclass(frozen=True, repr=False)
class CFLRate(Shown):
    """The study; `floor` lies below `last` of both methods for every step size and all round weights."""

    title: str
    model: Model
    horizons: tuple[int, ...]
    floor: tuple[float, ...]
    methods: tuple[MethodRate, ...]
    fit_from: int
    replicas: int
    seed: int
    notes: tuple[str, ...] = field(default=())

    def sheet(self) -> Sheet:
        """The expected gap of every method at every horizon."""
        slopes = ", ".join(f"{one.method} slope {one.slope:.2f}" for one in self.methods)
        columns = [self.horizons, *(one.last for one in self.methods), self.floor]
        head = ("T", *(f"{one.method}: 𝔼 f(w_T) - f*" for one in self.methods), "floor")
        return Sheet(
            f"{self.title}: {slopes} from T = {self.fit_from}", head, list(zip(*columns, strict=True)), self.notes
        )

    @property
    def finding(self) -> str:
        """Which method ends lower, and how far above the floor it is."""
        last = {one.method: one.last[-1] for one in self.methods}
        low, high = min(last, key=last.__getitem__), max(last, key=last.__getitem__)
        gap, above = last[high] / last[low], last[low] / self.floor[-1]
        words = f"{low} ends {gap:.2g} times below {high}" if gap > 1.1 else f"{' and '.join(last)} end together"
        return f"{words}, {'at the floor' if above < 1.1 else f'{above:.2g} times above the floor'}"

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return asdict(self) | {"finding": self.finding}


def cfl_rate(
    model: Model | None = None,
    *,
    horizons: Sequence[int] = HORIZONS,
    replicas: int = 32,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> CFLRate:
    """FedAvg and CFL on the noisy quadratic model, against the printed rates and against what is proved.

    `horizons` increase, at least two; `replicas` are simulated runs, at least two; the curves themselves are exact.
    `progress` gets the number of rounds after each horizon.
    """
    model = model or Model()
    lengths = increasing(horizons)
    if replicas < 2:
        raise InvalidInput(f"replicas = {replicas} leave nothing to resample: use at least 2")
    # Measured: the exact moments hold about as many numbers of each round and coordinate.
    held = 16_000 * lengths[-1] * model.dimension
    require_room(held, f"a study up to T = {lengths[-1]}", "use a smaller T (--up-to, --horizons)")
    require_room(16 * RESAMPLES * replicas, f"a study of {replicas} replicas", "use fewer replicas")
    problem = _problem(model)
    resamples = np.random.default_rng(seed).multinomial(replicas, [1 / replicas] * replicas, size=RESAMPLES) / replicas
    tail = ((1 - LEVEL) / 2 * 100, (1 + LEVEL) / 2 * 100)
    found = [MethodRate(method) for method in METHODS]
    for T in lengths:
        for place, rate in enumerate(found):
            eta, law = model.step(T), _moments(model, rate.method, T)
            gaps = (law.eigenvalues / 2 * (law.mean[0] ** 2 + law.variance[0])).sum(axis=-1)
            found[place] = replace(
                rate,
                eta=(*rate.eta, eta),
                last=(*rate.last, float(gaps[-1])),
                mean=(*rate.mean, float(_averages(model, eta, T) @ gaps[:-1])),
                printed=(*rate.printed, printed_bound(model, rate.method, T)),
                ours=(*rate.ours, our_bound(model, rate.method, T)),
            )
            if T <= SIMULATED:
                trace = simulate(
                    problem,
                    _row(model, rate.method),
                    beta=eta / model.K,
                    local_steps=model.K,
                    rounds=T,
                    replicas=replicas,
                    seed=seed,
                    diagnostics="none",
                )
                ends = trace.at_end("f")
                low, high = (float(v) for v in np.percentile(resamples @ ends, tail))
                found[place] = replace(
                    found[place], simulated=(*rate.simulated, float(ends.mean())), band=(*rate.band, (low, high))
                )
        if progress:
            progress(T)
    first = fit_start(lengths)
    slopes = [float(fitted_slopes(lengths[first:], np.array(rate.last)[first:, None])[0]) for rate in found]
    return CFLRate(
        title="clients new in every round" if model.stateless else "clients that stay",
        model=model,
        horizons=lengths,
        floor=tuple(floor(model, T) for T in lengths),
        methods=tuple(replace(rate, slope=slope) for rate, slope in zip(found, slopes, strict=True)),
        fit_from=lengths[first],
        replicas=replicas,
        seed=seed,
    )


def _problem(model: Model) -> Problem:
    """The model as a Problem with f* = 0 at w* = 0, in the eigenbasis of its Hessian."""
    return shared_quadratic(
        np.diag(model.eigenvalues),
        clients=model.clients,
        minimiser=np.zeros(model.dimension),
        start=np.full(model.dimension, float(model.distance)),
        drift=Drift(G=model.G, D=model.D, sigma=model.sigma, stateless=model.stateless),
    )


def _row(model: Model, method: str) -> Algorithm:
    if method == "FedAvg":
        return algorithm("fedavg")
    # Past quadratics are kept exactly by their diagonal Hessians, at a fixed cost a round.
    return algorithm(
        "cfl_diagonal", weights=model.weights(method), information_loss=model.information_loss, window=None
    )


def _moments(model: Model, method: str, T: int) -> Moments:
    answers = responses(
        model.eigenvalues, [model.step(T) / model.K], rounds=T, local_steps=model.K, weights=model.weights(method)
    )
    return moments(
        answers,
        np.full(model.dimension, float(model.distance)),
        clients=model.clients,
        G2=model.G**2,
        D2=model.D**2,
        sigma2=model.sigma**2,
        information_loss=model.information_loss if method == "CFL" else 0.0,
        stateless=model.stateless,
    )


def _averages(model: Model, eta: float, T: int) -> Array:
    """q_t / sum of q for t = 1, ..., T, with q_t = (1 - mu eta/2)^(1-t)."""
    exponents = np.arange(T)[::-1] * math.log1p(-model.mu * eta / 2)
    q = np.exp(exponents)
    return np.asarray(q / q.sum())


def printed_bound(model: Model, method: str, T: int) -> float:
    """(23) summed with q_t and divided by their sum: the start, and the mean of c_1 eta + c_2 eta^2 + phi_t.

    c_1, c_2, c_3 are those before (23), with c_pG of Lemma B.2 (2) for clients that stay and (3) for new ones, phi_t
    its bound c_3 ||w_0 - w*||, and eta_g = 1.
    """
    eta, q = model.step(T), _averages(model, model.step(T), T)
    squares, past = _weights(model, method, T)
    G2, D2, sigma2 = model.G**2, model.D**2, model.sigma**2
    c_pG = (G2 + D2) * squares if model.stateless else G2 + D2 * squares
    c_R = past**2 * model.R**2
    c_1 = 2 * c_pG + sigma2 / (model.clients * model.K) + 2 * c_R
    c_2 = model.L * c_pG / 3 + model.L * sigma2 / (6 * model.K) + model.L * c_R / 3
    phi = 2 * past * model.R * math.sqrt(model.h)
    # The largest q_t is the last, so that the sum of q is q_T over its share.
    start = model.h / eta * math.exp((T - 1) * math.log1p(-model.mu * eta / 2)) * float(q[-1])
    return start + float(q @ (c_1 * eta + c_2 * eta**2 + phi))


def our_bound(model: Model, method: str, T: int) -> float | None:
    """A bound that is proved, for drifts that do not depend on w.

    mu > 0: L/2 times the bound on 𝔼||w_T - w*||^2 that T uses of the inequality of one round give, part "round" of
    `ours.cfl_strongly_convex` for K = 1 and part 2 of `ours.cfl_round` for more. mu = 0: `ours.cfl_general_convex` on
    the least gap, for K = 1 alone.
    """
    eta, N, L, mu = model.step(T), model.clients, model.L, model.mu
    squares, past = _weights(model, method, T)
    G2, D2, sigma2 = model.G**2, model.D**2, model.sigma**2
    lost = past * model.R
    size = model.h
    if model.K > 1:
        V = (G2 + D2) * squares if model.stateless else G2 + D2 * squares
        e2, rho2 = V / N, lost**2
        if mu == 0:
            return None
        grown = 8 * eta / mu * (e2 + rho2) + eta**2 * (4 * e2 + 2 * sigma2 / (N * model.K) + 4 * rho2)
        grown = grown + L * eta**3 * (10 * (V + rho2) / 3 + 5 * sigma2 / (2 * model.K))
        for term in grown.tolist():
            size = (1 - mu * eta / 2) * size + term
        return float(L / 2 * size)
    # What later rounds meet again is bias, what is new is noise.
    again, new = squares - (1 - past) ** 2, (1 - past) ** 2
    fixed = (G2 + D2) * again if model.stateless else G2 + D2 * again
    bias = np.sqrt(fixed / N) + lost
    noise = (sigma2 + ((G2 + D2) if model.stateless else D2) * new) / N
    if mu == 0:
        shrink = (1 + 1 / T) ** -np.arange(T + 1.0)
        grown = eta**2 * ((1 + T) * bias**2 + noise)
        return float((model.h + grown @ shrink[1:]) / (eta * shrink[:-1].sum()))
    r = 1 - eta * mu
    for beta, v in zip(bias.tolist(), noise.tolist(), strict=True):
        size = r * r * size + 2 * eta * r * beta * math.sqrt(size) + eta * eta * (beta * beta + v)
    return float(L / 2 * size)


def floor(model: Model, T: int) -> float:
    """What no step sizes and no round weights beat (`ours.cfl_lower_bounds`), summed over the eigendirections.

    The floor (lambda/2) h g/(h + g) of fixed clients and of T time drifts, each alone; the larger one counts.
    """
    lam, h = model.eigenvalues[model.eigenvalues > 0], model.distance**2

    def least(square: float) -> float:
        g = square / model.dimension / (model.clients * lam**2)
        return float((lam / 2 * h * g / (h + g)).sum())

    every = (model.G**2 + model.D**2) / T if model.stateless else model.D**2 / T
    return max(least(every), 0.0 if model.stateless else least(model.G**2))


def _weights(model: Model, method: str, T: int) -> tuple[Array, Array]:
    """sum_tau p_tau^2 and sum_{tau<t} p_tau in rounds 1, ..., T; the past rounds share equally."""
    weights = model.weights(method)
    current = np.array([weights.current(t) for t in range(1, T + 1)], dtype=np.float64)
    past = 1 - current
    return past**2 / np.maximum(np.arange(T), 1) + current**2, past
