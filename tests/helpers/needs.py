"""What some tests need."""

from __future__ import annotations

import os
import shutil
import zlib

import pytest

from cflag_theory.verify.kept import _state

#: Searches of minutes at their full length: CFLAG_LONG=1 pytest -m ''
LONG = os.environ.get("CFLAG_LONG") == "1"


def in_turn(names, of):
    """One name in `of`, chosen by the state of the package, so that every commit takes others; all of them if LONG."""
    state = _state()
    return [one for one in names if LONG or zlib.crc32(f"{state} {one}".encode()) % of == 0]


def quick(names, *long, of=1):
    """Names for parametrize: those that take longest are left to `pytest -m full`, and all but one in `of` of the rest,
    in turn.
    """
    assert {*long} <= {*names}
    rest = [one for one in names if one not in long]
    core = rest[zlib.crc32(_state().encode()) % of :: of]
    return [one if one in core else pytest.param(one, marks=pytest.mark.full) for one in names]


def needs_coq(test):
    """Asks Coq where it is installed; the core asks sympy and z3 alone."""
    there = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")
    return pytest.mark.full(pytest.mark.usefixtures("compiled_once")(there(test)))


#: The first rows of the ledger, on which much is tried that takes too long on all.
FIRST_EIGHT = tuple(f"cflag.{name}" for name in ("eq7", "eq22", "eq25", "lemma1", "eq65", "lemma13", "cor14", "eq177"))
