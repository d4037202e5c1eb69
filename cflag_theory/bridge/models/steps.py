"""Steps on flat vectors: which direction a local step takes for the gradient that it is given."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch

from cflag_theory.bridge.models.compiled import fused
from cflag_theory.bridge.settings.options import ADAM, STEPS, one_of

#: torch.optim.Adam's defaults.
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Step(ABC):
    """x <- x - lr * direction(gradient); one object serves the steps of one round."""

    @abstractmethod
    def direction(self, gradient: torch.Tensor) -> torch.Tensor:
        """The direction for this gradient, which stays as it is: (d,), or rows (n, d) for several clients.

        Rows may become fewer from step to step: the first ones go on.
        """


class Plain(Step):
    """The gradient itself."""

    def direction(self, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


class Adam(Step):
    """Adam of Kingma and Ba (2015), with the corrections for its start at zero, as in torch.optim.Adam. If `compiled`,
    the arithmetic is one pass over memory: 14 ms instead of 34 for the 11 million parameters of a ResNet-18 on two
    cores.
    """

    def __init__(self, compiled: bool = False) -> None:
        self.steps, self._compiled = 0, compiled
        self.mean: torch.Tensor | None = None
        self.square: torch.Tensor | None = None

    def direction(self, gradient: torch.Tensor) -> torch.Tensor:
        if self.mean is None or self.square is None:
            self.mean, self.square = torch.zeros_like(gradient), torch.zeros_like(gradient)
        self.steps += 1
        moments = self.mean[: len(gradient)], self.square[: len(gradient)]
        corrections = 1 - BETA1**self.steps, (1 - BETA2**self.steps) ** 0.5
        if not self._compiled:
            return adam_direction(gradient, *moments, *corrections)
        # As tensors: numbers would be constants of the compiled code.
        given = (torch.full((), number, dtype=gradient.dtype, device=gradient.device) for number in corrections)
        found: torch.Tensor = fused(adam_direction)(gradient, *moments, *given)
        return found


def adam_direction(
    gradient: torch.Tensor,
    mean: torch.Tensor,
    square: torch.Tensor,
    first: float | torch.Tensor,
    second: float | torch.Tensor,
) -> torch.Tensor:
    """Adam's direction, whose two moments move; `first` and `second` correct for their start at zero."""
    mean.lerp_(gradient, 1 - BETA1)
    square.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
    root = square.sqrt().div_(second).add_(EPSILON)
    return torch.div(mean, root, out=root).div_(first)


def make_step(name: str | None, *, compiled: bool = False) -> Step:
    """A fresh step of this name."""
    one_of("step", name, STEPS)
    return Adam(compiled) if name == ADAM else Plain()
