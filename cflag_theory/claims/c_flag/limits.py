"""Statements about T to infinity: Lemma 4, Theorem 5, Corollary 17, Lemma 18."""

from __future__ import annotations

from collections.abc import Callable

from cflag_theory.claims.claim import Claim

CLAIMS: dict[str, Callable[[], Claim]] = {}
