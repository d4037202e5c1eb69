"""The documentation site: `python -m sphinx -W -b html docs SITE`. Needs the extra `docs` and no network."""

from __future__ import annotations

import inspect
import os
import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.ext.autodoc.mock import mock
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import cflag_theory

project = "cflag-theory"
author = "The cflag-theory authors"
version = release = cflag_theory.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"cflag-theory {release}"
html_copy_source = False
# Sphinx would load MathJax from the network.
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
exclude_patterns = ["_build", "notebooks", "examples"]
myst_heading_anchors = 3
default_role = "code"
# Words of the types in docstrings are looked up as names; some words, such as size, name several things.
suppress_warnings = ["ref.python"]
# Docstrings give the types, in fewer words than the annotations.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False

#: Libraries that only some names need. Where one is missing, the names are documented all the same.
OPTIONAL = [name for name in ("torch", "PIL", "sklearn") if find_spec(name) is None]
autodoc_mock_imports = OPTIONAL
#: Packages with public names. All of them must be in the reference.
PACKAGES = (
    "kernels",
    "claims",
    "verify",
    "falsify",
    "studies",
    "conform",
    "worstcase",
    "testing",
    "figures",
    "cli",
    "bridge",
    "errors",
)
ROOT = Path(cflag_theory.__file__).parent
#: Pages outside docs/, and the pages that include them.
INCLUDED = {"../CONTRIBUTING.md": "contributing.md", "../benchmarks/RESULTS.md": "benchmarks.md"}

log = logging.getLogger(__name__)
documented: set[int] = set()


def public(package: str) -> dict[str, Any]:
    """The public names of a package with what they stand for: `__all__`, or else the classes."""
    with mock(OPTIONAL):
        module = import_module(f"cflag_theory.{package}")
        names = getattr(module, "__all__", None) or [name for name, one in vars(module).items() if inspect.isclass(one)]
        return {name: getattr(module, name) for name in names}


class Names(SphinxDirective):
    """`.. names:: PACKAGE` documents the public names in its content, from their docstrings."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        (package,) = self.arguments
        # `complete` wants every page of the reference in every build.
        self.env.note_reread()
        found, lines = public(package), []
        for name in " ".join(self.content).split():
            one = found[name]
            documented.add(id(one))
            place = f"cflag_theory.{package}.{name}"
            if inspect.isclass(one):
                lines += [f".. autoclass:: {place}", "   :members:", ""]
            elif callable(one):
                lines += [f".. autofunction:: {place}", ""]
            else:
                lines += [f".. py:data:: {place}", "", *(f"   {line}" for line in said(place, name)), ""]
        node = nodes.container()
        self.state.nested_parse(StringList(lines, f"names of {package}"), 0, node)
        return node.children


def said(place: str, name: str) -> list[str]:
    """The comment `#:` above the definition of a value, in the module that defines it."""
    for module in sorted(key for key in sys.modules if key.startswith("cflag_theory.")):
        if name in vars(sys.modules[module]):
            lines = list(ModuleAnalyzer.for_module(module).find_attr_docs().get(("", name), ()))
            if lines:
                escape(None, "data", place, None, None, lines)
                return lines
    log.warning("%s has no comment #: above its definition", place)
    return []


class Commands(SphinxDirective):
    """`.. commands::` prints the help of every command."""

    def run(self) -> list[nodes.Node]:
        from typer.main import get_command
        from typer.testing import CliRunner

        from cflag_theory.cli.main import app

        os.environ["COLUMNS"] = "100"
        sections: list[nodes.Node] = []
        for name in sorted(get_command(app).commands):  # type: ignore[attr-defined]
            words = CliRunner().invoke(app, [name, "--help"]).output
            title = nodes.title("", "", nodes.literal("", f"cflag {name}"))
            sections.append(nodes.section("", title, nodes.literal_block(words, words.strip()), ids=[f"cflag-{name}"]))
        return sections


class Ledger(SphinxDirective):
    """`.. ledger::` prints the pages of the claims, one section each."""

    def run(self) -> list[nodes.Node]:
        sections: list[nodes.Node] = []
        for path in sorted((ROOT / "claims").rglob("*.page")):
            name, text = path.relative_to(ROOT / "claims").as_posix(), path.read_text(encoding="utf-8")
            self.env.note_dependency(str(path))
            title = nodes.title("", "", nodes.literal("", name))
            sections.append(nodes.section("", title, nodes.literal_block(text, text), ids=[nodes.make_id(name)]))
        return sections


def escape(app: Sphinx | None, what: str, name: str, one: Any, options: Any, lines: list[str]) -> None:
    """Escape what only Sphinx takes for markup, such as |x| or x_: docstrings are plain text with `code`."""
    if not lines or not "".join(lines).strip():
        log.warning("%s has no docstring", name)
    literal = False
    for number, line in enumerate(lines):
        literal = (literal and not re.match(r"\S", line)) or (number > 0 and lines[number - 1].rstrip().endswith("::"))
        if not literal:
            pieces = re.split(r"(``.*?``|:\w+:`.*?`|`.*?`)", line)
            pieces[::2] = [re.sub(r"[|*]|(?<=\w)_(?!\w)", r"\\\g<0>", piece) for piece in pieces[::2]]
            lines[number] = "".join(pieces)


def foreign(app: Sphinx, what: str, name: str, one: Any, skip: bool, options: Any) -> bool | None:
    """Methods that a library adds to our classes, such as `set` of matplotlib's figures, are its own to document."""
    return True if not str(getattr(one, "__module__", None) or "cflag_theory").startswith("cflag_theory") else None


def link(app: Sphinx, page: str, source: list[str]) -> None:
    """Links that leave docs/ lead to the pages that include their files."""
    for outside, inside in INCLUDED.items():
        source[0] = source[0].replace(f"]({outside}", f"]({inside}")


def complete(app: Sphinx, env: Any) -> None:
    """A public name that no page documents is a warning, and so an error of the build."""
    for package in PACKAGES:
        missing = [name for name, one in public(package).items() if id(one) not in documented]
        if missing:
            log.warning("the reference lacks %s of cflag_theory.%s", ", ".join(missing), package)


def visit_math(self: Any, node: nodes.Node) -> None:
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    self.body.append(convert(node.astext(), display=display))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_directive("names", Names)
    app.add_directive("commands", Commands)
    app.add_directive("ledger", Ledger)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))
    # Before napoleon, which adds markup of its own.
    app.connect("autodoc-process-docstring", escape, priority=100)
    app.connect("autodoc-skip-member", foreign)
    app.connect("source-read", link)
    app.connect("env-check-consistency", complete)
