"""Tables 2 to 7 and 9 as printed: numbers stay strings. What sentences make of them is recomputed by the checks."""

from __future__ import annotations

from dataclasses import dataclass

BACKBONE = "FedAvg"
BASELINES = ("FedAvg", "FedProx", "MimeLite")
CORE_SET = "CFL-Core-Set"
REGULARIZATION = "CFL-Regularization"
WITH_PROX = "CFL-Regularization + FedProx"
ALL_LAYERS = "CFL-Regularization-Full"


@dataclass(frozen=True)
class Cell:
    """One method in one column or row of a table: top-1 accuracy and its deviation in percent."""

    table: str
    setting: str
    method: str
    accuracy: str
    deviation: str


def _rows(table: str, methods: tuple[str, ...], rows: str) -> tuple[Cell, ...]:
    """Rows "setting mean+-deviation ...", one entry a method; numbers stay strings, as printed."""
    cells = []
    for row in rows.strip().splitlines():
        setting, *entries = row.split()
        for method, entry in zip(methods, entries, strict=True):
            cells.append(Cell(table, setting, method, *entry.split("+-")))
    return tuple(cells)


#: The settings of Table 5, from the easiest to the hardest by the accuracy of FedAvg.
DATA_SETS = ("Fashion-MNIST", "CIFAR10", "CIFAR100")
OVERLAPS = ("0%", "25%", "50%")

TABLES: tuple[Cell, ...] = (
    *_rows(
        "4",
        (
            "PyHessian",
            "Fisher Information Matrix",
            "Naive (Small Set)",
            "Naive (Large Set)",
            "iCaRL (Small Set)",
            "iCaRL (Large Set)",
            "MCMC",
        ),
        "alpha=0.2 74.15+-0.66 73.70+-0.39 77.84+-0.06 78.90+-0.09 76.97+-0.16 77.09+-0.09 74.18+-0.08",
    ),
    *_rows(
        "5",
        (BACKBONE, REGULARIZATION, CORE_SET, ALL_LAYERS),
        """
        Fashion-MNIST 86.75+-0.14 87.02+-0.21 88.32+-0.12 77.37+-0.63
        CIFAR10 70.51+-0.19 70.86+-0.31 81.48+-0.24 33.09+-1.45
        CIFAR100 49.97+-0.19 50.69+-0.06 53.17+-0.08 14.84+-0.12
        """,
    ),
    *_rows(
        "6",
        (*BASELINES, CORE_SET, REGULARIZATION, WITH_PROX),
        """
        alpha=0.1 70.51+-0.19 71.57+-0.17 69.55+-0.36 81.48+-0.24 70.86+-0.31 71.50+-0.07
        alpha=0.2 77.98+-0.36 78.40+-0.22 78.65+-0.26 84.41+-0.11 78.76+-0.26 79.04+-0.01
        """,
    ),
    *_rows(
        "7",
        ("FedAvg", "MimeLite", "FedProx", REGULARIZATION, WITH_PROX),
        "stateless 78.07+-0.06 78.47+-0.19 78.48+-0.05 79.07+-0.25 79.32+-0.07",
    ),
    *_rows(
        "9",
        ("FedAvg", "MimeLite", CORE_SET, REGULARIZATION),
        """
        0% 80.66+-0.40 80.78+-0.07 84.87+-0.11 81.27+-0.38
        25% 80.16+-0.01 80.17+-0.11 84.66+-0.11 80.67+-0.27
        50% 79.97+-0.23 80.35+-0.39 84.59+-0.07 80.91+-0.25
        """,
    ),
)

#: The lower part of Table 5: data set, R_r - R_f and (R_r - R_f) / R_f, both in percent.
IMPROVEMENTS = (("Fashion-MNIST", "0.27", "0.31"), ("CIFAR10", "0.35", "0.50"), ("CIFAR100", "0.72", "1.44"))

#: The eight experiments of Table 3: 𝔼||xi||^2, L and mu by the printed column.
SETTINGS: dict[str, tuple[str, str, str]] = {
    f"{drift} {L}-{mu}": (D2, size, convexity)
    for drift, D2 in (("SRD", "0.01"), ("BRD", "100"))
    for mu, convexity in (("SC", "1"), ("GC", "0"))
    for L, size in (("SL", "5"), ("LL", "20"))
}
_RATES = """
FedAvg 0.03 0.08 0.33 0.09 0.02 0.01 0.09 0.02
FedProx 0.04 0.07 0.35 0.09 0.02 0.01 0.26 0.02
CFL 0.2 0.09 0.35 0.09 0.25 0.08 0.3 0.08
"""
#: Table 3 as printed: the best learning rate by method and column.
PRINTED: dict[tuple[str, str], str] = {
    (method, column): rate
    for method, *printed in map(str.split, _RATES.strip().splitlines())
    for column, rate in zip(SETTINGS, printed, strict=True)
}


@dataclass(frozen=True)
class Row:
    """A row of Table 2 as printed: alpha, D, R and p_1, ..., p_4."""

    alpha: str
    D: str
    R: str
    p: tuple[str, str, str, str]


TABLE_2 = (
    Row("0", "2", "1", ("0.1818", "0.1818", "0.1818", "0.4545")),
    Row("0.5", "1", "0.5", ("0.2857", "0.1429", "0.0000", "0.5714")),
    Row("0.5", "1", "1", ("0.2632", "0.1316", "-0.0789", "0.6842")),
    Row("0.8", "1", "0.5", ("0.3870", "0.0774", "-0.2077", "0.7434")),
    Row("0.8", "2", "0.5", ("0.3960", "0.0792", "-0.1188", "0.6436")),
)
