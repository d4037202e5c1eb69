"""What the papers print, sentence by sentence: where it stands, and which rows of the ledger decide it.

One table a paper, `printed.tsv` in its folder. A sentence or formula that claims something which can be checked names
the parts that decide it; any other says why no row does. A formula is printed as in the paper, in TeX between dollars.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.ledger import LEDGER, claim

PAPERS = {"C-FLAG": "c_flag", "CFL": "cfl"}
COLUMNS = ("place", "version", "rows", "text", "remark")
#: Which versions of a paper print a line: the one that the ledger follows, the one of ICLR 2022, or both.
VERSIONS = ("both", "2022", "later")


@dataclass(frozen=True)
class Printed:
    """A sentence or formula of a paper.

    Attributes
    ----------
    paper, place : str
        "C-FLAG" or "CFL"; section, and the number of the equation, lemma, table or line of an algorithm.
    version : str
        One of `VERSIONS`; the C-FLAG paper has one version, which is "both".
    rows : tuple of str
        The parts that decide it, such as "cflag.eq5.2".
    text : str
        What is printed, with formulas in TeX between dollars.
    remark : str
        What differs between the versions; where no row decides the line, why.
    """

    paper: str
    place: str
    version: str
    rows: tuple[str, ...]
    text: str
    remark: str


@cache
def printed(paper: str) -> tuple[Printed, ...]:
    """The lines of one paper, in its order.

    Raises
    ------
    ValueError
        If a line does not have five columns, or names an unknown version.
    """
    lines = files(__package__).joinpath(PAPERS[paper], "printed.tsv").read_text(encoding="utf-8").splitlines()
    found = []
    for number, line in enumerate(lines[1:], 2):
        columns = line.split("\t")
        if len(columns) != len(COLUMNS) or columns[1] not in VERSIONS:
            raise ValueError(
                f"{PAPERS[paper]}/printed.tsv, line {number}: five columns {', '.join(COLUMNS)} are needed"
            )
        place, version, rows, text, remark = columns
        found.append(Printed(paper, place, version, tuple(rows.split()), text, remark))
    return tuple(found)


def name(id: str, key: str) -> str:
    """A part as the tables name it: "cflag.eq16.step_size" for a key of two words."""
    return f"{id}.{key}".replace(" ", "_")


def of_part(id: str, key: str) -> tuple[Printed, ...]:
    """What a part of a row decides, as it is printed."""
    paper = {"cflag": "C-FLAG", "cfl": "CFL"}.get(id.partition(".")[0])
    return () if paper is None else tuple(one for one in printed(paper) if name(id, key) in one.rows)


def search(text: str = "") -> list[Claim]:
    """The claims, in ledger order, of which the id, the place, the title or the printed lines hold all these words."""
    words = text.lower().split()
    return [one for one in map(claim, LEDGER) if all(word in _searched(one.id) for word in words)]


@cache
def _searched(id: str) -> str:
    subject = claim(id)
    lines = (line.text for part in subject.parts for line in of_part(id, part.key))
    return " ".join((id, subject.paper, subject.where, subject.title, *lines)).lower()
