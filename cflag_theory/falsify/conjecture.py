"""A user's Conjecture: hypotheses as ranges, two sides, and an algorithm; or a statement of a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.operators import Atom
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.sorts import name_fault
from cflag_theory.claims.engine.terms import Basis, is_vector
from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.falsify.facts import facts, fixed
from cflag_theory.falsify.quantity import (
    Hypothesis,
    Quantity,
    expression_fault,
    hypothesis,
    quantity,
    symbol_fault,
    symbols_of,
)
from cflag_theory.falsify.ranges import INTEGER, ORDER, REAL, Range, as_exact
from cflag_theory.falsify.search.families import Family
from cflag_theory.kernels import Algorithm, Memory, algorithm
from cflag_theory.kernels.algorithms import FULL
from cflag_theory.kernels.numbers import is_integer
from cflag_theory.kernels.own.algorithms import OF_A_STEP
from cflag_theory.public import one_of, require_fields

RELATIONS = ("<=", "<", "==")
#: What a side may name besides variables: the Trace of the run and the Problem that it ran on.
OF_A_RUN = ("trace", "problem")


@dataclass(frozen=True, kw_only=True, eq=False)
class Conjecture:
    """A claim of the user: for all values in the ranges, left relation right.

    Parameters
    ----------
    name : str
        For reports and file names.
    ranges : mapping of str to Range or number
        The variables; a number is a variable that does not vary. They replace those of the problem's family of the
        same name.
    left, right : callable, sympy expression or number
        The two sides. A function names the variables that it reads, and may name `trace` and `problem`. It is called
        on floats, on fractions and, without a run, on algebra; `sqrt`, `exp` and `log` of `exact_numbers` take all.
    relation : {"<=", "<", "=="}
        Between left and right.
    given : sequence
        Further hypotheses: predicates of variables (and of `trace` and `problem`), sympy relations, Relations.
    problem : Family or callable, optional
        The problems that a run is made on: `quadratics(...)`, `ridges(...)`, or a function of variables that returns an
        exact Problem for fractions and one on floats for floats.
    algorithm : str, Algorithm or callable, optional
        A row of the table or its name, or a function of variables that returns a row. It runs with the variables beta,
        alpha (0 without it), E and T (1 without them) and orders, shape ("T", "N", "E"), which are added where the row
        draws components.
    local_step : callable, optional
        Instead of an algorithm, the user's own step x' = local_step(x, gradient, ...), as `own_algorithm` has it.
    memory : Memory or callable, optional
        For rows with a memory step; a function of variables may return one.
    diagnostics : {"cheap", "all"}
        "all" also measures the columns that need full gradients at local steps.
    free : str or tuple of str, optional
        A real variable of unknown value: `decide` finds the best value for which the claim is proved, and the nearest
        one for which it is refuted. Of several, this is done for the first, with simple values of the others.
    hints : sequence
        Relations that are proved first, from the same hypotheses, and then used: nothing is assumed of them.
    exists : mapping of str to sequence of symbols
        Positive constants with the numbers on which alone each may depend: `decide` finds formulas for them. A claim
        with O(g) has C g and `exists={"C": (...)}`.

    Raises
    ------
    InvalidInput
        Parts that do not fit; the message names the part.
    UnknownName
        A side or a hypothesis reads a variable that has no range.
    """

    name: str
    ranges: Mapping[str, Any] = field(default_factory=dict)
    left: Any
    right: Any
    relation: Annotated[str, one_of(*RELATIONS)] = "<="
    given: tuple[Any, ...] = ()
    problem: Family | Callable[..., Any] | None = None
    algorithm: str | Algorithm | Callable[..., Algorithm] | None = None
    local_step: Callable[..., Any] | None = None
    memory: Memory | Callable[..., Memory] | None = None
    diagnostics: Annotated[str, one_of("cheap", "all")] = "cheap"
    free: str | tuple[str, ...] | None = None
    hints: tuple[Any, ...] = ()
    exists: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_fields(self)
        if not (self.name.strip() and self.name.isprintable()):
            raise InvalidInput(f"the name of a conjecture is {self.name!r}: give it some words on one line")
        if self.algorithm is not None and self.local_step is not None:
            raise InvalidInput(f"{self.name}: an algorithm and a local_step are given: leave out one")
        if self.runs != (self.problem is not None):
            raise InvalidInput(f"{self.name}: a problem goes with an algorithm or a local_step: give both, or neither")
        if self.memory is not None and self.algorithm is None:
            raise InvalidInput(f"{self.name}: a memory belongs to a row of the table: name the algorithm")
        self._check_names()
        if self.exists and (bounded := {*self.frees, *(self.variables.keys() & {*map(str, self.exists)})}):
            why = f"a constant is to exist, and {min(bounded)} is free or has a range"
            raise InvalidInput(f"{self.name}: {why}: leave out one")
        for free in self.frees:
            one = self.variables.get(free)
            known = one is not None and not (one.kind != REAL or one.shape or one.fixed)
            if not (known or (self.about_vectors and one is None)) or self.frees.count(free) > 1:
                need = "name a real variable that has a range, and no array, each once"
                raise InvalidInput(f"{self.name}: free is {free!r}: {need}")

    def _check_names(self) -> None:
        reserved = (*OF_A_RUN, *(OF_A_STEP if self.local_step is not None else ()))
        for name, one in self.variables.items():
            if (fault := name_fault(str(name))) is not None:
                raise InvalidInput(f"{self.name}: {fault}")
            if not isinstance(name, str) or not name.isidentifier() or name in reserved:
                raise InvalidInput(f"{self.name}: a variable is called {name!r}: use another name")
            for size in (*one.shape, *((one.high,) if one.kind == ORDER else ())):
                if isinstance(size, str) and not _is_size(self.variables.get(size)):
                    need = f"{name} needs {size!r}: give it an integer range, such as Range(1, 2)"
                    raise InvalidInput(f"{self.name}: {need}")
        for size in {size for one in self.variables.values() for size in one.shape if isinstance(size, str)}:
            if self.variables[size].low < 1:
                raise InvalidInput(
                    f"{self.name}: {size} is the size of an array and may be {self.variables[size].low}: start at 1"
                )
        parts = (*self.sides, *(part for one in (*self.hypotheses, *self.hinted) for part in one.parts))
        self._check_symbols(parts)
        if self.about_vectors:
            # Numbers of a claim with vectors are declared by their symbols, and need no range.
            return
        known = {*self.variables, *(OF_A_RUN if self.runs else ())}
        for part in parts:
            for name in part.names:
                if name not in known:
                    raise self._unknown(part, name, known)
            for name in part.defaults:
                if name in known:
                    raise InvalidInput(
                        f"{part.where}{part.what} of {self.name!r} gives {name} a value of its own, and {name} has a "
                        "range: leave out one of the two"
                    )
        self._check_read(parts)
        for function, more in ((self.row, ()), (self.step, OF_A_STEP), (self.builder, ()), (self.memories, ())):
            for name in function.names if function is not None else ():
                if function is not None and name not in {*self.variables, *more}:
                    raise self._unknown(function, name, {*self.variables, *more})

    def _check_symbols(self, parts: Sequence[Quantity]) -> None:
        """That expressions have a meaning, and that sympy knew no more of a symbol than its range says."""
        read = [part for part in parts if isinstance(part.of, sp.Basic)]
        for part in read if not self.about_vectors else ():
            if (fault := expression_fault(part.of)) is not None:
                raise InvalidInput(f"{self.name}: {part.what} {fault}")
        for symbol in symbols_of(part.of for part in read):
            if (fault := symbol_fault(symbol, self.variables.get(symbol.name))) is not None:
                raise InvalidInput(f"{self.name}: {fault}")

    def _check_read(self, parts: Sequence[Quantity]) -> None:
        """That every variable of a claim about numbers is still there after sympy has simplified."""
        seen = {name for part in parts for name in part.names}
        lost = next((name for name in self.variables if name not in {*seen, *self.sizes}), None)
        if lost is not None and self.written and not self.runs:
            why = f"{lost} has a range, and nothing reads {lost}: sympy may have cancelled it; leave out the range, or"
            raise InvalidInput(f"{self.name}: {why} write the sides as Python functions")
        sides = [side.of for side in self.sides]
        if self.written and not self.runs and self.variables and all(getattr(one, "is_number", False) for one in sides):
            why = f"the sides are read as {sides[0]} and {sides[1]}; no variable is left: sympy may have cancelled them"
            raise InvalidInput(f"{self.name}: {why}; write the sides as Python functions")

    def _unknown(self, part: Quantity, name: str, known: set[str]) -> UnknownName:
        if (fault := name_fault(name)) is not None:
            return UnknownName(f"{part.where}{part.what} of {self.name!r} reads a name that is none: {fault}")
        others = f"use one of {', '.join(sorted(known))}, or " if known else ""
        return UnknownName(
            f"{part.where}{part.what} of {self.name!r} reads {name!r}, which has no range: {others}give it one"
        )

    @cached_property
    def about_vectors(self) -> bool:
        """Whether vectors are among its terms, or constants are asked for: sides are then expressions of sympy."""
        pairs = ((one.left, one.right) if isinstance(one, Relation) else (one,) for one in self.given)
        parts = [self.left, self.right, *(part for pair in pairs for part in pair)]
        sides = [part for part in parts if isinstance(part, sp.Basic)]
        return bool(self.exists) or any(_of_vectors(term) for side in sides for term in sp.preorder_traversal(side))

    @property
    def frees(self) -> tuple[str, ...]:
        """The variables of unknown value."""
        return (self.free,) if isinstance(self.free, str) else tuple(self.free or ())

    @property
    def runs(self) -> bool:
        """Whether a case is a run of an algorithm."""
        return self.algorithm is not None or self.local_step is not None

    @cached_property
    def variables(self) -> dict[str, Range]:
        """Every variable with its range: those that are sizes first, then those of the problem, then the others."""
        found: dict[str, Range] = dict(self.problem.ranges) if isinstance(self.problem, Family) else {}
        for name, one in self.ranges.items():
            if not isinstance(one, Range):
                fixed = as_exact(f"{self.name}: {name}", one)
                one = Range(fixed, fixed, kind=INTEGER if is_integer(one) else REAL)
            found[name] = one
        if self.runs:
            for name in ("E", "T"):
                found.setdefault(name, Range(1, 1, kind=INTEGER))
            if self.algorithm is not None:
                _check_beta(self.name, found.get("beta"))
            if self._draws and "orders" not in found and {"N", "n"} <= set(found):
                found["orders"] = Range(0, "n", kind=ORDER, shape=("T", "N", "E"))
        whole = [name for name, one in found.items() if _is_size(one)]
        return {name: found[name] for name in (*whole, *(name for name in found if name not in whole))}

    @property
    def _draws(self) -> bool:
        if self.local_step is not None:
            return bool(
                {"gradient", "delayed_gradient", "gradient_at_x_t"} & set(quantity("local_step", self.local_step).names)
            )
        row = algorithm(self.algorithm) if isinstance(self.algorithm, str) else self.algorithm
        return not isinstance(row, Algorithm) or row.estimator != FULL

    @cached_property
    def sizes(self) -> tuple[str, ...]:
        """The integer variables that determine the shape of a case."""
        named = {size for one in self.variables.values() for size in one.shape}
        named |= {one.high for one in self.variables.values() if one.kind == ORDER}
        return tuple(name for name in self.variables if name in named)

    @cached_property
    def sides(self) -> tuple[Quantity, Quantity]:
        """Left and right."""
        return quantity("left", self.left), quantity("right", self.right)

    @property
    def written(self) -> bool:
        """Whether a side is an expression, of which sympy may have cancelled a part before anything was read."""
        return any(isinstance(side, sp.Basic) for side in (self.left, self.right))

    @property
    def words(self) -> tuple[str, str]:
        """The sides as they were read; of a Python function only which side it is."""
        left, right = (str(side.of) if isinstance(side.of, sp.Basic) else side.what for side in self.sides)
        return left, right

    @cached_property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What is given besides the ranges."""
        return tuple(hypothesis(index, one) for index, one in enumerate(self.given))

    @cached_property
    def hinted(self) -> tuple[Hypothesis, ...]:
        """What is to be proved first."""
        return tuple(hypothesis(index, one, "hint") for index, one in enumerate(self.hints))

    @cached_property
    def row(self) -> Quantity | None:
        """The algorithm where it is a function of variables."""
        fixed = self.algorithm is None or isinstance(self.algorithm, str | Algorithm)
        return None if fixed else quantity("algorithm", self.algorithm)

    @cached_property
    def step(self) -> Quantity | None:
        """The user's own local step."""
        return None if self.local_step is None else quantity("local_step", self.local_step)

    @cached_property
    def builder(self) -> Quantity | None:
        """The problem where it is a function of variables."""
        return None if self.problem is None or isinstance(self.problem, Family) else quantity("problem", self.problem)

    @cached_property
    def memories(self) -> Quantity | None:
        """The memory where it is a function of variables."""
        return None if self.memory is None or isinstance(self.memory, Memory) else quantity("memory", self.memory)

    def __str__(self) -> str:
        words = "; ".join(f"{name} in {one}" for name, one in self.variables.items() if not one.fixed)
        return f"{self.name}: left {self.relation} right for {words or 'one case'}"


def _is_size(one: Range | None) -> bool:
    return one is not None and one.kind == INTEGER and not one.shape


def _check_beta(name: str, beta: Range | None) -> None:
    if beta is None:
        raise InvalidInput(f"{name}: a run needs its step size: give the variable beta a range")
    if beta.shape or beta.low < 0 or beta.holds(Fraction(0)):
        raise InvalidInput(
            f"{name}: the step size beta may be anything in {beta}: use positive numbers, open='low' for 0"
        )


def _of_vectors(term: sp.Basic) -> bool:
    """Whether it is made of vectors, or a member of a sequence."""
    return isinstance(term, (*Atom, Basis)) or (isinstance(term, AppliedUndef) and all(a.is_integer for a in term.args))


@dataclass(frozen=True, kw_only=True, eq=False)
class Stated(Conjecture):
    """A statement whose symbols are declared by their sorts, and need no range."""

    statement: Statement
    #: The ledger has exact instances that satisfy it, so that its proof, if accepted, is not about nothing.
    of_the_ledger: bool = False

    @property
    def about_vectors(self) -> bool:
        """Numbers alone are decided in the same way."""
        return True


def stated(name: str, statement: Statement) -> Stated:
    """The conjecture that a statement holds."""
    if statement.relation is None:
        raise InvalidInput(f"{name} says no relation: nothing can be decided")
    goal = statement.relation.unfolded
    if is_vector(goal.left) or is_vector(goal.right):
        raise InvalidInput(f"{name} says what a vector is: take norms, |v|^2, or products, <u, v>")
    given = tuple(fact.relation for fact in facts(statement))
    numbers = fixed(statement)
    left, right = goal.left.xreplace(numbers), goal.right.xreplace(numbers)
    return Stated(name=name, left=left, relation=goal.op, right=right, given=given, statement=statement)
