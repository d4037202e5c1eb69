"""For your own tests: hypothesis strategies for problems and step sizes, and proved bounds compared with your runs."""

from cflag_theory.testing.runs import Held, assert_claim, bound
from cflag_theory.testing.strategies import (
    client_weights,
    memories,
    participation,
    problems,
    sample_orders,
    step_sizes,
)

__all__ = [
    "Held",
    "assert_claim",
    "bound",
    "client_weights",
    "memories",
    "participation",
    "problems",
    "sample_orders",
    "step_sizes",
]
