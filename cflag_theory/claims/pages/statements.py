"""What stands under a claim of a page: parts, statements, repairs, sharp constants, refutations, notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.claim import MEANINGS, Claim, Fact, Part, Repair, Sharp, Statement
from cflag_theory.claims.engine.printing import in_text
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.pages.formula import Words, formula, relation
from cflag_theory.claims.pages.instances import instances_of
from cflag_theory.claims.pages.proofs import Vocabulary, proof_of
from cflag_theory.claims.pages.text import Line, Piece, only, shown

#: Why no engine can see that a refutation contradicts the printed statement, where a page does not say.
FOR_NO_CONSTANT = "the statement chooses a constant first, and the family leaves none"
_REPAIRS = ("typo", "needs-hypothesis")
_STATEMENT = {"say", "is", "for", "where", "proof", "alone"}
_PART = {*_STATEMENT, "repair", "sharp", "refuted", "reading", "kind", "family", "unseen", "prints", "instances"}
_CLAIM = {*_PART, "with", "like", "part", "note", "after", "uses", "headline", "letter", "coq", "expect"}


def check(line: Line) -> None:
    """Refuse what cannot stand under a claim or a statement, and under its parts.

    Raises
    ------
    PageError
        A line begins with another word.
    """
    known = {"claim": _CLAIM, "part": _PART, "sharp": {*_STATEMENT, "at"}}.get(line.kind, _STATEMENT)
    only(line, known, f"a {line.kind}")
    whole = any(one.kind == "is" for one in line.inside)
    keys = [one.said for one in line.inside if one.kind == "part"]
    for one in line.inside:
        if whole and one.kind in ("say", "for", "where", "proof"):
            raise one.error(f"{one.kind!r} stands beside 'is', which says all of the statement: leave one out")
        if one.kind == "part" and keys.count(one.said) > 1:
            raise one.error(f"two parts are called {one.said.behind('part')!r}: rename one")
        if one.kind == "expect" and one.said.behind("expect") not in MEANINGS:
            raise one.error(f"{one.said.behind('expect')!r} is no verdict: use {', '.join(MEANINGS)}")
        if one.kind in ("part", "repair", "sharp") or (one.kind == "refuted" and one.inside):
            check(one)


def claim_of(page: Vocabulary, line: Line, id: str, where: str, title: str) -> Callable[..., Claim]:
    """The builder of a claim; its constants can be given other values, by place or by name."""
    constants = {
        str(name): value
        for one in line.inside
        if one.kind == "with"
        for name, value in (pair.cut(" = ") for pair in one.said.behind("with").listed("; "))
    }
    like = next((str(one.said.behind("like")) for one in line.inside if one.kind == "like"), "")
    page.blocks[id] = line

    def build(*listed: Any, **values: Any) -> Claim:
        if len(listed) > len(constants) or not values.keys() <= constants.keys():
            raise TypeError(f"{id} is built with {', '.join(constants) or 'no constants'}, not {listed or values}")
        known = {name: formula(value, page.words) for name, value in constants.items()}
        known |= {name: sp.sympify(value) for name, value in (*zip(constants, listed, strict=False), *values.items())}
        words = page.words.with_own(known)
        parts = [one for one in (page.blocks[like] if like else line).inside if one.kind == "part"]
        with line.placed():
            found = tuple(_part(page, one, words) for one in parts) or (_part(page, line, words),)
            places = (
                (one, str(at.said.behind("part")) if at.kind == "part" else None)
                for at in (line, *parts)
                for one in at.inside
                if one.kind == "instances"
            )
            instances = tuple(instances_of(one, words, part) for one, part in places)
        notes = (Piece.of(one, one.text).behind("note") for one in line.inside if one.kind == "note")
        return Claim(id, where, title, found, tuple(shown(note, words.told) for note in notes), instances)

    return build


def _part(page: Vocabulary, line: Line, words: Words) -> Part:
    options: dict[str, Any] = {}
    for one in line.inside:
        rest = one.said.behind(one.kind)
        if one.kind == "repair":
            if rest not in _REPAIRS:
                raise one.error(f"a repair is {' or '.join(_REPAIRS)}, not {rest!r}")
            options["repair"] = Repair(str(rest), shown(one.words, words.told), _nested(page, one, words, line))
        elif one.kind == "sharp":
            options["sharp"] = _sharp(page, one, rest, words, line)
        elif one.kind == "refuted":
            said = statement_of(page, one, words) if one.inside else _called(rest.behind("by"), words, one.words)
            options["refutation"] = replace(said, words=shown(one.words, words.told) or said.words)
            options.setdefault("unseen", FOR_NO_CONSTANT)
        elif one.kind == "family":
            split = (item.cut(" := ") for item in rest.listed("; "))
            found = tuple((formula(a, words), formula(b, words)) for a, b in split)
            options["family"] = (*options.get("family", ()), *found)
        elif one.kind in ("unseen", "reading", "kind"):
            named = words.get(rest)
            options[one.kind] = named if isinstance(named, str) else str(rest)
    key = str(line.said.behind("part")) if line.kind == "part" else "1"
    return Part(key, statement_of(page, line, words), **options)


def _called(text: Piece, words: Words, told: str) -> Statement:
    made = formula(text, words)
    found: Statement = made(told) if callable(made) else made
    return found


def _sharp(page: Vocabulary, line: Line, rest: Piece, words: Words, part: Line) -> Sharp | None:
    """`sharp c = value`: the part with another constant; `sharp printed to value`: with a statement of its own.

    `at mu := 0; ...` under it tells where both stand before the same term.
    """
    values = [
        pair.cut(" := ") for one in line.inside if one.kind == "at" for pair in one.said.behind("at").listed("; ")
    ]
    at = tuple((formula(name, words), sp.sympify(formula(value, words))) for name, value in values)
    printed, best = rest.cut(" to ")
    if best:
        first, second = (sp.sympify(formula(text, words)) for text in (printed, best))
        return Sharp(shown(line.words, words.told), first, second, _nested(page, line, words, part), at)
    name, value = rest.cut(" = ")
    first, second = sp.sympify(formula(name, words)), sp.sympify(formula(value, words))
    if not (first / second).is_number:
        raise line.error(f"{first} and {second} are no two numbers: sharpen a constant of the claim, 'with c = ...'")
    if first == second:
        return None
    return Sharp(line.words, first, second, _nested(page, line, words.with_own({str(name): second}), part), at)


def _nested(page: Vocabulary, line: Line, words: Words, outer: Line) -> Statement:
    """A statement under the hypotheses of its part and its own; what else it does not say is that part's too."""
    kinds = {one.kind for one in line.inside}
    if "alone" in kinds:
        return statement_of(page, line, words)
    missing = [one for one in outer.inside if one.kind in {"say", "where", "proof"} - kinds | {"for"}]
    return statement_of(page, replace(line, inside=[*missing, *line.inside]), words)


def statement_of(page: Vocabulary, line: Line, words: Words) -> Statement:
    """What the lines under a line say: `say relation -- words`, `for` hypotheses, `where` definitions, `proof`.

    Raises
    ------
    PageError
        A line that cannot be read, or nothing that is said.
    """
    blocks: dict[str, list[Line]] = {}
    for one in line.inside:
        blocks.setdefault(one.kind, []).append(one)
    if "is" in blocks:
        one = blocks["is"][0]
        with one.placed():
            same: Statement = formula(one.said.behind("is"), words)
        return replace(same, words=shown(one.words, words.told) or same.words)
    if "say" not in blocks:
        raise line.error("nothing is said here: add a line 'say relation -- words'")
    under, where = (_facts(page, blocks.get(key, []), words) for key in ("for", "where"))
    say = blocks["say"][-1]
    with say.placed():
        goal = relation(text, words) if (text := say.said.behind("say")) else None
        if goal is None and not say.words:
            raise say.error("nothing is said here: write 'say relation -- words'")
    told = shown(say.words, words.told) or (_told(goal, under) if goal else "")
    known = tuple(fact.name for fact in (*under, *where))
    proof = proof_of(page, blocks["proof"], words, goal, known) if "proof" in blocks else None
    return Statement(told, goal, under, proof, where)


def _facts(page: Vocabulary, found: list[Line], words: Words) -> tuple[Fact, ...]:
    facts: list[Fact] = []
    for one in found:
        with one.placed():
            facts += page.listed(one.said.behind(one.kind), one, words)
    return tuple(facts)


def _told(goal: Relation, under: tuple[Fact, ...]) -> str:
    """The statement in the papers' notation, where a page does not say it in words."""
    ranges = " and ".join(in_text(fact.relation) for fact in under)
    return f"{in_text(goal)} for {ranges}." if ranges else f"{in_text(goal)}."
