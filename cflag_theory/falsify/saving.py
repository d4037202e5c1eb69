"""A user's file of claims, run once; counterexamples as small files, and their exact replay."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cflag_theory.claims.pages.folder import Folder, read_folder
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture, stated
from cflag_theory.falsify.decisions.unbounded import again
from cflag_theory.falsify.falsifying import SECONDS
from cflag_theory.falsify.finding import Finding, plain_fields
from cflag_theory.falsify.held import Home
from cflag_theory.falsify.search.cases import from_text, to_text
from cflag_theory.falsify.search.evaluation import Evaluator, as_texts
from cflag_theory.falsify.search.guard import TimeUp, time_limit
from cflag_theory.falsify.vector_terms.instances import instances
from cflag_theory.files import as_file_name, own_folder, write_text
from cflag_theory.outside.python_files import content_of
from cflag_theory.public import Rule, one_of
from cflag_theory.reading import TABLE, WORD, Form, read_json, unfit

#: Seconds that a page may take to read.
_READING = 60.0


def read_claims(file: Path | str, *, seconds: float) -> list[Conjecture]:
    """The conjectures of a Python file, alone or in lists, or the claims of a page, in the order of the file."""
    path = Path(file)
    if path.suffix == ".page":
        return of_page(path)
    found = Home(path, seconds).claims()
    if not found:
        raise InvalidInput(f"{path} holds no Conjecture: assign one at module level, such as claim = Conjecture(...)")
    names = [as_file_name(one.name).lower() for one in found]
    twice = next((one.name for one, name in zip(found, names, strict=True) if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput(
            f"{path} holds two conjectures of the name {twice!r}, of which letters and digits count: rename one"
        )
    return found


def pages_of(path: Path | str) -> Folder:
    """The claims of a page or a folder; as what a user's file runs, reading ends after a time."""
    try:
        with time_limit(_READING):
            return read_folder(path)
    except TimeUp:
        raise InvalidInput(f"{path} takes more than {_READING:g} s to read: see what is long in it") from None


def of_page(path: Path) -> list[Conjecture]:
    """What a page says, as conjectures: "id", or "id.part" where a claim has several parts."""
    claims = pages_of(path).claims
    parts = [
        (f"{id}.{part.key}" if len(one.parts) > 1 else id, part) for id, one in claims.items() for part in one.parts
    ]
    found: list[Conjecture] = [stated(name, part.printed) for name, part in parts if part.printed.relation is not None]
    if not found:
        raise InvalidInput(f"{path} says no relation that could be decided: write a claim with a line 'say'")
    return found


def digest(path: Path) -> str:
    """A hash of a file: whether a claim is still the one that was refuted."""
    return hashlib.sha256(content_of(path, "give a Python file that holds a Conjecture")).hexdigest()[:16]


_KIND = "counterexample of cflag decide, version 1"
# No character that ends a path, rules a terminal or cannot be written.
_NAME = Rule(lambda value: type(value) is str and value.isprintable(), "printable words")
_FORM: dict[str, Form] = {"kind": one_of(_KIND), "claim": {"name": _NAME}, "values": TABLE}
_FORM |= dict.fromkeys(("relation", "left", "right"), WORD)


@dataclass(frozen=True)
class Replay:
    """A saved counterexample, evaluated again: both sides, as they came out now, and whether the case refutes the claim
    as it is now (`broken`). `changed`: the claim's file is another than the one that the counterexample was made from.
    """

    name: str
    relation: str
    values: Mapping[str, Any]
    left: str
    right: str
    broken: bool
    changed: bool

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return plain_fields(self)


def save(finding: Finding, folder: Path, *, claim: Path | str | None = None) -> Path:
    """Write the counterexample of a finding as JSON; returns the file. `claim` is the Python file of the conjecture, or
    what else names it, such as an id of the ledger; without it, a replay needs the conjecture.
    """
    if not finding.refuted:
        raise InvalidInput(f"{finding.name} was not refuted, there is no counterexample to save: look at its status")
    source: dict[str, Any] = {"name": finding.name}
    if isinstance(claim, Path):
        source |= {"file": os.path.relpath(claim.absolute(), folder.absolute()), "sha256": digest(claim)}
    elif claim is not None:
        source |= {"id": claim}
    saved = {
        "kind": _KIND,
        "claim": source,
        "relation": f"left {finding.relation} right",
        "values": dict(finding.case),
        "left": finding.left,
        "right": finding.right,
        "found_by": finding.found_by,
        "seed": finding.seed,
        "budget": finding.budget,
    }
    own_folder(folder)
    path = folder / f"{as_file_name(finding.name) or 'counterexample'}.json"
    write_text(path, json.dumps(saved, indent=1) + "\n")
    return path


def replay(
    file: Path | str, *, conjecture: Conjecture | None = None, claims: Path | None = None, seconds: float = SECONDS
) -> Replay:
    """Compute both sides of a saved counterexample again, in exact arithmetic.

    Parameters
    ----------
    file : path
        What `save` wrote.
    conjecture, claims : Conjecture, path, optional
        The claim, or the Python file that holds it, in place of the file that the counterexample names. That file
        is run only if it is still the one that the counterexample was made from; `claims` is run in any case.

    Raises
    ------
    InvalidInput
        A file that is none of `save`, whose values are outside of the claim's ranges, or whose recorded sides are not
        what the unchanged claim gives; or a claim that cannot be found.
    """
    path = Path(file)
    saved = _read(path)
    changed = False
    if conjecture is None:
        conjecture, changed = _claim(path, saved["claim"], claims, seconds)
    relation = f"left {conjecture.relation} right"
    if conjecture.exists:
        made = again(conjecture, saved["values"], f"{str(path)!r}")
        return Replay(conjecture.name, relation, made.case, str(made.left), str(made.right), True, changed)
    if conjecture.about_vectors:
        coordinates = saved["values"].get("dimension")
        conjecture = instances(conjecture, dimension=int(coordinates) if str(coordinates).isdecimal() else 0)
    case = from_text(conjecture, saved["values"], what=f"{str(path)!r}")
    outcome = Evaluator(conjecture, seconds=seconds).exact(case)
    if not outcome.feasible:
        if changed:
            return Replay(conjecture.name, relation, to_text(case), "", "", False, True)
        raise InvalidInput(f"{str(path)!r} does not satisfy the hypotheses of {conjecture.name!r}: it was changed")
    left, right = as_texts(outcome.left, outcome.right)
    if not changed and (saved["left"], saved["right"], saved["relation"]) != (left, right, relation):
        raise InvalidInput(
            f"{str(path)!r} records {saved['left']} and {saved['right']} for {saved['relation']}, and "
            f"{conjecture.name!r} gives {left} and {right} for {relation}: the file was changed, search anew"
        )
    return Replay(conjecture.name, relation, to_text(case), left, right, outcome.broken, changed)


def _read(path: Path) -> dict[str, Any]:
    try:
        saved = read_json(path)
    except FileNotFoundError:
        raise InvalidInput(f"there is no file {str(path)!r}: give a counterexample that cflag decide saved") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InvalidInput(
            f"{str(path)!r} is not JSON ({why}): give a counterexample that cflag decide saved"
        ) from None
    wrong = unfit(saved, _FORM) or unfit(saved["claim"], dict.fromkeys(saved["claim"].keys() - {"name"}, _NAME))
    if wrong:
        raise InvalidInput(f"{str(path)!r} is not a counterexample that cflag decide saved, see {wrong}: give one")
    return dict(saved)


def of_the_ledger(words: str) -> Conjecture | None:
    """The printed statement of a claim of the ledger, "ID" or "ID.PART"; None where the ledger has no such claim."""
    from cflag_theory.claims.ledger import LEDGER
    from cflag_theory.falsify.ledger.rows import ledger_conjecture

    if words in LEDGER:
        return ledger_conjecture(words)
    id, _, part = words.rpartition(".")
    return ledger_conjecture(id, part) if id in LEDGER else None


def _claim(path: Path, source: Mapping[str, Any], claims: Path | None, seconds: float) -> tuple[Conjecture, bool]:
    """The claim that a counterexample names, and whether its file has changed since."""
    if claims is None and isinstance(source.get("id"), str):
        made = of_the_ledger(source["id"])
        if made is None:
            raise InvalidInput(f"{str(path)!r} is about {source['id']!r}, which the ledger does not have: check its id")
        return made, False
    if claims is None and "file" not in source:
        raise InvalidInput(f"{str(path)!r} names no file of its claim: pass the conjecture or its file")
    home = claims if claims is not None else Path(os.path.realpath(path.absolute().parent / source["file"]))
    if not os.path.lexists(home):
        raise InvalidInput(f"the claim of {str(path)!r} was in {str(home)!r}, which is gone: give its file as FILE")
    changed = digest(home) != source.get("sha256")
    if changed and claims is None:
        raise InvalidInput(
            f"{str(home)!r} is not the file that {str(path)!r} was made from: look at it, and give it as FILE to run "
            "it as it is now"
        )
    found = {one.name: one for one in read_claims(home, seconds=seconds)}
    if source["name"] not in found:
        raise InvalidInput(f"{str(home)!r} holds no claim {source['name']!r}: give the file that does")
    return found[source["name"]], changed
