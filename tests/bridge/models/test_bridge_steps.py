"""Steps on flat vectors: the plain one, Adam as torch has it, and several of them from one state."""

from __future__ import annotations

from functools import partial

import pytest
import torch

from cflag_theory.bridge.methods.descent import descend
from cflag_theory.bridge.models.compiled import fused, make_step
from cflag_theory.bridge.models.iag_table import KeptRows
from cflag_theory.errors import UnknownName


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_adam_is_that_of_torch(scale: float) -> None:
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(40, generator=generator, dtype=torch.float64)
    parameter = torch.nn.Parameter(x.clone())
    theirs, ours = torch.optim.Adam([parameter], lr=0.01), make_step("adam")
    for _ in range(50):
        gradient = scale * torch.randn(40, generator=generator, dtype=torch.float64)
        given = gradient.clone()
        parameter.grad = gradient.clone()
        theirs.step()
        x = x - 0.01 * ours.direction(gradient)
        assert torch.equal(gradient, given)
        torch.testing.assert_close(x, parameter.detach(), rtol=0, atol=1e-13)


def test_a_fresh_adam_remembers_nothing() -> None:
    gradient = torch.tensor([3.0, -0.5, 0.0], dtype=torch.float64)
    used = make_step("adam")
    used.direction(-gradient)
    # With both corrections the first direction is g / (|g| + eps).
    expected = torch.tensor([3 / (3 + 1e-8), -0.5 / (0.5 + 1e-8), 0.0], dtype=torch.float64)
    torch.testing.assert_close(make_step("adam").direction(gradient), expected, rtol=1e-14, atol=0)
    assert not torch.allclose(used.direction(gradient), expected)


def test_compiled_arithmetic_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adam and the table, for rows that become fewer; what is captured must not have captured the numbers."""
    torch._dynamo.reset()
    fused.cache_clear()
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))
    generator = torch.Generator().manual_seed(3)
    plain, compiled = make_step("adam"), make_step("adam", compiled=True)
    full, kept = (torch.randn(rows, 5, generator=generator, dtype=torch.float64) for rows in (3, 6))
    orders, counts = [[0, 1, 1], [1, 0], [0]], [[2.0, 3.0]] * 3
    tables = [KeptRows(full, counts, orders, kept.clone(), [0, 2, 4], compiled=whether) for whether in (False, True)]
    for k, rows in enumerate((3, 2, 1)):
        new = torch.randn(rows, 5, generator=generator, dtype=torch.float64)
        chosen = [order[k] for order in orders[:rows]]
        expected, found = (table.refresh(k, chosen, new).clone() for table in tables)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-14)
        torch.testing.assert_close(compiled.direction(new), plain.direction(new), rtol=0, atol=1e-14)
    torch.testing.assert_close(tables[1]._kept, tables[0]._kept, rtol=0, atol=0)
    fused.cache_clear()


def test_a_plain_step_is_the_gradient() -> None:
    gradient = torch.tensor([1.0, -2.0])
    step = make_step("plain")
    assert torch.equal(step.direction(gradient), gradient)
    assert torch.equal(step.direction(2 * gradient), 2 * gradient)


def test_unknown_steps_are_named() -> None:
    with pytest.raises(UnknownName, match="step 'sgd' is unknown: use one of plain, adam"):
        make_step("sgd")


def test_the_drift_is_the_largest_on_the_way() -> None:
    """Before its last step one row has gone 3 away and come back, the other has gone 1; the third number is no
    parameter."""
    given = [
        torch.tensor([[6.0, 0.0], [0.0, 2.0]]),
        torch.tensor([[-6.0, 2.0], [2.0, 0.0]]),
        torch.tensor([[0.0, 2.0]]),
    ]
    seen = []

    def gradient(k: int, chosen: object, local: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        seen.append((chosen, local.tolist()))
        local[:, 2] += 1
        return torch.tensor([1.0 + k, 4.0])[: len(local)], given[k]

    found = descend(torch.tensor([1.0, 1.0, 5.0]), 2, [[7, 8, 9], [4, 5]], gradient, lr=0.5, step=make_step("plain"))
    assert seen == [
        ([7, 4], [[1, 1, 5], [1, 1, 5]]),
        ([8, 5], [[-2, 1, 6], [1, 0, 6]]),
        ([9], [[1, 0, 7]]),
    ]
    assert found.drift2_max.tolist() == [9.0, 1.0]
    assert found.move.tolist() == [[0.0, 2.0, -3.0], [1.0, 1.0, -2.0]]
    assert found.total.tolist() == [[0.0, 4.0], [2.0, 2.0]]
    assert found.loss.tolist() == [2.0, 4.0]
    assert found.steps == [3, 2]
