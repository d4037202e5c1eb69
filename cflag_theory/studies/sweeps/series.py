"""From the rows of a sweep to what a figure draws: means, bootstrap bands and slopes by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cflag_theory.errors import InvalidInput
from cflag_theory.studies.sweeps.rows import Rows

#: Bootstrap resamples of the rows behind a mean, and the level of the band.
RESAMPLES, LEVEL = 1000, 0.95

Array = NDArray[Any]


def series(
    folder: Path | str,
    *,
    x: str = "T",
    y: str = "min_grad_f2",
    by: Sequence[str] | None = None,
    where: Mapping[str, str] | None = None,
    partial: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Mean of `y` over runs and replicas against a numeric coordinate or measurement `x`, one line a group.

    Of a name with dots the last part does, if it is the only one. `by` are the coordinates that tell lines apart;
    without it all that vary, except x and the seed of the draws. `where` and `partial` are as in `Rows`; `seed` is of
    the bootstrap.

    "groups" have "label", "x", "mean", "low", "high" (the bootstrap band at level 0.95; the mean itself where there is
    one row), "rows" at each x, "diverged" (rows left out), and "slope", the least-squares slope of log mean on log x
    over the larger half of the x; None where a logarithm does not exist.
    """
    rows = Rows(Path(folder), where or {}, (x, y, *(by or ())), partial=partial)
    x_name, y_name = rows.resolve(x), rows.resolve(y)
    xs, ys, ok = rows.numbers(x_name), rows.numbers(y_name), rows.ok
    # The replicas of a run share this value: one of them stands for it.
    counted = rows.numbers("replica") == 0 if y_name.startswith("min_of_mean_") else np.ones(len(ok), dtype=bool)
    usable = ok & counted & np.isfinite(ys) & np.isfinite(xs)
    found = []
    for label, members in rows.groups(by, (x_name,)).items():
        chosen = members[usable[members]]
        places = np.unique(xs[chosen])
        samples = [ys[chosen[xs[chosen] == place]] for place in places]
        if samples:
            means = [float(sample.mean()) for sample in samples]
            low, high = zip(*(_band(sample, seed) for sample in samples), strict=True)
            found.append(
                {
                    "label": label or y_name,
                    "x": places.tolist(),
                    "mean": means,
                    "low": list(low),
                    "high": list(high),
                    "rows": [len(sample) for sample in samples],
                    "diverged": int((~ok[members]).sum()),
                    "slope": _slope(places, np.array(means)),
                }
            )
    return {"x": x_name, "y": y_name, "title": _title(where), "groups": _some(found, y_name)}


def curves(
    folder: Path | str,
    *,
    y: str = "grad_f2",
    by: Sequence[str] | None = None,
    where: Mapping[str, str] | None = None,
    partial: bool = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Mean of a recorded column over runs and replicas along rounds, one line a group; arguments and groups as in
    `series`, x being rounds.
    """
    rows = Rows(Path(folder), where or {}, by or (), partial=partial, curve=y)
    lists, ok = rows.lists(f"curve.{y}"), rows.ok
    found = []
    for label, members in rows.groups(by, ()).items():
        chosen = [lists[row] for row in members[ok[members]] if lists[row]]
        if len({len(one) for one in chosen}) > 1:
            raise InvalidInput(
                f"runs of different length are in the line {label!r}: add T to --by, or choose with --where"
            )
        if chosen:
            values: Array = np.array(chosen)
            low, high = _bands(values, seed)
            found.append(
                {
                    "label": label or y,
                    "x": (np.arange(values.shape[1]) * rows.every).tolist(),
                    "mean": values.mean(axis=0).tolist(),
                    "low": low.tolist(),
                    "high": high.tolist(),
                    "diverged": int((~ok[members]).sum()),
                }
            )
    return {"y": y, "title": _title(where), "groups": _some(found, y)}


def grid_map(
    folder: Path | str,
    *,
    x: str,
    by: str,
    y: str = "min_grad_f2",
    where: Mapping[str, str] | None = None,
    partial: bool = False,
) -> dict[str, Any]:
    """Mean of `y` over runs and replicas for every pair of values of two coordinates; arguments as in `series`. "mean"
    and "diverged" are (rows, columns), NaN for none; "rows" and "columns" are values in words.
    """
    rows = Rows(Path(folder), where or {}, (x, by, y), partial=partial)
    x_name, by_name, y_name = rows.resolve(x), rows.resolve(by), rows.resolve(y)
    across, down, values, ok = rows.texts(x_name), rows.texts(by_name), rows.numbers(y_name), rows.ok
    columns, lines = _ordered(across), _ordered(down)
    mean = np.full((len(lines), len(columns)), np.nan)
    diverged = np.zeros(mean.shape, dtype=np.int64)
    for i, line in enumerate(lines):
        for j, column in enumerate(columns):
            here = (down == line) & (across == column)
            diverged[i, j] = (here & ~ok).sum()
            sample = values[here & ok & np.isfinite(values)]
            if sample.size:
                mean[i, j] = sample.mean()
    return {
        "x": x_name,
        "by": by_name,
        "y": y_name,
        "title": _title(where),
        "columns": columns,
        "rows": lines,
        "mean": mean.tolist(),
        "diverged": diverged.tolist(),
    }


def _ordered(texts: Array) -> list[str]:
    """The different values: numbers by size, words as they come."""
    found = list(dict.fromkeys(texts.tolist()))
    try:
        return sorted(found, key=float)
    except ValueError:
        return found


def _some(groups: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    if not groups:
        raise InvalidInput(f"no run that did not diverge has measured {name!r}: choose another column or other rows")
    return groups


def _band(sample: Array, seed: int) -> tuple[float, float]:
    low, high = _bands(sample[:, None], seed)
    return float(low[0]), float(high[0])


def _bands(samples: Array, seed: int) -> tuple[Array, Array]:
    """Bootstrap band of the mean over rows; samples (rows, columns), the same resamples in every column."""
    rows = len(samples)
    random = np.random.default_rng(seed)
    # In parts: all weights at once are a matrix of resamples x rows.
    weights = (random.multinomial(rows, np.full(rows, 1 / rows), size=RESAMPLES // 20) for _ in range(20))
    means = np.concatenate([part @ samples / rows for part in weights])
    low, high = np.percentile(means, [(1 - LEVEL) / 2 * 100, (1 + LEVEL) / 2 * 100], axis=0)
    return low, high


def _slope(x: Array, mean: Array) -> float | None:
    last = min(len(x) // 2, len(x) - 2)
    if len(x) < 2 or (x[last:] <= 0).any() or (mean[last:] <= 0).any():
        return None
    return float(np.polyfit(np.log(x[last:]), np.log(mean[last:]), 1)[0])


def _title(where: Mapping[str, str] | None) -> str:
    return ", ".join(f"{name} = {value}" for name, value in (where or {}).items())
