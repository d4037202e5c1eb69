"""The bridge's own methods as functions that `conform` compares: its problems become clients of a linear model.

Nothing of a method is written again here. A round is `one_round`, the end of a task is `end_task`, and only what a
method draws is prescribed: minibatches are single samples, and their order is the one that `conform` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from bridge_clients import Rows, clients_of_rows, linear_model

from cflag_theory.bridge.methods import finetune
from cflag_theory.bridge.methods.base import Method, Round, Vectors
from cflag_theory.bridge.methods.table import make_method
from cflag_theory.bridge.models.compiled import Step
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.models.rows import wide
from cflag_theory.bridge.settings.evolving import MimeOptions, ProxOptions
from cflag_theory.bridge.settings.options import (
    ADAM,
    AUTO,
    CONSTANT,
    CPU,
    FROM_DISPLACEMENT,
    NO,
    PLAIN,
    WORST,
    EwcOptions,
    FlagOptions,
    TrackOptions,
)
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.rounds import end_task, one_round

#: `conform` has the loss (a . x - b)^2, the bridge half of it: so a and b are multiplied by this.
ROOT = np.sqrt(2.0)


class Draws:
    """In place of a random generator: what `conform` prescribes for one client and one purpose."""

    def __init__(self, given: Sequence[int]) -> None:
        self.given, self.taken = list(given), 0

    def permutation(self, n: int) -> np.ndarray:
        """All that is prescribed: of local steps there may be more or fewer than n."""
        return np.array(self.given)

    def choice(self, positions: Any, size: int, *, replace: bool) -> np.ndarray:
        """The next ones among these positions, or among so many."""
        places = self.given[self.taken : self.taken + size]
        self.taken += size
        return (np.arange(positions) if isinstance(positions, int) else positions)[places]


@dataclass(frozen=True, eq=False)
class Prescribed(Round):
    """A round whose draws are given, by purpose and client."""

    draws: Mapping[tuple[str, int], Sequence[int]] = field(default_factory=dict)

    def random(self, purpose: str, client: int) -> Any:
        return Draws(self.draws[purpose, client])


class Heard(InOneProcess):
    """The sums of one process, and what every client has sent."""

    def __init__(self) -> None:
        self.sent: dict[str, dict[int, torch.Tensor]] = {}

    def mean(self, vectors: Mapping[int, Vectors], p: Sequence[float]) -> dict[str, torch.Tensor]:
        for client, own in vectors.items():
            for name, vector in own.items():
                self.sent.setdefault(name, {})[client] = vector
        return super().mean(vectors, p)


@cache
def model_of(d: int) -> FlatModel:
    return linear_model(d)


def prescribed(views: Sequence[Any]) -> Prescribed:
    """A round after the first task with the orders of these clients; minibatches are cut as samples stand."""
    draws: dict[tuple[str, int], Sequence[int]] = {}
    for i, view in enumerate(views):
        draws["shuffle", i] = range(view.n)
        draws["order", i] = view.order
        draws["memory", i] = view.memory_order
    return Prescribed(
        model=model_of(len(views[0].x)),
        clients=len(views),
        task=1,
        number=views[0].t,
        overall=views[0].t,
        seed=0,
        draws=draws,
    )


def rows_of(data: tuple[np.ndarray, np.ndarray]) -> Rows:
    rows, targets = data
    return Rows(ROOT * rows, ROOT * targets)


Make = Callable[[Any], Method]


def a_round(method: Method, views: Sequence[Any], x: np.ndarray, p: Sequence[float], together: str) -> Any:
    """x_{t+1}, and what the clients sent, by name and client."""
    clients = clients_of_rows([rows_of(view.data) for view in views], [rows_of(view.memory) for view in views], p)
    heard = Heard()
    step = one_round(method, prescribed(views), clients, torch.from_numpy(x.copy()), heard, together=together)
    return step.state.numpy(), {name: [own[i].numpy() for i in range(len(views))] for name, own in heard.sent.items()}


def bridge_round(make: Make, *, moves: str | None = "x_i", momentum: bool = False, together: str = AUTO) -> Any:
    """A `round_step`.

    Parameters
    ----------
    make : callable
        The method, from the values of a client; it is kept over the rounds, as in a run of the bridge.
    moves : {"x_i", "delta"} or None
        What `conform` knows the clients' moves as: their models, the moves themselves, or nothing.
    momentum : bool
        Whether the method has MimeLite's momentum and sends gradients, which are compared too.
    together : {"auto", "no"}
        Whether clients are computed as rows of one group, or one after the other.
    """

    def round_step(x, clients, weights, state):
        if "method" not in state:
            state["method"] = make(clients[0])
        new, sent = a_round(state["method"], clients, x, weights, together)
        found = {"x": new}
        if moves is not None:
            found[moves] = [x - move if moves == "x_i" else move for move in sent["move"]]
        if momentum:
            found |= {"s": state["method"].momentum.numpy(), "g_i": sent["grad_g"]}
        return found

    return round_step


class Times(Step):
    """Plain steps of a gradient times a vector (d,)."""

    def __init__(self, factor: torch.Tensor) -> None:
        self.factor = factor

    def direction(self, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * wide(self.factor, gradient.shape[-1])


def ewc_client(optimizer: str, *, undone: bool = True) -> Any:
    """A `client_step`: EWC in a federation of this client alone, whose last task was its memory and ended at x_0.

    The catalogue has explicit steps, y <- y - lr (g + lambda F (y - x*)). Those of the bridge are explicit only in what
    Adam is given; there plain steps are taken in Adam's place. Its own plain steps are divided by 1 + lr lambda F:
    where `undone` they are multiplied by it.
    """

    def client_step(at, x, start, memory, lr, lam, state):
        if "method" not in state:
            state["method"] = of("ewc", optimizer, lambda at: EwcOptions(penalty=at.lam))(at)
            before = clients_of_rows([rows_of(memory)], [rows_of(memory)], [1.0])
            closing = replace(prescribed([at]), task=0, draws={("fisher", 0): range(len(memory[1]))})
            end_task(state["method"], closing, before, torch.from_numpy(start.copy()), InOneProcess())
        method = state["method"]
        factor = 1 + lr * lam * method.fisher * (optimizer == PLAIN and undone)
        with patch.object(finetune, "make_step", lambda name, **more: Times(factor)):
            return a_round(method, [at], x, [1.0], AUTO)[0]

    return client_step


# The methods, from the values of a client.


def of(name: str, optimizer: str = PLAIN, options: Callable[[Any], Any] | None = None) -> Make:
    def make(at: Any) -> Method:
        return make_method(
            name,
            lr=at.lr,
            alpha=getattr(at, "alpha", None),
            L=getattr(at, "L", 1.0),
            epochs=1,
            batch=1,
            optimizer=optimizer,
            # Whole memories in `vectors`, and one sample a step where it is replayed.
            sample=1 if name == "er_ring" else 200,
            options=None if options is None else options(at),
        )

    return make


def tracked(**options: Any) -> Make:
    return of("fedtrack", options=lambda at: TrackOptions(**options))


def flagged(adaptive: str, **options: Any) -> Make:
    return of("c_flag", options=lambda at: FlagOptions(adaptive=adaptive, **options))


FEDAVG, FINETUNE, ER = of("fedavg"), of("finetune"), of("er_ring")
FEDPROX = of("fedprox", options=lambda at: ProxOptions(mu=at.mu))
MIMELITE = of("mimelite", options=lambda at: MimeOptions(gamma=at.gamma))
#: torch's defaults, which the bridge's Adam has.
ADAM_NUMBERS = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8}

#: Row of the catalogue, functions, parameters of the row.
METHODS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "fedavg": ("fedavg", {"round_step": bridge_round(FEDAVG)}, {}),
    "finetune": ("fedavg", {"round_step": bridge_round(FINETUNE)}, {}),
    "finetune, one by one": ("fedavg", {"round_step": bridge_round(FINETUNE, together=NO)}, {}),
    "fedavg with Adam": ("local_adam", {"round_step": bridge_round(of("fedavg", ADAM))}, ADAM_NUMBERS),
    "fedprox": ("fedprox", {"round_step": bridge_round(FEDPROX)}, {}),
    "mimelite": ("mimelite", {"round_step": bridge_round(MIMELITE, momentum=True)}, {}),
    "fedtrack": ("fedtrack", {"round_step": bridge_round(tracked())}, {}),
    "fedtrack, one by one": ("fedtrack", {"round_step": bridge_round(tracked(), together=NO)}, {}),
    # Old gradients are not all kept at x_t then: `iag_table.DelayedRows` in place of `KeptRows`.
    "fedtrack, a table elsewhere": ("fedtrack", {"round_step": bridge_round(tracked(place=CPU))}, {}),
    "c_flag": ("c_flag", {"round_step": bridge_round(flagged(CONSTANT), moves=None)}, {}),
    "c_flag, rates of Table 1": (
        "c_flag_adaptive",
        {"round_step": bridge_round(flagged(WORST), moves="delta")},
        {},
    ),
    "c_flag, rates from the displacement": (
        "c_flag_adaptive",
        {"round_step": bridge_round(flagged(WORST, rates_from=FROM_DISPLACEMENT), moves="delta")},
        {},
    ),
    "ewc, what Adam is given": ("ewc", {"client_step": ewc_client(ADAM)}, {}),
    "ewc, plain steps": ("ewc", {"client_step": ewc_client(PLAIN)}, {}),
    "er_ring": ("er", {"round_step": bridge_round(ER)}, {}),
}
