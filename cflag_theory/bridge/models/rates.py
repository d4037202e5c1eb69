"""Rates that a client chooses from its own steps: Table 1 in its two cases, and Algorithm 3 line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import torch

from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.settings.options import AVERAGE, CONSTANT, LITERAL, PER_TENSOR, PRODUCTS
from cflag_theory.kernels.formulas import interference_rate, transference_rate
from cflag_theory.public import one_of, taking


@dataclass(frozen=True)
class Rates:
    """alpha_{t,i} and beta_{t,i}."""

    alpha: float
    beta: float


@taking
def product_weights(model: FlatModel, product: Annotated[str | None, one_of(*PRODUCTS)]) -> torch.Tensor | None:
    """Weights w (d,) of the inner product sum_k w_k a_k b_k, or None for the plain one.

    "per-tensor" divides the product of every tensor of the model by the tensor's size.
    """
    if product != PER_TENSOR:
        return None
    sizes = torch.tensor([part.stop - part.start for _, part, _ in model.pieces])
    return torch.repeat_interleave(1 / sizes.to(torch.float64), sizes)


def inner_product(a: torch.Tensor, b: torch.Tensor, weights: torch.Tensor | None = None) -> torch.Tensor:
    """<a, b> of two vectors (d,), or sum_k w_k a_k b_k, also row by row; the last dimension goes."""
    # No matrix product, whose rounding may depend on the number of rows.
    return ((a if weights is None else a * weights) * b).sum(-1)


def inner(a: torch.Tensor, b: torch.Tensor) -> float:
    """<a, b> of two vectors, in float64."""
    return float(torch.dot(a.double(), b.double()))


def client_rates(
    adaptive: str | None,
    *,
    L: float,
    alpha: float,
    beta: float,
    clients: int,
    shares: Sequence[float],
    grad_f_memory: torch.Tensor,
    a: torch.Tensor,
    weights: torch.Tensor | None = None,
) -> tuple[list[Rates], torch.Tensor]:
    """alpha_{t,i} and beta_{t,i} of Table 1 for n of N = `clients`, and Lambda_{t,i} = <grad_f_memory, a_i>, whose sign
    decides.

    `adaptive` is "none", constant rates; "average" or "worst", the two cases of Table 1 on a_i (n, d); or "printed",
    Algorithm 3, whose line 4 takes beta a_i for a_i. Under interference beta_i = beta, as in line 11 there. `shares`
    are p_i; grad_f_memory is common to all (d,), or (n, d); `weights` are of `product_weights`.
    """
    if adaptive == CONSTANT:
        return [Rates(alpha, beta)] * len(a), inner_product(grad_f_memory, a, weights)
    seen = beta if adaptive == LITERAL else 1.0
    shares = [(share if adaptive == AVERAGE else clients * share) * seen * seen for share in shares]
    scale = torch.tensor(shares, dtype=torch.float64, device=a.device)
    rates, products = table1_rows(
        scale, L=L, alpha=alpha, beta=beta, grad_f_memory=grad_f_memory, a=a, weights=weights, seen=seen
    )
    # One transfer from the device for all numbers.
    return [Rates(*row) for row in rates.T.tolist()], products


def table1_rows(
    scale: torch.Tensor | float,
    *,
    L: float,
    alpha: float,
    beta: float,
    grad_f_memory: torch.Tensor,
    a: torch.Tensor,
    weights: torch.Tensor | None = None,
    seen: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The rates (2, n) of Table 1 in float64, alphas and then betas, and the products (n,).

    All of it stays on the device: `kernels.formulas.table1_rates` row by row, without a number that the CPU waits for.
    `scale` is what ||a_i||^2 is multiplied by: p_i on average, N p_i in the worst case, times the square of `seen`,
    which a_i is multiplied by in Lambda.
    """
    products = inner_product(grad_f_memory, a, weights)
    memory2 = inner_product(grad_f_memory, grad_f_memory, weights).expand_as(products).double()
    Lambda, norm2 = seen * products.double(), scale * inner_product(a, a, weights).double()
    transferring = (Lambda > 0) & (norm2 > 0)
    interfering = ~transferring & (memory2 > 0)
    alphas = torch.where(interfering, interference_rate(alpha, Lambda, memory2), alpha)
    betas = torch.where(transferring, transference_rate(L, alpha, Lambda, norm2), beta)
    return torch.stack([alphas, betas]), products
