"""Checks of `claims.c_flag.union`."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
