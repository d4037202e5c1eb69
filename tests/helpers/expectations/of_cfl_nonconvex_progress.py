"""What the checks of `cfl.nonconvex.progress` must find and reject."""

from __future__ import annotations

from cflag_theory.claims.cfl.symbols import A2, B2
from expecting import Expectation
from planting import built, without

EXPECTED = {
    "cfl.nc_eq32": Expectation(
        "holds needs-hypothesis typo false",
        plants=(*built((A2, B2), part="3", on="repair"), *without("descent", part="2", on="repair")),
    ),
}
