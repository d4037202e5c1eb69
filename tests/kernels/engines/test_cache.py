"""The compilation cache and the lazy package, each looked at from a fresh process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cflag_theory
from cflag_theory import kernels

PACKAGE = Path(cflag_theory.__file__).parent
DOT = """
import numpy as np
from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines import components
from cflag_theory.kernels.engines.codegen import cache
@cache.compiled
def slope(z):
    return formulas.slope(formulas.QUADRATIC, z)
print(slope(3.0), int(sum(slope.stats.cache_hits.values())))
"""


def run_copy(root, code, **environment):
    env = {**os.environ, "PYTHONPATH": str(root), **environment}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=root, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def copied(tmp_path):
    (tmp_path / "cflag_theory").mkdir()
    for path in PACKAGE.glob("*.py"):
        shutil.copy(path, tmp_path / "cflag_theory")
    shutil.copytree(
        PACKAGE / "kernels", tmp_path / "cflag_theory" / "kernels", ignore=shutil.ignore_patterns("__pycache__")
    )
    # Numba stamps the file that defines the compiled function; this one never changes.
    (tmp_path / "probe.py").write_text(DOT)
    return tmp_path


def test_an_edited_formula_is_compiled_anew(copied):
    folder = copied / "cache"
    assert run_copy(copied, "import probe", NUMBA_CACHE_DIR=str(folder)) == ["3.0", "0"]
    assert run_copy(copied, "import probe", NUMBA_CACHE_DIR=str(folder)) == ["3.0", "1"]
    formulas = copied / "cflag_theory" / "kernels" / "formulas.py"
    text = formulas.read_text()
    old = "        return z / abs(z)\n    return z\n"
    assert old in text
    formulas.write_text(text.replace(old, old.replace("return z\n", "return 2 * z\n")))
    assert run_copy(copied, "import probe", NUMBA_CACHE_DIR=str(folder)) == ["6.0", "0"]
    assert len(list(folder.iterdir())) == 2


def test_the_users_cache_folder_is_the_default(copied):
    home = copied / "home"
    environment = {"XDG_CACHE_HOME": str(home), "NUMBA_CACHE_DIR": ""}
    code = "from cflag_theory.kernels.engines.codegen import cache; print(cache.cache_folder())"
    (folder,) = run_copy(copied, code, **environment)
    assert (
        Path(folder).name
        == run_copy(copied, "from cflag_theory.kernels.engines.codegen.cache import *; print(source_hash())")[0]
    )
    assert "cflag-theory" in folder


TWICE = """
import subprocess, sys
import probe
subprocess.run([sys.executable, "-c", "import probe"], check=True)
"""


def started(root, code, **environment):
    env = {**os.environ, "PYTHONPATH": str(root), **environment}
    return subprocess.run([sys.executable, "-c", code], cwd=root, env=env, capture_output=True, text=True, check=False)


def test_where_others_may_write_a_private_folder_is_used_and_removed(copied, tmp_path):
    shared, temporary = tmp_path / "shared", tmp_path / "tmp"
    for folder in (shared, temporary):
        folder.mkdir()
    shared.chmod(0o777)
    done = started(copied, TWICE, NUMBA_CACHE_DIR=str(shared / "below"), TMPDIR=str(temporary))
    # The process that this one starts loads what it has compiled, and says nothing more.
    assert sorted(done.stdout.splitlines()) == ["3.0 0", "3.0 1"]
    (line,) = done.stderr.splitlines()
    assert f"others may write to {shared}" in line
    assert "set NUMBA_CACHE_DIR to a folder of your own" in line
    assert list(temporary.iterdir()) == []


def test_the_cache_folder_is_the_users_alone_whatever_the_umask(copied):
    started(copied, "import os; os.umask(0); import probe", NUMBA_CACHE_DIR=str(copied / "cache"))
    (folder,) = (copied / "cache").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_uncompiled_loops_are_refused_in_one_sentence(copied):
    done = started(copied, "import probe", NUMBA_DISABLE_JIT="1")
    assert "NUMBA_DISABLE_JIT is set" in done.stderr.splitlines()[-1]


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, cflag_theory.kernels; print(*sorted({'numpy', 'numba', 'scipy', 'sympy'} & set(sys.modules)))"
    assert run_copy(PACKAGE.parent, code) == []


def test_the_reference_does_not_need_numba():
    code = "import sys; from cflag_theory.kernels import simulate; print('numba' in sys.modules)"
    assert run_copy(PACKAGE.parent, code) == ["False"]


def test_every_public_name_is_there():
    modules = {path.stem for path in (PACKAGE / "kernels").glob("*.py")}
    for name in kernels.__all__:
        assert getattr(kernels, name) is not None
        # A module of the same name would replace the function once it is imported.
        assert name not in modules
    assert set(kernels.__all__) <= set(dir(kernels))
    assert sorted(name for name in dir(kernels) if name in kernels.__all__) == sorted(set(kernels.__all__))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = kernels.nothing
