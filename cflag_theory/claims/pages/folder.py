"""A folder of pages that is not the ledger's, with names of its own: a stranger's paper.

Its pages `use` each other by file name. What they declare has a number in its name that no other folder has, and that
`bare` takes out of whatever is shown; so a folder's f is not the ledger's f, or that of another folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from cflag_theory.claims.engine import certificates
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.pages.page import Page
from cflag_theory.claims.pages.text import PageError, bare
from cflag_theory.errors import InvalidInput

_SPACES = count(1)


@dataclass(frozen=True)
class Folder:
    """Pages with their claims.

    Attributes
    ----------
    path : Path
        The folder, or the one page.
    pages : dict of str to Page
        By name, each after those that it uses.
    claims : dict of str to Claim
        By id, in the order of the pages.
    """

    path: Path
    pages: Mapping[str, Page]
    claims: Mapping[str, Claim]

    @property
    def store(self) -> Path:
        """The file of its certificates, which are checked at every use."""
        folder = self.path if self.path.is_dir() else self.path.parent
        return folder / "certificates.json"

    def claim(self, id: str) -> Claim:
        """The claim with this id.

        Raises
        ------
        InvalidInput
            There is none.
        """
        if id not in self.claims:
            raise InvalidInput(f"{self.path.name} has no claim {id!r}: it has {', '.join(self.claims)}")
        return self.claims[id]


def read_folder(path: str | Path) -> Folder:
    """Read the pages of a folder, or one page with those beside it that it uses, and build their claims.

    Raises
    ------
    InvalidInput
        There is no page, or one cannot be read: the message has the page, the line and the column.
    """
    path = Path(path)
    folder = path if path.is_dir() else path.parent
    named = sorted(folder.glob("*.page")) if path.is_dir() else [path]
    if not named or not all(one.is_file() for one in named):
        raise InvalidInput(f"{path} is no page and has none: name a folder with files that end with .page, or one")
    space, found, open = str(next(_SPACES)), dict[str, Page](), set[str]()

    def page(name: str) -> Page | None:
        place = folder / f"{name}.page"
        if name not in found and name not in open and place.is_file():
            open.add(name)
            found[name] = Page(place.read_text(encoding="utf-8"), place.name, space=space, other=page)
        return found.get(name)

    claims: dict[str, Claim] = {}
    try:
        for place in named:
            page(place.stem)
        for one in found.values():
            for id, build in one.claims.items():
                if id in claims:
                    raise one.blocks[id].error(f"the claim {id} stands on another page too")
                claims[id] = build()
    except InvalidInput as error:
        raise (PageError if isinstance(error, PageError) else InvalidInput)(bare(str(error))) from None
    read = Folder(path, found, claims)
    if read.store.is_file():
        certificates.also(json.loads(read.store.read_text(encoding="utf-8")))
    return read
