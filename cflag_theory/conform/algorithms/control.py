"""SCAFFOLD in both options, and MimeLite."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from cflag_theory.conform.algorithm import Algorithm
from cflag_theory.conform.case import EQUAL_STEPS, EQUAL_WEIGHTS, SERVER_LR_1
from cflag_theory.conform.numbers import Vector
from cflag_theory.conform.views import Client, Server


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
