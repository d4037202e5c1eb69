"""Small least-squares problems with everything that some rounds draw: all that an implementation is run on."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class Data:
    """Samples (a_j, b_j) of one client; its objective is the mean of (a_j . x - b_j)^2, as nn.MSELoss has it."""

    rows: tuple[Row, ...]
    targets: Row

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True)
class Case:
    """A problem, step sizes and the draws of the rounds."""

    #: Tuple over rounds of tuples over clients of Data: One entry for all rounds, except where data change with time.
    current: tuple[tuple[Data, ...], ...]
    #: Tuple over clients of Data: The data of earlier tasks, all of them kept as memory.
    past: tuple[Data, ...]
    #: p_i, of sum 1.
    weights: Row
    #: x_0.
    start: Row
    #: Step sizes of a client and of the server.
    lr: Fraction
    server_lr: Fraction
    #: Local steps of each client.
    steps: tuple[int, ...]
    #: Tuple over rounds, over clients, of sample indices: The sample of each local step.
    orders: tuple[tuple[tuple[int, ...], ...], ...]
    #: Tuple over rounds of tuples of clients.
    participants: tuple[tuple[int, ...], ...]
    #: The algorithm's own numbers, by name.
    parameters: Mapping[str, Any]

    @property
    def clients(self) -> int:
        """N."""
        return len(self.weights)

    @property
    def rounds(self) -> int:
        """How many rounds are run."""
        return len(self.participants)

    def data(self, t: int, i: int) -> Data:
        """Client i's current data in round t."""
        return self.current[min(t, len(self.current) - 1)][i]

    def shown(self) -> dict[str, Any]:
        """Plain values: fractions as text."""

        def plain(value: Any) -> Any:
            if isinstance(value, Mapping):
                return {key: plain(one) for key, one in value.items()}
            if isinstance(value, tuple | list):
                return [plain(one) for one in value]
            return str(value) if isinstance(value, Fraction) else value

        shown: dict[str, Any] = plain(asdict(self))
        return shown


#: What a case may leave out, and how a finding says that a user's code leaves it out.
EQUAL_WEIGHTS, SERVER_LR_1, EQUAL_STEPS, ALL_CLIENTS = "equal-weights", "server-lr-1", "equal-steps", "all-clients"
ASSUMPTIONS = {
    EQUAL_WEIGHTS: "equal weights",
    SERVER_LR_1: "server_lr = 1",
    EQUAL_STEPS: "as many local steps of every client",
    ALL_CLIENTS: "all clients in every round",
}

#: Samples of the clients. Eighths are dyadic.
_COUNTS = ((2, 2, 4), (1, 2, 5), (1, 3, 4))


def draw(
    seed: int,
    *,
    parameters: Mapping[str, Any],
    rounds: int = 3,
    dimension: int = 2,
    assume: Collection[str] = (),
    evolving: bool = False,
) -> Case:
    """A case of three clients from a seed; all data are small dyadic fractions, which floats hold exactly. `evolving`:
    they are new in every round.

    `assume` is what of `ASSUMPTIONS` holds. Without it p_i = n_i / n differ, server_lr is not 1, clients take different
    numbers of local steps, and two of the three take part in a round. What is assumed changes nothing else.
    """
    chance = random.Random(seed)
    clients = len(_COUNTS[0])

    def number(low: int, high: int, denominator: int) -> Fraction:
        return Fraction(chance.choice([n for n in range(low, high + 1) if n]), denominator)

    def data(count: int) -> Data:
        rows = tuple(tuple(number(-4, 4, 4) for _ in range(dimension)) for _ in range(count))
        return Data(rows, tuple(number(-8, 8, 4) for _ in range(count)))

    counts = tuple(chance.sample(chance.choice(_COUNTS), clients))
    current = tuple(tuple(map(data, counts)) for _ in range(rounds if evolving else 1))
    steps = tuple(chance.sample((2, 3, 4), clients))
    if EQUAL_STEPS in assume:
        steps = steps[:1] * clients
    orders = tuple(
        tuple(
            tuple(chance.randrange(len(current[t if evolving else 0][i])) for _ in range(steps[i]))
            for i in range(clients)
        )
        for t in range(rounds)
    )
    everyone = tuple(range(clients))
    # Somebody is absent first and comes back, so that what a client keeps meanwhile counts.
    participants = tuple(
        tuple(i for i in everyone if ALL_CLIENTS in assume or i != (t + seed) % clients) for t in range(rounds)
    )
    return Case(
        current=current,
        past=tuple(data(chance.randint(2, 4)) for _ in range(clients)),
        weights=tuple(
            Fraction(1, clients) if EQUAL_WEIGHTS in assume else Fraction(one, sum(counts)) for one in counts
        ),
        start=tuple(number(-8, 8, 4) for _ in range(dimension)),
        lr=Fraction(1, 8),
        server_lr=Fraction(1) if SERVER_LR_1 in assume else Fraction(11, 16),
        steps=steps,
        orders=orders,
        participants=participants,
        parameters=dict(parameters),
    )
