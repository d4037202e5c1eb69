"""Rates that a client chooses: Table 1, Algorithm 3, and products divided by the tensors' sizes."""

from __future__ import annotations

import pytest
import torch

from cflag_theory.bridge.models.flat_model import make_model
from cflag_theory.bridge.models.rates import Rates, client_rates, inner_product, product_weights
from cflag_theory.errors import UnknownName

MEMORY = torch.tensor([2.0, 0.0, 0.0], dtype=torch.float64)
ALIKE = torch.tensor([1.0, 2.0, 0.0], dtype=torch.float64)  # Lambda = 2, ||a||^2 = 5
AGAINST = torch.tensor([-1.0, 2.0, 0.0], dtype=torch.float64)  # Lambda = -2


def rates(adaptive: str, a: torch.Tensor, memory: torch.Tensor = MEMORY, **more: torch.Tensor) -> Rates:
    given = {"L": 5.0, "alpha": 0.1, "beta": 0.2, "clients": 4}
    (first, second), products = client_rates(
        adaptive, **given, shares=[0.3, 0.3], grad_f_memory=memory, a=torch.stack([a, a]), **more
    )
    assert first == second
    assert products.tolist() == [float(inner_product(memory, a, more.get("weights")))] * 2
    return first


@pytest.mark.parametrize(
    ("adaptive", "a", "alpha", "beta"),
    [
        ("none", ALIKE, 0.1, 0.2),
        # (1 - L alpha) Lambda / (L p ||a||^2) = 0.5 * 2 / (5 * 0.3 * 5), and with N p in place of p.
        ("average", ALIKE, 0.1, 1 / 7.5),
        ("worst", ALIKE, 0.1, 1 / 30),
        # Algorithm 3 takes beta a for a: the rate is 1 / beta times that.
        ("printed", ALIKE, 0.1, 1 / 6),
        # alpha (1 - Lambda / ||grad_f_memory||^2) = 0.1 * (1 + 2 / 4), and with beta Lambda for Lambda.
        ("average", AGAINST, 0.15, 0.2),
        ("worst", AGAINST, 0.15, 0.2),
        ("printed", AGAINST, 0.11, 0.2),
    ],
)
def test_rates_written_out(adaptive: str, a: torch.Tensor, alpha: float, beta: float) -> None:
    found = rates(adaptive, a)
    assert (found.alpha, found.beta) == (pytest.approx(alpha, rel=1e-14), pytest.approx(beta, rel=1e-14))


@pytest.mark.parametrize("adaptive", ["none", "average", "worst", "printed"])
def test_nothing_to_divide_by_leaves_the_rates(adaptive: str) -> None:
    nothing = torch.zeros(3, dtype=torch.float64)
    assert rates(adaptive, ALIKE, memory=nothing) == Rates(0.1, 0.2)
    assert rates(adaptive, nothing) == Rates(0.1, 0.2)


def test_products_by_tensor() -> None:
    model = make_model("mlp", (1, 2, 2), (2, 3), hidden=(5,), dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(model.d, generator=generator, dtype=torch.float64) for _ in range(2))
    left, right = model.split(a), model.split(b)
    expected = sum(float((left[name] * right[name]).mean()) for name in left)
    weights = product_weights(model, "per-tensor")
    assert weights is not None
    assert float(inner_product(a, b, weights)) == pytest.approx(expected, rel=1e-13)
    assert float(inner_product(a, b)) == pytest.approx(float(a @ b), rel=1e-13)
    assert product_weights(model, "plain") is None


def test_weighted_products_reach_the_rates() -> None:
    weights = torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64)  # Lambda = 1, ||a||^2 = 1.5
    assert rates("average", ALIKE, weights=weights).beta == pytest.approx(0.5 / (5 * 0.3 * 1.5), rel=1e-14)
    assert rates("average", AGAINST, weights=weights).alpha == pytest.approx(0.1 * (1 + 1 / 2), rel=1e-14)


def test_unknown_products_are_named() -> None:
    with pytest.raises(UnknownName, match="product 'cosine' is unknown: use one of plain, per-tensor"):
        product_weights(make_model("linear", (1, 1, 2), (2,)), "cosine")
