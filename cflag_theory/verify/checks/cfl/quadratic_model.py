"""Sec. 5.1: the noisy quadratic model, Table 3 and Figure 2."""

from __future__ import annotations

from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
