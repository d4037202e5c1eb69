"""FedAvg, FedProx, FedNova, FedDyn and local Adam."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from cflag_theory.conform.algorithm import Algorithm
from cflag_theory.conform.case import ALL_CLIENTS, EQUAL_STEPS, EQUAL_WEIGHTS, SERVER_LR_1
from cflag_theory.conform.numbers import Vector
from cflag_theory.conform.views import Client, Server


class FedAvg(Algorithm):
    """Local steps of stochastic gradients, then the mean."""

    name, title = "fedavg", "FedAvg"
    source = "McMahan et al., AISTATS 2017, Algorithm 1"
    places: ClassVar[dict[str, Any]] = {
        "y": "ClientUpdate: w <- w - lr grad",
        "x_i": "ClientUpdate: the model returned",
        "x": "the server's mean",
    }


class FedProx(Algorithm):
    """FedAvg with the penalty mu/2 ||y - x||^2."""

    name, title = "fedprox", "FedProx"
    source = "Li et al., MLSys 2020, Algorithm 2"
    parameters: ClassVar[dict[str, Any]] = {"mu": Fraction(3, 8)}
    own_slips: ClassVar[dict[str, Any]] = {
        "own model": "the proximal term is around the wrong point: the client's own last model and not x_t",
        "first model": "the proximal term is around the wrong point: x_0 and not x_t",
        "zero": "the proximal term is always zero (it is taken around the current iterate)",
        "sign": "the sign of the proximal term",
        "half": "the proximal gradient is mu/2 (y - x) and not mu (y - x)",
        "double": "the proximal gradient is 2 mu (y - x): the penalty is mu ||y - x||^2",
    }
    places: ClassVar[dict[str, Any]] = {
        "y": "the local objective g + mu/2 ||y - x||^2",
        "x_i": "the client's model",
        "x": "the server's mean",
    }

    def direction(self, at: Client, k: int, y: Vector, prepared: Any) -> Vector:
        around = at.x
        if self.has("own model"):
            around = at.state.get("own", at.x)
        elif self.has("first model"):
            around = at.state.setdefault("first", at.x)
        pull = at.mu * (0 if self.has("zero") else 1) * (y - around)
        if self.has("half"):
            pull = pull / 2
        elif self.has("double"):
            pull = 2 * pull
        return self.gradient(at, k, y) + (-pull if self.has("sign") else pull)


class FedNova(Algorithm):
    """Displacements divided by the number of local steps, put together with the mean number."""

    name, title = "fednova", "FedNova"
    assumes: ClassVar[frozenset[str]] = frozenset({SERVER_LR_1, ALL_CLIENTS})
    source = "Wang et al., NeurIPS 2020, (6)"
    own_slips: ClassVar[dict[str, Any]] = {
        "not normalised": "displacements are not divided by the clients' local steps (FedAvg)",
        "equal mean": "tau_eff is the plain mean of the local steps and not the p-weighted one",
        "largest": "tau_eff is the largest number of local steps",
        "no tau": "the mean of the normalised displacements is not multiplied by tau_eff",
    }
    places: ClassVar[dict[str, Any]] = {
        "y": "local steps",
        "x_i": "the client's model",
        "x": "x - tau_eff sum_i p_i lr d_i",
    }

    def averaged(self, at: Server) -> Vector:
        steps = [one.steps for one in at.views]
        if self.has("not normalised"):
            return super().averaged(at)
        tau = sum((share * count for share, count in zip(self.shares(at), steps, strict=True)), Fraction(0))
        if self.has("equal mean"):
            tau = Fraction(sum(steps), len(steps))
        elif self.has("largest"):
            tau = Fraction(max(steps))
        elif self.has("no tau"):
            tau = Fraction(1)
        moved = tau * self.mean(at, [delta / count for delta, count in zip(at.deltas, steps, strict=True)])
        moved = at.lr * moved if self.has("lr twice") else moved
        return at.x + (moved if self.has("server lr missing") else at.server_lr * moved)


class FedDyn(Algorithm):
    """FedAvg with a dynamic regulariser: linear terms that remember each client's gradient."""

    name, title, averages = "feddyn", "FedDyn", False
    source = "Acar et al., ICLR 2021, Algorithm 1"
    assumes: ClassVar[frozenset[str]] = frozenset({SERVER_LR_1, EQUAL_WEIGHTS, EQUAL_STEPS})
    parameters: ClassVar[dict[str, Any]] = {"alpha": Fraction(3, 8)}
    client_state, server_state, outputs = ("h_i",), ("h",), ("h_i",)
    own_slips: ClassVar[dict[str, Any]] = {
        "sign": "the sign of the client's linear term h_i",
        "h_i kept": "h_i is never written back, so that it stays 0",
        "h missing": "the server's h is not used in the new model",
        "h sign": "the sign of h in the server's model",
        "h participants": "h is updated with the mean over the participants and not the sum over them divided by N",
        "one x": "h is updated with the sum of the models less x once: the bracket of the sum ends too early",
        "no alpha": "h_i is updated without the factor alpha",
        "no pull": "the quadratic term alpha/2 ||y - x||^2 is missing",
        "plain sum": "h is updated without the factor alpha",
    }
    places: ClassVar[dict[str, Any]] = {
        "y": "the local objective with -<h_i, y> + alpha/2 ||y - x||^2",
        "h_i": "h_i <- h_i - alpha (x_i - x)",
        "h": "h <- h - alpha (1/N) sum over participants of (x_i - x)",
        "x": "the mean of the participants' models less h/alpha",
    }

    def direction(self, at: Client, k: int, y: Vector, prepared: Any) -> Vector:
        h_i = -at.h_i if self.has("sign") else at.h_i
        pull = 0 * y if self.has("no pull") else at.alpha * (y - at.x)
        return self.gradient(at, k, y) - h_i + pull

    def finish(self, at: Client, y: Vector, prepared: Any) -> dict[str, Vector]:
        factor = 1 if self.has("no alpha") else at.alpha
        new = at.h_i - factor * (y - at.x)
        return {"h_i": new}

    def keep(self, name: str, old: Vector, new: Vector) -> Vector:
        return old if self.has("h_i kept") else new

    def server(self, at: Server) -> dict[str, Vector]:
        total = 0 * at.x
        for delta in at.deltas:
            total = total + delta
        count = len(at.deltas) if self.has("h participants") else at.N
        factor = 1 if self.has("plain sum") else at.alpha
        changed = total + (len(at.deltas) - 1) * at.x if self.has("one x") else total
        h = at.h - factor * changed / Fraction(count)
        part = 0 * h if self.has("h missing") else h / at.alpha
        mean = at.x + total / Fraction(len(at.deltas))
        return {"x": mean + part if self.has("h sign") else mean - part, "h": h}


class LocalAdam(Algorithm):
    """Adam at the clients, with a fresh state in every round, then the mean."""

    name, title, exact = "local_adam", "FedAvg with Adam at the clients", False
    assumes: ClassVar[frozenset[str]] = frozenset({SERVER_LR_1, ALL_CLIENTS})
    source = "Kingma and Ba, ICLR 2015, Algorithm 1, in every client"
    parameters: ClassVar[dict[str, Any]] = {
        "beta1": Fraction(5, 8),
        "beta2": Fraction(3, 4),
        "eps": Fraction(1, 256),
    }
    own_slips: ClassVar[dict[str, Any]] = {
        "no correction": "the bias correction is missing",
        "eps inside": "eps stands inside of the root",
        "kept": "the moments of the last round are kept",
        "not squared": "the second moment is that of |g| and not of g^2",
        "swapped": "beta1 and beta2 are exchanged",
        "counter": "the bias correction counts the steps of all rounds",
    }
    places: ClassVar[dict[str, Any]] = {
        "y": "y <- y - lr m^ / (sqrt(v^) + eps)",
        "x_i": "the client's model",
        "x": "the server's mean",
    }

    def prepare(self, at: Client) -> Any:
        fresh = {"m": 0 * at.x, "v": 0 * at.x, "count": 0}
        return at.state.setdefault("adam", fresh) if self.has("kept") else fresh

    def direction(self, at: Client, k: int, y: Vector, prepared: Any) -> Vector:
        g = self.gradient(at, k, y)
        b1, b2, eps = at.beta1, at.beta2, at.eps
        if self.has("swapped"):
            b1, b2 = b2, b1
        prepared["m"] = b1 * prepared["m"] + (1 - b1) * g
        prepared["v"] = b2 * prepared["v"] + (1 - b2) * (np.sqrt(g * g) if self.has("not squared") else g * g)
        prepared["count"] += 1
        count = prepared["count"] if self.has("kept") else k + 1
        if self.has("counter"):
            count = at.t * at.steps + k + 1
        m, v = prepared["m"], prepared["v"]
        if not self.has("no correction"):
            m, v = m / (1 - b1**count), v / (1 - b2**count)
        return m / (np.sqrt(v + eps) if self.has("eps inside") else np.sqrt(v) + eps)
