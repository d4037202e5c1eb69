"""All references by the name that users type."""

from __future__ import annotations

from cflag_theory.conform.algorithm import Algorithm
from cflag_theory.conform.algorithms.averaging import FedAvg, FedDyn, FedNova, FedProx, LocalAdam
from cflag_theory.conform.algorithms.continual import AGEM, CFL, ER, EWC
from cflag_theory.conform.algorithms.control import MimeLite, Scaffold, ScaffoldI
from cflag_theory.conform.algorithms.tracking import CFlag, CFlagAdaptive, FedTrack
from cflag_theory.errors import UnknownName

#: The references, by name.
ALGORITHMS: dict[str, type[Algorithm]] = {
    one.name: one
    for one in (
        FedAvg, FedProx, Scaffold, ScaffoldI, MimeLite, FedNova, FedDyn, LocalAdam,
        FedTrack, CFlag, CFlagAdaptive, CFL, EWC, AGEM, ER,
    )
}  # fmt: skip


def algorithm(name: str) -> type[Algorithm]:
    """The reference of this name.

    Raises
    ------
    UnknownName
        There is none.
    """
    key = str(name).lower().replace("-", "_")
    if key not in ALGORITHMS:
        raise UnknownName(f"there is no algorithm {name!r}: use one of {', '.join(ALGORITHMS)}")
    return ALGORITHMS[key]
