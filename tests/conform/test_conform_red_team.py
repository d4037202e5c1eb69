"""Attacks on `conform`: right code in many styles is not refuted, and no planted slip is silent.

Right code is text; a slip is an edit of it.
"""

import textwrap
from itertools import combinations

import pytest
from planted_slips import RIGHT, SCAFFOLD, SLIPS, SOURCES
from right_styles import SERVER

from cflag_theory.conform import ALGORITHMS, conform
from cflag_theory.conform.case import draw
from cflag_theory.errors import InvalidInput

pytestmark = pytest.mark.full

NAMES = ("client_step", "server_step", "round_step")


def functions_of(source):
    module = {}
    exec(compile(textwrap.dedent(source), "<attack>", "exec"), module)
    return {name: module[name] for name in NAMES if name in module}


def report_of(algorithm, source, **options):
    return conform(algorithm, **functions_of(source), **({"problems": 4, "rounds": 3} | options))


def may_be_absent(algorithm):
    return "all-clients" not in ALGORITHMS[algorithm].assumes


def skip_without(source):
    for library in ("torch", "jax"):
        if f"import {library}" in source:
            pytest.importorskip(library)


@pytest.mark.parametrize(("algorithm", "style", "source"), RIGHT, ids=lambda value: value[:40].split("\n")[0])
def test_right_code_is_not_refuted(algorithm, style, source):
    skip_without(source)
    numbers = style.split()[0] if style.split()[0] in ("float64", "float32") and "numbers" in style else "auto"
    found = report_of(algorithm, source, numbers=numbers)
    assert not found.refuted, str(found)
    if may_be_absent(algorithm):
        assert not report_of(algorithm, source, numbers=numbers, problems=2, partial=True).refuted
    if style in ("JAX", "torch, .float()") or style.startswith("float32"):
        assert "to float32's precision" in str(found)
        assert "run it in float64 to see more" in str(found)


@pytest.mark.parametrize(("algorithm", "right", "wrong"), SLIPS)
def test_no_slip_is_silent(algorithm, right, wrong):
    source = SOURCES[algorithm]
    assert source.count(right) >= 1
    source = source.replace(right, wrong, 1)
    if "MEMORY" in wrong:
        source = source.replace("    y = x\n", "    y = MEMORY.get(client, x)\n", 1)
        source = source.replace("    return y\n", "    MEMORY[client] = y\n    return y\n", 1)
    outcome = outcome_of(algorithm, source, partial=may_be_absent(algorithm))
    assert any(words in outcome for words in (": refuted", "in place", "run again", "raised")), outcome


def outcome_of(algorithm, source, **options):
    """The report, or the error, in words."""
    try:
        return str(report_of(algorithm, source, **options))
    except InvalidInput as error:
        return str(error)


UNWEIGHTED = "def server_step(models): return sum(models) / len(models)"
UNWEIGHTED_ROUND = """
def round_step(x, clients):
    new = 0 * x
    for client in clients:
        y = x
        for k in range(client.steps):
            y = y - client.lr * client.grad(y, k)
        new = new + y / len(clients)
    return new
"""


@pytest.mark.parametrize(
    ("algorithm", "source", "takes"),
    [
        ("fedavg", UNWEIGHTED, ("equal-weights",)),
        ("fedprox", UNWEIGHTED, ("equal-weights",)),
        ("fedavg", UNWEIGHTED_ROUND, ("equal-weights",)),
        ("ewc", UNWEIGHTED, ("equal-weights",)),
        ("fednova", UNWEIGHTED, ("equal-weights", "equal-steps")),
        ("scaffold", SCAFFOLD.replace("server_lr *", "1 *"), ("server-lr-1",)),
        ("scaffold", SCAFFOLD.replace("/ N", "/ len(delta_c)"), ("all-clients",)),
        ("fedavg", "def server_step(models, weights): return sum(w * m for w, m in zip(weights, models, strict=True))",
         ("all-clients",)),
        ("fedavg", UNWEIGHTED_ROUND.replace("client.steps", "clients[0].steps").replace("/ len(clients)", "* client.n")
         .replace("return new", "return new / sum(client.n for client in clients)"), ("equal-steps",)),
    ],
)  # fmt: skip
def test_what_code_takes_for_granted_is_its_own_finding(algorithm, source, takes):
    found = report_of(algorithm, source, partial="all-clients" in takes)
    assert found.refuted
    assert found.takes == takes
    assert "your code takes " in str(found)
    assert not report_of(algorithm, source, assume=takes).refuted


FULL = {
    "round, weights asked for": """
def round_step(x, clients, weights):
    new = 0 * x
    for client, weight in zip(clients, weights, strict=True):
        y = x
        for k in range(client.steps):
            y = y - client.lr * client.grad(y, k)
        new = new + weight * y
    return new
""",
    "models": "def server_step(models, weights): return sum(w * m for w, m in zip(weights, models, strict=True))",
    "displacements": "def server_step(x, deltas, weights):\n"
    "    return x + sum(w * d for w, d in zip(weights, deltas, strict=True))",
    "pseudo-gradient": "def server_step(x, models, weights):\n"
    "    return x - sum(w * (x - m) for w, m in zip(weights, models, strict=True))",
    "NumPy": "import numpy as np\ndef server_step(models, weights):\n"
    "    return np.tensordot(np.array(weights, float), np.array(models, float), 1)",
    "everything at once": "def server_step(at): return sum(w * m for w, m in zip(at.weights, at.models, strict=True))",
}


@pytest.mark.parametrize("style", FULL)
def test_full_participation_is_right_where_nobody_asks_who_takes_part(style):
    found = report_of("fedavg", FULL[style])
    assert not found.refuted
    assert "held in all problems: all clients in every round, server_lr = 1" in str(found)
    assert report_of("fedavg", FULL[style], partial=True).takes == ("all-clients",)
    # Who asks is asked too.
    asks = (
        FULL[style]
        .replace("weights)", "weights, participants)", 1)
        .replace("step(at): ", "step(at): at.participants; ")
    )
    assert report_of("fedavg", asks).takes == ("all-clients",)


def test_who_misuses_weights_does_not_take_equal_ones():
    found = report_of("fedavg", SOURCES["fedavg"].replace("weights[i] * model", "weights[0] * model"))
    assert "your code takes equal weights" not in str(found)
    found = report_of("fedavg", SOURCES["fedavg"].replace("weights[i]", "weights[-i]"))
    assert found.takes == ("equal-weights",)
    assert "your code is right only with equal weights" in str(found)


def test_a_step_size_that_is_asked_for_is_not_granted():
    source = "def server_step(models, weights, server_lr, participants):" + SERVER.split(":", 1)[1]
    assert report_of("fedavg", source).takes == ("server-lr-1",)
    assert not report_of("fedavg", SERVER).refuted


def test_a_slip_is_named_beside_what_is_taken_for_granted():
    source = SCAFFOLD.replace("server_lr *", "1 *").replace("- c_i + c)", "+ c_i - c)")
    found = report_of("scaffold", source)
    assert (found.slips, found.under, found.takes) == (("sign of c - c_i",), ("server-lr-1",), ())


def test_single_precision_does_not_hide_the_slip_of_the_next_round():
    source = SCAFFOLD.replace("    y = x\n", "    x = x.astype('float32')\n    y = x\n")
    assert not report_of("scaffold", source).refuted
    found = report_of("scaffold", source.replace("- c_i + c)", "+ c_i - c)"))
    assert found.difference.t == 1
    assert found.slips == ("sign of c - c_i",)
    assert "line 3 (x = x.astype('float32'))" in found.cast or "line 3" in found.cast


def test_a_small_defect_in_double_precision_is_refuted():
    source = SOURCES["fedavg"].replace("grad(y)", "(grad(y) + 1 / 10**9)")
    found = report_of("fedavg", source, numbers="float64")
    assert found.refuted
    assert "no float32 is seen in your code" in str(found)
    # The same in single precision is not called right without a word.
    assert "Differences below float32's rounding are not seen" in outcome_of("fedavg", source, numbers="float32")


def test_no_parameter_is_special():
    """A slip such as 1 - mu in place of mu shows: no simple expressions of two parameters are equal."""
    for kind in ALGORITHMS.values():
        case = draw(0, parameters=kind.parameters)
        numbers = {"lr": case.lr, "server_lr": case.server_lr, **case.parameters}
        for value in numbers.values():
            assert len({value, 1 - value, value / 2, 2 * value, 1 / value, 1 + value}) == 6
        for one, other in combinations(numbers.values(), 2):
            assert one not in (other, 1 - other)
        assert len(set(case.weights)) > 1
        assert len(set(case.steps)) > 1


def test_seconds_are_those_of_the_users_own_code():
    # Waiting, imports and our gradients do not count. Three calls wait: the limit is that of a call.
    slow = "import time\nwaits = iter((0.15,) * 3)\ndef client_step(x):\n    time.sleep(next(waits, 0))\n    return x\n"
    assert report_of("fedavg", slow, seconds=0.1, problems=1, rounds=1).refuted
    with pytest.raises(InvalidInput, match=r"took more than 0\.1 s"):
        report_of("fedavg", "def client_step(x):\n    while True:\n        pass\n", seconds=0.1)
    with pytest.raises(InvalidInput, match=r"took more than"):
        report_of("fedavg", "import time\ndef client_step(x):\n    time.sleep(99)\n", seconds=0.02)
