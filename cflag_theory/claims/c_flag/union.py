"""The surrogate on memory and current data: (66)-(85), Lemma 3 and Lemma 11."""

from __future__ import annotations

from collections.abc import Callable

from cflag_theory.claims.claim import Claim

CLAIMS: dict[str, Callable[[], Claim]] = {}
