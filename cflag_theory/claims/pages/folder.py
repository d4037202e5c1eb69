"""A folder of pages that is not the ledger's, with names of its own: a stranger's paper.

Its pages `use` each other by file name. What they declare has a number in its name that no other folder has, and that
`bare` takes out of whatever is shown; so a folder's f is not the ledger's f, or that of another folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from cflag_theory.claims.book import Book
from cflag_theory.claims.engine import certificates
from cflag_theory.claims.engine.claim import Claim, Fact
from cflag_theory.claims.engine.door import TAKEN
from cflag_theory.claims.pages.page import ALWAYS, Page
from cflag_theory.claims.pages.records import block, in_order, word
from cflag_theory.claims.pages.text import Line, PageError, Piece, bare, lines
from cflag_theory.errors import InvalidInput
from cflag_theory.reading import read_as, read_text

_SPACES = count(1)
#: Of a page, and the words with which the ids of the ledger begin.
_MOST_BYTES = 1 << 22
_LEDGER = ("cflag", "cfl", "ours")


class OwnPage(Page):
    """A page of a folder: its names end with those of its space, and it uses other pages of the folder."""

    of_ledger = False

    def __init__(self, text: str, where: str, space: str, other: Callable[[str], OwnPage | None]) -> None:
        self.text, self.space, self.other = text, space, other
        super().__init__(text, where)

    def own(self, name: str) -> str:
        """The full name, which nobody sees."""
        if name in TAKEN or bare(name) != name:
            raise ValueError(f"the name {name} means something else: take another")
        return f"{name} __{self.space}"

    def use(self, line: Line, rest: Piece) -> None:
        """`use other`: all that the page `other.page` has, or some of its names."""
        super().use(line, rest)
        page = self.other(rest)
        for name, at in page._named.items() if page else ():
            if self._named.setdefault(name, at) is not at:
                raise line.error(f"{name!r} of {rest} has a meaning since {self._named[name].place(line)}: rename one")

    def _theirs(self, place: str, line: Line) -> tuple[list[str], Callable[[str], Any], dict[str, Fact]]:
        page = self.other(place)
        if page is None:
            raise line.error(f"the folder has no page {place!r}, or it uses this one")

        def get(name: str) -> Any:
            if name not in page.words.page:
                raise line.error(f"{place} has no {name!r}")
            return page.words.page[name]

        return [name for name in page.words.page if name not in ALWAYS], get, page.facts


@dataclass(frozen=True)
class Folder:
    """Pages with their claims."""

    #: The folder, or the one page.
    path: Path
    #: By name, each after those that it uses.
    pages: Mapping[str, OwnPage]
    #: By id, in the order of the pages.
    claims: Mapping[str, Claim]

    @property
    def store(self) -> Path:
        """The file of its certificates, which are checked at every use."""
        folder = self.path if self.path.is_dir() else self.path.parent
        return folder / "certificates.json"

    @property
    def kept(self) -> dict[str, Any]:
        """What its store has.

        Raises
        ------
        DataError
            That is no store of certificates.
        """
        if not self.store.is_file():
            return {}
        again = "remove it, and they are found again"
        return dict(read_as(self.store, certificates.FORM, what="store of certificates", remedy=again))

    def claim(self, id: str) -> Claim:
        """The claim with this id, or an exception that names all."""
        if id not in self.claims:
            raise InvalidInput(f"{self.path.name} has no claim {id!r}: it has {', '.join(self.claims)}")
        return self.claims[id]

    @cached_property
    def book(self) -> Book:
        """Its claims and what the pages say of them: one paper, which is called as the ids of its claims begin."""
        places = {id: name for name, page in self.pages.items() for id in page.claims}
        said = in_order({name: lines(one.text, one.where) for name, one in self.pages.items()}, places)
        first, *others = dict.fromkeys(id.partition(".")[0] for id in places)
        paper = f"{first} and others" if others else first

        def written(id: str) -> str:
            page = self.pages[places[id]]
            return block(page.text, page.blocks[id])

        def keys(id: str) -> tuple[str, ...]:
            return tuple(word(part.key) for part in self.claim(id).parts)

        return Book(
            (paper,), self.claim, written, keys, lambda: places, lambda module: paper, lambda kind: said.get(kind, ())
        )


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
    if not named or not all(one.exists() and not one.is_dir() for one in named):
        raise InvalidInput(f"{path} is no page and has none: name a folder with files that end with .page, or one")
    space, found, open = str(next(_SPACES)), dict[str, OwnPage](), set[str]()

    def page(name: str) -> OwnPage | None:
        place = folder / f"{name}.page"
        if name not in found and name not in open and place.exists():
            open.add(name)
            found[name] = OwnPage(_text(place), place.name, space, page)
        return found.get(name)

    claims: dict[str, Claim] = {}
    try:
        for place in named:
            page(place.stem)
        for one in found.values():
            for id, build in one.claims.items():
                if id.partition(".")[0] in _LEDGER:
                    raise one.blocks[id].error(f"{id} is a name of this package's own ledger: begin with another word")
                if id in claims:
                    raise one.blocks[id].error(f"the claim {id} stands on another page too")
                for line in one.blocks[id].inside:
                    if line.kind == "coq":
                        raise line.error(
                            "'coq' names a theorem of this package, which no page of yours has: leave it out"
                        )
                claims[id] = build()
    except InvalidInput as error:
        raise (PageError if isinstance(error, PageError) else InvalidInput)(bare(str(error))) from None
    if not claims:
        raise InvalidInput(f"{path} has no claim: write 'claim paper.name | where | title' and 'say relation' under it")
    read = Folder(path, found, claims)
    if read.store.is_file():
        certificates.also(read.kept)
    return read


def _text(place: Path) -> str:
    try:
        return read_text(place, most=_MOST_BYTES).removeprefix("\ufeff")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise InvalidInput(f"{place} cannot be read ({why}): give a page that is a text file") from None
