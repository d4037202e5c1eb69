"""The repository itself: its shape, its links, and commands that are printed in one place only."""

from __future__ import annotations

import ast
import configparser
import os
import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path

import pytest
from typer.main import get_command

import cflag_theory
from cflag_theory import claims
from cflag_theory.claims.ledger import LEDGER, PLACES
from cflag_theory.cli.main import app
from cflag_theory.verify.checks import CHECKS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "cflag_theory"
FOLDERS = (
    "claims",
    "kernels",
    "figures",
    "bridge",
    "falsify",
    "worstcase",
    "verify",
    "studies",
    "conform",
    "testing",
    "cli",
    "outside",
)
SOURCES = sorted(path for folder in (PACKAGE, ROOT / "tests", ROOT / "benchmarks") for path in folder.rglob("*.py"))
TEST_COMMAND = "pip install -c constraints.txt -e '.[test]' && pytest"


@pytest.fixture(scope="module")
def setup():
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def lines(words):
    return [line.strip() for line in words.split("\n") if line.strip()]


def test_the_tests_run_on_this_repository():
    assert Path(cflag_theory.__file__).parent == PACKAGE


def test_every_claim_has_exactly_one_check():
    assert list(CHECKS) == list(dict.fromkeys(CHECKS))
    assert set(CHECKS) == set(LEDGER)


def test_checks_stand_beside_their_pages():
    """A claim stands on one page, and its check in a module of `verify.checks` named like the page's folder."""
    homes = {}
    for page in (PACKAGE / "claims").rglob("*.page"):
        name = ".".join(page.relative_to(PACKAGE / "claims").with_suffix("").parts)
        for id in import_module(f"{claims.__name__}.{name}").CLAIMS:
            assert homes.setdefault(id, name) == name
    assert homes == PLACES
    found = []
    for path in (PACKAGE / "verify/checks").glob("*/*.py"):
        ids = getattr(import_module(f"cflag_theory.verify.checks.{path.parent.name}.{path.stem}"), "CHECKS", {})
        found += ids
        places = [PLACES[id].split(".") for id in ids]
        assert all(path.parent.name == paper and path.stem.startswith(folder) for paper, folder, *_ in places), path
    assert len(found) == len(set(found))


def test_no_module_is_longer_than_400_lines():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {path: length for path, length in lengths.items() if length > 400} == {}


#: These write to folders that are gone when they end, for Coq, and the details of an error that nobody foresaw.
WRITERS = ("files.py", "verify/coq.py", "verify/theory.py", "cli/edge.py")


def test_whatever_is_stored_is_written_in_one_place():
    """There a file is whole or not at all, and never follows a link."""
    write = re.compile(r"\.write_(text|bytes)\(|\bopen\([^)]*[\"'][wax+]|np\.save\w*\((?!file\b)|os\.rename|\.rename\(")
    others = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).as_posix() not in WRITERS]
    assert [str(path) for path in others if write.search(path.read_text(encoding="utf-8"))] == []
    assert write.search("path.write_text('x')")


def asserts(function):
    """Whether a function says what it expects: an assertion, or an error or warning that must come."""
    words = ("raises", "warns", "fail", "assert_")
    return any(
        isinstance(node, ast.Assert) or (isinstance(node, ast.Attribute) and node.attr.startswith(words))
        for node in ast.walk(function)
    )


def test_every_test_asserts():
    for path in (ROOT / "tests").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for name, function in functions.items():
            if name.startswith("test_"):
                calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
                called = {functions.get(getattr(call, "id", ""), function) for call in calls}
                assert any(map(asserts, {function, *called})), f"{path}: {name}"


@pytest.mark.parametrize("name", ["kernels", "verify", "figures", "proofs"])
def test_folders_at_the_top_are_links_into_the_package(name):
    link = ROOT / name
    assert link.is_symlink()
    assert link.readlink() == Path("cflag_theory") / name
    assert link.resolve() == PACKAGE / name


def candidates(root):
    """Every folder that setuptools could take for a package, as it names them."""
    for marker in sorted(root.glob("*/__init__.py")):
        yield marker.parent.name
        for inner in sorted(marker.parent.rglob("__init__.py")):
            if inner != marker:
                yield ".".join(inner.parent.relative_to(root).parts)


def test_only_the_package_is_installed(setup):
    """Names such as `kernels` belong to others."""
    assert setup["options"]["packages"] == "find:"
    include = lines(setup["options.packages.find"]["include"])
    found = {name for name in candidates(ROOT) if any(fnmatch(name, pattern) for pattern in include)}
    assert "kernels" in set(candidates(ROOT)) - found
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert found == {".".join(folder.relative_to(ROOT).parts) for folder in folders}


def test_setuptools_finds_the_same():
    """Its own word, where it is installed."""
    code = (
        "import setuptools.config.setupcfg as c, json;"
        "print(json.dumps(c.read_configuration('setup.cfg')['options']['packages']))"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, cwd=ROOT)
    if "No module named 'setuptools'" in done.stderr:
        pytest.skip("setuptools is not installed here")
    found = re.findall(r"[\w.]+", done.stdout)
    assert {"cflag_theory", "cflag_theory.verify.checks.c_flag"} <= set(found)
    assert all(name.partition(".")[0] == "cflag_theory" for name in found)


@pytest.mark.full
def test_wheels_of_equal_sources_are_equal(tmp_path):
    pytest.importorskip("setuptools", minversion="70.1")
    wheels = []
    for name, rights in (("one", 0o644), ("two", 0o600)):
        folder = shutil.copytree(
            PACKAGE, tmp_path / name / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__")
        ).parent
        for file in ("setup.py", "setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / file, folder)
        for place, path in enumerate(path for path in folder.rglob("*") if path.is_file()):
            path.chmod(rights)
            os.utime(path, (1e9 + place, 1e9 + rights))
        build = "import sys; from setuptools.build_meta import build_wheel; print(build_wheel(sys.argv[1]))"
        subprocess.run([sys.executable, "-c", build, tmp_path / name], cwd=folder, capture_output=True, check=True)
        (wheel,) = (tmp_path / name).glob("*.whl")
        wheels.append(wheel.read_bytes())
    assert wheels[0] == wheels[1]


def test_data_files_exist(setup):
    for package, patterns in setup["options.package_data"].items():
        for pattern in lines(patterns):
            assert list(ROOT.joinpath(*package.split(".")).glob(pattern)), f"{package}: {pattern}"
    for name in (setup["metadata"]["license_files"], setup["metadata"]["long_description"].removeprefix("file: ")):
        assert (ROOT / name).is_file()


def test_the_entry_point_and_the_version(setup):
    name, _, target = setup["options.entry_points"]["console_scripts"].strip().partition(" = ")
    module, _, function = target.partition(":")
    assert name == "cflag"
    assert callable(getattr(import_module(module), function))
    assert setup["metadata"]["version"] == cflag_theory.__version__


def test_every_requirement_is_pinned(setup):
    pinned = dict(
        line.split("==")
        for line in lines((ROOT / "constraints.txt").read_text(encoding="utf-8"))
        if not line.startswith("#")
    )
    wanted = lines(setup["options"]["install_requires"])
    wanted += [line for words in setup["options.extras_require"].values() for line in lines(words)]
    for line in (line for line in wanted if not line.startswith("#")):
        name, sign, bound = re.fullmatch(r"([\w.-]+)(?:\[[^]]*\])?(?:(>=|<)(\S+))?", line).groups()
        if name == setup["metadata"]["name"]:
            continue
        assert name in pinned, name

        def number(version):
            return tuple(int(part) for part in re.findall(r"\d+", version))

        assert sign is None or (number(pinned[name]) >= number(bound)) == (sign == ">="), line


def test_the_test_command_is_printed_once_and_ci_runs_it():
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert readme.count(TEST_COMMAND) == 1
    assert sum("&& pytest" in line for line in readme) == 1
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    # Taken from the README and not written out once more, so that the two cannot differ.
    assert "README.md" in script
    assert TEST_COMMAND not in script
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    # What the script looks for there finds this line and no other.
    pattern = re.search(r'grep -E "([^"]+)" README\.md', script).group(1)
    assert [line for line in readme if re.search(pattern, line)] == [TEST_COMMAND]
    for tool in ("pytest -m 'full or extra'", "ruff check", "ruff format --check", "mypy", "lint-imports", "sphinx -W"):
        assert tool in script


@pytest.mark.extra
def test_linters_see_every_file():
    """An exclusion by a bare name such as `kernels` would hide the real folder along with its link."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        tools = tomllib.load(file)["tool"]
    assert tools["mypy"]["strict"] is True
    assert tools["pytest"]["ini_options"]["filterwarnings"] == ["error"]
    beside = Path(sys.executable).with_name("ruff")
    ruff = str(beside) if beside.exists() else shutil.which("ruff")
    if ruff is None:
        pytest.skip("ruff is not installed here")
    command = [ruff, "check", "--show-files", "--no-cache", "."]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    shown = {Path(line) for line in done.stdout.splitlines()}
    assert set(SOURCES) <= shown
    assert not any(path.is_relative_to(ROOT / name) for path in shown for name in ("kernels", "verify", "figures"))


def test_tests_mirror_the_folders():
    inside = {
        path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and not path.name.startswith((".", "_"))
    }
    assert inside == {*FOLDERS, "outside", "helpers", "proofs", "benchmarks", "campaign"}
    # Without packages in tests/, pytest needs names that occur once.
    names = [path.name for path in SOURCES if path.is_relative_to(ROOT / "tests") and path.name != "conftest.py"]
    assert len(names) == len(set(names))


def test_the_package_says_nothing_unfinished():
    # In pieces, so that this file does not find itself.
    words = "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX", "/wo" + "rk/", "NotImplemented" + "Error"))
    for path in SOURCES:
        found = re.search(rf"\b({words})\b|/wo" + "rk/", path.read_text(encoding="utf-8"))
        assert found is None, f"{path}: {found}"


def test_what_the_forge_reads_is_in_step():
    """Hooks, workflow, issue forms and citation are YAML, with the tools, commands and version of this repository."""
    yaml = pytest.importorskip("yaml")

    def read(name):
        return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))

    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for hook in read(".pre-commit-config.yaml")["repos"][0]["hooks"]:
        assert hook["entry"].removesuffix(" --force-exclude") in script
    install, _, _ = TEST_COMMAND.partition(" && ")
    for name, job in read(".github/workflows/tests.yml")["jobs"].items():
        commands = [step["run"] for step in job["steps"] if "run" in step]
        assert install in commands or ".ci/run" in commands, name
        for path in re.findall(r"\btests/\S+", "\n".join(commands)):
            assert (ROOT / path).exists(), path
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[0-9]*.yml"))
    assert read(forms[0])["name"] == "I think a verdict is wrong"
    for form in forms:
        fields = [field["id"] for field in read(form)["body"]]
        assert len(set(fields)) == len(fields) >= 3
    citation = read("CITATION.cff")
    assert citation["version"] == cflag_theory.__version__
    assert len(citation["references"]) == 2


DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("[bt]*s/*.md")]


def test_documents_name_files_that_exist():
    """Every link leads to a file of the repository, and every path in code font is one, or a pattern that fits one."""
    assert len(DOCUMENTS) > 10
    roots = (ROOT, PACKAGE, ROOT / "tests")
    folders = {path.name for root in roots for path in root.iterdir() if path.is_dir()}
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", re.sub(r"(?s)```.*?```", "", text)):
            assert document.parent.joinpath(target).exists(), f"{document}: {target}"
        for name in re.findall(r"`([\w.-]+/[\w./*-]*)`", text):
            if name.partition("/")[0] in folders:
                assert any(any(root.glob(name.rstrip("/"))) for root in roots), f"{document}: {name}"


def test_documents_print_commands_that_exist():
    commands = get_command(app).commands
    found = set()
    for document in DOCUMENTS:
        for line in re.findall(r"(?m)(?:`|^)cflag ([^`\n]+)", document.read_text(encoding="utf-8")):
            words = re.findall(r"--[a-z][\w-]*|[\w.-]+", line)
            options = {"--help"}
            if words[0] != "--help":
                found.add(words[0])
                options |= {name for option in commands[words[0]].params for name in option.opts}
            assert {word for word in words if word.startswith("--")} <= options, f"{document}: cflag {line}"
    assert found == set(commands)
