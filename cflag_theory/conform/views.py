"""What an implementation receives: named values of one client or of the server, with gradients that are observed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Self

import numpy as np

from cflag_theory.conform.case import Case, Data
from cflag_theory.conform.numbers import EXACT, Vector, rounded_vector, scalar, vector_maker
from cflag_theory.errors import InvalidInput

#: What `World` makes numbers with when rounding errors are to be bounded.
ROUNDED = "rounded"


class NeedsTensors(InvalidInput):
    """A module is asked for where numbers are not tensors: use torch64 or torch32."""


class World:
    """A case in one kind of numbers."""

    def __init__(self, case: Case, kind: str) -> None:
        self.case, self.kind = case, kind
        self.vector: Callable[[Any], Vector] = rounded_vector if kind == ROUNDED else vector_maker(kind)
        self._data: dict[int, tuple[Vector, Vector]] = {}
        #: Of the weights, the server's step size, who takes part and the model as a module, what was asked for.
        self.used: set[str] = set()

    def number(self, value: Any) -> Any:
        """A step size or weight."""
        # A float would lose its bound of the error; a fraction meets `Rounded` as the float that it is.
        return Fraction(value) if self.kind == ROUNDED else scalar(value, self.kind)

    def cast(self, vector: Any) -> Vector:
        """A vector of fractions or floats in this kind of numbers."""
        return vector if self.kind in (EXACT, ROUNDED) else self.vector(np.asarray(vector, dtype=object))

    def arrays(self, data: Data) -> tuple[Vector, Vector]:
        """Rows (n, d) and targets (n,)."""
        if id(data) not in self._data:
            self._data[id(data)] = self.vector(data.rows), self.vector(data.targets)
        return self._data[id(data)]

    def component(self, data: Data, j: int, x: Vector) -> Vector:
        """Gradient of sample j: 2 (a_j . x - b_j) a_j."""
        rows, targets = self.arrays(data)
        return 2 * (rows[j] @ x - targets[j]) * rows[j]

    def mean(self, data: Data, x: Vector) -> Vector:
        """Gradient of a client's objective: the mean over its samples."""
        total = self.component(data, 0, x)
        for j in range(1, len(data)):
            total = total + self.component(data, j, x)
        return total / self.number(len(data))


class _View:
    """The algorithm's parameters and what is sent or kept, by name."""

    def _take(self, world: World, more: Mapping[str, Any]) -> None:
        self._world = world
        vars(self).update({name: world.number(value) for name, value in world.case.parameters.items()} | dict(more))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name} is not a value of a {type(self).__name__.lower()} here")

    @property
    def at(self) -> Self:
        """All of this at once."""
        return self


class Client(_View):
    """Client i in round t, as `client_step` sees it.

    Attributes
    ----------
    x : (d,)
        The server's model at the start of the round.
    start : (d,)
        x_0, the model that the task before left.
    client, t, N, n, steps : int
        i, the round, the number of clients and of current samples, and E.
    lr : number
        The step size of a local step.
    order, memory_order : list of int
        The sample of each local step, of the current data and of the memory.
    data, memory : pair of arrays (n, d) and (n,)
        Current samples and those of earlier tasks; the loss is the mean of (a . x - b)^2.
    batches : list of pairs of arrays (1, d) and (1,)
        The samples of the local steps, in their order.
    state : dict
        The client's own, empty at first and kept over the rounds.
    """

    def __init__(
        self, world: World, i: int, t: int, x: Vector, broadcast: Mapping[str, Any], state: dict[str, Any]
    ) -> None:
        case = world.case
        self._data, self._past, self._calls = case.data(t, i), case.past[i], 0
        self.points: list[Vector] = []
        self.x, self.client, self.t, self.N, self.state = x, i, t, case.clients, state
        self.n, self.steps, self.order = len(self._data), case.steps[i], list(case.orders[t][i])
        self.all_steps = case.steps
        self.memory_order = [(j + 1) % len(self._past) for j in self.order]
        self.lr, self.start = world.number(case.lr), world.vector(case.start)
        self.data, self.memory = world.arrays(self._data), world.arrays(self._past)
        self._take(world, broadcast)

    @property
    def weight(self) -> Any:
        """p_i."""
        self._world.used.add("weights")
        return self._world.number(self._world.case.weights[self.client])

    @property
    def batches(self) -> list[tuple[Vector, Vector]]:
        """The samples of the local steps, each with one sample."""
        rows, targets = self.data
        return [(rows[j : j + 1], targets[j : j + 1]) for j in self.order]

    @property
    def model(self) -> Any:
        """`torch.nn.Linear(d, 1, bias=False)` at x; its loss is `torch.nn.MSELoss`, on rows and targets[:, None]."""
        self._world.used.add("model")
        if not self._world.kind.startswith("torch"):
            raise NeedsTensors(
                f"model is a torch.nn.Linear, which {self._world.kind} numbers cannot fill: use torch64 or torch32"
            )
        import torch

        model = torch.nn.Linear(len(self.x), 1, bias=False, dtype=self.x.dtype)
        with torch.no_grad():
            model.weight.copy_(self.x[None])
        return model

    def _seen(self, x: Vector) -> Vector:
        self.points.append(x + 0 * x)
        return x

    def grad(self, x: Vector, k: int | None = None) -> Vector:
        """The gradient at x of the sample of local step k; without k of the next step."""
        at = self._calls if k is None else k
        self._calls = at + 1
        return self._world.component(self._data, self.order[at % len(self.order)], self._seen(x))

    def component_grad(self, j: int, x: Vector) -> Vector:
        """The gradient of sample j at x."""
        return self._world.component(self._data, j, self._seen(x))

    def full_grad(self, x: Vector) -> Vector:
        """The gradient of the client's objective at x, over all its current samples."""
        return self._world.mean(self._data, self._seen(x))

    def memory_grad(self, x: Vector) -> Vector:
        """The gradient at x of the mean loss on the client's memory."""
        return self._world.mean(self._past, self._seen(x))

    def memory_component(self, j: int, x: Vector) -> Vector:
        """The gradient at x of one sample of the client's memory."""
        return self._world.component(self._past, j, self._seen(x))


class Server(_View):
    """The server in round t, as `server_step` sees it, after its clients returned.

    Attributes
    ----------
    x : (d,)
        Its model at the start of the round.
    received : list of dict
        What the participating clients returned, by name.
    models, deltas : list of (d,)
        Their models x_i, and x_i - x.
    lr : number
        The step size of the clients.
    steps : list of int
        Local steps of all N clients.
    N, t : int
        The number of clients, and the round.
    state : dict
        The server's own, empty at first and kept over the rounds.
    """

    def __init__(
        self,
        world: World,
        t: int,
        x: Vector,
        clients: list[Client],
        received: list[dict[str, Any]],
        kept: Mapping[str, Any],
        state: dict[str, Any],
    ) -> None:
        case = world.case
        self.views = clients
        self.x, self.received, self.t, self.state, self.N = x, received, t, state, case.clients
        self.lr = world.number(case.lr)
        self.steps = list(case.steps)
        self._take(world, kept)
        #: For `round_step` alone: the clients' own values and gradients.
        self.clients: list[Client] = []
        for name in {name for one in received for name in one} - {"x_i"}:
            setattr(self, name, [one[name] for one in received if name in one])
        self.models = [one["x_i"] for one in received if "x_i" in one]
        self.deltas = [model - x for model in self.models]

    @property
    def weights(self) -> list[Any]:
        """p_i of all N clients."""
        self._world.used.add("weights")
        return [self._world.number(weight) for weight in self._world.case.weights]

    @property
    def participants(self) -> list[int]:
        """Who took part."""
        self._world.used.add("participants")
        return [one.client for one in self.views]

    @property
    def server_lr(self) -> Any:
        """The server's step size."""
        self._world.used.add("server_lr")
        return self._world.number(self._world.case.server_lr)

    def mean_grad(self, x: Vector) -> Vector:
        """grad g(x), the p-weighted mean over all clients of their gradients on current data."""
        return self._mean(x, lambda i: self._world.case.data(self.t, i))

    def memory_grad(self, x: Vector) -> Vector:
        """grad f_memory(x), the p-weighted mean over all clients of their gradients on the memory."""
        return self._mean(x, lambda i: self._world.case.past[i])

    def _mean(self, x: Vector, data: Callable[[int], Data]) -> Vector:
        total = 0 * x
        for i, weight in enumerate(self._world.case.weights):
            total = total + self._world.number(weight) * self._world.mean(data(i), x)
        return total


def zeros(world: World) -> Vector:
    """A vector of zeros of the case's dimension."""
    return world.vector([Fraction(0)] * len(world.case.start))


def is_exact(vector: Vector) -> bool:
    """Whether all entries are fractions or integers."""
    return isinstance(vector, np.ndarray) and all(isinstance(one, int | Fraction) for one in vector.ravel())


__all__ = ["EXACT", "ROUNDED", "Client", "Server", "World", "is_exact", "zeros"]
