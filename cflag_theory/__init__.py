"""Theory verification for continual federated learning: C-FLAG and CFL.

Claims of the two papers live in :mod:`cflag_theory.claims`, the algorithms in
:mod:`cflag_theory.kernels`, pictures in :mod:`cflag_theory.figures`; they meet in
:mod:`cflag_theory.verify`.
"""

__version__ = "0.1.0"
