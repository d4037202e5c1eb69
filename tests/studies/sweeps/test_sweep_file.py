"""A sweep's file is understood or refused with one sentence and the right line; formulas are numbers."""

from __future__ import annotations

import math
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cflag_theory.errors import DataError, InvalidInput
from cflag_theory.reading import line_of
from cflag_theory.studies.sweeps import file as sweep_file
from cflag_theory.studies.sweeps.check import plan_sweep
from cflag_theory.studies.sweeps.file import read_sweep_file
from cflag_theory.studies.sweeps.keys import Law

GOOD = """\
record = ["grad_f2"]
every = 4

[problem]
name = "default"
seed = 0

[memory]
kind = "sign"
m = [0, 0.25]

[algorithm]
name = "c_flag"
alpha = "1/(L*(1 + m))"

[run]
beta = [
  "c/sqrt(T)",
  0.01,
]
c = 0.05
E = 10
T = [16, 64]
seed = {first = 3, count = 2}
replicas = 2
"""


@pytest.fixture
def read(tmp_path):
    """The plan of a text as a file."""

    def call(text):
        path = tmp_path / "study.toml"
        path.write_text(text, encoding="utf-8")
        return plan_sweep(read_sweep_file(path))

    return call


def test_a_grid_is_every_combination_with_the_problem_slowest(read):
    plan = read(GOOD)
    points = list(plan.grid.points())
    assert len(points) == len(plan.grid) == 2 * 2 * 2 * 2
    assert plan.rows == 32
    assert [point.index for point in points] == list(range(16))
    seen = [(p.memory["m"], p.run["beta"], p.run["T"], p.run["seed"]) for p in points]
    assert seen == [(m, b, T, s) for m in (0, 0.25) for b in ("c/sqrt(T)", 0.01) for T in (16, 64) for s in (3, 4)]
    assert {(p.run["E"], p.run["c"], p.run["replicas"], p.algorithm["name"]) for p in points} == {
        (10, 0.05, 2, "c_flag")
    }
    assert "participants" not in points[0].run
    assert sum(chunk.rows for chunk in plan.chunks) == plan.rows
    assert [chunk.start for chunk in plan.chunks[1:]] == [chunk.stop for chunk in plan.chunks[:-1]]


def test_tables_in_double_brackets_come_one_after_the_other_and_rows_may_have_step_sizes_of_their_own(read):
    text = GOOD.replace("[algorithm]", "[[algorithm]]") + '[[algorithm]]\nname = ["fedavg", "scaffold"]\nbeta = 0.5\n'
    points = list(read(text.replace("c = 0.05\n", "").replace("c/sqrt(T)", "1/sqrt(T)")).grid.points())
    assert [p.algorithm["name"] for p in points[:16]] == ["c_flag"] * 16
    assert {(p.algorithm["name"], p.run["alpha"], p.run["beta"]) for p in points[16:]} == {
        ("fedavg", 0, 0.5),
        ("scaffold", 0, 0.5),
    }
    assert len(points) == 16 + 2 * 2 * 2 * 2


def test_the_example_in_the_documentation_is_a_good_file(read):
    example = sweep_file.__doc__.partition("A complete file:")[2]
    plan = read("\n".join(line.removeprefix("    ") for line in example.splitlines()))
    assert len(plan.grid) == 2 * (1 + 2) * 2 * 3 * 4


def test_a_grid_of_many_runs_is_not_written_out(read):
    plan = read(GOOD.replace("count = 2", "count = 2000").replace("replicas = 2", "replicas = 1"))
    assert len(plan.grid) == 16000
    assert plan.grid.point(15999).run["seed"] == 2002
    assert max(chunk.stop - chunk.start for chunk in plan.chunks) <= 1000


def test_the_identity_is_that_of_the_runs_and_not_of_the_words(read):
    one = read(GOOD).identity
    assert read("# a remark\n" + GOOD.replace("[3, 4]", "{first = 3, count = 2}")).identity == one
    for change in (("0.25", "0.26"), ("every = 4", "every = 2"), ("seed = 0", "seed = 1"), ("10", "11")):
        assert read(GOOD.replace(*change)).identity != one


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("every = 4", "evry = 4", 2, "the key 'evry' is unknown"),
        ("every = 4", "every = 0", 2, "every is 0: use an integer of at least 1"),
        ("every = 4", 'mode = "quick"', 2, "mode is 'quick': use one of bitwise, fast"),
        ('["grad_f2"]', '["grad_f3"]', 1, "record has 'grad_f3': use f, g"),
        ('["grad_f2"]', '["Lambda"]', 1, "record has 'Lambda'"),
        ('["grad_f2"]', '["step2"]', 1, "record has 'step2': use f, g"),
        ('["grad_f2"]', '"grad_f2"', 1, "record is 'grad_f2': use a list of words"),
        ('name = "default"', 'name = "defualt"', 5, "problem 'defualt' is unknown: use one of default, glm"),
        ("seed = 0", "heterogeneity = 0.5", 6, "the key 'heterogeneity' is unknown in [problem]"),
        ("seed = 0", "seed = -1", 6, "seed is -1: use an integer of at least 0"),
        ("seed = 0", 'seed = "0"', 6, "seed is '0': use an integer below 2^63"),
        ('kind = "sign"\nm = [0, 0.25]', 'kind = "sing"', 9, "memory 'sing' is unknown"),
        ('kind = "sign"', 'kind = "rotation"\nsize = 3', 9, "memory 'rotation' is set by m alone"),
        ("m = [0, 0.25]", "m = []", 10, "m is an empty list, so that the grid has no runs"),
        ("m = [0, 0.25]", "m = [0, -0.25]", 10, "m is -0.25: use a finite number that is not negative"),
        ("m = [0, 0.25]", "m = [0, 0]", 10, "m holds 0 twice"),
        ("m = [0, 0.25]", "m = [0, 0.25, 0.0]", 10, "m holds 0.0 twice"),
        ("m = [0, 0.25]", "m = [0.5, 9007199254740993]", 10, "m has the value 9007199254740993, which is too large"),
        ("seed = 0", "seed = 9223372036854775808", 6, "which is too large"),
        ('name = "default"\nseed = 0', 'name = "glm"\nclients = 900000000000000', 5, "clients = 900000000000000"),
        ('name = "c_flag"', 'name = "cfl"\nwindow = 99999999999999999999', 14, "which is too large"),
        ("T = [16, 64]", "T = [16, 9000000000000]", 23, "T is 9000000000000: use at most 4194304 in one run"),
        ("replicas = 2", "replicas = 100001", 25, "use at most 100000 in one run, and more seeds"),
        ("count = 2", "count = 9000000000000", 24, "a count from 1 to 1000000"),
        ("m = [0, 0.25]", "m = [[0], 0.25]", 10, "m holds the list [0]"),
        ("m = [0, 0.25]", 'm = "0"', 10, "m has the value '0': use a number"),
        ("m = [0, 0.25]", "m = 1979-05-27", 10, "a date or time"),
        ('name = "c_flag"', 'name = "c_flug"', 13, "algorithm 'c_flug' is unknown"),
        ('name = "c_flag"', 'server = "printed"', 12, "name is missing"),
        ('name = "c_flag"', 'name = "c_flag"\nestimator = "best"', 14, "estimator 'best' is unknown"),
        ('name = "c_flag"', 'name = "c_flag"\nproximal = [0, true]', 14, "proximal mixes numbers and truth values"),
        ('name = "c_flag"', 'name = "cfl"\nweights = {skeme = "uniform"}', 14, "weights are not understood"),
        ('name = "c_flag"', 'name = "fedavg"', 14, "alpha is 0.66"),
        ('name = "c_flag"', 'name = "scaffold"\nparticipants = 9', 14, "participants is 9"),
        ('alpha = "1/(L*(1 + m))"', "alpha = -1", 14, "alpha is -1.0: use a finite number that is not negative"),
        ('alpha = "1/(L*(1 + m))"', "alpha = inf", 14, "alpha is inf"),
        ('alpha = "1/(L*(1 + m))"', 'alpha = "1/(L*(1 + M))"', 14, "has 'M': use numbers, T, E, N, L, m, c"),
        ('alpha = "1/(L*(1 + m))"', 'alpha = "1/(L - L)"', 14, "has no finite value at L = 1.51"),
        ('  "c/sqrt(T)",', '  "c//sqrt(T)",', 17, "has 'c // sqrt(T)': use numbers"),
        ("  0.01,", "  0,", 17, "beta is 0.0: use a finite positive number"),
        ("  0.01,", f"  1{'0' * 400},", 17, "use a number or a formula in quotes"),
        ("  0.01,", "  true,", 17, "beta has the value True: use a number or a formula in quotes"),
        ("c = 0.05", "", 16, "a formula names c, which is missing"),
        ("E = 10", "", 16, "E is missing: add it to [run]"),
        ("E = 10", "E = 10.0", 22, "E has the value 10.0: use an integer of at least 1"),
        ("count = 2", "count = 0", 24, "a count from 1 to"),
        ("replicas = 2", "replicas = 0", 25, "replicas has the value 0: use an integer of at least 1"),
        ("replicas = 2", "replicas = 2\nparticipants = 9", 26, "participants is 9 and problem 'default' has 5 clients"),
        ("replicas = 2", "replicas = 2\nparticipants = 3", 13, "hears 3 of 5 clients"),
        ("replicas = 2", "replicas = 2\nsteps = 3", 26, "the key 'steps' is unknown in [run]"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(read, old, new, line, message):
    assert GOOD.count(old) >= 1
    with pytest.raises(DataError) as raised:
        read(GOOD.replace(old, new, 1))
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"study.toml, line {line}: ")
    assert "\n" not in str(raised.value)


def test_records_that_do_not_fit_into_memory_are_refused(read):
    with pytest.raises(DataError, match="line 1: one run records 800000000 numbers and can hold 134217728"):
        read(GOOD.replace("[16, 64]", "[16, 32000]").replace("replicas = 2", "replicas = 100000"))


def test_tables_that_share_runs_are_refused(read):
    """The same run twice would count as two samples in every mean and band."""
    twice = (
        GOOD.replace("[run]", "[[run]]")
        + "[[run]]\nbeta = [0.010, 0.02]\nE = 10\nT = 64.0\nseed = [9, 4]\nreplicas = 2\n"
    )
    twice = twice.replace("64.0", "[64, 128]")
    with pytest.raises(DataError, match="line 25: the table asks for runs that one above asks for too"):
        read(twice.replace("c = 0.05\n", "").replace("c/", "1/"))
    apart = twice.replace("seed = [9, 4]", "seed = [9, 5]").replace("c = 0.05\n", "").replace("c/", "1/")
    assert len(read(apart).grid) == 16 + 2 * 2 * 2 * 2
    rows = GOOD.replace("[algorithm]", "[[algorithm]]") + '[[algorithm]]\nname = "c_flag"\nalpha = "1/(L*(1 + m))"\n'
    with pytest.raises(DataError, match="line 26: the table asks for runs"):
        read(rows)


def test_c_that_no_formula_names_is_refused(read):
    with pytest.raises(DataError, match="line 21: c is given and no formula names it"):
        read(GOOD.replace("c/sqrt(T)", "1/sqrt(T)"))


def test_a_wrong_value_anywhere_on_an_axis_is_found_before_the_start(read):
    """The last problem of many, the last memory of the last block."""
    with pytest.raises(DataError, match=r"line 6: heterogeneity is 7"):
        read(GOOD.replace('"default"', '"separable"\nheterogeneity = [0, 0.5, 0.9, 7]').replace("seed = 0\n", "", 1))
    with pytest.raises(DataError, match="line 9: the problem has dimension 1 and a rotation needs 2"):
        read(
            GOOD.replace('"default"', '"noisy_quadratic"\ndimension = [3, 1]')
            .replace('"sign"', '"rotation"')
            .replace('"c_flag"', '"fedavg"\nmomentum = 0.5')
            .replace('alpha = "1/(L*(1 + m))"', "")
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"no table \[algorithm\]"),
        ('[algorithm]\nname = "fedavg"\n', r"no table \[run\]"),
        ('[algorithm]\nname = "fedavg"\n[run\n', r"is not TOML: .*line 3"),
        ("problem = 3\n" + GOOD.replace("[problem]", "[[oh]]"), "line 5: the key 'oh' is unknown"),
        (
            "memory = []\n" + GOOD.replace('[memory]\nkind = "sign"\nm = [0, 0.25]\n', ""),
            r"line 1: memory is \[\]: write a table \[memory\]",
        ),
    ],
)
def test_files_that_are_no_sweep(read, text, message):
    with pytest.raises(DataError, match=message):
        read(text)


def test_a_file_that_is_not_there_or_no_text(tmp_path):
    with pytest.raises(DataError, match=r"cannot read .*No such file"):
        read_sweep_file(tmp_path / "nothing.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match=r"cannot read .*codec"):
        read_sweep_file(tmp_path / "binary.toml")


@given(st.lists(st.sampled_from(["gap", "remark", "text", "list", "table", "tables", "inline"]), max_size=12))
def test_lines_are_those_of_the_statements(kinds):
    """Texts put together from statements whose first line is known."""
    lines, known, prefix, count = [], {}, (), 0
    for number, kind in enumerate(kinds):
        key = f"k{number}"
        if kind in ("gap", "remark"):
            lines.append("" if kind == "gap" else f"# {key} = 3 [x]")
            continue
        if kind == "table":
            prefix = (key,)
            known[prefix] = len(lines) + 1
            lines.append(f"[{key}]  # {key}")
        elif kind == "tables":
            prefix = ("many", count)
            count += 1
            known[prefix] = len(lines) + 1
            lines.append("[[many]]")
        else:
            known[(*prefix, key)] = len(lines) + 1
            lines += {
                "text": [f'{key} = """', "[not a table]", f"{key} = 1", '"""'],
                "list": [f"'{key}' = [ # {key} = 2", '  "]",', "", "  3,", "]"],
                "inline": [f"{key} = {{a = 1, b = [2, 3]}}"],
            }[kind]
    text = "\n".join(lines)
    tomllib.loads(text)
    for place, line in known.items():
        assert line_of(text, place) == line
    assert line_of(text, ("nothing",)) >= 1


@given(T=st.integers(1, 10**6), E=st.integers(1, 50), L=st.floats(0.1, 10), m=st.floats(0, 3), c=st.floats(1e-3, 10))
def test_formulas_are_what_python_makes_of_them(T, E, L, m, c):
    values = {"T": T, "E": E, "N": 5, "L": L, "m": m, "c": c}
    for words in ("c/sqrt(T)", "1/(L*(1 + m))", "-c*-2e-3/T**0.75", "1/(60*L*E)", "(c)+N - 4", "2**-3**0.5"):
        assert Law(words).at(values) == eval(words, {"sqrt": math.sqrt, "__builtins__": {}}, values)


@pytest.mark.parametrize(
    "words", ["", "c/", "x", "sqrt(T, E)", "sqrt(x=T)", "exp(T)", "T if E else c", "[T][0]", "'c'", "T.real", "1j",
              "True", "().__class__", "lambda: 1", "9" * 300, "(" * 150 + "1" + ")" * 150, "T\0", "T; E", "T @ E"]
)  # fmt: skip
def test_other_formulas_are_refused(words):
    with pytest.raises(InvalidInput, match="the formula"):
        Law(words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("1/m", "no finite value at m = 0"),
        ("sqrt(m - 1)", "no finite value"),
        ("(m - 1)**0.5", "no finite value"),
        ("10.0**10**3", "no finite value at all"),
        ("c", r"names c \(the number c of the run\), which is not known here"),
    ],
)
def test_formulas_without_a_value_are_refused(words, message):
    with pytest.raises(InvalidInput, match=message):
        Law(words).at({"m": 0.0})
