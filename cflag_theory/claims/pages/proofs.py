"""Lines of a proof: "label: what from names", read into Steps.

What is a relation, a rule with its terms, a scheme, an induction "for every k, relation" with start and step under it,
one of its members "induction at k = E", or "hence" for what is to be shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Protocol

import sympy as sp

from cflag_theory.claims.engine import algebra, rules
from cflag_theory.claims.engine.claim import SETTING, Fact
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.sorts import sort_of
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, Step, Use
from cflag_theory.claims.pages.formula import Words, formula, formulas, read, relation
from cflag_theory.claims.pages.syntax import is_relation
from cflag_theory.claims.pages.text import Line, Piece, bare

FOLLOWS = "the statement follows"
#: A rule is used by its name, but for `at`: "what at k = E" is an instance of an induction, "put" that of a fact.
RULES = {"put" if name == "at" else name: use for name, use in rules.USES.items()}


class Vocabulary(Protocol):
    """What lines of proofs and statements take from their page."""

    words: Words
    blocks: dict[str, Line]
    proofs_later: bool

    def own(self, name: str) -> str:
        """The full name of what the page declares."""

    def bound(self, places: list[Piece], values: tuple[Any, ...]) -> dict[str, Any]:
        """Places by name, with what they are given or else their defaults."""

    def listed(self, text: Piece, line: Line, words: Words) -> Iterator[Fact]:
        """The facts of a list."""


class _Unread(Proof):
    """A proof whose steps are read when they are first asked for: half the time of building a claim is its proofs'."""

    def __init__(self, steps: tuple[Step, ...] | Callable[[], tuple[Step, ...]]) -> None:
        object.__setattr__(self, "_read", steps if callable(steps) else lambda: steps)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        read: Callable[[], tuple[Step, ...]] = vars(self)["_read"]
        return read()

    def __reduce__(self) -> tuple[type[Proof], tuple[tuple[Step, ...]]]:
        return Proof, (self.steps,)


@dataclass(frozen=True)
class Scheme:
    """Steps of a page under a name: called with the label of a line and values for its places."""

    page: Vocabulary
    line: Line
    name: str
    places: list[Piece]

    def __call__(self, label: str = "", *values: Any) -> Any:
        found = self.steps(label or self.name, values, None)
        return found[0] if len(found) == 1 else tuple(found)

    def steps(self, label: str, values: tuple[Any, ...], known: set[str] | None) -> list[Step]:
        """The steps, where `known` names what has been shown; None where that is not known."""
        bound = self.page.bound(self.places, values)
        words = self.page.words.with_own(bound)
        return steps_of(self.page, self.line.inside, words, known=known, names={"name": label, **bound})


def steps_of(
    page: Vocabulary,
    found: Iterable[Line],
    words: Words,
    *,
    goal: Relation | None = None,
    known: set[str] | None = None,
    names: Mapping[str, Any] | None = None,
) -> list[Step]:
    """The steps of lines; `goal` is what "hence" shows, `names` what stands for {name} in labels.

    Raises
    ------
    PageError
        A line that cannot be read, or one that uses what is not among the `known` names, if these are given.
    """
    return _Steps(page, words, names or {}, known, goal).read(found)


def proof_of(
    page: Vocabulary, blocks: Iterable[Line], words: Words, goal: Relation | None, given: tuple[str, ...]
) -> Proof:
    """The proof that blocks of lines write; one that is not of strangers is read when its steps are asked for."""

    def steps() -> tuple[Step, ...]:
        found = [one for line in blocks for one in _lines(line)]
        read = steps_of(page, found, words, goal=goal, known=set(given))
        return (Obligation(FOLLOWS, goal, given),) if goal and not read else tuple(read)

    return _Unread(steps) if page.proofs_later else Proof(steps())


def _lines(line: Line) -> list[Line]:
    """`proof from names` is a proof whose last line is `hence from names`; both words are of one length.

    `proof` alone says that the statement follows from all that it assumes.
    """
    return [*line.inside, *([] if line.said == "proof" else [replace(line, text=f"hence{line.text[5:]}", inside=[])])]


def by_induction(
    name: str,
    index: sp.Symbol,
    relation: Relation,
    *steps: Obligation | Use,
    start: tuple[str, ...] = (),
    given: tuple[str, ...] = (),
    within: str = "",
) -> Induction:
    """The induction whose base follows from `start`, and whose step follows from `given` and the hypothesis."""
    last = (f"{name} (hypothesis)", *given)
    first = sp.Integer(sort_of(index).start or 0)
    return Induction(
        name,
        index,
        relation,
        Obligation(f"{name} at {first}", relation.subs({index: first}), start),
        (*steps, Obligation(f"{name} at {index} + 1", relation.subs({index: index + 1}), last)),
        within,
    )


def _averaged(use: Use, operators: list[Any]) -> list[Step]:
    """`rule terms under A, B`: the rule's conclusion in the mean A, and that in the mean B, under the line's label."""
    inner = [f"{use.name}: {place}" for place in ("each", *range(1, len(operators)))]
    names = [*inner[: len(operators)], use.name]
    means = (rules.mean(name, one, given=of) for of, name, one in zip(names, names[1:], operators, strict=False))
    return [replace(use, name=names[0]), *means]


@dataclass(frozen=True)
class _Steps:
    page: Vocabulary
    words: Words
    names: Mapping[str, Any]
    #: The names of what is established; a line adds its own.
    known: set[str] | None
    goal: Relation | None = None
    #: What "hence" names its step, and the induction that "hypothesis" and "range" belong to.
    ending: str = FOLLOWS
    within: str = ""

    def read(self, found: Iterable[Line]) -> list[Step]:
        steps: list[Step] = []
        for line in found:
            with line.placed():
                made = self._line(line)
            if self.known is not None:
                self.known.update(step.name for step in made)
            steps += made
        return steps

    def _line(self, line: Line) -> list[Step]:
        said, given = self._from(line.said)
        place = said.rfind(": ")
        label, body = ("", said) if place < 0 else (self._put(said.part(0, place).unquoted), said.part(place + 2))
        certificate = self._certificate(line, given)
        if body.partition(" ")[0] == "hence":
            rest = body.behind("hence")
            goal = relation(rest, self.words) if rest else self.goal
            if goal is None:
                raise body.error("hence shows what the proof is of, and a scheme has none: write hence and a relation")
            return [Obligation(label or self.ending, goal, given, certificate)]
        if body.startswith("for every "):
            return [self._induction(label, body.behind("for every"), line)]
        if match := re.fullmatch(r'("[^"]*"|.+) at (\w+) = (.+?)(?: within (.+))?', body):
            of, value = (body.part(*match.span(i)) for i in (1, 3))
            end = self._known(body.part(*match.span(4))) if match[4] else ""
            return [
                Instance(
                    label,
                    self._known(of),
                    formula(body.part(*match.span(2)), self.words),
                    sp.sympify(formula(value, self.words)),
                    end,
                )
            ]
        if is_relation(body):
            return [Obligation(label, relation(body, self.words), given, certificate)]
        return self._called(label, body, given)

    def _called(self, label: str, body: Piece, given: tuple[str, ...]) -> list[Step]:
        name, _, _ = body.partition(" ")
        rest = body.part(len(name))
        if name in RULES:
            terms, under = rest.cut(" under ")
            values = [unfold(one) if isinstance(one, sp.Expr) else one for one in formulas(terms, self.words)]
            return _averaged(RULES[name](label, *values, given=given), formulas(under, self.words))
        steps = self.words.get(name)
        if isinstance(steps, Step):
            return [steps]
        if steps is None or not callable(steps):
            near = get_close_matches(
                name, [*RULES, *(n for n, one in self.words.items() if isinstance(one, Scheme))], n=2
            )
            meant = f": did you mean {' or '.join(near)}?" if near else ": write a relation, a rule, a scheme or hence"
            raise body.error(f"{name!r} is neither a rule nor a scheme{meant}")
        values = formulas(rest, self.words)
        if isinstance(steps, Scheme):
            return steps.steps(label or steps.name, tuple(values), self.known)
        made = steps(label, *values) if label else steps(*values)
        return list(made) if isinstance(made, tuple) else [made]

    def _induction(self, label: str, body: Piece, line: Line) -> Step:
        body, end = body.cut(" within ")
        within = self._known(end) if end else ""
        index, text = body.cut(", ")
        k, goal = formula(index, self.words), read(text, self.words)
        blocks = {one.kind: one for one in line.inside}
        for one in line.inside:
            if one.kind not in ("start", "step"):
                raise one.error(f"{one.kind!r} stands under an induction: use start and step")
        known = None if self.known is None else {*self.known, f"{label} (hypothesis)", f"{label} (range)"}
        inner = replace(self, within=label, known=known)
        if not any(one.inside for one in blocks.values()):
            start, step = (inner._from(blocks[key].said)[1] if key in blocks else () for key in ("start", "step"))
            return by_induction(label, k, goal, start=start, given=step, within=within)
        if "step" not in blocks:
            raise line.error("the induction has no step")
        start, ending = goal.subs({k: 0}), f"{label} at 0"
        nothing = (Obligation(ending, start, ()),)
        base = replace(inner, goal=start, ending=ending)._block(blocks["start"]) if "start" in blocks else nothing
        after = replace(inner, goal=goal.subs({k: k + 1}), ending=f"{label} from {k} to {k} + 1")
        steps = after._block(blocks["step"])
        if blocks["step"].said != "step" and steps[-1].name.endswith("+ 1"):
            last = steps[-1]
            assert isinstance(last, Obligation)
            steps = (*steps[:-1], replace(last, given=(f"{label} (hypothesis)", *last.given)))
        shown: Any = base[0] if len(base) == 1 and isinstance(base[0], Obligation) else base
        return Induction(label, k, goal, shown, steps, within)

    def _block(self, line: Line) -> tuple[Any, ...]:
        """Lines under `start` or `step`; behind it, in one line, what the last one follows from."""
        steps = tuple(self.read(line.inside))
        if line.said in ("start", "step") and line.inside:
            return steps
        assert self.goal is not None
        return (*steps, Obligation(self.ending, self.goal, self._from(line.said)[1]))

    def _from(self, text: Piece) -> tuple[Piece, tuple[str, ...]]:
        """A line before its last "from", and the names behind it."""
        said, listed = text.cut_last(" from ")
        # A place of a scheme that is a number needs no fact.
        named = [one for one in listed.listed(", ") if not getattr(self.names.get(one.strip("{}")), "is_number", False)]
        return said, tuple(self._known(one) for one in named)

    def _known(self, name: Piece) -> str:
        """The full name of what is established."""
        inner = name in ("hypothesis", "range") and bool(self.within)
        found = f"{self.within} ({name})" if inner else self._put(name.unquoted)
        if (self.known is None or found not in self.known) and (own := self.page.own(found)) in SETTING:
            return own
        if self.known is not None and found not in self.known:
            near = get_close_matches(found, [*self.known, *map(bare, SETTING)], n=2)
            meant = f": did you mean {' or '.join(near)}?" if near else ""
            raise name.error(f"nothing before this line is called {found!r}{meant}")
        return found

    def _put(self, text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda match: str(self.names.get(match[1], match[0])), text)

    def _certificate(self, line: Line, given: tuple[str, ...]) -> sp.Expr | None:
        """Under a line, `because formula`: right - left of the goal by the [names] of what is given."""
        for one in line.inside:
            if one.kind not in ("because", "start", "step"):
                raise one.error(f"{one.kind!r} stands under a step: use because, or align the line with the step")
        found = [one for one in line.inside if one.kind == "because"]
        if not found:
            return None

        def term(name: str) -> sp.Expr:
            equation, name = name.startswith("= "), name.removeprefix("= ")
            if name not in given:
                raise ValueError(f"the certificate uses {name!r}, which is not given")
            return algebra.residual(name) if equation else algebra.slack(name)

        text = Piece.of(found[0], found[0].text).behind("because")
        return formula(text, self.words.with_own({"square": algebra.square}), term)
