"""Which clients of a process are computed together, as rows of one group: see `bridge.models.rows`.

It pays where calls cost more than arithmetic: for five clients of an mlp already, see "The bridge" in
benchmarks/RESULTS.md; a ResNet is arithmetic all through.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from cflag_theory.bridge.methods.base import Method
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.settings.options import AUTO, TOGETHER, YES
from cflag_theory.errors import UnknownName

#: From so many clients of a process on, "auto" computes them together. With fewer it would pay, too, but a run of a few
#: seconds had better be the same bit for bit over any number of processes.
ENOUGH_CLIENTS = 8


def why_not(model: FlatModel, method: Method) -> str | None:
    """Why the clients of this method are not computed together with this model, or None."""
    if model.size > model.d:
        return "batch normalisation has running statistics, which a pass over several clients cannot keep apart"
    if any(isinstance(layer, nn.Conv2d) for layer in model.network.modules()):
        return "convolutions of several clients at once are slower than one after another"
    if not model.plain:
        return "autocast and compiled passes are for one client at a time"
    if not method.on_rows:
        return f"the method {method.name!r} takes its clients one by one"
    return None


def groups(together: str, model: FlatModel, method: Method, clients: Sequence[Client]) -> list[Sequence[Client]]:
    """The clients in groups that are computed together: one group, or one of every client.

    Parameters
    ----------
    together : {"auto", "yes", "no"}
        "yes" where it can be done at all, see `why_not`; "auto" where it also pays, by the number of clients.
    """
    if together not in TOGETHER:
        raise UnknownName(f"together {together!r} is unknown: use one of {', '.join(TOGETHER)}")
    wanted = together == YES or (together == AUTO and len(clients) >= ENOUGH_CLIENTS)
    if wanted and len(clients) > 1 and why_not(model, method) is None:
        return [clients]
    return [[client] for client in clients]
