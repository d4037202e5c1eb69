"""How far does FedProx let a client go in a round? Try: cflag decide docs/examples/fedprox_drift.py

A claim that sounds right: with a proximal weight mu above the smoothness constant L = 1 and beta <= 1/(L + mu), no
local step leads further from x_t than ||grad g(x_t)|| / mu. Here losses need not be convex, and it takes mu - L.
"""

from fractions import Fraction

from cflag_theory.kernels import algorithm
from cflag_theory.verify import Conjecture, Range, quadratics

SETTING = {
    "problem": quadratics(N=1, n=1, L=1),
    "algorithm": lambda mu: algorithm("fedprox", proximal=mu),
    "ranges": {
        "mu": Range(1, 4, open="low"),
        "beta": Range(0, Fraction(1, 2), open="low"),
        "E": Range(1, 4, kind="integer"),
    },
    "given": (lambda beta, mu: beta * (1 + mu) <= 1,),
    # max over k < E of ||x_k - x_t||^2; squares stay rational.
    "left": lambda trace: trace.column("drift2_max")[0, 0],
}

claim = Conjecture(
    name="FedProx stays within grad/mu",
    right=lambda trace, mu: trace.column("grad_g2")[0, 0] / mu**2,
    **SETTING,
)

repaired = Conjecture(
    name="FedProx stays within grad/(mu - L)",
    right=lambda trace, mu: trace.column("grad_g2")[0, 0] / (mu - 1) ** 2,
    **SETTING,
)
