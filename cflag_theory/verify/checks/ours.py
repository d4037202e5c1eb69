"""Checks of `claims.ours`."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
