"""Proposition 4.3, Remarks 4.2, 4.5 and 4.8, Theorem 4.7 and Table 1: what is read off the rates."""

from __future__ import annotations

from collections.abc import Callable

from cflag_theory.claims.claim import Claim

CLAIMS: dict[str, Callable[[], Claim]] = {}
