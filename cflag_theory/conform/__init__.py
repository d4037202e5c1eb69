"""Whether an implementation is the algorithm that a theorem is about: exact rounds, the first difference, its cause."""

from cflag_theory.conform.conforming import ALGORITHMS, conform, conform_file
from cflag_theory.conform.report import Report

__all__ = ["ALGORITHMS", "Report", "conform", "conform_file"]
