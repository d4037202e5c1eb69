"""App. C.1.1 and C.2: how the data sets are split."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
