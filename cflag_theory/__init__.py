"""Theory verification for continual federated learning: C-FLAG and CFL.

The claims of the two papers are in :mod:`cflag_theory.claims`, the algorithms in
:mod:`cflag_theory.kernels`, the verdicts in :mod:`cflag_theory.verify` and figures in
:mod:`cflag_theory.figures`.
"""

__version__ = "0.1.0"
