"""For your own tests: hypothesis strategies for problems and step sizes, and proved bounds compared with your runs."""

from __future__ import annotations

from cflag_theory.public import names

__getattr__, __all__ = names(
    __name__,
    {
        "runs": "Held assert_claim bound",
        "strategies": "client_weights memories participation problems sample_orders step_sizes",
    },
)
