"""One round of any method, and the end of a task: the exchanges and the server's step.

A round has a first exchange (the means of what the clients send, grad g_i and grad f_i^memory for C-FLAG), the
clients' local work, a second exchange (the mean of their moves) and the server's step: Algorithm 1. After a task's
last round the clients may send once more (`Method.end_task`).

All that is random is drawn from `Round.random`, a function of the seed, the purpose, the client and the round, so a
run goes on from the number of its next round, the state and the method's memory, and nothing else.

Clients of a process may be computed together, as rows of one group: see `bridge.models.rows`. It pays where calls cost
more than arithmetic, and so for every mlp, whatever the number of its clients, see "The bridge" in
benchmarks/RESULTS.md; a ResNet is arithmetic all through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from torch import Tensor, nn

from cflag_theory.bridge.methods.base import Local, Method, Round
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.models.rates import inner
from cflag_theory.bridge.settings.options import AUTO, NO, TOGETHER
from cflag_theory.bridge.training.communication import Communication
from cflag_theory.public import one_of, taking

#: A client's scalars that every process is told; nan for those that a method does not have.
NUMBERS = ("alpha", "beta", "Lambda", "drift2_max", "loss", "steps", "gradients")
#: And the squared norm of its own gradient on memory, for r_i.
MEMORY_NORM2 = "grad_memory2"


@dataclass(frozen=True, eq=False)
class Step:
    """What a round did."""

    #: (size,) Tensor: x_t and x_{t+1}.
    before: Tensor
    state: Tensor
    #: (size,) Tensor: The clients' mean move.
    move: Tensor
    #: Mapping of str to (d,) Tensor: Of the first exchange.
    means: Mapping[str, Tensor]
    #: Mapping of int to mapping of str to (d,) Tensor: What the clients of this process sent in it; the one thing that
    #: differs between processes.
    own: Mapping[int, Mapping[str, Tensor]]
    #: Mapping of int to mapping of str to float: `NUMBERS` and ``grad_memory2`` of every client that took part.
    locals: Mapping[int, Mapping[str, float]]
    #: Numbers that these clients sent and received: states down, moves up, and each vector of the first exchange up and
    #: its mean down. What goes with the moves comes down in the next round, and is counted here.
    sent: int
    #: `Method.memory_apart`.
    apart: bool = True


def one_round(
    method: Method,
    round: Round,
    clients: Sequence[Client],
    state: Tensor,
    communication: Communication,
    *,
    together: str = AUTO,
) -> Step:
    """One round from x_t = `state`, which is left as it is. `clients` are all N, in every process; those with p_i = 0
    take no part. `together` says whether the clients of this process are computed together: wherever it can be done
    ("auto", "yes") or not.
    """
    round.model.see(round.task)
    p = [client.p for client in clients]
    mine = taking_part(clients, communication)
    parts, stacked = groups(together, round.model, method, mine)
    samples = sum(client.current.n for client in clients)
    round = replace(round, everybody=clients if stacked else (), samples=samples)
    own: dict[int, dict[str, Tensor]] = {}
    for part in parts:
        own |= method.vectors_of(round, part, state)
    means = communication.mean(own, p)
    done: dict[int, Local] = {}
    for part in parts:
        done |= method.locals_of(round, part, state, means, own)
    move = communication.mean({index: {"move": local.move} for index, local in done.items()}, p)["move"]
    reports = communication.mean({index: local.sent for index, local in done.items()}, p) if method.closes else {}
    width = method.kept(clients)
    kept = communication.table({i: local.kept for i, local in done.items()}, len(clients), width) if width else []
    rows = {index: _row(local.numbers, own[index]) for index, local in done.items()}
    columns = (*NUMBERS, MEMORY_NORM2)
    table = communication.table(rows, len(clients), len(columns))
    active = [client.index for client in clients if client.p > 0]
    following = method.step(round, state, move)
    method.close_round(round, following, {**means, **reports}, kept)
    vectors = [*means.values(), *reports.values()]
    return Step(
        before=state,
        state=following,
        move=move,
        means=means,
        own=own,
        locals={index: dict(zip(columns, table[index], strict=True)) for index in active},
        sent=2 * len(active) * (len(move) + sum(map(len, vectors))),
        apart=method.memory_apart,
    )


def end_task(
    method: Method, round: Round, clients: Sequence[Client], state: Tensor, communication: Communication
) -> int:
    """The end of a task whose last round was `round`: the method takes in what the clients send, and the server's.
    Gives how many samples' gradients that took, the same in every process.
    """
    round.model.see(round.task)
    sent = {client.index: method.end_task(round, client, state) for client in taking_part(clients, communication)}
    means = communication.mean(sent, [client.p for client in clients])
    here = of_this_process(clients, communication)
    totals = communication.mean(
        {client.index: method.totals(round, client, state) for client in here}, [1.0] * len(clients)
    )
    served = communication.mean({0: method.serve(round, clients, state)} if communication.rank == 0 else {}, [1.0])
    method.close_task(round, state, {**means, **totals, **served})
    return method.gradients_at_end([client for client in clients if client.p > 0])


def taking_part(clients: Sequence[Client], communication: Communication) -> list[Client]:
    """The clients of this process that take part in the task."""
    return [client for client in of_this_process(clients, communication) if client.p > 0]


def of_this_process(clients: Sequence[Client], communication: Communication) -> list[Client]:
    """Its share: processes take clients in turn."""
    return [client for client in clients if client.index % communication.processes == communication.rank]


def _row(numbers: Mapping[str, float], own: Mapping[str, Tensor]) -> list[float]:
    row = [float(numbers.get(name, float("nan"))) for name in NUMBERS]
    memory = own.get("grad_f_memory")
    return [*row, float("nan") if memory is None else inner(memory, memory)]


def why_not(model: FlatModel, method: Method) -> str | None:
    """Why the clients of this method are not computed together with this model, or None."""
    if model.size > model.d:
        return "batch normalisation has running statistics, which a pass over several clients cannot keep apart"
    if any(isinstance(layer, nn.Conv2d) for layer in model.network.modules()):
        return "convolutions of several clients at once are slower than one after another"
    if not model.plain:
        return "autocast and compiled passes are for one client at a time"
    if model.stack is None:
        return "only fully connected layers have a pass for several clients"
    if not method.on_rows:
        return f"the method {method.name!r} takes its clients one by one"
    return None


@taking
def groups(
    together: Annotated[str, one_of(*TOGETHER)], model: FlatModel, method: Method, clients: Sequence[Client]
) -> tuple[list[Sequence[Client]], bool]:
    """The clients in groups that are computed together, one group or one of every client, and whether they are stacked.
    Today `together` "auto" is "yes": wherever it can be done, see `why_not`.
    """
    if together == NO or why_not(model, method) is not None:
        return [[client] for client in clients], False
    return [clients] if clients else [], True
