"""App. B.4.2: one round of Algorithm 2 on convex objectives, (10) to (21)."""

from __future__ import annotations

from collections.abc import Callable

from cflag_theory.claims.claim import Claim

CLAIMS: dict[str, Callable[[], Claim]] = {}
