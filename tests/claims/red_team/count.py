"""How many attacks of each kind there are, and which check refuses them: `python tests/claims/red_team/count.py`."""

from __future__ import annotations

import re
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "helpers")]

from attacks import answer  # noqa: E402

from cflag_theory.claims.engine.claim import SETTING  # noqa: E402

#: The checks, and words of their refusals: the first that is found refuses. What is wrong with an import is told apart.
CHECKS = {
    "algebra and obligations": "certificate|multiplier|denominator|logarithm of|as an (in)?equa",
    "rules and proof steps": r"^'[^']+'(:| uses| takes)|^two (steps|facts) are named",
    "definitions and settings": r"defined twice|restricts|make it a hypothesis|^(again|a|b|a, b)$",
    "vacuity": "contradict each other|true of everything",
    "points and their reach": "Not accepted|has two values|contradicts that|is not an exact number",
    "door: sorts, names, terms": "",
}


def attacks():
    """The kind and each attack, in the order of the files."""
    for file in sorted(HERE.glob("test_*.py")):
        for name, test in vars(import_module(file.stem)).items():
            for mark in getattr(test, "pytestmark", ()):
                if mark.name == "parametrize" and mark.args[0] == "attack":
                    yield from ((f"{file.stem[5:]}: {name[5:].replace('_', ' ')}", one) for one in mark.args[1])


def main() -> None:
    """Print a line for each kind, and one for each check."""
    kinds: dict[str, Counter[str]] = {}
    for kind, attack in attacks():
        kept = dict(SETTING)
        said = answer(attack)
        SETTING.clear()
        SETTING.update(kept)
        check = next(check for check, words in CHECKS.items() if re.search(words, said.split("; ")[0]))
        check = "imports" if "import" in kind else check
        kinds.setdefault(kind, Counter())["accepted" if said in ("accepted", "nothing") else check] += 1
    for kind, found in kinds.items():
        print(f"{found.total():4} {kind}: {', '.join(f'{number} {check}' for check, number in found.most_common())}")
    total = sum(kinds.values(), Counter())
    print(f"{total.total():4} in all: {', '.join(f'{number} {check}' for check, number in total.most_common())}")


if __name__ == "__main__":
    main()
