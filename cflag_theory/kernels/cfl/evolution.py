"""The local objectives of the CFL framework for the reference: drifts, windows, participants and remembered rounds.

At the start of round t the objective of client i is

    sum_j c_j q_j(x) + <u, x> + (x - x_t)^T W (x - x_t) / 2.

The current data and exact or core-set memories fill c, linear terms of drifts fill u, quadratic models fill u and W.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cflag_theory.kernels import draws
from cflag_theory.kernels.algorithms import CORE_SET, DIAGONAL, FISHER, HERDING, NO_PAST, STOCHASTIC, TAYLOR
from cflag_theory.kernels.cfl.drifts import CORRELATIONS, LAWS, client_sign, fill_vector, time_drift, time_sign
from cflag_theory.kernels.cfl.framework import Framework
from cflag_theory.kernels.cfl.windows import KINDS, choose, draw_window
from cflag_theory.kernels.draws import below, lane, words
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.plan import Plan
from cflag_theory.kernels.problems.objective import combined_gradient, component_gradient, mean_gradient, mean_hessian
from cflag_theory.kernels.problems.problem import Components


@dataclass(frozen=True, eq=False)
class Data:
    """grad f_{t,i}(x) = factor * mean over `window` of grad q_j(x) + offset."""

    window: Ints
    factor: Any
    offset: Array

    def gradient(self, kind: int, components: Components, x: Array) -> Array:
        """grad f_{t,i}(x), shape (d,)."""
        return np.asarray(self.factor * mean_gradient(kind, components, self.window, x) + self.offset)


@dataclass(frozen=True, eq=False)
class Remembered:
    """A past round: its data, and their model with gradient factor * mean over `kept` + linear + hessian x."""

    data: Data
    kept: Ints
    linear: Array
    hessian: Array | None

    def gradient(self, kind: int, components: Components, x: Array) -> Array:
        """The gradient of the model at x, shape (d,)."""
        if self.hessian is not None:
            return self.linear + _times(self.hessian, x)
        return np.asarray(self.data.factor * mean_gradient(kind, components, self.kept, x) + self.linear)


@dataclass(frozen=True, eq=False)
class Objective:
    """Client i's objective in a round: c, u and W as above; `even` if only the current data have a share in c."""

    run: Evolution
    i: int
    coefficients: Array
    u: Array
    W: Array
    even: bool
    data: Data
    share: Any

    def component_term(self, x: Array) -> Array:
        """sum_j c_j grad q_j(x)."""
        problem = self.run.plan.problem
        return combined_gradient(problem.potential, problem.current, self.coefficients, x)

    def estimate(self, t: int, k: int, local: Array) -> Array:
        """The component term of a local step: in full, or from one component drawn in proportion to |c_j|."""
        plan, problem = self.run.plan, self.run.plan.problem
        if plan.row.estimator != STOCHASTIC:
            return self.component_term(local)
        word = lane(words(plan.seed, draws.STOCHASTIC, self.run.replica, self.i, t, k >> 2), k)
        if self.even:
            j, factor = int(self.data.window[below(word, len(self.data.window))]), self.share
        else:
            cumulative = np.cumsum(abs(self.coefficients))
            # Where all drifts cancel their data, so that every c_j is 0, any component will do.
            above = cumulative > cumulative[-1] * (2 * word + 1) / (1 << 33)
            j = int(np.flatnonzero(above)[0]) if above.any() else 0
            factor = cumulative[-1] if self.coefficients[j] > 0 else -cumulative[-1]
        return np.asarray(factor * component_gradient(problem.potential, problem.current, j, local))

    def complete(self, t: int, k: int, step: Array, moved: Array) -> Array:
        """What a local step moves against: u, W and the noise nu_{t,i,k} added to `step`, then momentum."""
        run, drift = self.run, self.run.framework.drift
        gamma, noise = run.framework.momentum, run.zero.copy()
        if drift.sigma != 0:
            fill_vector(run.law, run.plan.seed, draws.NOISE, run.replica, self.i, t, k, drift.sigma, noise)
        whole = step + self.u + self.W @ moved + noise
        return np.asarray((1 - gamma) * whole + gamma * run.momentum)


class Evolution:
    """Everything that one replica of a framework run keeps from round to round."""

    def __init__(self, plan: Plan, framework: Framework, replica: int) -> None:
        problem = plan.problem
        self.plan, self.framework, self.replica = plan, framework, replica
        self.zero: Array = problem.start * 0
        self.law, self.correlation = (LAWS.index(framework.drift.law), CORRELATIONS.index(framework.drift.correlation))
        self.xi = np.stack([self.zero] * problem.clients)
        self.xi_sign = [1] * problem.clients
        self.momentum = self.zero
        self.past: list[list[Remembered]] = [[] for _ in range(problem.clients)]
        self.counts = [0] * problem.clients

    def begin(self, t: int, x: Array) -> Array:
        """Draw the participants, drifts and data of round t; the clients' shares (N,), zero for those left out."""
        problem = self.plan.problem
        shares = problem.p.copy()
        if self.framework.participants < problem.clients:
            order = np.arange(problem.clients)
            choose(
                self.plan.seed,
                draws.PARTICIPANTS,
                self.replica,
                0,
                t,
                order,
                problem.clients,
                self.framework.participants,
            )
            shares[order[self.framework.participants :]] = self.zero[0]
            shares = shares / shares.sum()
        self.data = [self._data(i, t) for i in range(problem.clients)]
        self.momentum_next = self.momentum
        if self.framework.momentum != 0:
            gradients = [data.gradient(problem.potential, problem.current, x) for data in self.data]
            mean = sum((share * grad for share, grad in zip(shares, gradients, strict=True)), self.zero)
            self.momentum_next = (1 - self.framework.momentum) * mean + self.framework.momentum * self.momentum
        return np.asarray(shares)

    def end(self) -> None:
        """Close the round."""
        self.momentum = self.momentum_next

    def objective(self, i: int, x: Array, u: Array) -> Objective:
        """Client i's objective of this round; `u` is its correction."""
        components, data = self.plan.problem.current, self.data[i]
        row = self.framework.weights[self.counts[i]]
        shares = [*row[: len(self.past[i])], row[len(self.past[i])]]
        coefficients = np.array([self.zero[0]] * (len(components.row_start) - 1))
        own = shares[-1] * data.factor
        u = u + shares[-1] * data.offset
        W = np.zeros((len(x), len(x)), dtype=x.dtype) + self.zero[0]
        even = True
        for share, past in zip(shares, self.past[i], strict=False):
            if share == 0:
                continue
            u = u + share * past.linear
            if past.hessian is not None:
                W = W + share * (past.hessian if past.hessian.ndim == 2 else np.diag(past.hessian))
            else:
                even = False
                for j in past.kept:
                    coefficients[j] += share * past.data.factor / len(past.kept)
        for j in data.window:
            coefficients[j] += own / len(data.window)
        return Objective(self, i, coefficients, u + W @ x, W, even, data, own)

    def remember(self, i: int, t: int, x: Array, local: Array) -> None:
        """Keep client i's objective of this round, which began at x and ended at `local`."""
        problem, row = self.plan.problem, self.plan.row
        if row.past == NO_PAST or self.framework.slots == 0:
            return
        data, hessian = self.data[i], None
        kind, components = problem.potential, problem.current
        linear, kept = data.offset, data.window
        if row.past in (TAYLOR, DIAGONAL, FISHER):
            at = local if row.expansion == "client" else x
            hessian = data.factor * mean_hessian(kind, components, data.window, at)
            if row.past == DIAGONAL:
                hessian = np.diag(hessian).copy()
            elif row.past == FISHER:
                each = [data.factor * component_gradient(kind, components, int(j), at) for j in data.window]
                hessian = sum(((grad + data.offset) ** 2 for grad in each), self.zero) / len(data.window)
            linear = data.gradient(kind, components, at) - _times(hessian, at)
        elif row.past == CORE_SET:
            order, size = data.window.copy(), min(row.core_set, len(data.window))
            choose(self.plan.seed, draws.CORE_SET, self.replica, i, t, order, len(order), size)
            kept = order[:size]
        elif row.past == HERDING:
            kept = herding(components, data.window, row.core_set)
        self.past[i].append(Remembered(data, kept, linear + self._loss(i, t), hessian))
        self.past[i] = self.past[i][-self.framework.slots :]
        self.counts[i] += 1

    def information_loss(self, shares: Array, x: Array) -> float:
        """The mean over participants and over the rounds they keep, with the current one, of ||Delta_{tau,i}(x)||."""
        kind, components = self.plan.problem.potential, self.plan.problem.current
        total = 0.0
        for share, past in zip(shares, self.past, strict=True):
            if share > 0:
                differences = [
                    one.data.gradient(kind, components, x) - one.gradient(kind, components, x) for one in past
                ]
                total += sum(math.sqrt(one @ one) for one in differences) / (len(past) + 1)
        return total / self.framework.participants

    def _data(self, i: int, t: int) -> Data:
        problem, drift, windows, seed = self.plan.problem, self.framework.drift, self.framework.windows, self.plan.seed
        client_round = t if drift.stateless else 0
        delta, scratch = self.zero.copy(), self.zero.copy()
        fill_vector(self.law, seed, draws.CLIENT_DRIFT, self.replica, i, client_round, 0, drift.G, delta)
        share = drift.F / drift.D if drift.D != 0 else drift.F
        time_drift(
            *(self.law, self.correlation, seed, self.replica, i, t),
            *(drift.D, drift.F, share, drift.alpha, self.xi[i], scratch),
        )
        share = drift.C / drift.A if drift.A != 0 else drift.C
        self.xi_sign[i] = time_sign(self.correlation, seed, self.replica, i, t, share, drift.alpha, self.xi_sign[i])
        factor = 1 - drift.B * client_sign(seed, self.replica, i, client_round) - drift.A * self.xi_sign[i]
        total = len(problem.current.row_start) - 1
        window = np.empty(self.framework.longest, dtype=np.int64)
        first, n = int(problem.current.client_start[i]), int(problem.current.counts[i])
        kind = KINDS.index(windows.kind)
        order = np.empty(total, dtype=np.int64)
        length = draw_window(
            *(kind, windows.size, windows.shift, windows.count, seed, self.replica, i, t, first, n, order, window)
        )
        return Data(window[:length], factor, -(delta + self.xi[i]))

    def _loss(self, i: int, t: int) -> Array:
        out, mean = self.zero.copy(), self.framework.information_loss
        if not self.framework.constant_loss and mean != 0:
            scale = math.sqrt(mean / 1000 * len(out))
            fill_vector(0, self.plan.seed, draws.LOSS, self.replica, i, t, 0, scale, out)
        return np.asarray(out + mean)


def herding(components: Components, window: Ints, size: int) -> Ints:
    """Algorithm 3: `size` components whose mean feature follows that of the window; the same one may come twice.

    The feature of a component is the weighted sum of its rows; the first of several minimisers is taken.
    """
    start = components.row_start
    features = [components.weights[start[j] : start[j + 1]] @ components.rows[start[j] : start[j + 1]] for j in window]
    mean = sum(features[1:], features[0]) / len(window)
    chosen: list[int] = []
    total = mean * 0
    for k in range(1, size + 1):
        gaps = [mean - (feature + total) / k for feature in features]
        best = min(range(len(window)), key=lambda c: gaps[c] @ gaps[c])
        total = total + features[best]
        chosen.append(int(window[best]))
    return np.array(chosen, dtype=np.int64)


def _times(hessian: Array, x: Array) -> Array:
    return np.asarray(hessian @ x if hessian.ndim == 2 else hessian * x)
