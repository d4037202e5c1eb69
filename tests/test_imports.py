"""Who may import whom, read from the source of every module."""

from __future__ import annotations

import ast
import configparser
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

import cflag_theory

PACKAGE = Path(cflag_theory.__file__).parent
ROOT = Path(__file__).parents[1]
MODULES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = ("claims", "kernels", "figures", "bridge", "falsify", "verify", "studies", "cli")


class Import(NamedTuple):
    """One imported module by its full name, and whether it is imported inside a function."""

    module: str
    inside: bool


def imports(source: str, path: Path) -> list[Import]:
    """All imports of a module of this package; relative ones by their full name."""
    package = ["cflag_theory", *path.relative_to(PACKAGE).parent.parts]
    found = []

    def walk(node: ast.AST, inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                found.extend(Import(alias.name, inside) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = package[: len(package) - child.level + 1] if child.level else []
                module = ".".join([*base, *([child.module] if child.module else [])])
                # `from package import name` may import a module of that name.
                found.append(Import(module, inside))
                found.extend(Import(f"{module}.{alias.name}", inside) for alias in child.names)
            walk(child, inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))

    walk(ast.parse(source), False)
    return found


def folder_of(module: str) -> str:
    """The folder of the package that a full name points into; empty for what lies outside of all."""
    parts = module.split(".")
    return parts[1] if parts[0] == "cflag_theory" and len(parts) > 1 and parts[1] in FOLDERS else ""


#: Which folders of the package each folder may import besides itself.
MAY_IMPORT = {
    "": set(),
    "claims": set(),
    "kernels": set(),
    "figures": set(),
    "bridge": {"kernels"},
    "falsify": {"claims", "kernels", "verify"},
    "verify": {"claims", "kernels", "falsify"},
    "studies": {"claims", "kernels", "figures", "bridge", "falsify", "verify", "cli"},
    "cli": set(FOLDERS),
}
#: Where each library may be imported.
HOMES = {
    "sympy": {"claims", "falsify", "verify", "studies", "cli"},
    "z3": {"claims"},
    "numba": {"kernels"},
    "llvmlite": {"kernels"},
    "scipy": {"kernels", "falsify", "verify", "studies"},
    "platformdirs": {"kernels"},
    "sklearn": {"kernels", "bridge"},
    "numpy": {"kernels", "figures", "bridge", "falsify", "verify", "studies", "cli"},
    "torch": {"bridge"},
    "torchvision": {"bridge"},
    "PIL": {"bridge"},
    "matplotlib": {"figures"},
    "typer": {"cli"},
    "rich": {"cli"},
    "jinja2": {"cli"},
    "joblib": {"verify", "studies"},
    "latex2mathml": {"cli"},
    "pyarrow": {"studies"},
    "distributed": {"studies"},
    "PEPit": {"verify"},
    "hypothesis": {"falsify"},
}
#: Libraries that are loaded only by who needs them.
ONLY_INSIDE_FUNCTIONS = {"sklearn", "pyarrow", "cupy", "PEPit", "dask", "distributed", "torchvision", "PIL"}
#: Not installed everywhere: a folder of its own loads it, and nobody loads that folder unasked.
OPTIONAL_FOLDERS = {"bridge": "torch"}
#: They run what a file says, or hide what a file holds.
FORBIDDEN = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve"}


def faults(source: str, path: Path) -> list[str]:
    """What is wrong with the imports of a module at this path."""
    folder = folder_of(".".join(["cflag_theory", *path.relative_to(PACKAGE).parts]).removesuffix(".py"))
    found = []
    for module, inside in imports(source, path):
        library, target = module.partition(".")[0], folder_of(module)
        if library == "cflag_theory":
            if target and target != folder and target not in MAY_IMPORT[folder]:
                found.append(f"{folder or 'the package'} imports {module}")
            elif target in OPTIONAL_FOLDERS and target != folder and not inside:
                found.append(f"{module} is imported outside of functions")
        elif library in FORBIDDEN:
            found.append(f"{module} is forbidden")
        elif library in ONLY_INSIDE_FUNCTIONS and not inside:
            found.append(f"{module} is imported outside of functions")
        elif library in HOMES and folder not in HOMES[library]:
            found.append(f"{folder or 'the package'} imports {module}")
        elif library not in HOMES and library not in sys.stdlib_module_names:
            found.append(f"{module} has no home: add it to setup.cfg and to this test")
    return found


def test_imports():
    found = {path: faults(path.read_text(encoding="utf-8"), path) for path in MODULES}
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("import cflag_theory.kernels", "claims/new.py"),
        ("from cflag_theory import kernels", "claims/c_flag/new.py"),
        ("from ...kernels import formulas", "claims/c_flag/new.py"),
        ("from .. import claims", "kernels/new.py"),
        ("from cflag_theory.verify import rate", "kernels/new.py"),
        ("from cflag_theory.claims.engine.claim import Claim", "figures/new.py"),
        ("from cflag_theory.verify.verdict import Verdict", "figures/new.py"),
        ("def f():\n    import cflag_theory.kernels.formulas", "claims/new.py"),
        ("if TYPE_CHECKING:\n    from cflag_theory.figures import save", "kernels/new.py"),
        ("from cflag_theory import verify", "__init__.py"),
        ("import z3", "verify/new.py"),
        ("import sympy.core", "kernels/new.py"),
        ("from matplotlib import pyplot", "verify/new.py"),
        ("import numpy as np", "claims/new.py"),
        ("from sklearn.datasets import load_digits", "kernels/new.py"),
        ("def f():\n    from sklearn.datasets import load_digits", "verify/new.py"),
        ("def f():\n    import pickle", "kernels/new.py"),
        ("from joblib import dump", "kernels/new.py"),
        ("import torch", "kernels/new.py"),
        ("def f():\n    import torch", "verify/new.py"),
        ("from cflag_theory.bridge.measures.metrics import average_accuracy", "verify/new.py"),
        ("def f():\n    from cflag_theory import bridge", "kernels/new.py"),
        ("from cflag_theory.verify import rate", "bridge/new.py"),
        ("from torchvision import models", "bridge/new.py"),
        ("import pickle", "bridge/new.py"),
        ("import unheard_of", "verify/new.py"),
    ],
)
def test_a_forbidden_import_is_seen(source, place):
    assert faults(source, PACKAGE / place) != []


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("from cflag_theory.errors import InvalidInput", "kernels/new.py"),
        ("from . import formulas", "kernels/new.py"),
        ("from .c_flag import drift\nfrom cflag_theory.claims import rules", "claims/new.py"),
        ("from cflag_theory import claims, kernels, figures", "studies/new.py"),
        ("def f():\n    from sklearn.datasets import load_digits", "kernels/new.py"),
        ("import sympy, numpy, json", "verify/new.py"),
        ("import torch\nfrom cflag_theory.kernels import formulas", "bridge/new.py"),
        ("def f():\n    from cflag_theory.bridge.measures.metrics import average_accuracy", "studies/new.py"),
    ],
)
def test_an_allowed_import_is_allowed(source, place):
    assert faults(source, PACKAGE / place) == []


def test_files_are_loaded_without_pickles():
    """numpy reads pickles only where it is told to; every load says that it must not."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            options = {keyword.arg: keyword.value for keyword in node.keywords}
            if ast.unparse(node.func) in ("np.load", "numpy.load"):
                assert "allow_pickle" in options, path
            if "allow_pickle" in options:
                assert ast.unparse(options["allow_pickle"]) == "False", path


DISTRIBUTIONS = {"z3": "z3-solver", "sklearn": "scikit-learn", "PEPit": "pepit", "PIL": "pillow"}


def test_every_library_is_declared_and_every_declared_library_is_imported():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")

    def names(words):
        return {re.match(r"[A-Za-z0-9_-]+", line).group() for line in words.split("\n") if line.strip()}

    required = names(setup["options"]["install_requires"])
    imported, optional = set(), set()
    for path in MODULES:
        for module, _ in imports(path.read_text(encoding="utf-8"), path):
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
