"""App. B.4.4 and Theorems 4.1, 4.4, B.5, B.6: what is summed over the rounds."""

from __future__ import annotations

from collections.abc import Callable

from cflag_theory.claims.claim import Claim

CLAIMS: dict[str, Callable[[], Claim]] = {}
