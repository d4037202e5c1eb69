"""What some tests need."""

from __future__ import annotations

import shutil

import pytest


def needs_coq(test):
    """Asks Coq where it is installed; the core asks sympy and z3 alone."""
    return pytest.mark.full(pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")(test))
