"""FedTrack, C-FLAG, and methods against forgetting: CFL with Taylor models of the past, EWC, A-GEM and replay."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from cflag_theory.conform.algorithm import Algorithm
from cflag_theory.conform.case import ALL_CLIENTS, EQUAL_STEPS, EQUAL_WEIGHTS, SERVER_LR_1
from cflag_theory.conform.numbers import Vector
from cflag_theory.conform.views import Client, Server


class FedTrack(Algorithm):
    """Local steps against the delayed gradient (5) and grad g(x_t) - grad g_i(x_t)."""

    name, title = "fedtrack", "FedTrack"
    assumes: ClassVar[frozenset[str]] = frozenset({SERVER_LR_1, EQUAL_STEPS, ALL_CLIENTS})
    source = "C-FLAG paper, (4)-(5), without the memory"
    own_slips: ClassVar[dict[str, Any]] = {
        "sign": "sign of grad g - grad g_i",
        "untracked": "local steps without grad g - grad g_i",
        "frozen": "grad g - grad g_i is that of the first round",
        "first table": "the delayed table is filled at x_0 and not at x_t",
        "not stored": "a refreshed gradient is not written into the table",
        "not divided": "the change of the delayed mean is not divided by n_i",
        "stochastic": "plain sampled gradients in place of the delayed gradient",
    }
    places: ClassVar[dict[str, Any]] = {
        "y": "Algorithm 1, line 7: (4) with the delayed gradient (5)",
        "x_i": "Algorithm 1, line 7: x_{t,E}^i",
        "x": "Algorithm 1, line 12: the server's update",
    }

    def broadcast(self, at: Server) -> dict[str, Vector]:
        return {"g": at.mean_grad(at.x)}

    def prepare(self, at: Client) -> Any:
        filled = at.state.setdefault("first", at.x) if self.has("first table") else at.x
        table = [at.component_grad(j, filled) for j in range(at.n)]
        correction = at.g - at.full_grad(at.x)
        if self.has("frozen"):
            correction = at.state.setdefault("correction", correction)
        return {"table": table, "mean": at.full_grad(filled), "correction": correction}

    def direction(self, at: Client, k: int, y: Vector, prepared: Any) -> Vector:
        correction = (0 if self.has("untracked") else -1 if self.has("sign") else 1) * prepared["correction"]
        if self.has("stochastic", "stale local"):
            return self.gradient(at, k, y) + correction
        if k > 0:
            table, j = prepared["table"], at.order[k % len(at.order)]
            new = at.component_grad(j, y)
            prepared["mean"] = prepared["mean"] + (new - table[j]) / (1 if self.has("not divided") else at.n)
            if not self.has("not stored"):
                table[j] = new
        value = prepared["mean"]
        if self.has("loss half"):
            value = value / 2
        return (value * at.n if self.has("loss summed") else value) + correction


class CFlag(FedTrack):
    """FedTrack with a step of the server against the gradient on the memory: round update (24)."""

    name, title = "c_flag", "C-FLAG, round update (24)"
    source = "C-FLAG paper, Algorithm 1 and (24)"
    parameters: ClassVar[dict[str, Any]] = {"alpha": Fraction(3, 16)}
    own_slips: ClassVar[dict[str, Any]] = FedTrack.own_slips | {
        "printed": "line 2 of Algorithm 3 as printed: x_{t,E}^i is subtracted, and not x_t - x_{t,E}^i",
        "no memory": "the step on the memory is missing",
        "memory sign": "the sign of the step on the memory",
        "memory divided": "the gradient on the memory is divided by N twice",
        "memory moved": "the gradient on the memory is taken after the local steps",
        "memory lr": "the step on the memory is multiplied by beta",
        "memory equal": "the gradients on the memory are averaged with equal weights",
        "memory local": "clients step on the memory in every local step",
    }

    def broadcast(self, at: Server) -> dict[str, Vector]:
        return super().broadcast(at) | {"memory_g": at.memory_grad(at.x)}

    def direction(self, at: Client, k: int, y: Vector, prepared: Any) -> Vector:
        extra = at.alpha * at.memory_g if self.has("memory local") else 0 * y
        return super().direction(at, k, y, prepared) + extra

    def server(self, at: Server) -> dict[str, Vector]:
        memory, x = at.memory_grad(at.x), self.averaged(at)
        if self.has("memory moved"):
            memory = at.memory_grad(x)
        elif self.has("memory equal"):
            memory = sum((view.memory_grad(at.x) for view in at.views), 0 * at.x) / Fraction(at.N)
        factor = at.alpha * (0 if self.has("no memory", "memory local") else -1 if self.has("memory sign") else 1)
        if self.has("memory divided"):
            factor = factor / Fraction(at.N)
        elif self.has("memory lr"):
            factor = factor * at.lr
        step = factor * memory
        return {"x": at.x - self.mean(at, at.models) - step if self.has("printed") else x - step}


class CFlagAdaptive(CFlag):
    """C-FLAG with the rates of Table 1, worst case: Algorithm 3 repaired."""

    averages = False
    name, title = "c_flag_adaptive", "C-FLAG with the adaptive rates of Table 1, worst case"
    source = "C-FLAG paper, Algorithm 3 and Table 1"
    parameters: ClassVar[dict[str, Any]] = {"alpha": Fraction(3, 16), "L": Fraction(5, 2)}
    outputs = ("delta",)
    own_slips: ClassVar[dict[str, Any]] = FedTrack.own_slips | {
        "scaled sum": "line 4 of Algorithm 3 as printed: beta a_i in place of a_i",
        "line 14": "line 14 of Algorithm 3 as printed: E beta_i (grad g - grad g_i) is added",
        "printed rates": "lines 4 to 13 of Algorithm 3 as printed: the rates are those of beta a_i and not of a_i",
        "printed": "lines 4 to 14 of Algorithm 3 as printed",
        "inverted": "beta and 1/beta exchanged in the division of line 4 of Algorithm 3",
        "average case": "the rate of the average case: p_i in place of N p_i",
        "no L": "L is missing in the denominator of beta_i",
        "alpha kept": "alpha_i = alpha under interference too",
        "alpha sign": "the sign of Lambda_i in alpha_i",
        "beta kept": "beta_i = beta under transference too",
        "cases": "transference and interference are exchanged",
        "norm": "Lambda_i is divided by ||a_i||^2 in alpha_i",
    }
    places: ClassVar[dict[str, Any]] = FedTrack.places | {"x": "Algorithm 3, lines 4-14, and Algorithm 1, line 12"}

    def finish(self, at: Client, y: Vector, prepared: Any) -> dict[str, Vector]:
        moved = at.x - at.steps * at.lr * prepared["correction"] - y
        # Lines 4 and 13 as printed: the rates come from beta a_i, and what they scale is divided by beta after that.
        printed = self.has("printed rates", "printed")
        a = moved if printed or self.has("scaled sum") else moved * at.lr if self.has("inverted") else moved / at.lr
        Lambda, memory2, a2 = at.memory_g @ a, at.memory_g @ at.memory_g, a @ a
        alpha, beta, q = at.alpha, at.lr, 1 - at.L * at.alpha
        if (Lambda > 0) != self.has("cases"):
            weight = at.weight if self.has("average case") else at.N * at.weight
            if not self.has("beta kept"):
                beta = q * Lambda / ((1 if self.has("no L") else at.L) * weight * a2)
        elif not self.has("alpha kept"):
            share = Lambda / (a2 if self.has("norm") else memory2)
            alpha = alpha * (1 + share if self.has("alpha sign") else 1 - share)
        delta = alpha * at.memory_g + beta * (moved / at.lr if printed else a)
        if self.has("line 14", "printed"):
            delta = delta + at.steps * beta * prepared["correction"]
        return {"delta": delta}

    def server(self, at: Server) -> dict[str, Vector]:
        step = self.mean(at, [one["delta"] for one in at.received])
        return {"x": at.x - step}


class CFL(Algorithm):
    """The current objective and second-order Taylor models of the past ones, in equal weights."""

    name, title, evolving = "cfl", "CFL with Taylor models of past objectives", True
    assumes: ClassVar[frozenset[str]] = frozenset({EQUAL_WEIGHTS, EQUAL_STEPS, ALL_CLIENTS})
    source = "CFL paper, (3) and Appendix C.1.2"
    own_slips: ClassVar[dict[str, Any]] = {
        "no Hessian": "the Taylor models have no second-order term",
        "weights": "weights are not normalised: 1 for every round",
        "latest": "only the latest round is remembered",
        "forgotten": "past rounds are not remembered (FedAvg)",
        "half": "the second-order term has a factor 1/2 in its gradient",
        "diagonal": "the diagonal of the Hessian in place of the Hessian",
        "current weight": "the current objective has weight 1 and only the past is averaged",
    }
    places: ClassVar[dict[str, Any]] = {"y": "(3) with the Taylor models of Appendix C.1.2"}

    def prepare(self, at: Client) -> Any:
        past = at.state.setdefault("past", [])
        if self.has("forgotten"):
            return []
        return past[-1:] if self.has("latest") else list(past)

    def direction(self, at: Client, k: int, y: Vector, prepared: Any) -> Vector:
        share = Fraction(1) if self.has("weights") else Fraction(1, 1 + len(prepared))
        current = Fraction(1) if self.has("current weight") else share
        value = current * self.gradient(at, k, y)
        for gradient, hessian, center in prepared:
            second = hessian @ (y - center)
            if self.has("no Hessian"):
                second = 0 * second
            value = value + share * (gradient + (second / 2 if self.has("half") else second))
        return value

    def finish(self, at: Client, y: Vector, prepared: Any) -> dict[str, Vector]:
        rows, _ = at.data
        hessian = 2 * (rows.T @ rows) / at.n
        if self.has("diagonal"):
            hessian = np.diag(np.diag(hessian))
        at.state["past"].append((at.full_grad(y), hessian, y))
        return {}


class EWC(Algorithm):
    """The penalty lambda/2 sum_j F_j (y_j - x*_j)^2 around the model x* = x_0 of the task before."""

    name, title = "ewc", "EWC in every client"
    source = "Kirkpatrick et al., PNAS 2017, (3)"
    parameters: ClassVar[dict[str, Any]] = {"lam": Fraction(7, 32)}
    own_slips: ClassVar[dict[str, Any]] = {
        "batch": "the Fisher matrix is the square of the mean gradient and not the mean of squares",
        "zero": "the penalty is multiplied by zero: it is taken around the current iterate",
        "around x": "the penalty is around x_t and not around the model of the task before",
        "Fisher at x": "the Fisher matrix is computed at x_t and not at the model of the task before",
        "double": "the penalty is lambda sum F (y - x*)^2, without 1/2",
        "current data": "the Fisher matrix is that of the current data",
        "sign": "the sign of the penalty",
        "summed": "the Fisher matrix is a sum over samples and not their mean",
    }
    places: ClassVar[dict[str, Any]] = {"y": "(3): the gradient of the loss and lambda F (y - x*)"}

    def prepare(self, at: Client) -> Any:
        star: Vector = at.state.setdefault("star", at.start)
        point = at.x if self.has("Fisher at x") else star
        if self.has("current data"):
            grads = [at.component_grad(j, point) for j in range(at.n)]
        else:
            grads = [at.memory_component(j, point) for j in range(len(at.memory[1]))]
        total = sum((one * one for one in grads), 0 * point)
        fisher = total if self.has("summed") else total / Fraction(len(grads))
        if self.has("batch"):
            mean = sum(grads, 0 * point) / Fraction(len(grads))
            fisher = mean * mean
        return fisher, at.x if self.has("around x") else star

    def direction(self, at: Client, k: int, y: Vector, prepared: Any) -> Vector:
        fisher, star = prepared
        gap = 0 * y if self.has("zero") else y - star
        factor = -1 if self.has("sign") else 2 if self.has("double") else 1
        return self.gradient(at, k, y) + factor * at.lam * fisher * gap


class AGEM(Algorithm):
    """Gradients that point against the gradient on the memory are projected."""

    name, title, exact = "a_gem", "A-GEM in every client", False
    source = "Chaudhry et al., ICLR 2019, (11)"
    own_slips: ClassVar[dict[str, Any]] = {
        "always": "every gradient is projected, also where it does not conflict",
        "never": "no gradient is projected",
        "reversed": "gradients are projected where they agree with the memory and kept where they conflict",
        "own norm": "the projection divides by ||g||^2 and not by ||g_ref||^2",
        "onto": "the conflicting part is kept and the rest is dropped",
        "at x": "the gradient on the memory is taken at x_t and not at the local iterate",
        "reference": "where nothing conflicts the step follows g_ref and not g",
        "sign": "the conflicting part is added and not subtracted",
    }
    places: ClassVar[dict[str, Any]] = {"y": "(11): g - (g.g_ref / g_ref.g_ref) g_ref where g.g_ref < 0"}

    def direction(self, at: Client, k: int, y: Vector, prepared: Any) -> Vector:
        g, ref = self.gradient(at, k, y), at.memory_grad(at.x if self.has("at x") else y)
        product = g @ ref
        conflict = (product < 0) != self.has("reversed")
        if self.has("never") or not (conflict or self.has("always")):
            return ref if self.has("reference") else g
        part = product / (g @ g if self.has("own norm") else ref @ ref) * ref
        if self.has("onto"):
            return part
        return g + part if self.has("sign") else g - part


class ER(Algorithm):
    """Every local step goes against the mean of a current sample's gradient and a memory sample's."""

    name, title = "er", "Experience replay in every client"
    source = "Chaudhry et al., 2019, On Tiny Episodic Memories in Continual Learning, Algorithm 1"
    own_slips: ClassVar[dict[str, Any]] = {
        "sum": "the two gradients are added and not averaged",
        "no memory": "the memory is not replayed",
        "at x": "the gradient on the memory is taken at x_t",
        "same sample": "the same sample of the memory in every step",
        "current twice": "the current sample counts twice",
    }
    places: ClassVar[dict[str, Any]] = {"y": "the step on the joint batch"}

    def direction(self, at: Client, k: int, y: Vector, prepared: Any) -> Vector:
        g = self.gradient(at, k, y)
        if self.has("no memory"):
            return g
        order = at.memory_order
        j = order[0 if self.has("same sample") else k % len(order)]
        replayed = at.memory_component(j, at.x if self.has("at x") else y)
        if self.has("current twice"):
            return (2 * g + replayed) / 3
        return g + replayed if self.has("sum") else (g + replayed) / 2
