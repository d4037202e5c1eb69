"""One check a claim: for every module of claims a module of the same name, with the same ids."""

from __future__ import annotations

from importlib import import_module

from cflag_theory.claims.ledger import MODULES
from cflag_theory.verify.check import Check

CHECKS: dict[str, Check] = {}
for _module in MODULES:
    CHECKS.update(import_module(_module.__name__.replace("cflag_theory.claims", __name__)).CHECKS)
