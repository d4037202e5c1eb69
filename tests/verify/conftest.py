"""What several modules here need once: the decided claims."""

from __future__ import annotations

import pytest

from cflag_theory.verify import verify

FIRST_EIGHT = tuple(f"cflag.{name}" for name in ("eq7", "eq22", "eq25", "lemma1", "eq65", "lemma13", "cor14", "eq177"))


@pytest.fixture(scope="session")
def verdicts():
    """Verdict by id, for the first eight claims."""
    return dict(zip(FIRST_EIGHT, verify(FIRST_EIGHT), strict=True))
