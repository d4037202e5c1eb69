"""What has to be trusted for a verdict that rests on a proof, file by file: `python -m cflag_theory.verify.trusted`.

Two ways lead to "proved": the examiner with sympy and z3, and a whole theorem that Coq's kernel accepts. One leads to
"refuted": an exact point. Each trusts its own files, the reader of pages, and the pages with the statements, with the
notation that they share. What finds certificates, looks claims up by their ids, reads or writes proofs, or builds
points is not among them: its results are checked.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
#: Where the examiner and the comparison of what claims take from each other begin; their imports within the package
#: are trusted unless their results are checked.
EXAMINER, IMPORTS = "claims/engine/examiner.py", "claims/imports.py"
#: Where reading a page begins.
PAGE = "claims/pages/page.py"
#: Modules that the examiner or the reader of pages imports and need not be believed, with the reason.
CHECKED = {
    "claims/engine/certificates.py": "a certificate that it keeps or has found is checked by algebra",
    "claims/engine/models.py": "a model that it keeps is checked by putting its numbers in",
    "claims/pages/proofs.py": "the examiner checks the steps that it reads",
    "claims/pages/instances.py": "it gives values, at which statements are evaluated",
}
#: What is trusted about a whole theorem besides Coq's kernel: that its text is the statement, and how Coq is asked. Of
#: the files in Coq only the definitions are trusted (space, operator, smooth, maximum); their proofs are checked.
COQ = (
    "claims/coq/text.py",
    "claims/coq/theorem.py",
    "claims/engine/claim.py",
    # Of the examiner only for which values of its indices a hypothesis is meant.
    "claims/engine/examiner.py",
    "claims/engine/meanings.py",
    "claims/engine/operators.py",
    "claims/engine/relation.py",
    "claims/engine/terms.py",
    "verify/coq.py",
)
#: What is trusted about a point that refutes, besides the module that says how its instance is built.
POINT = (
    "claims/engine/claim.py",
    "claims/engine/definitions.py",
    "claims/engine/meanings.py",
    "claims/engine/operators.py",
    "claims/engine/points.py",
    "claims/engine/relation.py",
    "claims/engine/sorts.py",
    "claims/engine/terms.py",
    "claims/standing.py",
    "verify/complete.py",
    "verify/evidence.py",
)


@dataclass(frozen=True)
class Trusted:
    """Files that one way to a verdict trusts, with their numbers of lines."""

    way: str
    lines: dict[str, int]

    @property
    def total(self) -> int:
        """All lines together."""
        return sum(self.lines.values())


def trusted() -> tuple[Trusted, Trusted, Trusted, Trusted]:
    """The files that the examiner trusts, a whole theorem in Coq, and a point; and the reader of pages."""
    reader = {name for name in imported(PAGE) | imported(IMPORTS) if name.startswith("claims/pages/")} - set(CHECKED)
    examiner = sorted((imported(EXAMINER) | imported(IMPORTS)) - set(CHECKED) - reader)
    return (
        Trusted("sympy and z3, through the examiner", {name: _lines(name) for name in examiner}),
        Trusted("Coq's kernel, for a whole theorem", {name: _lines(name) for name in COQ}),
        Trusted("Fractions, for a point that refutes", {name: _lines(name) for name in POINT}),
        Trusted("The reader of pages, for what a statement says", {name: _lines(name) for name in sorted(reader)}),
    )


@cache
def imported(name: str) -> frozenset[str]:
    """A file of the package and those that it imports, directly or not; what is imported by a checked one is not."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        one = ahead.pop()
        if one in found:
            continue
        found.add(one)
        if one not in CHECKED:
            ahead += _imports(PACKAGE / one)
    return frozenset(found)


def _imports(path: Path) -> list[str]:
    """The files that a file imports from the package."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE.name:
            base = PACKAGE.joinpath(*node.module.split(".")[1:])
            for each in (base, *(base / alias.name for alias in node.names)):
                for file in (each.with_suffix(".py"), each / "__init__.py"):
                    if file.is_file() and _lines(str(file.relative_to(PACKAGE))) > 1:
                        found.append(file.relative_to(PACKAGE).as_posix())
    return found


def _lines(name: str) -> int:
    return len((PACKAGE / name).read_text(encoding="utf-8").splitlines())


def main() -> None:
    """Print the lists."""
    for one in trusted():
        print(f"{one.way}: {one.total} lines")
        for name, count in one.lines.items():
            print(f"  {count:4} {name}")


if __name__ == "__main__":
    main()
