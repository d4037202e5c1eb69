"""`conform`: a user's functions against a reference, by name, on small problems in exact arithmetic or in floats."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

from cflag_theory.conform.algorithm import LEFT_OUT, Algorithm
from cflag_theory.conform.algorithms import averaging
from cflag_theory.conform.algorithms.continual import AGEM, CFL, ER, EWC, CFlag, CFlagAdaptive, FedTrack
from cflag_theory.conform.case import ALL_CLIENTS, ASSUMPTIONS, EQUAL_WEIGHTS, SERVER_LR_1, Case, draw
from cflag_theory.conform.numbers import EXACT, KINDS
from cflag_theory.conform.report import Difference, Report, first_difference, reproduces
from cflag_theory.conform.running import HeldOwn, Own, Record, run
from cflag_theory.conform.views import ROUNDED, NeedsTensors, World, is_exact
from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.falsify.finding import NOT_BROKEN, REFUTED
from cflag_theory.public import Count, taking

#: By which name a user's functions ask for what an assumption makes trivial.
_ASKED = {EQUAL_WEIGHTS: "weights", SERVER_LR_1: "server_lr"}
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
    assume: Collection[str] = (),
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
        float64 or, where they take tensors, torch64.
    problems, rounds, seed : int
        Problems, rounds of each, and the first seed.
    assume : collection of str
        What the functions may rely on, of `case.ASSUMPTIONS`: "equal-weights", "server-lr-1", "equal-steps",
        "all-clients". Otherwise weights are uneven, server_lr is not 1 and clients take different numbers of local
        steps, where the algorithm's source has it.
    partial : bool
        Whether one of the three clients is absent in each round, also where the functions never ask for `participants`.
    parameters : mapping, optional
        Values of the algorithm's parameters.
    seconds : float
        What one call of a function may take, in CPU time of its own.

    Returns
    -------
    Report
        In floats a difference counts only if it exceeds a bound of the rounding errors: in single precision where a
        float32 is seen in the functions.

    Raises
    ------
    InvalidInput
        A function raises, returns something else, changes its arguments, takes too long or gives other numbers when it
        is called again.
    UnknownName
        There is no such algorithm.
    """
    return _conform(
        algorithm,
        Own(client_step, server_step, round_step, seconds),
        numbers=numbers,
        problems=problems,
        rounds=rounds,
        assume=assume,
        partial=partial,
        seed=seed,
        parameters=parameters,
    )


def conform_file(file: Path | str, algorithm: str | None = None, *, seconds: float = 10.0, **options: Any) -> Report:
    """Compare the implementation in a Python file with a reference; the file runs in a process of its own.

    Parameters
    ----------
    file : path
        It defines client_step, server_step or both, or round_step, as `conform` takes them. PARAMETERS may set the
        algorithm's own numbers.
    algorithm : str, optional
        Default: ALGORITHM in the file.

    The other parameters, and what is raised, are those of `conform`, but for the functions and parameters; InvalidInput
    also where the process ends.
    """
    own = HeldOwn(Path(file), seconds)
    if (meant := algorithm or own.algorithm) is None:
        raise InvalidInput(f"which algorithm does {file} implement? Give --algorithm, one of {', '.join(ALGORITHMS)}")
    return _conform(meant, own, parameters=own.parameters, **options)


@taking
def _conform(
    algorithm: str,
    own: Own | HeldOwn,
    *,
    parameters: Mapping[str, Any] | None,
    numbers: str = "auto",
    problems: Count = 20,
    rounds: Count = 3,
    assume: Collection[str] = (),
    partial: bool = False,
    seed: int = 0,
) -> Report:
    kind = named(algorithm)
    if bool({"client_step", "server_step"} & {*own.names}) == ("round_step" in own.names):
        raise InvalidInput("give client_step, server_step or both, or round_step alone")
    if numbers not in ("auto", *KINDS):
        raise InvalidInput(f"numbers are {numbers!r}: use one of auto, {', '.join(KINDS)}")
    unknown = sorted(set(assume) - set(ASSUMPTIONS))
    if unknown:
        raise InvalidInput(f"assume holds {unknown[0]!r}: use {', '.join(ASSUMPTIONS)}")
    if numbers == EXACT and not kind.exact:
        raise InvalidInput(f"{kind.title} is not run on fractions, which have no roots or grow too long: use float64")
    if partial and ALL_CLIENTS in kind.assumes:
        raise InvalidInput(f"{kind.title} has no partial participation here: leave out partial")
    work = _Work(kind, own, rounds, frozenset(assume), partial, seed, _parameters(kind, parameters))
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
        self,
        kind: type[Algorithm],
        own: Own | HeldOwn,
        rounds: int,
        assume: frozenset[str],
        partial: bool,
        seed: int,
        given: Mapping[str, Any],
    ) -> None:
        self.kind, self.own, self.rounds, self.seed, self.parameters = kind, own, rounds, seed, given
        self.partial = partial
        # At first all is assumed, so that the functions run; then what the user states and the source does.
        self.stated, self.assumed = assume, frozenset(ASSUMPTIONS)
        self.numbers, self.why, self.cast = EXACT, "", ""
        self.used: set[str] = set()

    def case(self, seed: int, more: Collection[str] = ()) -> Case:
        """The problem of a seed, where more than usual may be assumed."""
        assume = self.assumed | frozenset(more)
        return draw(seed, parameters=self.parameters, rounds=self.rounds, assume=assume, evolving=self.kind.evolving)

    def report(self, numbers: str, problems: int) -> Report:
        self._choose(numbers)
        self._again(self._mine(self.case(self.seed)), self.case(self.seed))
        asked = {name for name, value in _ASKED.items() if value in self.used}
        self.assumed = self.stated | (self.kind.assumes - asked)
        # Full participation is right code for a paper that has it: who is absent matters to who asks for it.
        if not self.partial and "participants" not in self.used:
            self.assumed |= {ALL_CLIENTS}
        compared = 0
        for seed in range(self.seed, self.seed + problems):
            case = self.case(seed)
            try:
                met = self._mine(case)
            except InvalidInput as error:
                report = self._refuted(seed, compared, error=str(error))
                if not report.takes:
                    raise
                return report
            compared += len(met.values)
            found = self._difference(case, met)
            if found is not None:
                self.own.anew()
                self._again(met, case)
                return self._refuted(
                    seed, compared, difference=found, place=(Algorithm.places | self.kind.places).get(found.name, "")
                )
        return self._base(problems, compared, NOT_BROKEN)

    def _refuted(self, seed: int, compared: int, **found: Any) -> Report:
        takes, under, slips = self._explain(seed)
        return replace(
            self._base(seed - self.seed + 1, compared, REFUTED),
            takes=takes,
            under=under,
            slips=slips,
            tried=len(self.kind.slips()),
            case=self.case(seed).shown(),
            **found,
        )

    def _base(self, problems: int, compared: int, status: str) -> Report:
        kind = self.kind
        return Report(
            kind.name, kind.title, kind.source, status, self.numbers, problems, self.rounds, self.seed, compared,
            self.why, tuple(sorted(self.assumed)), tuple(sorted(self.stated)), self.cast,
            self.precision if self.precision != self.numbers or "32" in self.precision else "",
        )  # fmt: skip

    @property
    def precision(self) -> str:
        """The kind of numbers whose rounding is allowed for."""
        return "float32" if self.cast else self.numbers

    def _difference(self, case: Case, met: Record) -> Difference | None:
        """The first difference; what rounding in single precision explains counts unless some is seen."""
        expected = self._reference(case)
        found = first_difference(expected, met, self.precision)
        if found is None or self.precision not in ("float64", "torch64"):
            return found
        # Where a difference is, and float32 is too, only what float32 does not explain is one.
        _, place = self.own.compute(self.kind, case, self.numbers, watched=True)
        if place:
            self.cast = place
            return first_difference(expected, met, self.precision)
        within = first_difference(expected, met, "float32") is None
        return replace(found, single=within)

    def _choose(self, numbers: str) -> None:
        """The kind of numbers, and what the functions ask for."""
        first: InvalidInput | None = None
        for self.numbers in ("float64", "torch64", "torch32") if numbers == "auto" else (numbers,):
            try:
                self.used = self._mine(self.case(self.seed)).used
                break
            except InvalidInput as error:
                if not isinstance(error, NeedsTensors):
                    raise first or error from None
                first = first or error
        else:
            assert first is not None
            raise first
        if numbers != "auto":
            return
        if first is not None:
            self.why = "your functions take tensors"
            return
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
        return self.own.compute(self.kind, case, self.numbers)[0]

    def _again(self, met: Record, case: Case) -> None:
        """That the functions compute the same once more."""
        other = self._mine(case)
        for key, value in met.values.items():
            if [float(one) for one in value] != [float(one) for one in other.values.get(key, ())]:
                raise InvalidInput(
                    f"your functions give another {key[0]} in round {key[1] + 1} when they are run again: take all "
                    "randomness from the arguments, and keep nothing outside of state"
                )

    def _reference(self, case: Case, *slips: str) -> Record:
        return run(self.kind(*slips), World(case, EXACT if self.numbers == EXACT else ROUNDED))

    def _explain(self, seed: int) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """What the functions take for granted; else slips that reproduce their numbers, and what else that assumes."""
        free = [name for name in ASSUMPTIONS if name not in self.assumed]
        choices = [one for size in range(len(free) + 1) for one in combinations(free, size)]
        for more in choices[1:]:
            if self._agrees(seed, more):
                # Who ignores weights gives the mutant's numbers on uneven ones; who misuses them does not.
                general = self._runs(seed, ())
                return more, (), () if general is None else self._left_out(seed, more, general)
        for more in choices:
            cases = self._runs(seed, more)
            slips = () if cases is None else self._named(cases)
            if slips:
                return (), more, slips
        return (), (), ()

    def _agrees(self, seed: int, more: tuple[str, ...]) -> bool:
        """Whether all numbers agree on some cases with these assumptions."""
        cases = (self.case(one, more) for one in range(seed, seed + _CONFIRM))
        try:
            return all(reproduces(self._reference(case), self._mine(case), self.precision) for case in cases)
        except InvalidInput:
            return False

    def _left_out(self, seed: int, takes: tuple[str, ...], cases: list[tuple[Case, Record]]) -> tuple[str, ...]:
        """The slips of leaving these out, where they give all numbers; else other slips that do."""
        slips = [LEFT_OUT.get(name, "") for name in takes]
        known = self.kind.slips()
        if len(slips) > 1 and set(slips) <= set(known) and self._reproduced(cases, *slips):
            return tuple(known[slip] for slip in slips)
        found = self._named(cases)
        if not found and len(takes) > 1:
            # The last shows by itself where the others are assumed.
            rest = self._runs(seed, takes[:-1])
            found = () if rest is None else self._named(rest)
        return found

    def _named(self, cases: list[tuple[Case, Record]]) -> tuple[str, ...]:
        return tuple(words for slip, words in self.kind.slips().items() if self._reproduced(cases, slip))

    def _runs(self, seed: int, more: tuple[str, ...]) -> list[tuple[Case, Record]] | None:
        """What the functions give on some cases with these assumptions; None where they raise."""
        cases = [self.case(one, more) for one in range(seed, seed + _CONFIRM)]
        try:
            return [(case, self._mine(case)) for case in cases]
        except InvalidInput:
            return None

    def _reproduced(self, runs: list[tuple[Case, Record]], *slips: str) -> bool:
        return all(reproduces(self._reference(case, *slips), met, self.precision) for case, met in runs)


#: The references, by name.
ALGORITHMS: dict[str, type[Algorithm]] = {
    one.name: one
    for one in (
        averaging.FedAvg, averaging.FedProx, averaging.Scaffold, averaging.ScaffoldI, averaging.MimeLite,
        averaging.FedNova, averaging.FedDyn, averaging.LocalAdam,
        FedTrack, CFlag, CFlagAdaptive, CFL, EWC, AGEM, ER,
    )
}  # fmt: skip


def named(name: str) -> type[Algorithm]:
    """The reference of this name."""
    key = str(name).lower().replace("-", "_")
    if key not in ALGORITHMS:
        raise UnknownName(f"there is no algorithm {name!r}: use one of {', '.join(ALGORITHMS)}")
    return ALGORITHMS[key]
