"""Proposition 4.3, Remarks 4.2, 4.5 and 4.8, Theorem 4.7 and Table 1: what is read off the rates."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
