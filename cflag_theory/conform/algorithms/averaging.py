"""FedAvg, FedProx, FedNova, FedDyn, local Adam, SCAFFOLD in both options, and MimeLite."""

from __future__ import annotations

from collections.abc import Mapping
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
    places: ClassVar[dict[str, Any]] = {"y": "the local objective g + mu/2 ||y - x||^2"}

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
    places: ClassVar[dict[str, Any]] = {"y": "y <- y - lr m^ / (sqrt(v^) + eps)"}

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


class Scaffold(Algorithm):
    """Local steps against g_i(y) - c_i + c, with option II for c_i."""

    name, title, option = "scaffold", "SCAFFOLD, option II", 2
    assumes: ClassVar[frozenset[str]] = frozenset({EQUAL_WEIGHTS, EQUAL_STEPS})
    source = "Karimireddy et al., ICML 2020, Algorithm 1"
    client_state, server_state, outputs = ("c_i",), ("c",), ("c_i",)
    own_slips: ClassVar[dict[str, Any]] = {
        "sign": "sign of c - c_i",
        "never written": "c_i is never written back, so that it stays 0",
        "overwritten": "c_i is overwritten before c_i+ - c_i is taken, so that 0 is sent",
        "sent whole": "c_i+ is sent in place of c_i+ - c_i",
        "c kept": "the server's c is never updated",
        "c participants": "c is updated with the mean over the participants, without the factor |S|/N",
        "c summed": "the server adds the changes of c_i and does not average them",
        "no lr": "(x - y) / E without lr in the update of c_i",
        "no steps": "(x - y) / lr without the number of local steps in the update of c_i",
        "steps of samples": "the number of samples times E in place of E in the update of c_i",
        "no c": "c is not subtracted in the update of c_i",
        "reversed": "y - x in place of x - y in the update of c_i",
        "model": "control variates start at the model and not at 0",
        "other option": "the other option for c_i",
        "uncorrected": "local steps without c - c_i (FedAvg)",
    }
    places: ClassVar[dict[str, Any]] = {
        "y": "line 10: y <- y - lr (g_i(y) - c_i + c)",
        "x_i": "line 10: the last local iterate",
        "c_i": "line 12: c_i+",
        "delta_c": "line 13: c_i+ - c_i",
        "x": "lines 16-17: x <- x + server_lr mean of (y_i - x)",
        "c": "lines 16-17: c <- c + |S|/N mean of (c_i+ - c_i)",
    }

    def initial(self, name: str, start: Vector) -> Vector:
        return start if self.has("model") else 0 * start

    def direction(self, at: Client, k: int, y: Vector, prepared: Any) -> Vector:
        correction = at.c - at.c_i
        g = self.gradient(at, k, y)
        if self.has("uncorrected"):
            return g
        return g - correction if self.has("sign") else g + correction

    def finish(self, at: Client, y: Vector, prepared: Any) -> dict[str, Vector]:
        c, c_i = at.c, at.c_i
        if (self.option == 1) != self.has("other option"):
            return self._sent(at, at.full_grad(at.x))
        moved = y - at.x if self.has("reversed") else at.x - y
        over = (1 if self.has("no lr") else at.lr) * (1 if self.has("no steps") else at.steps)
        over = over * at.n if self.has("steps of samples") else over
        return self._sent(at, c_i - (0 if self.has("no c") else 1) * c + moved / over)

    def _sent(self, at: Client, new: Vector) -> dict[str, Vector]:
        before = new if self.has("overwritten") else 0 * new if self.has("sent whole") else at.c_i
        return {"c_i": new, "delta_c": new - before}

    def completed(self, returned: Mapping[str, Vector], before: Mapping[str, Vector]) -> dict[str, Vector]:
        """c_i+ and c_i+ - c_i, of which a client may send either."""
        found = dict(returned)
        if "c_i" in found:
            found.setdefault("delta_c", found["c_i"] - before["c_i"])
        elif "delta_c" in found:
            found["c_i"] = before["c_i"] + found["delta_c"]
        return found

    def keep(self, name: str, old: Vector, new: Vector) -> Vector:
        return old if self.has("never written") else new

    def server(self, at: Server) -> dict[str, Vector]:
        change = 0 * at.x
        for one in at.delta_c:
            change = change + one
        count = len(at.participants) if self.has("c participants") else at.N
        step = change / Fraction(1 if self.has("c summed") else count)
        return {"x": self.averaged(at), "c": at.c if self.has("c kept") else at.c + step}


class ScaffoldI(Scaffold):
    """SCAFFOLD with the full gradient at x as c_i."""

    name, title, option = "scaffold_1", "SCAFFOLD, option I", 1
    own_slips: ClassVar[dict[str, Any]] = {
        key: words
        for key, words in Scaffold.own_slips.items()
        if key not in ("no lr", "no steps", "steps of samples", "no c", "reversed")
    }


class MimeLite(Algorithm):
    """Local steps with a momentum that is the same for all clients and fixed in a round."""

    name, title = "mimelite", "MimeLite with momentum"
    assumes: ClassVar[frozenset[str]] = frozenset({SERVER_LR_1, EQUAL_WEIGHTS, EQUAL_STEPS})
    source = "Karimireddy et al., NeurIPS 2021, Algorithm 2"
    parameters: ClassVar[dict[str, Any]] = {"gamma": Fraction(3, 4)}
    server_state, outputs = ("s",), ("g_i",)
    own_slips: ClassVar[dict[str, Any]] = {
        "local": "the momentum moves in the local steps",
        "swapped": "gamma and 1 - gamma are exchanged",
        "local gradient": "the momentum is updated with gradients at the clients' last iterates",
        "next": "the momentum is updated with gradients at x_{t+1}",
        "never": "the momentum is never updated",
        "no factor": "the local gradient is not multiplied by 1 - gamma",
        "dropped": "local steps without the momentum (FedAvg)",
    }
    places: ClassVar[dict[str, Any]] = {
        "y": "y <- y - lr ((1 - gamma) g_i(y) + gamma s)",
        "g_i": "the gradient of f_i at x",
        "s": "s <- (1 - gamma) mean of g_i + gamma s",
    }

    def prepare(self, at: Client) -> Any:
        return {"s": at.s}

    def direction(self, at: Client, k: int, y: Vector, prepared: Any) -> Vector:
        new, kept = self._factors(at.gamma)
        g = self.gradient(at, k, y)
        if self.has("dropped"):
            return g
        value = (1 if self.has("no factor") else new) * g + kept * prepared["s"]
        if self.has("local"):
            prepared["s"] = value
        return value

    def finish(self, at: Client, y: Vector, prepared: Any) -> dict[str, Vector]:
        return {"g_i": at.full_grad(y if self.has("local gradient") else at.x)}

    def server(self, at: Server) -> dict[str, Vector]:
        new, kept = self._factors(at.gamma)
        x = self.averaged(at)
        gradient = self.mean(at, [one["g_i"] for one in at.received])
        if self.has("next"):
            gradient = self.mean(at, [view.full_grad(x) for view in at.views])
        s = at.s if self.has("never") else new * gradient + kept * at.s
        return {"x": x, "s": s}

    def _factors(self, gamma: Any) -> tuple[Any, Any]:
        return (gamma, 1 - gamma) if self.has("swapped") else (1 - gamma, gamma)
