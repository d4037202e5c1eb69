"""`cflag verify FOLDER-OR-PAGE`: the claims of somebody else's pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cflag_theory.cli.shell import Format, print_json, progress_bar
from cflag_theory.errors import InvalidInput


def place_of(claims: Sequence[str]) -> Path | None:
    """The page or the folder that is meant, if the first argument of `cflag verify` is one and no claim."""
    first = Path(claims[0]) if claims else None
    meant = first is not None and (first.suffix == ".page" or "/" in claims[0] or first.is_dir())
    return first if meant else None


def verify_pages(
    place: Path,
    ids: Sequence[str],
    *,
    level: str,
    jobs: int | None,
    prover: str | None,
    seed: int,
    format: Format,
    out: Path | None,
) -> None:
    """Decide the claims of a page or a folder, and print the verdicts with what they follow from."""
    if out is not None:
        raise InvalidInput("--out writes the report on the ledger: leave it out for pages, or take --format json")
    from cflag_theory.cli.tables.claims import own
    from cflag_theory.verify.folders import verify_folder

    with progress_bar("claims", len(ids) or None) as advance:
        verdicts = verify_folder(
            place, ids, seed=seed, level=level, jobs=jobs, prover=prover, progress=lambda id: advance(1, id)
        )
    if format is Format.json:
        print_json([verdict.to_json() for verdict in verdicts])
    else:
        own(verdicts)
