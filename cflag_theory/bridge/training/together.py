"""Which clients of a process are computed together, as rows of one group: see `bridge.models.rows`.

It pays where calls cost more than arithmetic, and so for every mlp, whatever the number of its clients, see "The
bridge" in benchmarks/RESULTS.md; a ResNet is arithmetic all through.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from cflag_theory.bridge.methods.base import Method
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.settings.options import NO, TOGETHER
from cflag_theory.errors import UnknownName


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


def groups(
    together: str, model: FlatModel, method: Method, clients: Sequence[Client]
) -> tuple[list[Sequence[Client]], bool]:
    """The clients in groups that are computed together, one group or one of every client, and whether they are stacked.

    Parameters
    ----------
    together : {"auto", "yes", "no"}
        Today "auto" is "yes": wherever it can be done, see `why_not`.
    """
    if together not in TOGETHER:
        raise UnknownName(f"together {together!r} is unknown: use one of {', '.join(TOGETHER)}")
    if together == NO or why_not(model, method) is not None:
        return [[client] for client in clients], False
    return [clients] if clients else [], True
