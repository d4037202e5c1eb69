"""A rate study as the figures get it, with every kind of curve and bound."""

from __future__ import annotations

from cflag_theory.studies.rates.statistics import what_shows

HORIZONS = [16, 32, 64, 128]
FIT = {"slope": -0.9, "interval": [-1.1, -0.7], "first": 16, "last": 128, "floor": None}


def curve(scale, fit=FIT):
    if fit is not None:
        used = sum(fit["first"] <= T <= fit["last"] for T in HORIZONS)
        shows, near = what_shows(fit["slope"], fit["interval"], fit["floor"], used)
        fit = fit | {"shows": shows, "near": near}
    least = [scale * value for value in (0.5, 0.3, 0.2, 0.1)]
    return {
        "min_mean": least,
        "band": [[0.8 * value, 1.2 * value] for value in least],
        "mean": [2 * value for value in least],
        "mean_band": [[1.5 * value, 2.5 * value] for value in least],
        "mean_min": [0.9 * value for value in least],
        "fit": fit,
        "mean_fit": fit,
    }


def bound(claim, quantity, of, proved, values, why="for a reason"):
    return {"claim": claim, "quantity": quantity, "of": of, "proved": proved, "values": values, "why": why}


STUDY = {
    "title": "a problem",
    "horizons": HORIZONS,
    "curves": {"f": curve(1), "g": curve(10), "h": curve(5, {**FIT, "slope": 0.0, "floor": 0.5})},
    "bounds": [
        bound("cflag.thm2", "f", "min", False, [8.0, 4.0, 2.0, 1.0]),
        bound("ours.drawn_once", "f", "mean", True, [6.0, 3.0, 2.0, 1.0]),
        bound("ours.redrawn", "f", "mean", False, [None] * 4),
        bound("ours.bounded_gradients", "g", "mean", True, [None, 40.0, 30.0, 20.0]),
    ],
    "exact": None,
    "slope": -0.9,
    "slope_interval": [-1.1, -0.7],
    "fit_from": 64,
    "fit_to": 128,
    "alpha": 0.5,
    "alpha_factor": 1.0,
    "c": 0.1,
    "power": 0.5,
    "m": 0.25,
    "E": 3,
    "r_met": "inf",
}
