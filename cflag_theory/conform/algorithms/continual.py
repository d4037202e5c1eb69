"""Methods against forgetting: CFL with Taylor models of the past, EWC, A-GEM and experience replay."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from cflag_theory.conform.algorithm import Algorithm
from cflag_theory.conform.case import ALL_CLIENTS, EQUAL_STEPS, EQUAL_WEIGHTS
from cflag_theory.conform.numbers import Vector
from cflag_theory.conform.views import Client


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
    places: ClassVar[dict[str, Any]] = {
        "y": "(3) with the Taylor models of Appendix C.1.2",
        "x_i": "the client's model",
        "x": "the mean",
    }

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
    places: ClassVar[dict[str, Any]] = {
        "y": "(3): the gradient of the loss and lambda F (y - x*)",
        "x_i": "the client's model",
        "x": "the mean",
    }

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
    places: ClassVar[dict[str, Any]] = {
        "y": "(11): g - (g.g_ref / g_ref.g_ref) g_ref where g.g_ref < 0",
        "x_i": "the client's model",
    }

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
    places: ClassVar[dict[str, Any]] = {
        "y": "the step on the joint batch",
        "x_i": "the client's model",
        "x": "the server's mean",
    }

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
