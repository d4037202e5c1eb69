"""Exact second moments of Algorithm 2 on the noisy quadratic model, one eigenvalue at a time.

All gradients are linear, so that one round of K local steps on f(w) with gradient A w + B is, in a coordinate of the
eigenbasis with eigenvalue lambda and x = w - w*,

    x_{t+1} = rho x_t - c (delta + sum_tau p_tau xi_tau + sum_{tau<t} p_tau iota_tau) - s nu_t,

where delta, xi_tau, iota_tau are the clients' mean drifts and information losses and s nu_t what the K noises leave.
The same xi_tau returns in every later round, so the variance is had from the sensitivities d x_t / d xi_tau.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.cfl.round_weights import RoundWeights
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.validation import as_numbers
from cflag_theory.public import Count, NotNegative, taking

# Entries of one array of responses; there are six, and two of moments.
LARGEST = 20_000_000
# Nodes of the trapezoidal rule for E||z||, in log(s E||z||^2); its tails outside of them are geometric sums.
_NODES = np.linspace(-20.0, 20.0, 81)


@dataclass(frozen=True)
class Responses:
    """How x_t = w_t - w* answers to each cause alone, per step size, round and eigenvalue."""

    #: (d,): Of A.
    eigenvalues: Array
    #: (n, T + 1, d): x_t per unit of x_0, and per unit of the mean information loss.
    start: Array
    loss: Array
    #: (n, T + 1, d): Variance of x_t per unit variance of the clients' mean delta, xi_tau, iota_tau, and nu_k.
    client: Array
    time: Array
    loss_noise: Array
    step_noise: Array


@dataclass(frozen=True)
class Moments:
    """Mean and variance of w_t - w* in the eigenbasis, (n, T + 1, d); coordinates are independent normals."""

    #: (d,): Of A.
    eigenvalues: Array
    #: (n, T + 1, d): A step size that diverges has infinite entries.
    mean: Array
    variance: Array

    def square(self) -> Array:
        """E||A w_t + B||^2, (n, T + 1)."""
        # An infinite moment of a coordinate that A does not see counts for nothing.
        seen = self.eigenvalues != 0
        scale = self.eigenvalues[seen] ** 2
        with np.errstate(over="ignore"):
            return np.asarray((scale * (self.mean[..., seen] ** 2 + self.variance[..., seen])).sum(axis=-1))

    def norm(self, rounds: slice | None = None) -> Array:
        """E||A w_t + B|| at all rounds or at the slice of them, (n, T + 1) or (n, length)."""
        chosen = slice(None) if rounds is None else rounds
        seen = self.eigenvalues != 0
        scale = self.eigenvalues[seen]
        with np.errstate(over="ignore"):
            mean, variance = scale * self.mean[:, chosen, seen], scale**2 * self.variance[:, chosen, seen]
        return expected_norm(mean, variance)


@taking
def responses(
    eigenvalues: ArrayLike,
    steps: ArrayLike,
    *,
    rounds: Count,
    local_steps: Count = 1,
    weights: RoundWeights | None = None,
    proximal: NotNegative = 0.0,
    server_rate: NotNegative = 1.0,
) -> Responses:
    """Run the linear recursions of Algorithm 2 for many step sizes at once.

    Parameters
    ----------
    eigenvalues : (d,)
        Of A; not negative.
    steps : (n,) or (n, T)
        Local step sizes eta_l, one a run or one for each of its rounds.
    rounds, local_steps : int
        T and K.
    weights : RoundWeights, optional
        Of the rounds; without it the current round alone counts (FedAvg).
    proximal : float
        Weight of (proximal / 2) ||w - w_t||^2 in the local objective (FedProx).
    server_rate : float
        eta_g.

    Returns
    -------
    Responses
        Arrays of shape (n, T + 1, d). O(n T d) where past rounds have equal weights, else O(n T^2 d).
    """
    lam = as_numbers("eigenvalues", eigenvalues, (None,), exact=False)
    T, eta = rounds, _steps(steps, rounds)
    if lam.size == 0 or (lam < 0).any():
        raise InvalidInput(f"eigenvalues are {lam}: use at least one and none negative")
    p = weights or RoundWeights("current")
    n, d = len(eta), len(lam)
    if n * (T + 1) * d > LARGEST:
        raise InvalidInput(
            f"{n} step sizes, {T} rounds and {d} eigenvalues make {n * (T + 1) * d} numbers: use at most {LARGEST}"
        )
    out = {name: np.zeros((n, T + 1, d)) for name in ("start", "loss", "client", "time", "loss_noise", "step_noise")}
    out["start"][:, 0] = 1.0
    client = np.zeros((n, d))
    drift, lossy = _Sensitivities((n, d), T), _Sensitivities((n, d), T)
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(1, T + 1):
            row = p.floats(t)
            if t == 1 or (eta[:, t - 1] != eta[:, t - 2]).any():
                rho, c, s = _round(eta[:, t - 1 : t], lam, local_steps, proximal, server_rate)
            out["start"][:, t] = rho * out["start"][:, t - 1]
            out["loss"][:, t] = rho * out["loss"][:, t - 1] - c * row[:-1].sum()
            client = rho * client - c
            out["client"][:, t] = client**2
            out["time"][:, t] = drift.advance(rho, c, row)
            # What is remembered is lossy, what is at hand is not.
            past = row.copy()
            past[-1] = 0.0
            out["loss_noise"][:, t] = lossy.advance(rho, c, past)
            out["step_noise"][:, t] = rho**2 * out["step_noise"][:, t - 1] + s
    for values in out.values():
        values[np.isnan(values)] = np.inf
    return Responses(eigenvalues=lam, **out)


@taking
def moments(
    answers: Responses,
    start: ArrayLike,
    *,
    clients: Count,
    G2: NotNegative = 0.0,
    D2: NotNegative = 0.0,
    sigma2: NotNegative = 0.0,
    information_loss: NotNegative = 0.0,
    stateless: bool = False,
) -> Moments:
    """Mean and variance of w_t - w*, for drifts and noises that are isotropic and normal.

    Parameters
    ----------
    answers : Responses
        Of the algorithm.
    start : (d,)
        w_0 - w* in the eigenbasis.
    clients : int
        N, all of which take part in every round.
    G2, D2, sigma2 : float
        E||delta_i||^2, E||xi_{t,i}||^2, E||nu_{t,i,k}||^2, spread evenly over the d coordinates.
    information_loss : float
        I: every remembered gradient is off by a draw of N(I, I/1000) in each coordinate (Sec. 5.1.1).
    stateless : bool
        Every client appears once, so that delta_i is drawn anew every round.
    """
    d = len(answers.eigenvalues)
    x0 = as_numbers("start", start, (d,), exact=False)
    share = 1.0 / (clients * d)
    client, time = G2 * share, D2 * share
    if stateless:
        client, time = 0.0, client + time
    parts = [
        (client, answers.client),
        (time, answers.time),
        (sigma2 * share, answers.step_noise),
        (information_loss / 1000 * share * d, answers.loss_noise),
    ]
    variance = np.zeros_like(answers.start)
    with np.errstate(over="ignore", invalid="ignore"):
        for size, response in parts:
            if size > 0:
                variance += size * response
        mean = x0 * answers.start + (information_loss * answers.loss if information_loss > 0 else 0.0)
    mean[np.isnan(mean)] = np.inf
    return Moments(eigenvalues=answers.eigenvalues, mean=mean, variance=variance)


def expected_norm(mean: Array, variance: Array) -> Array:
    r"""E||z|| for independent normal coordinates along the last axis.

    By :math:`\sqrt{q} = \frac{1}{2 \sqrt{\pi}} \int_0^\infty (1 - e^{-s q}) s^{-3/2} ds` and
    :math:`E e^{-s z^2} = (1 + 2 s v)^{-1/2} e^{-s m^2 / (1 + 2 s v)}`, with the trapezoidal rule in log s; the
    relative error is below 1e-7.

    Parameters
    ----------
    mean, variance : (..., d)
        m and v; infinite entries give an infinite norm.

    Returns
    -------
    (...)
    """
    with np.errstate(over="ignore"):
        square = (mean**2 + variance).sum(axis=-1)
    out: Array = np.asarray(np.sqrt(square))
    chosen = np.isfinite(square) & (square > 0)
    if not chosen.any():
        return out
    q = square[chosen]
    # In units of E||z||^2 the integrand sits at the same place for all.
    m2, v = mean[chosen] ** 2 / q[:, None], variance[chosen] / q[:, None]
    total = np.zeros(len(q))
    for node in _NODES:
        s = np.exp(node)
        spread = 1 + 2 * s * v
        exponent = (-s * m2 / spread - 0.5 * np.log(spread)).sum(axis=-1)
        total += -np.expm1(exponent) * np.exp(-node / 2)
    # Below the nodes 1 - E e^{-s q} is s and above them it is 1, up to terms of the size of s^2 and 1/s.
    width = _NODES[1] - _NODES[0]
    total = width * (total + 2 * np.exp(_NODES[0] / 2) / np.expm1(width / 2))
    out[chosen] *= total / (2 * np.sqrt(np.pi))
    return out


class _Sensitivities:
    """Sum over tau of (d x_t / d xi_tau)^2: by two sums while past weights are equal, else by all T terms."""

    def __init__(self, shape: tuple[int, int], T: int) -> None:
        self._squares, self._sum = np.zeros(shape), np.zeros(shape)
        self._terms: Array | None = None
        self._history: list[tuple[Array, Array, Array]] = []
        self._shape, self._T = shape, T

    def advance(self, rho: Array, c: Array, row: Array) -> Array:
        t = len(row)
        if self._terms is None and (t <= 2 or np.ptp(row[:-1]) <= 1e-15):
            self._history.append((rho, c, row))
            q = row[0] if t > 1 else 0.0
            self._squares = rho**2 * self._squares - 2 * rho * c * q * self._sum
            self._squares = self._squares + c**2 * (q**2 * (t - 1) + row[-1] ** 2)
            self._sum = rho * self._sum - c * (q * (t - 1) + row[-1])
            return self._squares
        if self._terms is None:
            self._terms = np.zeros((self._T, *self._shape))
            for past in self._history:
                self._step(self._terms, *past)
        return self._step(self._terms, rho, c, row)

    @staticmethod
    def _step(terms: Array, rho: Array, c: Array, row: Array) -> Array:
        t = len(row)
        terms[:t] *= rho
        # With a window most of the weights are zero.
        first = int((row != 0).argmax())
        terms[first:t] -= c * row[first:, None, None]
        return np.asarray(np.einsum("tnd,tnd->nd", terms[:t], terms[:t]))


def _round(eta: Array, lam: Array, K: int, prox: float, rate: float) -> tuple[Array, Array, Array]:
    """rho, c and the squared factor s of nu, each (n, d), of K local steps and the server's."""
    a = 1 - eta * (lam + prox)
    powers = a[..., None] ** np.arange(K)
    c = eta * powers.sum(axis=-1)
    inner = a**K + prox * c
    return 1 - rate * (1 - inner), rate * c, rate**2 * eta**2 * (powers**2).sum(axis=-1)


def _steps(steps: ArrayLike, T: int) -> Array:
    """Step sizes (n, T) from (n,) or (n, T)."""
    array = np.asarray(steps)
    eta = as_numbers("steps", array, (None,) if array.ndim == 1 else (None, T), exact=False)
    if len(eta) == 0 or (eta < 0).any():
        raise InvalidInput("steps must be at least one number and none negative: use step sizes eta_l > 0")
    return eta if eta.ndim == 2 else np.broadcast_to(eta[:, None], (len(eta), T))
