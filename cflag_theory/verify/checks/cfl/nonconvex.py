"""App. B.5: the non-convex rate, (25) to (32)."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
