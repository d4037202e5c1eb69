"""C-FLAG (Algorithms 1 to 3) and FedTrack, which is C-FLAG without memory and without adaptive rates.

Decisions where the paper leaves something open:

- At k = 0 the estimate is grad g_i(x_t), as in (5), and no component is visited. Where the model has running statistics
  a minibatch passes through it nevertheless, so that every local step moves them once.
- The displacement without its tracking part, over beta, is the sum of the steps' directions less E (grad g - grad g_i):
  line 4 of Algorithm 3. Rates chosen once scale it, as (24) has it; "printed" scales line 14's E beta_i (grad g - grad
  g_i) with it. For plain steps it is sum_k delayed_{i,k}, the a_i of Sec. 5. For Adam it is not: entries of a direction
  are about 1 whatever the gradient. Table 1's beta_i makes the bound on Gamma least for the vector that it came from,
  so rates come from the vector that they scale; those from the sum of the gradients ("rates_from") know nothing of
  Adam's scale and can make Gamma hundreds of times larger than constant rates do. Of an Adam displacement ||a_i||^2 is
  about E^2 d, and the rates that it gives under transference are small: that is what Table 1 says of such steps.
- Clients with more minibatches take more steps, and then the tracking parts do not cancel in the mean: sum_i p_i E_i
  (grad g - grad g_i) is not 0. Constant rates keep them, as lines 1 to 3 of Algorithm 3 do, and the mean step is along
  grad g; adapted rates leave them out, as (24) does, and weigh a client's gradient by p_i E_i beta_i.
- Rates chosen in every step leave the displacement as it is; alpha_i and beta_i are then the means over the steps.
- grad_f_memory is the mean over all clients with weights p_i, to which a client without memory adds zero. In the first
  task no client remembers anything, and C-FLAG is FedTrack.
- One batch of a client's memory, drawn anew in every round, gives its part of grad_f_memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from cflag_theory.bridge.methods.base import Local, Own, Round, Sent, Vectors
from cflag_theory.bridge.methods.descent import column, memory_positions, most_drawn, moving_first, with_resting
from cflag_theory.bridge.methods.track import GRAD_G, FedTrack, components_of
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.rates import Rates, client_rates, inner_product, product_weights
from cflag_theory.bridge.models.rows import on_rows, passes_of, wide
from cflag_theory.bridge.settings.options import CONSTANT, GRADIENT, GRADIENTS, LITERAL, FlagOptions, Work

GRAD_F_MEMORY = "grad_f_memory"


class CFlag(FedTrack):
    """FedTrack's local steps, one step on memory a round, and rates chosen to forget less."""

    name = "c_flag"
    options: FlagOptions

    def __init__(self, work: Work, options: FlagOptions) -> None:
        super().__init__(work, options)
        if options.adaptive != CONSTANT:
            work.check_adaptive()

    def vectors_of(self, round: Round, clients: Sequence[Client], state: torch.Tensor) -> Sent:
        """grad g_i(x_t) as "grad_g", and after the first task the gradient on memory, (6), as "grad_f_memory"."""
        vectors = super().vectors_of(round, clients, state)
        if round.task == 0:
            return vectors
        nothing = state.new_zeros(round.model.d)
        for own in vectors.values():
            own[GRAD_F_MEMORY] = nothing
        remembering = [client for client in clients if client.memory.n > 0]
        if remembering:
            positions = [
                memory_positions(client.memory, self.work.sample, round.random("memory", client.index))
                for client in remembering
            ]
            longest = round.longest(lambda client: most_drawn(client.memory, self.work.sample))
            data, parts = [[client.memory] for client in remembering], [[each] for each in positions]
            passes, (start, _) = passes_of(round.model, data, parts, longest), round.start(state)
            rows = range(len(parts))
            _, grad_f = passes.gradients(rows, [0] * len(rows), start.expand(len(rows), -1))
            for row, client in enumerate(remembering):
                vectors[client.index][GRAD_F_MEMORY] = grad_f[row, : round.model.d]
        return vectors

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        grad_f_memory = means.get(GRAD_F_MEMORY)
        if grad_f_memory is None:
            return super().locals_of(round, clients, state, means, own)
        openings = self.opened(clients)
        moving = moving_first(clients, components_of(openings))
        if not moving:
            return with_resting({}, clients, state, alpha=self.work.alpha, beta=self.work.lr)
        grad_f_memory = wide(grad_f_memory, round.width)
        weights = product_weights(round.model, self.options.product)
        weights = None if weights is None else wide(weights.to(grad_f_memory), round.width)
        rates = _RowRates(self, round, moving, grad_f_memory, weights)
        in_steps = self.options.adapt == GRADIENT and self.options.adaptive != CONSTANT
        summed = in_steps or self.options.rates_from == GRADIENTS
        sums = grad_f_memory.new_zeros((len(moving) if summed else 0, round.width))

        def given(estimates: torch.Tensor, corrections: torch.Tensor) -> torch.Tensor:
            if summed:
                sums[: len(estimates)] += estimates
            steps = estimates + corrections
            return rates.factors(estimates) * steps if in_steps else steps

        descent, evaluated = self.descend(round, moving, state, means, own, openings, given)
        move = descent.move[:, : round.width]
        correction = wide(means[GRAD_G] - on_rows([own[client.index][GRAD_G] for client in moving]), round.width)
        a = descent.total - column(descent.steps, correction) * correction
        seen = sums if summed else a
        if in_steps:
            chosen, Lambda = rates.means(descent.steps), inner_product(grad_f_memory, seen)
        else:
            chosen, Lambda = rates.of(seen)
            if weights is not None:
                Lambda = inner_product(grad_f_memory, seen)
            if self.options.adaptive != CONSTANT:
                betas = column([rate.beta for rate in chosen], a)
                move = betas * (descent.total if self.options.adaptive == LITERAL else a)
        found = descent.locals(
            round,
            moving,
            column([rate.alpha for rate in chosen], a) * grad_f_memory + move,
            alpha=[rate.alpha for rate in chosen],
            beta=[rate.beta for rate in chosen],
            Lambda=Lambda,
            gradients=[
                count + most_drawn(client.memory, self.work.sample)
                for count, client in zip(evaluated, moving, strict=True)
            ],
        )
        return with_resting(found, clients, state, alpha=self.work.alpha, beta=self.work.lr)


class _RowRates:
    """Rates of clients in one round, a row a client."""

    def __init__(
        self,
        method: CFlag,
        round: Round,
        clients: Sequence[Client],
        grad_f_memory: torch.Tensor,
        weights: torch.Tensor | None,
    ) -> None:
        self.work, self.options = method.work, method.options
        self.clients, self.shares, self.grad_f_memory = round.clients, [client.p for client in clients], grad_f_memory
        self.weights = weights
        self._sums = [[0.0, 0.0] for _ in clients]

    def of(self, a: torch.Tensor) -> tuple[list[Rates], torch.Tensor]:
        """alpha_i and beta_i of the first rows for their a_i, and Lambda_i as these rates see it."""
        return client_rates(
            self.options.adaptive,
            L=self.work.L,
            alpha=self.work.alpha,
            beta=self.work.lr,
            clients=self.clients,
            shares=self.shares[: len(a)],
            grad_f_memory=self.grad_f_memory,
            a=a,
            weights=self.weights,
        )

    def factors(self, estimates: torch.Tensor) -> torch.Tensor:
        """beta_i / beta, beta_i from this step's estimates, (n, 1)."""
        rates, _ = self.of(estimates)
        for sums, each in zip(self._sums, rates, strict=False):
            sums[0] += each.alpha
            sums[1] += each.beta
        return column([each.beta / self.work.lr for each in rates], estimates)

    def means(self, steps: Sequence[int]) -> list[Rates]:
        """The means over the steps."""
        return [Rates(alpha / count, beta / count) for (alpha, beta), count in zip(self._sums, steps, strict=True)]
