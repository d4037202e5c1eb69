"""The gradient noise model, its second moments, and the information loss: Sec. 3.1.1, App. B.1-B.3, B.7, B.8, C.1.2."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
