"""Sums over local steps: Lemmas 15 and 16."""

from __future__ import annotations

from collections.abc import Callable

from cflag_theory.claims.claim import Claim

CLAIMS: dict[str, Callable[[], Claim]] = {}
