"""Sec. 5.1: the noisy quadratic model, Table 3 and Figure 2."""

from __future__ import annotations

from collections.abc import Callable

from cflag_theory.claims.claim import Claim

CLAIMS: dict[str, Callable[[], Claim]] = {}
