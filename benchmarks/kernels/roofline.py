"""What a round must compute and move at the least, and which measured ceiling bounds it."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.cases import Case
from benchmarks.machine import READ_SIZES


@dataclass(frozen=True)
class Work:
    """A round of all replicas of a case.

    Attributes
    ----------
    flops : float
        Products and sums that the formulas need; a slope counts as four.
    gradient_flops : float
        The part of full gradients, which can be matrix products.
    bytes : float
        Of rows that are read once a round from memory, where the data exceed the caches; the iterates, directions
        and tables of the replicas are counted once.
    """

    flops: float
    gradient_flops: float
    bytes: float


def work(case: Case, *, size: int = 8) -> Work:
    """Flops by formula, of numbers of `size` bytes.

    A full gradient of g over N n rows costs 4 d a row (a product with x and a multiple added) and a slope; the memory
    N K rows likewise; a local step 7 d (direction 2, iterate 2, product 2, and the mean of the displacements 1) and a
    slope. The data of g are read once a round and replica group; the memory's rows once, as far as any replica holds
    them, so that at most all of the past rows are read.
    """
    N, n, d, E, R, K = case.N, case.n, case.d, case.E, case.R, case.kept
    gradients = R * N * (n + K) * (4.0 * d + 4)
    steps = R * N * E * (7.0 * d + 4)
    remembered = N * n * (1 - (1 - K / n) ** R)
    vectors = R * (2.0 * d + N * d + N * n)
    return Work(gradients + steps, gradients, size * (N * n * d + remembered * d + vectors))


def shortest(case: Case, ceilings: dict[str, float]) -> tuple[float, str]:
    """Seconds a round that the measured ceilings allow, and which of them binds, "flops" or "bytes".

    All flops at the rate of fused products in registers; all bytes at the rate of reading arrays of the least timed
    size that holds them.
    """
    needs = work(case)
    size = next((size for size in READ_SIZES if needs.bytes <= 2 * size), READ_SIZES[-1])
    compute, traffic = needs.flops / ceilings["fma"], needs.bytes / ceilings[f"read {size}"]
    return (compute, "flops") if compute >= traffic else (traffic, "bytes")
