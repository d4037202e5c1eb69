"""Rules: theorems that every proof may use. A rule takes terms and computes its conclusion.

A rule is called with the name of the step, its terms, and in `given` the names of the steps that it needs. The
examiner calls `concluded` with what these steps show. A malformed use raises `RuleError` and has no conclusion.
"""

from collections.abc import Callable

from cflag_theory.claims.engine.rules import inequalities, means
from cflag_theory.claims.engine.rules.core import RULES, USES, Known, Rule, RuleError, concluded
from cflag_theory.claims.engine.steps import Use

__all__ = ["RULES", "USES", "Known", "Rule", "RuleError", "concluded", "inequalities", "means"]


def __getattr__(name: str) -> Callable[..., Use]:
    """The rule of this name, for proofs."""
    if name not in USES:
        raise AttributeError(f"no rule is called {name!r}")
    return USES[name]
