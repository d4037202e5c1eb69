"""What pytest loads with the package: the fixture and the marker `conform`. It imports nothing until it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers", "conform(algorithm, **options): what the fixture `conform` compares with, as cflag_theory.conform"
    )


@pytest.fixture(name="conform")
def conform_fixture(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`cflag_theory.conform.conform`, which fails the test where a number differs.

    The algorithm and options may stand in the marker: `@pytest.mark.conform("scaffold", assume=["server-lr-1"])`.
    """
    marker = request.node.get_closest_marker("conform")

    def check(*algorithm: str, **options: Any) -> Any:
        from cflag_theory.conform import conform

        args = algorithm or (marker.args if marker is not None else ())
        if len(args) != 1:
            pytest.fail(
                "name the algorithm: conform('scaffold', ...) or @pytest.mark.conform('scaffold')", pytrace=False
            )
        given = (dict(marker.kwargs) if marker is not None else {}) | options
        report = conform(args[0], **given)
        if report.refuted:
            pytest.fail(str(report), pytrace=False)
        return report

    return check
