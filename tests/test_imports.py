"""Who may import whom: what import-linter checks by the contracts in pyproject.toml, and what it cannot say."""

from __future__ import annotations

import ast
import configparser
import re
import shutil
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

import cflag_theory

PACKAGE = Path(cflag_theory.__file__).parent
ROOT = Path(__file__).parents[1]
FOLDERS = ("claims", "kernels", "figures", "bridge", "falsify", "verify", "studies", "conform", "testing", "cli")


class Import(NamedTuple):
    """One imported module by its full name, who imports it, and whether inside a function."""

    path: Path
    module: str
    inside: bool


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def imports() -> list[Import]:
    """All imports of the package; relative ones by their full name."""
    found = []

    def walk(node: ast.AST, path: Path, package: list[str], inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            # No expression has an import in it, and most of a tree is expressions.
            if isinstance(child, ast.expr):
                continue
            if isinstance(child, ast.Import):
                found.extend(Import(path, alias.name, inside) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = package[: len(package) - child.level + 1] if child.level else []
                module = ".".join([*base, *([child.module] if child.module else [])])
                # `from package import name` may import a module of that name.
                found.append(Import(path, module, inside))
                found.extend(Import(path, f"{module}.{alias.name}", inside) for alias in child.names)
            walk(child, path, package, inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))

    for path, tree in trees().items():
        walk(tree, path, ["cflag_theory", *path.relative_to(PACKAGE).parent.parts], False)
    return found


#: Libraries that are loaded only by who needs them.
ONLY_INSIDE_FUNCTIONS = {"sklearn", "pyarrow", "distributed", "PIL", "pandas"}
#: Not installed everywhere: a folder of its own loads it, and nobody loads that folder unasked.
OPTIONAL_FOLDERS = {"bridge": "torch", "pytest_plugin": "pytest"}


def test_optional_libraries_are_imported_inside_functions():
    found = set()
    for path, module, inside in imports():
        library, folder = [*module.split("."), ""][:2]
        unasked = folder in OPTIONAL_FOLDERS and not path.is_relative_to(PACKAGE / folder)
        if library in ONLY_INSIDE_FUNCTIONS or (library == "cflag_theory" and unasked):
            found.add(library)
            assert inside, f"{path}: {module}"
    assert found == {*ONLY_INSIDE_FUNCTIONS, "cflag_theory"}


def lint_imports(folder):
    """What import-linter says of the package in a folder, by its settings in pyproject.toml there."""
    pytest.importorskip("importlinter")
    code = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder)


def test_folders_import_whom_they_may():
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


FORBIDDEN = [
    ("claims", "import cflag_theory.kernels.formulas"),
    ("claims", "import numpy as np"),
    ("claims", "def f():\n    import cflag_theory.kernels.formulas"),
    ("claims/c_flag", "from ...kernels import formulas"),
    ("kernels", "from .. import claims"),
    ("kernels", "if TYPE_CHECKING:\n    from cflag_theory.figures import style"),
    ("kernels/cfl", "def f():\n    from cflag_theory import bridge"),
    ("kernels", "import sympy.core"),
    ("kernels", "def f():\n    import pickle"),
    ("figures", "from cflag_theory.verify.verdict import Verdict"),
    ("bridge", "from cflag_theory.verify import verify"),
    ("verify", "import z3"),
    ("verify", "def f():\n    import torch"),
    ("verify", "from matplotlib import pyplot"),
    ("verify", "def f():\n    from cflag_theory.bridge.measures.metrics import average_accuracy"),
    ("studies", "from cflag_theory.cli.commands import sweep"),
    ("studies", "def f():\n    from cflag_theory import figures"),
    (".", "def f():\n    from cflag_theory import verify"),
]
ALLOWED = [
    ("kernels", "from cflag_theory.errors import InvalidInput\nfrom . import formulas"),
    ("claims", "from .c_flag import drift\nfrom cflag_theory.claims.engine import claim"),
    ("studies", "from cflag_theory import claims, kernels, verify"),
    ("bridge", "import torch\nfrom cflag_theory.kernels import formulas"),
    ("verify", "import sympy, json\nfrom cflag_theory.claims import ledger"),
]


def test_forbidden_imports_are_seen(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "cflag_theory", ignore=shutil.ignore_patterns("__pycache__", "*.json"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for kind, plants in (("forbidden", FORBIDDEN), ("allowed", ALLOWED)):
        for number, (folder, source) in enumerate(plants):
            (tmp_path / "cflag_theory" / folder / f"{kind}_{number}.py").write_text(source, encoding="utf-8")
    done = lint_imports(tmp_path)
    assert done.returncode == 1
    seen = {int(number) for number in re.findall(r"\.forbidden_(\d+)\b", done.stdout)}
    assert seen == set(range(len(FORBIDDEN))), done.stdout
    assert ".allowed_" not in done.stdout


def test_no_modules_import_each_other_in_a_circle():
    """Packages stay out: what their `__init__` offers by name is loaded when it is used."""
    grimp = pytest.importorskip("grimp")
    graph = grimp.build_graph("cflag_theory", cache_dir=None)
    modules = {module for module in graph.modules if not graph.find_children(module)}
    arrows = {module: graph.find_modules_directly_imported_by(module) & modules for module in modules}
    TopologicalSorter(arrows).prepare()
    # The ledger imports the errors; the other way round as well is a circle.
    with pytest.raises(CycleError):
        TopologicalSorter({**arrows, "cflag_theory.errors": {"cflag_theory.claims.ledger"}}).prepare()


def test_files_are_loaded_without_pickles():
    """numpy reads pickles only where it is told to; every load says that it must not."""
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            options = {keyword.arg: keyword.value for keyword in node.keywords}
            if ast.unparse(node.func) in ("np.load", "numpy.load"):
                assert "allow_pickle" in options, path
            if "allow_pickle" in options:
                assert ast.unparse(options["allow_pickle"]) == "False", path


DISTRIBUTIONS = {"z3": "z3-solver", "sklearn": "scikit-learn", "PIL": "pillow"}


def test_every_library_is_declared_and_every_declared_library_is_imported():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")

    def names(words):
        return {re.match(r"[A-Za-z0-9_-]+", line).group() for line in words.split("\n") if line.strip()}

    required = names(setup["options"]["install_requires"])
    imported, optional = set(), set()
    for _, module, _ in imports():
        library = module.partition(".")[0]
        if library not in sys.stdlib_module_names and library != "cflag_theory":
            spared = library in ONLY_INSIDE_FUNCTIONS or library in OPTIONAL_FOLDERS.values()
            kind = optional if spared else imported
            kind.add(DISTRIBUTIONS.get(library, library))
    assert imported == required
    extras = {name: names(words) for name, words in setup["options.extras_require"].items()}
    assert optional <= set().union(*extras.values())
    assert extras["digits"] == {"scikit-learn"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_lazy_name_is_never_hidden_by_a_module_of_that_name(folder):
    """`from package import name` finds a submodule once it is loaded, whatever `__getattr__` says."""
    package = import_module(f"cflag_theory.{folder}")
    submodules = {path.stem for path in (PACKAGE / folder).glob("*.py")} | {
        path.name for path in (PACKAGE / folder).iterdir() if path.is_dir()
    }
    assert not submodules & set(package.__all__)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_lazy_name_loads(folder):
    if folder in OPTIONAL_FOLDERS:
        pytest.importorskip(OPTIONAL_FOLDERS[folder])
    package = import_module(f"cflag_theory.{folder}")
    assert len(set(package.__all__)) == len(package.__all__) > 0
    for name in package.__all__:
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="nosuch"):
        package.nosuch  # noqa: B018
