"""App. B.4.2: one round of Algorithm 2 on convex objectives, (10) to (21)."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
