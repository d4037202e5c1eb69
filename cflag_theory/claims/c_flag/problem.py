"""The objective, its decomposition and the assumptions: (2)-(6), Assumptions 2 and 3."""

from __future__ import annotations

from collections.abc import Callable

from cflag_theory.claims.claim import Claim

CLAIMS: dict[str, Callable[[], Claim]] = {}
