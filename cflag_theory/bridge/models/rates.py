"""Rates that a client chooses from its own steps: Table 1 in its two cases, and Algorithm 3 line by line."""

from __future__ import annotations

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
    """<a, b> of two vectors (d,), or sum_k w_k a_k b_k; without dimension."""
    return torch.dot(a if weights is None else a * weights, b)


def client_rates(
    adaptive: str | None,
    *,
    L: float,
    alpha: float,
    beta: float,
    clients: int,
    share: float,
    grad_f_memory: torch.Tensor,
    a: torch.Tensor,
    weights: torch.Tensor | None = None,
) -> Rates:
    """alpha_{t,i} and beta_{t,i} of Table 1, by the sign of Lambda_{t,i} = <grad_f_memory, a_i>.

    Parameters
    ----------
    adaptive : {"none", "average", "worst", "printed"}
        Constant rates; the two cases of Table 1 on a_i; or Algorithm 3, whose line 4 takes beta a_i for a_i. Under
        interference beta_i = beta, as in line 11 there.
    L, alpha, beta : float
    clients, share : int, float
        N and p_i.
    grad_f_memory, a : (d,) tensors
    weights : (d,) tensor, optional
        Of `product_weights`.
    """
    if adaptive == CONSTANT:
        return Rates(alpha, beta)
    products = [inner_product(grad_f_memory, other, weights) for other in (a, grad_f_memory)]
    # One transfer from the device for three numbers.
    Lambda, memory2, norm2 = torch.stack([*products, inner_product(a, a, weights)]).tolist()
    seen = beta if adaptive == LITERAL else 1.0
    weight = share if adaptive == AVERAGE else clients * share
    return Rates(*table1_rates(L, alpha, beta, seen * Lambda, memory2, weight * seen * seen * norm2))
