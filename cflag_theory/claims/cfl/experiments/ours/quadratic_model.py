"""The noisy quadratic model: FedAvg with steps 1/t is CFL, and which rates of Table 3 can be stable."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())
