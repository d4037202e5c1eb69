"""Plain loops against generated ones, which another version of Numba or LLVM does not get."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from cflag_theory.errors import UnknownName
from cflag_theory.kernels import everything, random_glm, random_quadratic, random_separable, simulate, to_exact, uniform
from cflag_theory.kernels.engines.codegen.kinds import Later, Lined, Number, Read, Write, formula_of
from cflag_theory.kernels.engines.codegen.plain_loops import loop_text
from cflag_theory.kernels.engines.codegen.versions import KNOWN, REASON, plain_because
from cflag_theory.kernels.problems.glm import glm

HERE = Path(__file__).parent
DOCS = HERE.parents[2] / "docs"
KEPT = {"beta": 0.01, "local_steps": 7, "rounds": 20, "replicas": 11, "seed": 1, "iterates": True}
MEMORY = {"alpha": 0.1, "memory": uniform(3)}


def small_integers():
    """A problem whose first rounds a float64 computes without rounding, in whatever order it sums."""
    numbers = np.random.default_rng(0).integers(-1, 2, (2, 8, 19))
    clients = np.repeat([0, 1], 4)
    return glm(numbers[0], range(8), clients, numbers[1], range(8), clients, potential="quadratic")


def without_rounding(engine="compiled", mode="bitwise"):
    problem = small_integers() if engine == "compiled" else to_exact(small_integers())
    quarter = 0.25 if engine == "compiled" else Fraction(1, 4)
    return simulate(
        problem, "c_flag", alpha=quarter, beta=quarter, local_steps=3, rounds=2, replicas=5, memory=everything(),
        iterates=True, engine=engine, mode=mode,
    ).iterates  # fmt: skip


def runs():
    """Iterates by name: every kind of local step, alone and together."""
    glm_19, sums = random_glm(clients=3, components=13, dimension=19), random_quadratic(clients=2, dimension=11)
    waves = random_separable(clients=2, dimension=9)
    asked = {
        "delayed": (glm_19, "c_flag", MEMORY),
        "delayed, together": (glm_19, "c_flag", MEMORY | {"mode": "fast"}),
        "delayed, errors": (glm_19, "c_flag", MEMORY | {"diagnostics": "all"}),
        "stochastic": (glm_19, "scaffold", {}),
        "full, together": (glm_19, "local_gd", {"mode": "fast"}),
        "several rows": (sums, "c_flag", MEMORY),
        "elementwise": (waves, "c_flag", MEMORY),
    }
    found = {name: simulate(problem, row, **(KEPT | own)).iterates for name, (problem, row, own) in asked.items()}
    return found | {f"exact, {mode}": without_rounding(mode=mode) for mode in ("bitwise", "fast")}


def plainly(*arguments):
    """Run Python with plain loops."""
    environment = os.environ | {"CFLAG_LOOPS": "plain"}
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments], cwd=HERE, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


needs_both = pytest.mark.skipif(bool(REASON), reason=f"no generated loops to compare with: {REASON}")


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """(generated, plain) iterates by name."""
    file = tmp_path_factory.mktemp("plain") / "runs.npz"
    plainly("-c", f"import numpy, test_plain_loops as t; assert t.REASON; numpy.savez({str(file)!r}, **t.runs())")
    with np.load(file) as plain:
        return {name: (found, plain[name]) for name, found in runs().items()}


@pytest.mark.full
@needs_both
def test_runs_agree_but_for_rounding(both):
    """To 64 ulps of the largest entry: only sums differ, by a few ulps a round, and such steps do not blow them up."""
    for name, (generated, plain) in both.items():
        assert generated.shape == plain.shape
        assert np.abs(generated[:, -1] - generated[:, 0]).max() > 1e-3, name
        assert np.abs(generated - plain).max() <= 64 * np.finfo(float).eps * np.abs(plain).max(), name


@pytest.mark.full
@needs_both
@pytest.mark.parametrize("mode", ["bitwise", "fast"])
def test_runs_without_rounding_agree_to_the_last_bit(mode, both):
    generated, plain = both[f"exact, {mode}"]
    exact = without_rounding("reference")
    assert (generated == exact.astype(float)).all()
    assert (plain == generated).all()


@pytest.mark.full
@needs_both
def test_plain_loops_pass_the_tests_of_generated_ones():
    chosen = ("-m", "", "-k", "not narrow")
    printed = plainly("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "test_matrix_tiles.py", *chosen)
    assert " passed" in printed
    assert "failed" not in printed
    assert "skipped" not in printed


@needs_both
def test_the_worked_example_is_what_the_generator_writes(capsys):
    runpy.run_path(str(DOCS / "examples" / "two_by_two.py"))
    printed = capsys.readouterr().out
    assert printed.startswith("z = [17. 39.]\n")
    assert printed in (DOCS / "kernels.md").read_text(encoding="utf-8")


def test_known_versions_get_generated_loops():
    assert plain_because("", KNOWN) == ""
    assert plain_because("generated", ((9, 0), 99)) == ""


@pytest.mark.parametrize("found", [((0, 69), KNOWN[1]), (KNOWN[0], KNOWN[1] + 1)])
def test_other_versions_get_plain_loops_and_a_reason(found):
    reason = plain_because("", found)
    assert f"Numba 0.{found[0][1]} with LLVM {found[1]}" in reason
    assert f"Numba 0.{KNOWN[0][1]} with LLVM {KNOWN[1]} alone" in reason


def test_the_environment_decides():
    assert "CFLAG_LOOPS" in plain_because("plain", KNOWN)
    with pytest.raises(UnknownName, match="generated, plain"):
        plain_because("fast", KNOWN)


def test_the_text_of_a_plain_loop():
    def move(V: Read, later: Later, D: Write, beta: Number) -> Lined:
        return D - beta * V, V * D

    assert loop_text(formula_of(move)) == (
        "def move(V, V_row, later, later_row, D, D_row, beta, lines, lines_row):\n"
        "    number = V.dtype.type\n"
        "    beta = number(beta)\n"
        "    total = number(0)\n"
        "    for column in range(V.shape[1]):\n"
        "        new_D, term = body(V[V_row, column], None, D[D_row, column], beta)\n"
        "        D[D_row, column] = new_D\n"
        "        total += number(term)\n"
        "    lines[lines_row, 0] = total\n"
    )
