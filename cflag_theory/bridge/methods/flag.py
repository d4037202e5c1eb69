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
- One batch of a client's memory, drawn anew in every round, gives its part of grad_f_memory; a step of its own on
  memory ("memory_step") takes the same batch, and leaves the running statistics where they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from cflag_theory.bridge.methods.base import Local, Own, Round, Sent, Vectors
from cflag_theory.bridge.methods.descent import (
    Descent,
    column,
    memory_positions,
    most_drawn,
    moving_first,
    with_resting,
)
from cflag_theory.bridge.methods.track import GRAD_G, FedTrack, components_of
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.compiled import make_step
from cflag_theory.bridge.models.rates import Rates, client_rates, inner_product, product_weights
from cflag_theory.bridge.models.rows import Passes, on_rows, passes_of, wide
from cflag_theory.bridge.settings.options import (
    AT_SERVER,
    CONSTANT,
    CORRECTED,
    FROM_DISPLACEMENT,
    GRADIENT,
    LITERAL,
    MEAN,
    OWN,
    FlagOptions,
    Work,
)
from cflag_theory.errors import InvalidInput

GRAD_F_MEMORY = "grad_f_memory"


class CFlag(FedTrack):
    """FedTrack's local steps, one step on memory a round, and rates chosen to forget less."""

    name = "c_flag"
    options: FlagOptions

    def __init__(self, work: Work, options: FlagOptions) -> None:
        super().__init__(work, options)
        self.memory_apart = options.memory_step == MEAN
        if options.adaptive != CONSTANT:
            work.check_adaptive()
            if options.rates_at == AT_SERVER and options.adapt != GRADIENT:
                raise InvalidInput(
                    f"rates_at is 'server' with adapt = {options.adapt!r}: the server chooses before the local steps, "
                    "for one of them, so use adapt = 'gradient', or rates_at = 'client'"
                )

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
            passes, (start, _) = self._on_memory(round, remembering), round.start(state)
            rows = range(len(remembering))
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
        if self.options.rates_at == AT_SERVER:
            rates.choose_once(wide(means[GRAD_G], round.width))
        in_steps = self.options.adapt == GRADIENT and self.options.adaptive != CONSTANT
        summed = in_steps or self.options.rates_from != FROM_DISPLACEMENT
        sums = grad_f_memory.new_zeros((len(moving) if summed else 0, round.width))

        def given(estimates: torch.Tensor, corrections: torch.Tensor) -> torch.Tensor:
            steps = estimates + corrections
            source = steps if self.options.rates_from == CORRECTED else estimates
            if summed:
                sums[: len(estimates)].add_(source)
            return rates.factors(source) * steps if in_steps else steps

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
        alphas = column([rate.alpha for rate in chosen], a)
        steps = 1
        if self.options.memory_step == OWN:
            steps, move = 2, self._after_own_steps(round, moving, state, descent, move, alphas)
        else:
            move = alphas * grad_f_memory + move
        found = descent.locals(
            round,
            moving,
            move,
            alpha=[rate.alpha for rate in chosen],
            beta=[rate.beta for rate in chosen],
            Lambda=Lambda,
            gradients=[
                count + steps * most_drawn(client.memory, self.work.sample)
                for count, client in zip(evaluated, moving, strict=True)
            ],
        )
        return with_resting(found, clients, state, alpha=self.work.alpha, beta=self.work.lr)

    def _on_memory(self, round: Round, clients: Sequence[Client]) -> Passes:
        """A batch of each client's memory, the same whenever it is asked for in a round."""
        positions = [
            memory_positions(client.memory, self.work.sample, round.random("memory", client.index))
            for client in clients
        ]
        longest = round.longest(lambda client: most_drawn(client.memory, self.work.sample))
        return passes_of(round.model, [[client.memory] for client in clients], [[each] for each in positions], longest)

    def _after_own_steps(
        self,
        round: Round,
        clients: Sequence[Client],
        state: torch.Tensor,
        descent: Descent,
        move: torch.Tensor,
        alphas: torch.Tensor,
    ) -> torch.Tensor:
        """The moves (n, width) with one more step each, on the client's own memory at its local model."""
        rows = [row for row, client in enumerate(clients) if client.memory.n > 0]
        if not rows:
            return move
        passes, (start, _) = self._on_memory(round, [clients[row] for row in rows]), round.start(state)
        local = start - descent.whole(move)[rows]
        _, gradients = passes.gradients(range(len(rows)), [0] * len(rows), local)
        lengths = alphas[rows]
        if self.options.adapt == GRADIENT:
            # As in the local steps, rates scale what Adam is given; Table 1's are no lengths of its steps.
            gradients, lengths = gradients * (lengths / self.work.alpha), torch.full_like(lengths, self.work.alpha)
        directions = make_step(self.options.step, compiled=round.model.compiled).direction(gradients)
        where = torch.tensor(rows, device=move.device)
        return move.index_add(0, where, lengths * directions[:, : move.shape[1]])


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
        self._common: Rates | None = None

    def choose_once(self, grad_g: torch.Tensor) -> None:
        """The server's rates for all rows and steps, from grad g(x_t) as the only client's a_i."""
        (self._common,), _ = self._of(grad_g[None], 1, [1.0])

    def of(self, a: torch.Tensor) -> tuple[list[Rates], torch.Tensor]:
        """alpha_i and beta_i of the first rows for their a_i, and Lambda_i as these rates see it."""
        if self._common is not None:
            return [self._common] * len(a), inner_product(self.grad_f_memory, a, self.weights)
        return self._of(a, self.clients, self.shares[: len(a)])

    def _of(self, a: torch.Tensor, clients: int, shares: Sequence[float]) -> tuple[list[Rates], torch.Tensor]:
        return client_rates(
            self.options.adaptive,
            L=self.work.L,
            alpha=self.work.alpha,
            beta=self.work.lr,
            clients=clients,
            shares=shares,
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
