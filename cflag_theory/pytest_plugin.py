"""What pytest loads with the package: the fixture and the marker `conform`, and pages as files of tests.

It imports nothing until it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
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


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> PageFile | None:
    """A page is a file of tests, one for each claim; the pages of this package are not."""
    meant = file_path.suffix == ".page" and Path(__file__).parent not in file_path.parents
    return PageFile.from_parent(parent, path=file_path) if meant else None


class PageFile(pytest.File):
    """The claims of a page."""

    def collect(self) -> Iterator[PageClaim]:
        from cflag_theory.errors import InvalidInput
        from cflag_theory.falsify.saving import pages_of

        try:
            folder = pages_of(self.path)
        except InvalidInput as error:
            raise self.CollectError(str(error)) from None
        for id in folder.pages[self.path.stem].claims:
            yield PageClaim.from_parent(self, name=id)


class PageClaim(pytest.Item):
    """A claim: the test passes if its verdict is the one that the page expects."""

    def runtest(self) -> None:
        from cflag_theory.falsify.saving import pages_of
        from cflag_theory.verify.folders import expected, verify_folder

        wanted = expected(pages_of(self.path), self.name)
        (found,) = verify_folder(self.path, [self.name], jobs=1)
        if found.verdict not in wanted:
            why = "\n".join(f"{item.part} {item.on}, {item.kind}: {item.summary}" for item in found.evidence)
            pytest.fail(f"{self.name} is {found.verdict}, and the page expects {' or '.join(wanted)}\n{why}", False)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name
