"""Checks of `claims.c_flag.algorithm3`."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
