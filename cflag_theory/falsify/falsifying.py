"""`falsify`: exact algebra, then a directed search, then shrinking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any

import sympy as sp

from cflag_theory.errors import CflagError, InconsistentEvidence, InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.finding import NOT_BROKEN, PROVED, REFUTED, Finding, NoCase
from cflag_theory.falsify.proving import Attempt, attempt, by_rules, has_rules
from cflag_theory.falsify.quantity import exact_value
from cflag_theory.falsify.ranges import REAL
from cflag_theory.falsify.search.cases import (
    LADDER,
    Case,
    all_cases,
    as_fractions,
    case_at,
    entries,
    for_exact,
    inside,
    shrink,
    to_text,
)
from cflag_theory.falsify.search.directed import Found, Search
from cflag_theory.falsify.search.evaluation import Evaluator, as_texts, quotient
from cflag_theory.falsify.search.exact_numbers import Undecided
from cflag_theory.falsify.search.guard import OutOfTime
from cflag_theory.falsify.vector_terms import dual
from cflag_theory.falsify.vector_terms.instances import Instances, instances
from cflag_theory.public import Count, Whole, taking

BUDGET = 3000
#: Seconds that one evaluation may take, and that algebra may take.
SECONDS = 20.0
#: Exact evaluations that shrinking may use, and cases that a proof is tried on.
_TRIES, _SAMPLE = 1500, 200
#: Cases at which a formula that was proved is compared with the functions that it was read from.
_COMPARED = 6
#: Said where only a search was asked for.
NOT_ASKED = "algebra: it was not asked"


@taking
def falsify(
    conjecture: Conjecture,
    *,
    budget: Count = BUDGET,
    seed: Whole = 0,
    seconds: float = SECONDS,
    algebra: bool = True,
    search: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Finding:
    """Search for a counterexample to a conjecture.

    Exact algebra first (a proof, or a model that is replayed); enumeration, where the cases are finitely many and
    within the budget; then a directed search on floats, in which exact arithmetic confirms every violation. What is
    found is shrunk.

    Parameters
    ----------
    conjecture : Conjecture
        The claim.
    budget : int
        Cases that the search evaluates.
    seed : int
        Equal seeds give equal findings.
    seconds : float
        Time limit in seconds for one evaluation of the user's functions, and for algebra.
    algebra : bool
        Whether to use the exact engines.
    search : bool
        Whether to search if algebra and enumeration do not decide.
    progress : callable, optional
        Called with the number of cases done since the last call.

    Returns
    -------
    Finding
        An interrupt from the keyboard ends the search with what was found so far.

    Raises
    ------
    InvalidInput
        A function of the conjecture raises, takes too long or returns no real number, or no case satisfies the
        hypotheses. Where time runs out and no function of the conjecture is at work, the finding says so.
    InconsistentEvidence
        A proof and an exact counterexample contradict each other.
    """
    if not seconds > 0:
        raise InvalidInput(f"seconds is {seconds!r}: use a positive number")
    if conjecture.exists:
        raise InvalidInput(f"{conjecture.name} says that constants exist, which no case refutes: use decide")
    if conjecture.about_vectors:
        conjecture, algebra = instances(conjecture), False
    work = _Work(conjecture, budget, seed, seconds, progress or (lambda done: None))
    try:
        return work.finding(algebra, search)
    except OutOfTime as up:
        return work.out_of_time(str(up))


class _Work:
    """One call of `falsify`."""

    def __init__(
        self, conjecture: Conjecture, budget: int, seed: int, seconds: float, progress: Callable[[int], None]
    ) -> None:
        self.conjecture, self.seconds, self.progress = conjecture, seconds, progress
        self.evaluator = Evaluator(conjecture, seconds=seconds)
        self.base = Finding(
            name=conjecture.name,
            relation=conjecture.relation,
            status=NOT_BROKEN,
            ranges={name: str(one) for name, one in conjecture.variables.items()},
            given=tuple(dict.fromkeys(one.words for one in conjecture.hypotheses)),
            seed=seed,
            budget=budget,
            sides=conjecture.words,
            written=conjecture.written,
        )
        self.search = Search(conjecture, self.evaluator, budget=budget, seed=seed, tick=lambda: progress(1))
        self.missing: list[str] = []
        self.enumerated = False

    def finding(self, algebra: bool, search: bool) -> Finding:
        try:
            try:
                return self._stages(algebra, search)
            except KeyboardInterrupt:
                self.missing.insert(0, "it was interrupted: the rest of the budget")
                return replace(self._not_broken(interrupted=True), interrupted=True)
        except Found as found:
            return self._refuted(found)

    def out_of_time(self, why: str) -> Finding:
        """What is known when an evaluation took longer than it may."""
        missing = (f"the rest of the budget, for time ran out: {why}", *self.missing)
        return replace(self.base, out_of_time=True, cases=self.evaluator.cases, not_covered=missing)

    def _stages(self, algebra: bool, search: bool) -> Finding:
        self._first_exact_case()
        answer = Attempt("unknown", why=NOT_ASKED.removeprefix("algebra: "))
        if algebra:
            answer = attempt(self.conjecture, seconds=self.seconds)
        if answer.word == "refuted" and answer.point is not None:
            self._try_point(answer.point)
        if answer.word == "proved":
            return self._proved(answer)
        self.missing.append(f"algebra: {answer.why or 'its model is not a counterexample in exact arithmetic'}")
        everything = all_cases(self.conjecture, self.base.budget)
        if everything is not None:
            return self._enumerated(everything)
        if answer.formula is not None and has_rules(answer.formula):
            # What a short search refutes needs no proof.
            self.search.budget = min(self.base.budget, _SAMPLE) if search else 0
            self.search.run()
            self.search.budget = self.base.budget
            if (answer := by_rules(self.conjecture, answer.formula, seconds=self.seconds)).word == "proved":
                return self._proved(answer)
            self.missing.append(f"algebra: {answer.why}")
        if not search:
            self.missing.append("everything else: no search for a counterexample was asked for")
            return replace(self._not_broken(possible=True), not_covered=tuple(self.missing))
        self.search.run()
        if isinstance(self.conjecture, Instances):
            # What the programs cannot say is no fault of the claim.
            with suppress(CflagError, sp.PolynomialError, ValueError, ArithmeticError):
                self._in_more_dimensions(self.conjecture)
        return self._not_broken()

    def _in_more_dimensions(self, small: Instances) -> None:
        """A case of more dimensions that breaks the claim or, where none yet satisfies the hypotheses, that does so."""
        for case in chain(dual.cases(small), () if self.evaluator.exact_feasible else dual.cases(small, broken=False)):
            wide = small.wide(int(case["dimension"]))
            evaluator = Evaluator(wide, seconds=self.seconds)
            outcome = evaluator.exact(case)
            if outcome.broken:
                evaluator.cases, evaluator.feasible = self.evaluator.cases, self.evaluator.feasible
                self.conjecture, self.evaluator = wide, evaluator
                raise Found(case, "semidefinite program")
            if outcome.feasible:
                self.evaluator.exact_feasible += 1
                return

    def _first_exact_case(self) -> None:
        """A case in exact arithmetic before anything else, so that a claim that floats alone can follow is told so."""
        for sizes in self.search.sizes[:1]:
            count = entries(self.conjecture, sizes)
            for level in (Fraction(1, 2), Fraction(1, 3)):
                case = as_fractions(self.conjecture, case_at(self.conjecture, sizes, [level] * count), 12)
                if self.evaluator.exact(case).broken:
                    raise Found(case, "corners")

    def _try_point(self, point: Any) -> None:
        case: Case = {}
        for name, one in self.conjecture.variables.items():
            value = point[name]
            case[name] = value if one.kind == REAL else round(value)
        for candidate in [case, *(as_fractions(self.conjecture, case, denominator) for denominator in LADDER)]:
            if inside(self.conjecture, candidate) is None and self.evaluator.exact(candidate).broken:
                raise Found(candidate, "algebra")

    def _proved(self, answer: Attempt) -> Finding:
        """A proof says nothing where nothing satisfies the hypotheses, and is tried on cases like everything else."""
        self._check_formula(answer)
        self.search.budget = min(self.base.budget, _SAMPLE)
        try:
            self.search.run()
            if not self.evaluator.feasible:
                self.search.budget = self.base.budget
                self.search.run()
            found = self._not_broken(possible=answer.possible)
        except Found as against:
            outcome = self.evaluator.exact(against.case)
            left, right = as_texts(outcome.left, outcome.right)
            raise InconsistentEvidence(
                f"{self.conjecture.name}: {' and '.join(answer.engines)} prove it, and at {to_text(against.case)} the "
                f"left side is {left} and the right side {right}"
            ) from None
        return replace(found, status=PROVED, engines=answer.engines, not_covered=(), proof=answer.statement)

    def _check_formula(self, answer: Attempt) -> None:
        """That the functions give for numbers what they gave for symbols: a proof speaks of the formula alone."""
        if answer.formula is None:
            return
        goal, names = answer.formula.goal, {symbol: name for name, symbol in answer.formula.symbols.items()}
        plain = {symbol: sp.Symbol(name) for symbol, name in names.items()}
        sides = [side.xreplace(plain) for side in (goal.left, goal.right)]
        sizes = self.search.sizes[0]
        count = entries(self.conjecture, sizes)
        for seed in range(_COMPARED):
            levels = [Fraction((7 + 13 * seed + 5 * place * (seed + 1)) % 31, 31) for place in range(count)]
            case = as_fractions(self.conjecture, case_at(self.conjecture, sizes, levels), 1 << 10)
            outcome = self.evaluator.exact(case)
            if not outcome.feasible:
                continue
            for what, found, side in zip(("left", "right"), (outcome.left, outcome.right), sides, strict=True):
                with suppress(Undecided):
                    if exact_value(side, for_exact(self.conjecture, case)) != found:
                        raise InvalidInput(
                            f"{self.conjecture.name}: {what} is another number at {to_text(case)} than {side} "
                            "gives: its functions must return the same for the same numbers"
                        )

    def _enumerated(self, everything: list[Case]) -> Finding:
        feasible, ratio = 0, None
        for case in everything:
            outcome = self.evaluator.exact(case)
            self.progress(1)
            if outcome.broken:
                raise Found(case, "enumeration")
            feasible += outcome.feasible
            near = quotient(outcome) if outcome.feasible else None
            if near is not None and (ratio is None or near > ratio[0]):
                ratio = (near, case)
        self.evaluator.feasible, self.search.ratio = feasible, ratio
        self.enumerated, self.search.complete = True, True
        self.search.tried = set(range(len(self.search.sizes)))
        found = replace(self._not_broken(), cases=len(everything))
        if self.evaluator.undecided or self.evaluator.unaffordable or self.evaluator.diverged:
            # Cases without an answer are not part of a proof.
            return found
        return replace(found, status=PROVED, engines=("enumeration",), not_covered=())

    def _not_broken(self, *, interrupted: bool = False, possible: bool = False) -> Finding:
        """`possible`: it is known that something satisfies the hypotheses."""
        evaluator, search = self.evaluator, self.search
        if not (interrupted or possible):
            self._check_satisfied()
        largest: float | None = None
        worst: dict[str, Any] = {}
        if search.ratio is not None:
            largest, worst = self._exact_ratio(*search.ratio)
        return replace(
            self.base,
            largest_ratio=largest,
            worst=worst,
            cases=evaluator.cases,
            feasible=evaluator.feasible,
            exact_cases=evaluator.exact_cases,
            exact_feasible=evaluator.exact_feasible,
            not_covered=tuple([*self.missing, *self._gaps()]),
        )

    def _check_satisfied(self) -> None:
        """That a case satisfies the hypotheses in exact arithmetic; floats see equations hold up to rounding."""
        evaluator = self.evaluator
        near = self.search.satisfying
        if evaluator.feasible and not evaluator.exact_feasible and near is not None:
            for case in (as_fractions(self.conjecture, near, denominator) for denominator in LADDER):
                outcome = evaluator.exact(case)
                if outcome.broken:
                    raise Found(case, "optimisation")
                if outcome.feasible:
                    return
        if evaluator.exact_feasible or (evaluator.feasible and (evaluator.unaffordable or evaluator.undecided)):
            return
        rounding = f", {evaluator.feasible} on floats up to rounding" if evaluator.feasible else ""
        stopped = f", {evaluator.diverged} runs diverged" if evaluator.diverged else ""
        raise NoCase(
            f"{self.conjecture.name}: no case satisfies the hypotheses ({evaluator.cases + evaluator.exact_cases} "
            f"tried{rounding}{stopped}): widen the ranges, drop a hypothesis, or replace a variable that an equation "
            "fixes by its value"
        )

    def _exact_ratio(self, ratio: float, case: Case) -> tuple[float | None, dict[str, Any]]:
        """The largest ratio found and where, in exact arithmetic and in short numbers if these lose nothing."""
        found: tuple[float, dict[str, Any]] | None = None
        for denominator in (1, 4, 12, 64, 1 << 20, 1 << 52):
            near = as_fractions(self.conjecture, case, denominator)
            outcome = self.evaluator.exact(near)
            if outcome.broken:
                raise Found(near, "optimisation")
            exact = quotient(outcome) if outcome.feasible else None
            if exact is not None and (found is None or exact > found[0]):
                found = (exact, to_text(near))
                if exact >= ratio * (1 - 1e-12):
                    break
        if found is None:
            self.missing.append(
                f"the largest left/right on floats, {ratio:.6g}, which exact arithmetic did not evaluate"
            )
            return None, {}
        return found

    def _gaps(self) -> Iterator[str]:
        """What the search did not cover."""
        search, evaluator = self.search, self.evaluator
        free = {name: one.kind for name, one in self.conjecture.variables.items() if not one.fixed}
        reals = [name for name, kind in free.items() if kind == REAL]
        if reals:
            yield f"all but {evaluator.feasible} of the infinitely many values of {', '.join(reals)}"
        others = [name for name in free if name not in (*reals, *self.conjecture.sizes)]
        if others and not reals and not self.enumerated:
            yield f"all but {evaluator.feasible} of the values of {', '.join(others)}"
        if not search.complete or len(search.tried) < len(search.sizes):
            names = ", ".join(self.conjecture.sizes)
            yield f"all but {len(search.tried)} of the choices of {names}"
        if self.conjecture.runs:
            yield "problems outside of the family, and runs longer than the ranges of E and T"
        counted = (
            (evaluator.vanishing, "case{s} {be} 0 <= 0"),
            (search.unconfirmed, "case{s} where floats saw a violation and exact arithmetic did not"),
            (evaluator.unaffordable, f"exact run{{s}} that took more than {self.seconds:g} s"),
            (evaluator.diverged, "run{s} that diverged, every engine stops at ||x||^2 > 1e200"),
            (evaluator.undecided, "exact case{s} where enclosures of irrational numbers overlap"),
        )
        for count, words in counted:
            if count:
                yield f"{count} {words.format(s='s' * (count > 1), be='are' if count > 1 else 'is')}"

    def _refuted(self, found: Found) -> Finding:
        case = found.case
        # After an interrupt what was found stands, only larger than need be.
        with suppress(KeyboardInterrupt, OutOfTime):
            case = shrink(self.conjecture, case, self._breaks, tries=_TRIES, tick=lambda: self.progress(0))
        outcome = self.evaluator.exact(case)
        left, right = as_texts(outcome.left, outcome.right)
        again = self.evaluator.again(case)
        if not (outcome.broken and again.broken) or as_texts(again.left, again.right) != (left, right):
            raise InvalidInput(
                f"{self.conjecture.name}: at {to_text(case)} it failed and, evaluated again, has other values: its "
                "functions must return the same for the same numbers"
            )
        return replace(
            self.base,
            status=REFUTED,
            found_by=found.by,
            case=to_text(case),
            left=left,
            right=right,
            largest_ratio=quotient(outcome),
            cases=self.evaluator.cases,
            feasible=self.evaluator.feasible,
            exact_cases=self.evaluator.exact_cases,
        )

    def _breaks(self, candidate: Case) -> bool:
        """Whether a smaller case refutes the claim; where the claim has no value it does not, and the larger stands."""
        try:
            return self.evaluator.exact(candidate).broken
        except InvalidInput:
            return False
