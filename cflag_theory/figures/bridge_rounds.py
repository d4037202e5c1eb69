"""Pictures of PyTorch runs on data that change from round to round: accuracy and loss on all test images by round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cflag_theory.figures.style import BOUND, MEASURED, REFERENCE, SECOND, Picture, house_style

_LOOKS = {
    "fedavg": (REFERENCE, "FedAvg"),
    "fedprox": ("#CC79A7", "FedProx"),
    "mimelite": ("#E69F00", "MimeLite"),
    "cfl_core": (BOUND, "CFL-Core-Set"),
    "cfl_reg": (SECOND, "CFL-Regularization"),
    "cfl_reg_prox": (MEASURED, "CFL-Regularization + FedProx"),
    "cfl_gen": ("#999933", "CFL-Generative"),
}


def bridge_rounds_figure(summary: Mapping[str, Any]) -> Picture:
    """Left accuracy (CFL Figure 5), right loss (Figures 6 and 7), after every round: means, one deviation as a band.

    Parameters
    ----------
    summary : mapping
        As `studies.bridge_results.evolving.RoundsSummary.to_json` gives it.
    """
    with house_style():
        figure = Picture(figsize=(10.5, 4.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        for found in summary["methods"]:
            color, name = _LOOKS[found["method"]]
            for axes, key in ((left, "accuracy"), (right, "loss")):
                at, mean, low, high = (
                    np.array(found[key][part], dtype=np.float64) for part in ("at", "mean", "low", "high")
                )
                most = 100.0 if key == "accuracy" else np.inf
                axes.fill_between(at + 1, low.clip(0, most), high.clip(0, most), color=color, alpha=0.13, linewidth=0)
                axes.plot(at + 1, mean, color=color, linewidth=1.2, label=name)
            past = found["past_loss"]
            if past:
                right.plot(
                    past["at"], past["mean"], color=color, linewidth=1.2, linestyle=":", label=f"{name}, past data"
                )
        left.set(xlabel="rounds", ylabel="test accuracy (%)")
        right.set(xlabel="rounds", ylabel="mean loss on test images")
        figure.suptitle(summary["title"])
        handles, labels = right.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, max(1, len(labels))))
    return figure
