"""Assumption 1's corollary and the lemmas of Appendix A."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
