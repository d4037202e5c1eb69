"""One round of Algorithm 2 on the line, draw by draw, with the parts into which App. B.4.2 splits it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.instances.drift_rounds import DriftRounds, Run

#: A function on the line.
Slope = Callable[[Fraction], Fraction]


@dataclass(frozen=True)
class Client:
    """One client's part of a round: K + 1 points, and at the first K the true gradient, the loss and the noise."""

    path: tuple[Fraction, ...]
    true: tuple[Fraction, ...]
    loss: tuple[Fraction, ...]
    noise: tuple[Fraction, ...]

    @property
    def local(self) -> tuple[Fraction, ...]:
        """The gradients followed, without noise: true minus loss."""
        return tuple(a - b for a, b in zip(self.true, self.loss, strict=True))


@dataclass(frozen=True)
class Round:
    """One draw of a round: w_t, what the clients did, and w_{t+1}."""

    start: Fraction
    clients: tuple[Client, ...]
    end: Fraction

    def mean(self, terms: Callable[[Client], Sequence[Fraction]]) -> Fraction:
        """The mean over clients and steps."""
        found = [value for client in self.clients for value in terms(client)]
        return sum(found, Fraction(0)) / len(found)


def expectation(rounds: Sequence[Round], function: Callable[[Round], Fraction]) -> Fraction:
    """The mean over draws, all equally likely."""
    return sum(map(function, rounds), Fraction(0)) / len(rounds)


def of_run(run: Run, t: int) -> Round:
    """Round t of a run of `drift_rounds`."""
    clients = []
    loss = sum((p for tau, p in run.world.past(t) if tau < t), Fraction(0)) * run.world.R
    for i in range(run.world.clients):
        path = run.local[t][i]
        true = tuple(run.weighted_gradient(t, i, x) for x in path[:-1])
        clients.append(Client(path, true, (loss,) * len(true), run.noise[t][i]))
    return Round(run.w[t], tuple(clients), run.w[t + 1])


def of_world(world: DriftRounds, t: int) -> list[Round]:
    """Round t of every run."""
    return [of_run(run, t) for run in world.runs()]


def noisy_rounds(
    true: Slope,
    loss: Slope,
    *,
    start: Fraction,
    eta_l: Fraction,
    sigma: Fraction,
    local_steps: int,
    clients: int = 1,
) -> list[Round]:
    """A round from a fixed w_t with eta_g = 1, for every draw of noises +-sigma, any gradient and any loss."""
    rounds = []
    paths = [_path(true, loss, start, eta_l, noise) for noise in product((sigma, -sigma), repeat=local_steps)]
    for drawn in product(paths, repeat=clients):
        end = sum((client.path[-1] for client in drawn), Fraction(0)) / clients
        rounds.append(Round(start, drawn, end))
    return rounds


def _path(true: Slope, loss: Slope, start: Fraction, eta_l: Fraction, noise: tuple[Fraction, ...]) -> Client:
    path = [start]
    for nu in noise:
        path.append(path[-1] - eta_l * (true(path[-1]) - loss(path[-1]) + nu))
    return Client(tuple(path), tuple(map(true, path[:-1])), tuple(map(loss, path[:-1])), noise)
