"""The methods by name, and how one is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from cflag_theory.bridge.methods.base import Method
from cflag_theory.bridge.methods.baselines import ErRing, Ewc, Icarl, Lwf, Nccl
from cflag_theory.bridge.methods.finetune import FedAvg, FedProx, FineTune, MimeLite
from cflag_theory.bridge.methods.flag import CFlag
from cflag_theory.bridge.methods.rehearsal import CflCoreSet, CflGenerative, CflRegularization, CflRegularizationProx
from cflag_theory.bridge.methods.target import Target
from cflag_theory.bridge.methods.track import FedTrack
from cflag_theory.bridge.settings import evolving
from cflag_theory.bridge.settings.options import ADAM, OPTIONS, Work
from cflag_theory.errors import InvalidInput
from cflag_theory.public import one_of, quoted, require

_KINDS: tuple[type[Method], ...] = (
    *(CFlag, FedTrack, FineTune, Ewc, Nccl, ErRing),
    *(Lwf, Icarl, Target),
    *(FedAvg, FedProx, MimeLite, CflCoreSet, CflRegularization, CflRegularizationProx, CflGenerative),
)
#: Of both protocols.
_OPTIONS = {**OPTIONS, **evolving.OPTIONS}
#: By key: what makes the method of a `Work`, and of its options where it has some.
METHODS: dict[str, Callable[..., Method]] = {kind.name: kind for kind in _KINDS}


def make_method(
    name: str,
    *,
    lr: float,
    alpha: float | None = None,
    L: float = 5.0,
    epochs: int = 2,
    batch: int = 128,
    optimizer: str = ADAM,
    sample: int = 200,
    options: Any = None,
) -> Method:
    """A method ready for a run.

    Parameters
    ----------
    name : str
        A key of `METHODS`.
    lr : float
        beta, the rate of the local steps.
    alpha : float, optional
        Rate of the step on memory, lr by default, as Sec. 5 has it.
    L : float
        Smoothness constant in the adaptive rates.
    epochs, batch : int
        Passes over a client's minibatches in a round, and their size.
    optimizer : {"adam", "plain"}
        Of the methods that have no mode; those that have one read `options.step`.
    sample : int
        Samples drawn from a client's memory where its gradient is taken.
    options : object, optional
        Of the class that `options.OPTIONS` names, its defaults where left out.

    Raises
    ------
    UnknownName
        No such method, or no such optimizer.
    InvalidInput
        A number outside its range, options of another method, or L alpha >= 1 where rates are adaptive.
    """
    require("method", name, Annotated[str, one_of(*METHODS)])
    work = Work(
        lr=lr,
        alpha=lr if alpha is None else alpha,
        L=L,
        epochs=epochs,
        batch=batch,
        optimizer=optimizer,
        sample=sample,
    )
    if name not in _OPTIONS:
        if options is not None:
            raise InvalidInput(f"method {name!r} has no options and was given {quoted(options)}: leave them out")
        return METHODS[name](work)
    options = _OPTIONS[name]() if options is None else options
    if type(options) is not _OPTIONS[name]:
        raise InvalidInput(f"options of {name!r} are {quoted(options)}: pass {_OPTIONS[name].__name__}")
    return METHODS[name](work, options)
