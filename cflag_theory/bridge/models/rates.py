"""Rates that a client chooses from its own steps: Table 1 in its two cases, and Algorithm 3 line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.settings.options import AVERAGE, CONSTANT, LITERAL, PER_TENSOR, PRODUCTS, one_of
from cflag_theory.kernels.formulas import table1_rates


@dataclass(frozen=True)
class Rates:
    """alpha_{t,i} and beta_{t,i}."""

    alpha: float
    beta: float


def product_weights(model: FlatModel, product: str | None) -> torch.Tensor | None:
    """Weights w (d,) of the inner product sum_k w_k a_k b_k, or None for the plain one.

    "per-tensor" divides the product of every tensor of the model by the tensor's size.
    """
    one_of("product", product, PRODUCTS)
    if product != PER_TENSOR:
        return None
    sizes = torch.tensor([part.stop - part.start for _, part, _ in model.pieces])
    return torch.repeat_interleave(1 / sizes.to(torch.float64), sizes)


def inner_product(a: torch.Tensor, b: torch.Tensor, weights: torch.Tensor | None = None) -> torch.Tensor:
    """<a, b> of two vectors (d,), or sum_k w_k a_k b_k, also row by row; the last dimension goes."""
    # No matrix product, whose rounding may depend on the number of rows.
    return ((a if weights is None else a * weights) * b).sum(-1)


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
    """alpha_{t,i} and beta_{t,i} of Table 1 for n clients, and Lambda_{t,i} = <grad_f_memory, a_i>, whose sign decides.

    Parameters
    ----------
    adaptive : {"none", "average", "worst", "printed"}
        Constant rates; the two cases of Table 1 on a_i; or Algorithm 3, whose line 4 takes beta a_i for a_i. Under
        interference beta_i = beta, as in line 11 there.
    L, alpha, beta : float
    clients : int
        N.
    shares : sequence of n float
        p_i.
    grad_f_memory : (d,) or (n, d) tensor
        Common to all, or of every client.
    a : (n, d) tensor
        a_i.
    weights : (d,) tensor, optional
        Of `product_weights`.
    """
    products = inner_product(grad_f_memory, a, weights)
    if adaptive == CONSTANT:
        return [Rates(alpha, beta)] * len(a), products
    memory2 = inner_product(grad_f_memory, grad_f_memory, weights).expand_as(products)
    # One transfer from the device for all numbers.
    rows = torch.stack([products, memory2, inner_product(a, a, weights)], dim=1).tolist()
    seen = beta if adaptive == LITERAL else 1.0
    found = []
    for share, (Lambda, memory, norm2) in zip(shares, rows, strict=True):
        weight = share if adaptive == AVERAGE else clients * share
        found.append(Rates(*table1_rates(L, alpha, beta, seen * Lambda, memory, weight * seen * seen * norm2)))
    return found, products
