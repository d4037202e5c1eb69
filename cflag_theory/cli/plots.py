"""Figures from stored results: of a sweep by its columns, of other studies as they were drawn at first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cflag_theory.errors import DataError, InvalidInput
from cflag_theory.reading import ANY, LIST, TABLE, WORD, Form, read_json, unfit

#: Files that other commands write beside their figures.
STORED = (
    "rate.json",
    "rates.json",
    "rate_family.json",
    "cfl_rate.json",
    "cfl_rates.json",
    "nqm.json",
    "sharp.json",
    "step_sizes.json",
    "forgetting.json",
    "tasks.json",
    "worst_case.json",
    "published.json",
)
_FILES: dict[str, Form] = {
    "nqm": {"panels": LIST},
    "sharp": {"curves": LIST},
    "step_sizes": TABLE,
    "tasks": [{"title": WORD}],
    "forgetting": {"forgetting": [{"study": WORD}], "adaptive_rates": LIST},
}
FIGURES = ("series", "curves", "map")


def plot(
    folder: Path | str,
    *,
    figure: str = "series",
    x: str = "T",
    y: str | None = None,
    by: Sequence[str] | None = None,
    where: Mapping[str, str] | None = None,
    partial: bool = False,
) -> Any:
    """A `matplotlib.figure.Figure` of what `sweep` wrote to a folder: `sweeps.series.series`, `curves` or `grid_map`
    ("map"), which take the other arguments; a map has one name in `by`.
    """
    from cflag_theory import figures
    from cflag_theory.studies.sweeps.series import curves, grid_map, series

    common: dict[str, Any] = {"where": where, "partial": partial}
    if figure == "series":
        return figures.series_figure(series(folder, x=x, y=y or "min_grad_f2", by=by, **common))
    if figure == "curves":
        return figures.curves_figure(curves(folder, y=y or "grad_f2", by=by, **common))
    if figure != "map":
        raise InvalidInput(f"the figure {figure!r} is unknown: use one of {', '.join(FIGURES)}")
    if by is None or len(by) != 1:
        raise InvalidInput("a map has one coordinate across, --x, and one up, --by: name both")
    return figures.map_figure(grid_map(folder, x=x, by=by[0], y=y or "min_grad_f2", **common))


def plot_stored(path: Path | str) -> dict[str, Any]:
    """The figures of a file of `STORED`, or of all such files in a folder, by the names that they had at first."""
    path = Path(path)
    found: dict[str, Any] = {}
    for file in [path / name for name in STORED if (path / name).exists()] if path.is_dir() else [path]:
        if file.name not in STORED:
            continue
        try:
            study = read_json(file)
            if wrong := unfit(study, _FILES.get(file.stem, ANY)):
                raise InvalidInput(f"see {wrong}")
            found |= drawn(file.stem, study)
        except (OSError, ValueError) as error:
            raise DataError(f"{file} holds nothing that can be drawn ({error}): write it again") from error
    if not found:
        known = ", ".join(STORED)
        raise DataError(f"{path} holds no results that can be drawn: pass a folder of cflag sweep, or one with {known}")
    return found


def drawn(stem: str, study: Any) -> dict[str, Any]:
    """Name -> figure, as the command that wrote STEM.json draws them."""
    from cflag_theory import figures
    from cflag_theory.files import as_file_name

    if stem == "nqm":
        return {stem: figures.nqm_figure(study["panels"])}
    if stem == "sharp":
        return {stem: figures.sharp_figure(study["curves"])}
    if stem == "step_sizes":
        planes = {"region": stem, "region_cfl": f"{stem}_cfl"}
        drawn_as = {name: study[key] for key, name in planes.items() if key in study}
        return {
            name: (figures.sharp_plane_figure if "true" in plane else figures.step_sizes_figure)(plane)
            for name, plane in drawn_as.items()
        }
    if stem == "tasks":
        return {f"tasks_{as_file_name(one['title'])}": figures.tasks_figure(one) for one in study}
    if stem == "forgetting":
        groups: dict[str, list[Any]] = {}
        for one in study["forgetting"]:
            groups.setdefault(f"forgetting_{as_file_name(one['study'])}", []).append(one)
        terms = {name: figures.forgetting_figure(runs) for name, runs in groups.items()}
        return terms | {"adaptive_rates": figures.adaptive_rates_figure(study["adaptive_rates"])}
    if stem in ("rate", "rates"):
        return {"rate": figures.rate_figure(study), "rate_details": figures.rate_details_figure(study)}
    name = "cfl_rate" if stem == "cfl_rates" else stem
    return {name: getattr(figures, f"{name}_figure")(study)}
