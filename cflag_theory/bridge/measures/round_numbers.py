"""A round's values of the quantities in the analysis: forgetting, norms and, on request, full gradients.

Gamma and B are those of the step really taken, as in the kernels' Trace: with client-wise rates alpha is their mean
sum_i p_i alpha_i, and beta S is the rest of the clients' mean move, move = alpha grad_f_memory + beta S. So Lemma
1's inequality is the one that they belong to, whatever makes the local steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.models.rates import inner
from cflag_theory.bridge.models.rows import full_gradients
from cflag_theory.bridge.training.communication import Communication
from cflag_theory.bridge.training.rounds import MEMORY_NORM2, Step, taking_part
from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.formulas import forgetting, overfitting

NAN = float("nan")


@dataclass(frozen=True)
class RoundNumbers:
    """Scalars of one round; nan for what the method does not have, as grad_f_memory before anything is remembered."""

    #: sum_i p_i of the clients' mean minibatch losses.
    loss: float
    #: ||grad g(x_t)||^2 and ||grad_f_memory(x_t)||^2 from the first exchange, over the d parameters as all norms here.
    grad_g2: float
    grad_memory2: float
    #: Forgetting term (15) of the step taken.
    Gamma: float
    #: Means sum_i p_i alpha_i and sum_i p_i beta_i of the rates that the clients report. A method without a first
    #: exchange takes its memory steps among the local ones, as NCCL-FL: then Gamma, B and S are those for alpha = 0.
    alpha: float
    beta: float
    #: ||beta S||^2.
    current_step2: float
    #: ||x_{t+1} - x_t||^2.
    step2: float
    #: max over i and k of ||x_{t,k}^i - x_t||^2.
    drift2_max: float
    #: Samples whose gradient was evaluated, and numbers that the clients sent and received.
    gradients: int
    communicated: int
    #: Tuple of N floats: Of every client: Lambda_{t,i}, alpha_{t,i} and ||grad f_i^memory(x_t)||^2; nan for clients
    #: that take no part.
    Lambda: tuple[float, ...]
    alphas: tuple[float, ...]
    memory2: tuple[float, ...]


@dataclass(frozen=True)
class Measured:
    """Full gradients at x_t and x_{t+1}, over all data: costly, and no part of a method. nan for f in the first task.

    f is sum_i p_i f_i(x_t) over all past data of the clients that take part; b = grad_f_memory - grad f of (6), with
    the round's grad_f_memory where the method has one, else the gradient on all that is remembered; B the overfitting
    term (34) of the step taken. The changes are ||grad f(x_{t+1}) - grad f(x_t)||^2, and of g: over ||x_{t+1} - x_t||^2
    they bound L^2 from below. ||b_i||^2 over ||grad f_i||^2 is the m_i that Assumption 2 needs here; nan for clients
    that take no part.
    """

    f: float
    g: float
    grad_f2: float
    grad_g2: float
    b2: float
    B: float
    grad_f_change2: float
    grad_g_change2: float
    client_b2: tuple[float, ...]
    client_f2: tuple[float, ...]


def round_numbers(model: FlatModel, step: Step, clients: Sequence[Client], *, L: float) -> RoundNumbers:
    """The numbers of a round, from what it did; L is the smoothness constant in Gamma."""
    if not L > 0:
        raise InvalidInput(f"L is {L}: give a positive smoothness constant")
    memory, grad_g = _memory_gradient(step, clients), step.means.get("grad_g")
    alpha, rest = _parts(model, step, clients)
    rest2 = norm2(rest)
    return RoundNumbers(
        loss=_mean(step, clients, "loss"),
        grad_g2=NAN if grad_g is None else norm2(grad_g),
        grad_memory2=NAN if memory is None else norm2(memory),
        Gamma=NAN if memory is None else forgetting(L, alpha, 1.0, rest2, inner(memory, rest)),
        alpha=_mean(step, clients, "alpha"),
        beta=_mean(step, clients, "beta"),
        current_step2=rest2,
        step2=norm2((step.state - step.before)[: model.d]),
        drift2_max=max(numbers["drift2_max"] for numbers in step.locals.values()),
        gradients=int(sum(numbers["gradients"] for numbers in step.locals.values())),
        communicated=step.sent,
        Lambda=_each(step, clients, "Lambda"),
        alphas=_each(step, clients, "alpha"),
        memory2=_each(step, clients, MEMORY_NORM2),
    )


class Known:
    """The passes at x_{t+1}, which are those at x_t of the next round."""

    def __init__(self) -> None:
        self.after: tuple[Sequence[Client], Tensor, tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]] | None = None

    def of(
        self, clients: Sequence[Client], state: Tensor
    ) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]] | None:
        """Losses and gradients of f and of g, if they were taken of these clients at this state."""
        if self.after is None or self.after[0] is not clients or self.after[1] is not state:
            return None
        return self.after[2]


def measured(
    model: FlatModel,
    step: Step,
    clients: Sequence[Client],
    communication: Communication,
    *,
    L: float,
    batch: int,
    known: Known | None = None,
) -> Measured:
    """Full gradients of f and g where the round began and where it ended; every process does its own clients.

    What is sent here is not counted: no algorithm needs it. `batch` is how many samples a pass takes at a time, and
    with BatchNorm which are normalised together. `known`, from round to round the same one, saves the passes at x_t.
    """
    p = [client.p for client in clients]
    gradients: dict[int, dict[str, Tensor]] = {}
    rows: dict[int, list[float]] = {}
    mine = taking_part(clients, communication)

    def past(client: Client) -> ClientData:
        return client.past

    def current(client: Client) -> ClientData:
        return client.current

    def passes(state: Tensor, samples: Callable[[Client], ClientData]) -> tuple[Tensor, Tensor]:
        longest = max(samples(client).n for client in clients)
        return full_gradients(model, state, [samples(client) for client in mine], batch, longest)

    (f, grad_f), (g, grad_g) = (known and known.of(clients, step.before)) or (
        passes(step.before, past),
        passes(step.before, current),
    )
    if "grad_f_memory" in step.means:
        memory = [step.own[client.index]["grad_f_memory"] for client in mine]
    else:
        memory = list(passes(step.before, lambda client: client.memory)[1])
    after = passes(step.state, past), passes(step.state, current)
    (_, f_after), (_, g_after) = after
    if known is not None:
        known.after = clients, step.state, after
    for row, client in enumerate(mine):
        b = memory[row] - grad_f[row]
        gradients[client.index] = {
            "f": grad_f[row],
            "g": grad_g[row],
            "b": b,
            "f after": f_after[row],
            "g after": g_after[row],
        }
        rows[client.index] = [float(f[row]), float(g[row]), norm2(b), norm2(grad_f[row])]
    means = communication.mean(gradients, p)
    table = communication.table(rows, len(clients), 4)
    some_past = any(client.past.n > 0 for client in clients if client.p > 0)
    alpha, rest = _parts(model, step, clients)

    def of_past(value: float) -> float:
        return value if some_past else NAN

    def value(column: int) -> float:
        return sum(share * row[column] for share, row in zip(p, table, strict=True) if share > 0)

    return Measured(
        f=of_past(value(0)),
        g=value(1),
        grad_f2=of_past(norm2(means["f"])),
        grad_g2=norm2(means["g"]),
        b2=of_past(norm2(means["b"])),
        B=of_past(overfitting(L, alpha, 1.0, inner(means["f"], means["b"]), inner(means["b"], rest))),
        grad_f_change2=of_past(norm2(means["f after"] - means["f"])),
        grad_g_change2=norm2(means["g after"] - means["g"]),
        client_b2=tuple(of_past(row[2]) for row in table),
        client_f2=tuple(of_past(row[3]) for row in table),
    )


def norm2(vector: Tensor) -> float:
    """||vector||^2, in float64."""
    return inner(vector, vector)


def _memory_gradient(step: Step, clients: Sequence[Client]) -> Tensor | None:
    """grad_f_memory of the round, where it has one and something is remembered."""
    remembered = any(client.memory.n > 0 for client in clients if client.p > 0)
    return step.means.get("grad_f_memory") if remembered else None


def _parts(model: FlatModel, step: Step, clients: Sequence[Client]) -> tuple[float, Tensor]:
    """(alpha, beta S) of the step taken, for which move = alpha grad_f_memory + beta S."""
    memory, move = step.means.get("grad_f_memory"), step.move[: model.d]
    if memory is None or not step.apart:
        # What such a method does with alpha is in its local steps, and so in S.
        return 0.0, move
    alpha = _mean(step, clients, "alpha")
    return alpha, move - alpha * memory


def _mean(step: Step, clients: Sequence[Client], name: str) -> float:
    return sum(clients[index].p * numbers[name] for index, numbers in step.locals.items())


def _each(step: Step, clients: Sequence[Client], name: str) -> tuple[float, ...]:
    return tuple(step.locals.get(client.index, {}).get(name, NAN) for client in clients)
