"""Lemmas B.4 and B.9, (33), Theorem 4.9, Table 2 and Example 1: the weights of the rounds."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
