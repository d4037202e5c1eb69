"""Algorithm 2 of the CFL paper on the line, exactly, over every draw of its drifts and noises.

A second witness of the simulator, and the source of exact expectations for the checks: everything is a Fraction, and
an expectation is the mean over all sign draws, which are finitely many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.exact import Fraction

#: The most runs that `expectation` makes.
LIMIT = 2**16
_ZERO = Fraction(0)


#: A row of weights a round.
Rows = tuple[tuple[Fraction, ...], ...]


def even(rounds: int) -> Rows:
    """The weights of Lemma B.4 for R = 0: p_tau = 1/t."""
    return tuple((Fraction(1, t),) * t for t in range(1, rounds + 1))


def current(rounds: int) -> Rows:
    """FedAvg: p_t = 1."""
    return tuple((_ZERO,) * (t - 1) + (Fraction(1),) for t in range(1, rounds + 1))


@dataclass(frozen=True)
class Run:
    """One run of a `world`: all iterates and all drifts of one draw. Rounds t = 1, 2, ... and clients i = 0, 1, ...
    throughout; index 0 of the drifts, `local` and `noise` is empty.

    `w[t]` is the model at the start of round t, and `w[rounds + 1]` the last one; `w[0]` repeats the start, so that the
    paper's w_0 (after (23)) is there too. `local[t][i][k]` is w_{t,i,k} for k = 0, ..., K, and `noise[t][i][k]`
    nu_{t,i,k + 1}, that of the step from k to k + 1. `client[t][i]` = (offset, factor): delta_i(w) = offset + factor
    f'(w), the same in every round unless stateless; `time[t][i]` the same for xi_{t,i}.
    """

    world: DriftRounds
    w: tuple[Fraction, ...]
    local: tuple[tuple[tuple[Fraction, ...], ...], ...]
    noise: tuple[tuple[tuple[Fraction, ...], ...], ...]
    client: tuple[tuple[tuple[Fraction, Fraction], ...], ...]
    time: tuple[tuple[tuple[Fraction, Fraction], ...], ...]
    _sums: dict[tuple[int, int], tuple[Fraction, Fraction]] = field(default_factory=dict, repr=False, compare=False)

    def drift(self, t: int, i: int, w: Fraction) -> Fraction:
        """delta_i + xi_{t,i} at w: f' - f_{t,i}'."""
        slope = self.world.slope(w)
        (u, s), (v, r) = self.client[t][i], self.time[t][i]
        return u + v + (s + r) * slope

    def gradient(self, t: int, i: int, w: Fraction) -> Fraction:
        """f_{t,i}'(w) by (5)."""
        return self.world.slope(w) - self.drift(t, i, w)

    def value(self, t: int, i: int, w: Fraction) -> Fraction:
        """f_{t,i}(w), with the constant for which f_{t,i} = f in expectation."""
        (u, s), (v, r) = self.client[t][i], self.time[t][i]
        return (1 - s - r) * self.world.f(w) - (u + v) * w

    def weighted_gradient(self, t: int, i: int, w: Fraction) -> Fraction:
        """sum over tau <= t of p_tau f_{tau,i}'(w), without information loss."""
        kept, pushed = self._followed(t, i)
        return kept * self.world.slope(w) - pushed

    def _followed(self, t: int, i: int) -> tuple[Fraction, Fraction]:
        """(kept, pushed): sum over tau <= t of p_tau f_{tau,i}'(w) is kept f'(w) - pushed for every w."""
        if (t, i) not in self._sums:
            client, time = self.client, self.time
            terms = [(p, *client[tau][i], *time[tau][i]) for tau, p in self.world.past(t)]
            kept = sum((p * (1 - s - r) for p, _, s, _, r in terms), _ZERO)
            self._sums[t, i] = kept, sum((p * (u + v) for p, u, _, v, _ in terms), _ZERO)
        return self._sums[t, i]

    def weighted_value(self, t: int, i: int, w: Fraction) -> Fraction:
        """sum over tau <= t of p_tau f_{tau,i}(w)."""
        return sum((p * self.value(tau, i, w) for tau, p in self.world.past(t)), _ZERO)

    def mean_gradient(self, t: int, i: int, w: Fraction) -> Fraction:
        """The gradient that client i follows in round t, without its noise: information loss included."""
        return self.weighted_gradient(t, i, w) - sum(self.world.weights[t - 1][:-1], _ZERO) * self.world.R


@dataclass(frozen=True)
class DriftRounds:
    """Algorithm 2 with all N clients on f(w) = a w^2 / 2 - b w, drifts and noises being independent fair signs.

    f_{t,i}'(w) = f'(w) - delta_i(w) - xi_{t,i}(w) by (5), with delta_i(w) = +-G +-B f'(w) and xi_{t,i}(w) = +-D +-A
    f'(w), four independent signs: Assumption 3 with equality. nu = +-sigma: Assumption 2 with equality. A remembered
    gradient is f_{tau,i}' - R: Assumption 4 with equality, the loss always pushing in the same direction.

    The numbers are printed without squares; R may be negative. `weights` has one tuple a round, (p_1, ..., p_t) of
    round t, the same for all clients: as many as there are rounds. `start` is w_1. If `stateless`, delta_i is drawn
    anew every round, as if each client appeared once.

    Examples
    --------
    >>> from fractions import Fraction
    >>> world = DriftRounds(weights=((Fraction(1),),), start=Fraction(1), eta_l=Fraction(1, 2), D=Fraction(1))
    >>> world.expectation(lambda run: run.w[2] ** 2)
    Fraction(1, 2)
    """

    weights: Rows
    start: Fraction = _ZERO
    a: Fraction = Fraction(1)
    b: Fraction = _ZERO
    clients: int = 1
    local_steps: int = 1
    eta_l: Fraction = Fraction(1, 2)
    eta_g: Fraction = Fraction(1)
    G: Fraction = _ZERO
    B: Fraction = _ZERO
    D: Fraction = _ZERO
    A: Fraction = _ZERO
    sigma: Fraction = _ZERO
    R: Fraction = _ZERO
    stateless: bool = False

    def __post_init__(self) -> None:
        if not self.weights or any(len(row) != t for t, row in enumerate(self.weights, 1)):
            raise InvalidInput("weights must have rows (p_1,), (p_1, p_2), ...: one weight for each round so far")
        if self.clients < 1 or self.local_steps < 1:
            raise InvalidInput(f"clients = {self.clients}, local_steps = {self.local_steps}: use at least 1 of each")
        if self.draws > LIMIT:
            raise InvalidInput(f"{self.draws} draws are too many to enumerate: at most {LIMIT}; leave out some drifts")

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.weights)

    @property
    def words(self) -> str:
        """The world in one line."""
        shown = {name: getattr(self, name) for name in ("G", "B", "D", "A", "sigma", "R")}
        drifts = ", ".join(f"{name} = {value}" for name, value in shown.items() if value) or "no drift"
        return (
            f"f = ({self.a}) w^2/2 - ({self.b}) w near the start {self.start}, N = {self.clients}, K = "
            f"{self.local_steps}, eta_l = {self.eta_l}, eta_g = {self.eta_g}, weights "
            f"{' and '.join(map(str, self.weights[-1]))}, {drifts}{', new clients in every round' * self.stateless}; "
            f"all {self.draws} sign draws."
        )

    @property
    def eta(self) -> Fraction:
        """K eta_l eta_g."""
        return self.local_steps * self.eta_l * self.eta_g

    @property
    def draws(self) -> int:
        """Number of sign draws."""
        client = (self.rounds if self.stateless else 1) * ((self.G != 0) + (self.B != 0))
        time = self.rounds * ((self.D != 0) + (self.A != 0) + self.local_steps * (self.sigma != 0))
        return int(2 ** (self.clients * (client + time)))

    def f(self, w: Fraction) -> Fraction:
        """f(w)."""
        return self.a * w * w / 2 - self.b * w

    def slope(self, w: Fraction) -> Fraction:
        """f'(w)."""
        return self.a * w - self.b

    def past(self, t: int) -> Iterator[tuple[int, Fraction]]:
        """(tau, p_tau) of round t."""
        return enumerate(self.weights[t - 1], 1)

    def runs(self) -> Iterator[Run]:
        """Every run, each equally likely."""
        N, K, T = self.clients, self.local_steps, self.rounds
        fixed = 1 if not self.stateless else T
        sizes = (
            (self.G, fixed * N),
            (self.B, fixed * N),
            (self.D, T * N),
            (self.A, T * N),
            (self.sigma, T * N * K),
        )
        signs = [[(size, -size) if size else (_ZERO,)] * count for size, count in sizes]
        for drawn in product(*(choice for block in signs for choice in block)):
            blocks, at = [], 0
            for _, count in sizes:
                blocks.append(drawn[at : at + count])
                at += count
            yield self._run(*blocks)

    def expectation(self, function: Callable[[Run], Fraction]) -> Fraction:
        """E of a function of the run: the mean over all draws."""
        return sum((function(run) for run in self.runs()), _ZERO) / self.draws

    def _run(
        self,
        G: tuple[Fraction, ...],
        B: tuple[Fraction, ...],
        D: tuple[Fraction, ...],
        A: tuple[Fraction, ...],
        sigma: tuple[Fraction, ...],
    ) -> Run:
        N, K, T = self.clients, self.local_steps, self.rounds
        rows = [(t if self.stateless else 0) * N for t in range(T)]
        client = ((), *(tuple((G[row + i], B[row + i]) for i in range(N)) for row in rows))
        time = ((), *(tuple((D[t * N + i], A[t * N + i]) for i in range(N)) for t in range(T)))
        noise = ((), *(tuple(sigma[(t * N + i) * K : (t * N + i + 1) * K] for i in range(N)) for t in range(T)))
        w = [self.start, self.start]
        local: list[tuple[tuple[Fraction, ...], ...]] = [()]
        for t in range(1, T + 1):
            run = Run(self, tuple(w), tuple(local), noise, client, time)
            paths = tuple(self._path(run, t, i) for i in range(N))
            local.append(paths)
            w.append(w[t] + self.eta_g * sum((path[-1] - w[t] for path in paths), _ZERO) / N)
        return Run(self, tuple(w), tuple(local), noise, client, time)

    def _path(self, run: Run, t: int, i: int) -> tuple[Fraction, ...]:
        """w_{t,i,0}, ..., w_{t,i,K}: lines 4 to 7 of Algorithm 2."""
        path = [run.w[t]]
        for nu in run.noise[t][i]:
            path.append(path[-1] - self.eta_l * (run.mean_gradient(t, i, path[-1]) + nu))
        return tuple(path)


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
