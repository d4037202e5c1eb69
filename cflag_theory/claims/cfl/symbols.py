"""The CFL paper's notation where it differs from C-FLAG's; the rest is in `claims.engine.notation`."""

from __future__ import annotations

from cflag_theory.claims.engine.meanings import symbol

N = symbol("N", "N", positive=True, integer=True)
K = symbol("K", "K", positive=True, integer=True)
T = symbol("T", "T", positive=True, integer=True)
t = symbol("t", "t", positive=True, integer=True)
mu = symbol("convexity", r"\mu", nonnegative=True)
eta = symbol("eta", r"\eta", positive=True)
eta_l = symbol("eta_l", r"\eta_l", positive=True)
eta_g = symbol("eta_g", r"\eta_g", positive=True)

# Squares, because only they enter: Assumptions 2, 3, 4 and 6.
sigma2 = symbol("sigma2", r"\sigma^2", nonnegative=True)
G2 = symbol("G2", "G^2", nonnegative=True)
B2 = symbol("B2", "B^2", nonnegative=True)
D2 = symbol("time_drift2", "D^2", nonnegative=True)
A2 = symbol("A2", "A^2", nonnegative=True)
R2 = symbol("R2", "R^2", nonnegative=True)
F2 = symbol("F2", "F^2", nonnegative=True)
C2 = symbol("C2", "C^2", nonnegative=True)
#: 1 + A^2 + B^2, the largest value of c_{p_B,i} for weights in [0, 1] that sum to one.
c_O = symbol("c_O", "c_O", positive=True)
#: p_{t,i}, the weight of the current round, at most 1.
p_t = symbol("p_current", "p_{t,i}", real=True)
#: Assumption 7's correlation, in [0, 1); not C-FLAG's step size of the same letter.
correlation = symbol("correlation", r"\alpha", nonnegative=True)
