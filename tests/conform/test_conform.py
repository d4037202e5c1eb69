"""`conform` on right and wrong implementations, through Python, pytest and the command line."""

import json
import textwrap
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest
from implementations import ASSUME, BUGS, RIGHT, fedprox_shallow_copy, scaffold_client, scaffold_server
from needs import LONG, in_turn, quick

from cflag_theory.conform import ALGORITHMS, conform
from cflag_theory.errors import InvalidInput, MissingExtra, UnknownName

pytest_plugins = ["pytester"]
PLUGIN = "cflag_theory.pytest_plugin"
#: The default run solves a tenth of the problems, for a third of the implementations.
SHARE = 1 if LONG else 10
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def torch_or_skip(numbers):
    if numbers.startswith("torch"):
        pytest.importorskip("torch")


@pytest.mark.parametrize("style", RIGHT)
def test_right_implementations_agree(style):
    algorithm, functions, numbers = RIGHT[style]
    torch_or_skip(numbers)
    report = conform(algorithm, **functions, numbers=numbers, problems=30, assume=ASSUME.get(style, ()))
    assert not report.refuted, str(report)
    assert report.compared >= 30 * 3
    assert "This is not a proof." in str(report)


@pytest.mark.full
@pytest.mark.parametrize("style", in_turn(RIGHT, 3))
def test_no_false_alarm(style):
    algorithm, functions, numbers = RIGHT[style]
    torch_or_skip(numbers)
    problems = (10_000 if numbers in ("float32", "torch32", "float64", "torch64") else 2_000) // SHARE
    options = {"numbers": numbers, "problems": problems, "rounds": 2, "seed": 100, "assume": ASSUME.get(style, ())}
    assert not conform(algorithm, **functions, **options).refuted


@pytest.mark.parametrize("bug", quick(BUGS, of=2))
@pytest.mark.parametrize("numbers", ["auto", pytest.param("float32", marks=pytest.mark.full)])
def test_known_bugs_are_named(bug, numbers):
    algorithm, functions, words, partial = BUGS[bug]
    report = conform(algorithm, **functions, partial=partial, numbers=numbers)
    assert report.refuted
    if words:
        assert any(words in slip for slip in report.slips), str(report)
        assert len(report.slips) == 1
    else:
        assert report.slips == ()
        assert f"none of the {report.tried} known slips" in str(report)


def test_a_shallow_copy_of_a_module_is_a_proximal_term_of_zero():
    pytest.importorskip("torch")
    report = conform("fedprox", client_step=fedprox_shallow_copy, numbers="torch64")
    assert report.slips == (ALGORITHMS["fedprox"].own_slips["zero"],)


def test_control_variates_that_start_at_the_model_matter_only_where_clients_are_absent():
    """Where all c_i and c start alike and everybody takes part, the start cancels in every step."""

    def client(x, c, c_i, t, state, grad, lr, steps, start):
        # What the harness keeps starts at 0: this client adds the start to all of it.
        y = x
        for _ in range(steps):
            y = y - lr * (grad(y) - (c_i + start) + (c + start))
        return {"x_i": y, "c_i": c_i - c + (x - y) / (steps * lr)}

    assert not conform("scaffold", client_step=client, assume=["all-clients"]).refuted


def test_the_first_difference_is_a_local_iterate():
    report = conform("scaffold", client_step=BUGS["sign of the correction"][1]["client_step"])
    found = report.difference
    assert (found.name, found.t, found.client, found.step) == ("y", 1, 0, 1)
    assert "round 2, client 0, after local step 1: local iterate y" in str(report)
    assert "line 10" in report.place
    assert report.numbers == "exact"


def test_functions_that_turn_fractions_into_floats_run_on_floats():
    def client(x, grad, lr, steps):
        y = np.array(x, dtype=float)
        for _ in range(steps):
            y = y - float(lr) * grad(y)
        return y

    report = conform("fedavg", client_step=client)
    assert (report.status, report.numbers) == ("not broken", "float64")
    assert "fractions" in report.why


def keeps(x):
    return x


def in_place(x, grad, lr):
    x -= lr * grad(x)
    return x


def not_finite(x):
    return x * np.nan


def raises(x):
    raise RuntimeError("no such client")


def no_vector(x):
    return "x"


def wrong_shape(x):
    return np.concatenate([x, x])


def unknown_name(x):
    return {"x_i": x, "z": x}


def unknown_argument(x, momentum_buffer):
    return x


def never_ends(x):
    while True:
        pass


CALLS = []


def random_numbers(x, grad):
    CALLS.append(1)
    return x + len(CALLS)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (in_place, "changes its argument x in place: work on a copy"),
        (not_finite, "must be finite"),
        (raises, "client_step raised RuntimeError: no such client"),
        (no_vector, "client_step returns str for x_i: return a vector of 2 numbers"),
        (wrong_shape, "of shape (4,): return a vector of 2 numbers"),
        (unknown_name, "returns 'z', which has no meaning here: use x_i"),
        (unknown_argument, "takes an argument 'momentum_buffer', which has no meaning here: use "),
        (never_ends, "took more than 0.2 s"),
        (random_numbers, "when they are run again: take all randomness from the arguments"),
    ],
)
def test_bad_functions(function, words):
    with pytest.raises(InvalidInput) as caught:
        conform("fedavg", client_step=function, numbers="float64", seconds=0.2)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "give client_step, server_step or both, or round_step alone"),
        ({"client_step": keeps, "round_step": keeps}, "or round_step alone"),
        ({"client_step": keeps, "problems": 0}, "problems is 0"),
        ({"client_step": keeps, "numbers": "float16"}, "numbers are 'float16': use one of auto, exact"),
        ({"client_step": keeps, "parameters": {"mu": 1}}, "FedAvg has no parameter 'mu'"),
        ({"algorithm": "fednova", "client_step": keeps, "partial": True}, "FedNova has no partial participation here"),
        ({"client_step": keeps, "assume": ["weights"]}, "assume holds 'weights': use equal-weights, server-lr-1"),
    ],
)
def test_bad_arguments(given, words):
    with pytest.raises(InvalidInput) as caught:
        conform(**({"algorithm": "fedavg"} | given))
    assert words in str(caught.value)
    with pytest.raises(UnknownName, match="there is no algorithm 'fedsgd': use one of fedavg, fedprox"):
        conform("fedsgd", client_step=keeps)
    with pytest.raises(InvalidInput, match="grow too long: use float64"):
        conform("a_gem", client_step=keeps, numbers="exact")


def test_torch_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtra, match="needs PyTorch"):
        conform("fedavg", client_step=keeps, numbers="torch64")


SOURCE = """
ALGORITHM = "scaffold"

def client_step(x, c, c_i, grad, lr, steps):
    print("not part of the result")
    y = x
    for _ in range(steps):
        y = y - lr * (grad(y) SIGN (c - c_i))
    return y, c_i - c + (x - y) / (steps * lr)
"""


def test_the_command(cflag, tmp_path):
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(SOURCE.replace("SIGN", "+"), encoding="utf-8")
    wrong.write_text(SOURCE.replace("SIGN", "-"), encoding="utf-8")
    code, out, _ = cflag("conform", right)
    assert code == 0
    assert "SCAFFOLD, option II: not broken" in out
    assert "not part of the result" not in out
    code, out, _ = cflag("conform", wrong, "--format", "json", "--numbers", "float32")
    found = json.loads(out)
    assert code == 1
    assert found["status"] == "refuted"
    assert found["slips"] == ["sign of c - c_i"]
    assert found["difference"]["step"] == 1
    code, out, _ = cflag("conform", right, "--algorithm", "fedavg")
    assert code == 2
    code, out, _ = cflag("conform", "--list")
    assert code == 0
    assert "feddyn: FedDyn (Acar et al., ICLR 2021, Algorithm 1)" in out
    (tmp_path / "empty.py").write_text("x = 1\n", encoding="utf-8")
    code, _, err = cflag("conform", tmp_path / "empty.py")
    assert code == 2
    assert "holds none of client_step, server_step, round_step" in " ".join(err.split())


def test_in_pytest(pytester):
    pytester.makepyfile(
        textwrap.dedent(
            """
            import pytest

            def client_step(x, c, c_i, grad, lr, steps):
                y = x
                for _ in range(steps):
                    y = y - lr * (grad(y) SIGN (c - c_i))
                return y, c_i - c + (x - y) / (steps * lr)

            @pytest.mark.conform("scaffold", problems=3)
            def test_by_marker(conform):
                assert conform(client_step=client_step).problems == 3

            def test_by_name(conform):
                conform("scaffold", client_step=client_step, partial=True)

            def test_nothing(conform):
                conform(client_step=client_step)
            """
        ).replace("SIGN", "+")
    )
    # Where the package is installed, pytest has loaded its plugin already.
    installed = any(point.value == PLUGIN for point in entry_points(group="pytest11"))
    arguments = (*(() if installed else ("-p", PLUGIN)), "-p", "no:cacheprovider", "-p", "no:xdist")
    found = pytester.runpytest_inprocess(*arguments)
    found.assert_outcomes(passed=2, failed=1)
    found.stdout.fnmatch_lines(["*name the algorithm*"])


def test_halves_may_be_given_alone():
    for numbers in ("exact", "float64", "float32"):
        assert not conform("scaffold", client_step=scaffold_client, numbers=numbers).refuted
        assert not conform("scaffold", server_step=scaffold_server, numbers=numbers, assume=["server-lr-1"]).refuted
    with pytest.raises(InvalidInput, match="does not return c_i, which the server needs"):
        conform("scaffold", client_step=lambda x: x, numbers="float64")


@pytest.mark.parametrize(
    ("example", "options"),
    [
        ("conform_scaffold", ()),
        ("conform_scaffold", ("--partial",)),
        ("conform_c_flag_torch", ()),
        ("conform_c_flag_torch", ("--numbers", "torch32")),
        ("conform_flower", ()),
    ],
)
def test_the_examples_of_the_documentation(cflag, example, options):
    if "torch" in example:
        pytest.importorskip("torch")
    code, out, err = cflag("conform", EXAMPLES / f"{example}.py", *options)
    assert (code, err) == (0, ""), out


def test_the_documentation_prints_what_is_printed(cflag, tmp_path):
    text = (EXAMPLES.parent / "conform.md").read_text(encoding="utf-8")
    source, printed = (
        text.split(fence)[1].split("```")[0] for fence in ("```python\n", "$ cflag conform scaffold.py\n")
    )
    (tmp_path / "scaffold.py").write_text(source, encoding="utf-8")
    code, out, _ = cflag("conform", tmp_path / "scaffold.py")
    assert code == 1
    assert out.split() == printed.split()
