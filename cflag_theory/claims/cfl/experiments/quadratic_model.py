"""Sec. 5.1: the noisy quadratic model, Table 3 and Figure 2."""

from cflag_theory.claims.pages.page import load

__getattr__, CLAIMS = load(__file__, globals())

#: The eight experiments of Table 3: 𝔼||xi||^2, L and mu by the printed column.
SETTINGS: dict[str, tuple[str, str, str]] = {
    f"{drift} {L}-{mu}": (D2, size, convexity)
    for drift, D2 in (("SRD", "0.01"), ("BRD", "100"))
    for mu, convexity in (("SC", "1"), ("GC", "0"))
    for L, size in (("SL", "5"), ("LL", "20"))
}
_ROWS = """
FedAvg 0.03 0.08 0.33 0.09 0.02 0.01 0.09 0.02
FedProx 0.04 0.07 0.35 0.09 0.02 0.01 0.26 0.02
CFL 0.2 0.09 0.35 0.09 0.25 0.08 0.3 0.08
"""
#: Table 3 as printed: the best learning rate by method and column.
PRINTED: dict[tuple[str, str], str] = {
    (method, column): rate
    for method, *printed in map(str.split, _ROWS.strip().splitlines())
    for column, rate in zip(SETTINGS, printed, strict=True)
}
