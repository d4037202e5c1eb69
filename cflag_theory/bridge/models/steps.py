"""Steps on flat vectors: which direction a local step takes for the gradient that it is given."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch

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
    """Adam of Kingma and Ba (2015), with the corrections for its start at zero, as in torch.optim.Adam."""

    def __init__(self) -> None:
        self.steps = 0
        self.mean: torch.Tensor | None = None
        self.square: torch.Tensor | None = None

    def direction(self, gradient: torch.Tensor) -> torch.Tensor:
        if self.mean is None or self.square is None:
            self.mean, self.square = torch.zeros_like(gradient), torch.zeros_like(gradient)
        self.steps += 1
        mean, square = self.mean[: len(gradient)], self.square[: len(gradient)]
        mean.lerp_(gradient, 1 - BETA1)
        square.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
        root = square.sqrt().div_((1 - BETA2**self.steps) ** 0.5).add_(EPSILON)
        return torch.div(mean, root, out=root).div_(1 - BETA1**self.steps)


def make_step(name: str | None) -> Step:
    """A fresh step of this name.

    Raises
    ------
    UnknownName
        It is neither "plain" nor "adam".
    """
    one_of("step", name, STEPS)
    return Adam() if name == ADAM else Plain()
