"""`conform`: a user's functions against the reference, on small problems in exact arithmetic or in floats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any

from cflag_theory.conform.algorithm import Algorithm
from cflag_theory.conform.case import Case, draw
from cflag_theory.conform.catalogue import algorithm as named
from cflag_theory.conform.comparing import first_difference, reproduces
from cflag_theory.conform.numbers import EXACT, KINDS
from cflag_theory.conform.report import Report
from cflag_theory.conform.running import Own, Record, run
from cflag_theory.conform.views import ROUNDED, World, is_exact
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.finding import NOT_BROKEN, REFUTED

#: Problems on which a slip must reproduce all numbers before it is named.
_CONFIRM = 4


def conform(
    algorithm: str,
    *,
    client_step: Callable[..., Any] | None = None,
    server_step: Callable[..., Any] | None = None,
    round_step: Callable[..., Any] | None = None,
    numbers: str = "auto",
    problems: int = 20,
    rounds: int = 3,
    partial: bool = False,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    seconds: float = 10.0,
) -> Report:
    """Compare an implementation with a reference algorithm.

    Parameters
    ----------
    algorithm : str
        A name of `ALGORITHMS`.
    client_step, server_step : callable
        The two halves of a round; the reference supplies a missing one. Arguments are passed by name: the
        attributes and methods of `views.Client` and `views.Server`, the algorithm's parameters and what it keeps.
        `client_step` returns the client's model, or a dict or tuple with what else it sends; `server_step` the new
        model, or a dict or tuple with what else the server keeps.
    round_step : callable
        A whole round in their place: it takes `clients`, a list of `views.Client`, and what `server_step` takes.
    numbers : str
        "exact", "float64", "float32", "torch64" or "torch32"; "auto": fractions where the functions allow them, else
        float64.
    problems, rounds, seed : int
        Problems, rounds of each, and the first seed.
    partial : bool
        Whether two of three clients take part in a round.
    parameters : mapping, optional
        Values of the algorithm's parameters.
    seconds : float
        What one call of a function may take.

    Returns
    -------
    Report
        In floats a difference counts only if it exceeds a bound of the rounding errors.

    Raises
    ------
    InvalidInput
        A function raises, returns something else, changes its arguments, takes too long or gives other numbers when it
        is called again.
    UnknownName
        There is no such algorithm.
    """
    kind = named(algorithm)
    if (client_step is None and server_step is None) == (round_step is None):
        raise InvalidInput("give client_step, server_step or both, or round_step alone")
    for name, value in (("problems", problems), ("rounds", rounds)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidInput(f"{name} is {value!r}: use an integer of at least 1")
    if numbers not in ("auto", *KINDS):
        raise InvalidInput(f"numbers are {numbers!r}: use one of auto, {', '.join(KINDS)}")
    if partial and not kind.partial:
        raise InvalidInput(f"{kind.title} has no partial participation here: leave out partial")
    if numbers == EXACT and not kind.exact:
        raise InvalidInput(f"{kind.title} is not run on fractions, which have no roots or grow too long: use float64")
    own = Own(client_step, server_step, round_step, seconds)
    work = _Work(kind, own, rounds, partial, seed, _parameters(kind, parameters))
    return work.report(numbers, problems)


def _parameters(kind: type[Algorithm], given: Mapping[str, Any] | None) -> dict[str, Fraction]:
    found = dict(kind.parameters)
    for name, value in (given or {}).items():
        if name not in found:
            known = ", ".join(found) or "none"
            raise InvalidInput(f"{kind.title} has no parameter {name!r}: it has {known}")
        try:
            found[name] = Fraction(value)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(f"{name} is {value!r}: use a finite number") from None
    return found


class _Work:
    """One call of `conform`."""

    def __init__(
        self, kind: type[Algorithm], own: Own, rounds: int, partial: bool, seed: int, parameters: Mapping[str, Any]
    ) -> None:
        self.kind, self.own, self.rounds, self.partial = kind, own, rounds, partial
        self.seed, self.parameters = seed, parameters
        self.numbers, self.why = EXACT, ""
        self.used: set[str] = set()

    def case(self, seed: int) -> Case:
        """The problem of a seed; what the functions never ask for is 1."""
        drawn = draw(
            seed,
            parameters=self.parameters,
            rounds=self.rounds,
            partial=self.partial,
            uneven=self.kind.uneven,
            evolving=self.kind.evolving,
        )
        if "weights" not in self.used:
            drawn = replace(drawn, weights=(Fraction(1, drawn.clients),) * drawn.clients)
        return drawn if "server_lr" in self.used else replace(drawn, server_lr=Fraction(1))

    def report(self, numbers: str, problems: int) -> Report:
        self._choose(numbers)
        compared = 0
        for seed in range(self.seed, self.seed + problems):
            case = self.case(seed)
            met = self._mine(case)
            if seed == self.seed:
                self._again(case, met)
            found = first_difference(self._reference(case), met, self.numbers)
            compared += len(met.values)
            if found is not None:
                return replace(
                    self._base(seed - self.seed + 1, compared, REFUTED),
                    difference=found,
                    place=self.kind.places.get(found.name, ""),
                    slips=self._slips(seed),
                    tried=len(self.kind.slips()),
                    case=_shown(case),
                )
        return self._base(problems, compared, NOT_BROKEN)

    def _base(self, problems: int, compared: int, status: str) -> Report:
        kind = self.kind
        return Report(
            kind.name,
            kind.title,
            kind.source,
            status,
            self.numbers,
            problems,
            self.rounds,
            self.seed,
            compared,
            self.why,
        )

    def _choose(self, numbers: str) -> None:
        """The kind of numbers, and which of weights and server step size the functions use."""
        if numbers != "auto":
            self.numbers = numbers
            self.used = self._mine(self.case(self.seed)).used
            return
        self.numbers = "float64"
        in_floats = self._mine(self.case(self.seed))
        self.used = in_floats.used
        if not self.kind.exact:
            self.why = "fractions would be too long, or have no roots"
            return
        self.numbers = EXACT
        try:
            inexact = [key for key, value in self._mine(self.case(self.seed)).values.items() if not is_exact(value)]
        except InvalidInput as error:
            # The same functions ran on floats: it is the fractions that they cannot take.
            self.numbers, self.why = "float64", f"fractions: {error}"
            return
        if inexact:
            self.numbers, self.why = "float64", f"your functions turn fractions into floats: {inexact[0][0]}"

    def _mine(self, case: Case) -> Record:
        return run(self.kind(), World(case, self.numbers), self.own)

    def _again(self, case: Case, met: Record) -> None:
        other = self._mine(case)
        for key, value in met.values.items():
            if [float(one) for one in value] != [float(one) for one in other.values.get(key, ())]:
                raise InvalidInput(
                    f"your functions give another {key[0]} in round {key[1] + 1} when they are run again: take all "
                    "randomness from the arguments, and keep nothing outside of state"
                )

    def _reference(self, case: Case, slip: str | None = None) -> Record:
        return run(self.kind(slip), World(case, EXACT if self.numbers == EXACT else ROUNDED))

    def _slips(self, seed: int) -> tuple[str, ...]:
        """Slips that reproduce what the functions gave on the problem where they differ and on some more."""
        cases = [self.case(one) for one in range(seed, seed + _CONFIRM)]
        mine = [self._mine(case) for case in cases]
        return tuple(
            words
            for slip, words in self.kind.slips().items()
            if all(
                reproduces(self._reference(case, slip), met, self.numbers)
                for case, met in zip(cases, mine, strict=True)
            )
        )


def _shown(case: Case) -> dict[str, Any]:
    """A case as plain values: fractions as text."""

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: plain(one) for key, one in value.items()}
        if isinstance(value, tuple | list):
            return [plain(one) for one in value]
        return str(value) if isinstance(value, Fraction) else value

    shown: dict[str, Any] = plain(asdict(case))
    return shown
