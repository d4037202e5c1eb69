"""Tables 5, 6, 7 and 9, and the sentences about them."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
