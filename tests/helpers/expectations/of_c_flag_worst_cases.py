"""What the checks must find and reject of exact worst cases."""

from __future__ import annotations

from expecting import Expectation
from planting import built, scaled, without

EXPECTED = {
    "ours.any_clients": Expectation(
        "holds holds holds holds",
        reached={"groups": 1, "triangle": 1},
        plants=(
            *built("499/1000", part="groups"),
            *scaled("999/1000", "triangle"),
            *scaled("1001/1000", "upper", "closed"),
            *without("passed", part="groups", verdict="open"),
            *without("c", part="triangle", verdict="open"),
            *without("angle", part="closed", verdict="open"),
        ),
    ),
    "ours.fedavg_never_away": Expectation(
        "holds holds",
        reached={"bound": 1, "beyond": 1},
        undrawn={"bound": "rounds of FedAvg"},
        plants=(
            *built("999/1000", part=("bound", "beyond")),
            *without("step", "no heterogeneity", part="bound", verdict="open"),
            *without("step", part="beyond", verdict="open"),
        ),
    ),
    "ours.fedavg_drift": Expectation(
        "holds open",
        plants=(*built("1001/1000", part="mean"), *without("step", part="mean", verdict="open")),
    ),
    "ours.tracking_rate": Expectation(
        "holds holds holds holds holds open",
        reached={"attained": 1, "one": 1, "two": 1},
        undrawn=dict.fromkeys(("one", "two"), "rounds of tracking"),
        plants=(
            *built("1001/1000", part=("attained", "slope")),
            *built("999/1000", part=("one", "two")),
            *without("F", part="attained", verdict="open"),
            *without("step", part=("one", "two"), verdict="open"),
        ),
    ),
    "ours.any_bias": Expectation(
        "holds holds holds holds",
        reached={"bound": 1, "loose": 1, "clients": 1, "still": 1},
        undrawn=dict.fromkeys(("bound", "clients"), "steps on a memory of any bias"),
        plants=(
            *built("999/1000", part="bound"),
            *built((1, "1001/1000"), part="loose"),
            *built((1, "999/1000"), part=("clients", "still")),
            *without("bias", part="bound", verdict="open"),
            *without("m", part="loose", verdict="open"),
            *without("spread", part="clients", verdict="open"),
            *without("slope", part="still", verdict="open"),
        ),
    ),
    "ours.tracking_steps": Expectation(
        "holds holds holds holds",
        reached={"one": 1, "two": 1, "beyond": 1},
        undrawn=dict.fromkeys(("one", "two", "beyond"), "rounds of tracking"),
        plants=(
            *built("999/1000", part=("one", "two", "beyond")),
            *built("1001/1000", part="three"),
            *without("step", part=("one", "two"), verdict="open"),
            *without("far", part="beyond", verdict="open"),
        ),
    ),
}
