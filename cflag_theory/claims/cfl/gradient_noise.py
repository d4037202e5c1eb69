"""The gradient noise model, its second moments, and the information loss: Sec. 3.1.1, App. B.1-B.3, B.7, B.8, C.1.2."""

from __future__ import annotations

from collections.abc import Callable

from cflag_theory.claims.claim import Claim

CLAIMS: dict[str, Callable[[], Claim]] = {}
