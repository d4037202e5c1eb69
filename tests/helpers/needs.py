"""What some tests need."""

from __future__ import annotations

import os
import shutil

import pytest

#: Searches of minutes at their full length: CFLAG_LONG=1 pytest -m ''
LONG = os.environ.get("CFLAG_LONG") == "1"


def needs_coq(test):
    """Asks Coq where it is installed; the core asks sympy and z3 alone."""
    return pytest.mark.full(pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")(test))
