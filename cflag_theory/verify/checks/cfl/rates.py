"""App. B.4.4 and Theorems 4.1, 4.4, B.5, B.6: what is summed over the rounds."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
