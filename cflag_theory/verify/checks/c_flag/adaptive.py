"""Checks of `claims.c_flag.adaptive`."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
