"""The delayed gradient (5) and the ways to keep old gradients."""

from __future__ import annotations

import pytest
import torch

from cflag_theory.bridge.models.iag_table import DelayedGradient
from cflag_theory.errors import InvalidInput, UnknownName

D = 30


def gradients(seed: int, count: int, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(D, generator=generator, dtype=torch.float64).to(dtype) for _ in range(count)]


def follow(
    visits: list[int], kind: str, *, place: str = "device", dtype: torch.dtype = torch.float64
) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
    """Delayed gradients after each visit, by the table and as weighted means of the latest; and these at the end."""
    sizes = [4, 4, 4, 1]
    counts = [sum(sizes) / size for size in sizes]
    latest = gradients(1, len(sizes), dtype)
    at_start = list(latest)
    full = torch.stack([g / c for g, c in zip(latest, counts, strict=True)]).sum(dim=0)
    table = DelayedGradient(full, counts, visits, lambda j: at_start[j], kind=kind, place=place)
    seen, expected = [table.value], [full]
    for j, new in zip(visits, gradients(2, len(visits), dtype), strict=True):
        seen.append(table.refresh(j, new))
        latest[j] = new
        expected.append(torch.stack([g / c for g, c in zip(latest, counts, strict=True)]).sum(dim=0))
    return seen, expected, latest


def test_the_papers_example() -> None:
    start = [torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([6.0])]
    table = DelayedGradient(
        torch.tensor([3.0]), [3.0, 3.0, 3.0], [0, 2], lambda j: start[j], kind="model", place="device"
    )
    assert table.refresh(0, torch.tensor([4.0])).item() == 4.0  # (4 + 2 + 6) / 3
    assert table.refresh(2, torch.tensor([0.0])).item() == 2.0  # (4 + 2 + 0) / 3


@pytest.mark.parametrize("place", ["device", "cpu"])
@pytest.mark.parametrize(("kind", "relative"), [("model", 1e-15), ("float32", 2.0**-24), ("bfloat16", 2.0**-9)])
def test_tables_keep_the_weighted_mean_of_the_latest(kind: str, relative: float, place: str) -> None:
    visits = [0, 3, 2, 1, 3, 0, 2, 1, 1, 3] * 20
    seen, expected, _ = follow(visits, kind, place=place)
    largest = max(float(new.abs().max()) for new in gradients(2, len(visits)))
    # One rounding of what is kept, however often it is visited; sums of float64 add a little.
    errors = [float((ours - exact).abs().max()) for ours, exact in zip(seen, expected, strict=True)]
    assert max(errors) <= relative * largest + 1e-13
    if kind != "model":
        assert max(errors) > relative * largest / 100


def test_where_a_table_lies_changes_nothing() -> None:
    visits = [2, 0, 2, 3, 0, 0]
    one, other = (follow(visits, "float32", place=place)[0] for place in ("device", "cpu"))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_one_visit_each_needs_no_table() -> None:
    visits = [2, 0, 3, 1]
    recomputed, exact, _ = follow(visits, "recomputed")
    for kind in ("model", "bfloat16"):
        for ours, other in zip(follow(visits, kind)[0], recomputed, strict=True):
            assert torch.equal(ours, other)
    for ours, expected in zip(recomputed, exact, strict=True):
        torch.testing.assert_close(ours, expected, rtol=0, atol=1e-14)


def test_only_what_is_visited_again_is_kept() -> None:
    start, asked = gradients(1, 3), []

    def at_start(j: int) -> torch.Tensor:
        asked.append(j)
        return start[j]

    visits = [0, 1, 0, 2, 0]
    table = DelayedGradient(torch.zeros(D), [3.0] * 3, visits, at_start, kind="model", place="device")
    held = []
    for j in visits:
        table.refresh(j, start[j])
        held.append(len(table._kept))
    assert held == [1, 1, 1, 1, 0]
    assert asked == [0, 1, 2]


def test_a_stale_table_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that always answers with the gradient at x_t is wrong from the second visit on."""
    visits = [0, 1, 0, 1]
    refresh = DelayedGradient.refresh

    def stale(self: DelayedGradient, component: int, new: torch.Tensor) -> torch.Tensor:
        self._kept.clear()
        return refresh(self, component, new)

    monkeypatch.setattr(DelayedGradient, "refresh", stale)
    seen, expected, _ = follow(visits, "model")
    errors = [float((ours - exact).abs().max()) for ours, exact in zip(seen, expected, strict=True)]
    assert max(errors[:3]) < 1e-14
    assert min(errors[3:]) > 0.1


def test_recomputing_needs_single_visits() -> None:
    with pytest.raises(InvalidInput, match=r"component 1 is visited 2 times .* use epochs = 1"):
        follow([0, 1, 2, 1], "recomputed")


@pytest.mark.parametrize(
    ("kind", "place", "what"), [("float16", "cpu", "table 'float16'"), ("model", "gpu", "place 'gpu'")]
)
def test_unknown_tables_are_named(kind: str, place: str, what: str) -> None:
    with pytest.raises(UnknownName, match=what):
        follow([0], kind, place=place)
