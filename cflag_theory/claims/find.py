"""Finds the certificates and the models of the ledger again: `python -m cflag_theory.claims.find [IDS]`.

Entries of the stores that still pass their check are kept as they are; what nothing uses is dropped when no ids are
given.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cflag_theory.claims.engine import certificates, finder, models
from cflag_theory.claims.engine.algebra import certificate_fault
from cflag_theory.claims.engine.claim import Statement, every_statement
from cflag_theory.claims.engine.transcript import Inference, asked, settings
from cflag_theory.claims.engine.vacuity import Facts
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.files import write_text

#: Longer than an examination may search.
_SECONDS = 60.0


def statements(ids: Iterable[str] = LEDGER) -> Iterator[tuple[str, Statement]]:
    """Every statement of these claims, refutations included, with the id of its claim."""
    for id in ids:
        for part in claim(id).parts:
            yield from ((id, one) for one in every_statement(part).values())


def obligations(ids: Iterable[str] = LEDGER) -> Iterator[tuple[str, Inference]]:
    """Every obligation of these claims that has no hand-written certificate, with the id of its claim."""
    for id, statement in statements(ids):
        yield from ((id, one) for one in asked(statement) if one.certificate is None)


def refreshed(ids: Iterable[str] = LEDGER) -> tuple[dict[str, Any], list[str]]:
    """The entries that these claims need, found again where none is kept that passes, and what was not found."""
    entries: dict[str, Any] = {}
    unfound = []
    for id, one in obligations(ids):
        given = tuple(one.given.items())
        key = certificates.key(one.goal, given)
        if key in entries:
            continue
        kept = certificates.look_up(one.goal, given)
        if kept is not None and certificate_fault(one.goal, one.given, kept) is None:
            entries[key] = certificates.load()[key]
            continue
        try:
            found = finder.find(one.goal, one.given, seconds=_SECONDS)
        except TypeError:
            # A vector where a number is needed: the examiner says so.
            found = None
        if found is None:
            unfound.append(f"{id}: {one.name!r}: {one.goal}")
        else:
            entries[key] = certificates.entry(one.goal, given, found)
    return entries, unfound


def models_of(statements: Iterable[Statement]) -> tuple[dict[str, models.Model], list[str]]:
    """The models that these statements need, found again where none is kept that fits, and what z3 finds none for.

    Where z3 knows that there is one, but none in fractions, nothing is kept.
    """
    found: dict[str, models.Model] = {}
    missing = []
    for facts, words in ((Facts(one, settings(one)), one.words) for one in statements):
        kept = models.kept(facts)
        key = models.key(facts)
        fits = kept is not None and facts.hold(kept)
        word, model = ("sat", dict(models.load()[key])) if fits else models.search(facts)
        if model is not None:
            found[key] = model
        if word != "sat":
            missing.append(words)
    return found, missing


def save_models(found: Mapping[str, models.Model]) -> None:
    """Write the store, sorted by key."""
    ordered = {key: dict(sorted(found[key].items())) for key in sorted(found)}
    write_text(models.STORE, json.dumps(ordered, indent=0) + "\n", remedy="see that you may write to the package")
    models.load.cache_clear()


def main() -> int:
    """Write the stores; the exit status says whether everything was found."""
    parser = argparse.ArgumentParser(prog="python -m cflag_theory.claims.find", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help="claims; all if none are given")
    ids = parser.parse_args().ids
    entries, unfound = refreshed(ids or LEDGER)
    # What is not found may be a proof in the making: nothing is dropped then.
    partly = bool(ids or unfound)
    certificates.save({**certificates.load(), **entries} if partly else entries)
    found, missing = models_of(statement for _, statement in statements(ids or LEDGER))
    save_models({**models.load(), **found} if partly else found)
    for line in unfound:
        print(f"not found: {line}", file=sys.stderr)
    for line in missing:
        print(f"no model of what is assumed: {line}", file=sys.stderr)
    print(f"{len(entries)} certificates, {len(found)} models")
    return bool(unfound or missing)


if __name__ == "__main__":
    sys.exit(main())
