"""Theorem 4.9, Lemma B.9, Table 2 and Example 1: the weights of the rounds under Assumption 7."""

from dataclasses import dataclass

from cflag_theory.claims.pages.page import load


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

__getattr__, CLAIMS = load(__file__, globals())
