"""The documentation site: what can be said of its pages without Sphinx. Its build, in .ci/run, says the rest."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

from cflag_theory.claims.ledger import PLACES

DOCS = Path(__file__).parents[1] / "docs"
PACKAGE = DOCS.parent / "cflag_theory"
#: The packages with public names.
PACKAGES = [path.stem for path in (DOCS / "reference").glob("*.rst") if path.stem != "help"]


def text(path):
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def test_every_page_is_in_the_table_of_contents():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"(?m)^([a-z_/-]+)$", index)
    pages = {str(path.relative_to(DOCS).with_suffix("")) for path in [*DOCS.glob("*.md"), *DOCS.glob("*/*.rst")]}
    assert sorted(listed) == sorted(pages - {"index"})


def test_the_reference_has_every_public_name():
    """A name that two packages share stands on the page of one of them."""
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.rst")}
    blocks = {
        package: set(" ".join(re.findall(rf"\.\. names:: {package}\n\n((?:   \w+\n)+)", page)).split())
        for package, page in pages.items()
    }
    assert {path.name for path in PACKAGE.iterdir() if "__all__" in text(path / "__init__.py")} <= set(PACKAGES)
    missing, found = [], set()
    for package in PACKAGES:
        module = import_module(f"cflag_theory.{package}")
        names = set(getattr(module, "__all__", ())) or {
            name for name, one in vars(module).items() if inspect.isclass(one)
        }
        assert blocks[package] <= names, package
        # The bridge's names may need torch, and it shares none.
        keys = {name: name if package == "bridge" else id(getattr(module, name)) for name in names}
        found |= {keys[name] for name in blocks[package]}
        missing += [(package, name, key) for name, key in keys.items()]
    assert [(package, name) for package, name, key in missing if key not in found] == []


def test_the_table_of_modules_is_the_ledgers():
    lines = text(DOCS / "papers.md").splitlines()
    rows = [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in lines if "| `claims/" in line]
    ids = {module: [id for id, place in PLACES.items() if place == module] for module in PLACES.values()}
    assert {row[2] for row in rows} == {f"`claims/{module.replace('.', '/')}.page`" for module in ids}
    for row in rows:
        module = row[2].removeprefix("`claims/").removesuffix(".page`").replace("/", ".")
        assert re.findall(r"`([\w.]+)`", row[3]) == ids[module]
        assert row[0] == ("C-FLAG" if module.startswith("c_flag") else "CFL")


#: Words that were hard to understand, with what to write instead.
HARD = {
    r"\bunsaid\b": "omitted",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"in the place of": "in place of, instead of",
    r"exclude each other": "cannot be used together",
    r"on other terms": "in float32, on a GPU",
    r"obligations? discharged": "algebraic steps verified",
    r"(largest|ratio) met\b": "observed, found",
    r"taken for granted": "assumed",
    r"\bhands? back\b": "return",
}


def test_documents_and_messages_use_plain_words():
    papers = {PACKAGE / "claims" / name for name in ("c_flag", "cfl")}
    files = [*DOCS.glob("*.md"), *PACKAGE.glob("cli/templates/*"), DOCS.parent / "CONTRIBUTING.md"]
    files += [path for path in PACKAGE.rglob("*.py") if not papers & {*path.parents}]
    found = [
        f"{path}: {match.group()!r}, better: {better}"
        for path in files
        for pattern, better in HARD.items()
        for match in re.finditer(pattern, text(path), flags=re.IGNORECASE)
    ]
    assert found == []
