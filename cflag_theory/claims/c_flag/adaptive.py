"""Adaptive rates: Sec. 5, Table 1, Lemmas 6 and 7."""

from __future__ import annotations

from collections.abc import Callable

from cflag_theory.claims.claim import Claim

CLAIMS: dict[str, Callable[[], Claim]] = {}
