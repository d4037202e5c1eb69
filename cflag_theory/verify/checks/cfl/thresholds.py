"""App. B.4.2 after (21): the step-size threshold, the constants c_1, c_2, c_3 and phi."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
