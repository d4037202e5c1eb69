"""The memory: Lemmas 8, 9 and 10, and the expectation of the overfitting term."""

from __future__ import annotations

from collections.abc import Callable

from cflag_theory.claims.claim import Claim

CLAIMS: dict[str, Callable[[], Claim]] = {}
