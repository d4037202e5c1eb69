"""What would not fit is refused before anything is allocated, with what it needs and what to lower."""

from __future__ import annotations

import resource

import numpy as np
import pytest

from cflag_theory import sizes
from cflag_theory.errors import DataError, InvalidInput
from cflag_theory.kernels import load_data, make_problem, simulate, uniform
from cflag_theory.reading import MOST_LINES, line_of, read_toml
from cflag_theory.studies.inputs import integers, read_algorithm, read_dials
from cflag_theory.verify import rate

RUN = {"alpha": 0.1, "beta": 0.01, "local_steps": 2, "rounds": 2, "memory": uniform(2)}


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


@pytest.fixture(autouse=True)
def cheap():
    """No test here may take much memory: that is what they are about."""
    before = peak()
    yield
    assert peak() - before < 300 << 20


def test_free_memory_is_known_and_bounded_by_every_limit(monkeypatch):
    free = sizes.free_memory()
    assert 0 < free < 1 << 50
    monkeypatch.setattr(sizes, "_of_the_group", lambda: [1 << 20])
    assert sizes.free_memory() == 1 << 20
    sizes.require_room(sizes.SMALL - 1, "this", "ask for less")
    with pytest.raises(InvalidInput, match=r"this needs about 3\.0 GiB of memory and 1\.0 MiB are free: ask for less"):
        sizes.require_room(3 << 30, "this", "ask for less")
    monkeypatch.setattr(sizes, "_of_the_group", lambda: [-5])
    assert sizes.free_memory() == 0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"rounds": 2**31},
            r"a run of 2147483648 rounds.* needs about .* free: use fewer rounds or replicas, or",
        ),
        ({"local_steps": 2**31}, "needs about .* free: use fewer local steps"),
        ({"replicas": 2**31}, "free: use fewer rounds or replicas"),
        ({"rounds": 2**33}, "rounds is 8589934592: use fewer than 2"),
        ({"local_steps": 2**63 - 1}, "local_steps is .*: use fewer than 2"),
        ({"replicas": 10**400}, "replicas is an integer of 1329 bits: use an integer of at least 1, below 2"),
    ],
)
def test_runs_that_do_not_fit(changes, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        simulate(make_problem("default"), "c_flag", **(RUN | changes))


@pytest.mark.parametrize("name", ["glm", "separable", "quadratic", "noisy_quadratic", "evolving"])
@pytest.mark.parametrize("dial", ["clients", "dimension"])
@pytest.mark.parametrize("value", [10**11, 2**63 - 1, 10**300])
def test_problems_that_do_not_fit(name, dial, value):
    said = value if value < 2**63 else f"an integer of {value.bit_length()} bits"
    with pytest.raises(InvalidInput, match=rf"problem '{name}' with .*{dial} = {said}.* needs about .* free"):
        make_problem(name, **{dial: value})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"horizons": (16, 2**96)}, r"horizons\[1\] is 79228162514264337593543950336: use an integer below 2"),
        ({"horizons": (16, 2**31)}, "a study up to T = 2147483648 needs about .*: use a smaller T"),
        ({"replicas": 10**10, "horizons": (16, 32)}, "a study of 10000000000 replicas needs about"),
    ],
)
def test_studies_that_do_not_fit(changes, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        rate(make_problem("default"), uniform(2), **({"replicas": 2, "local_steps": 1} | changes))


def test_ranges_of_too_many_numbers():
    with pytest.raises(InvalidInput, match="past classes '0-99999999' are more than 100000 numbers: name fewer"):
        integers("0-99999999", "past classes")


@pytest.mark.parametrize("value", ["{[]:1}", "-" * 3000 + "1", "[" * 3000, "((1,)*9,)", "1j", "b'x'"])
def test_values_that_are_no_number_are_words(value):
    assert read_dials([f"a={value}"]) == {"a": value}
    with pytest.raises(InvalidInput, match="past"):
        read_algorithm("cfl", [f"past={value}"])


def test_a_dial_that_is_called_as_an_argument():
    with pytest.raises(InvalidInput, match="problem 'glm' has no dial 'name'"):
        make_problem("glm", **read_dials(["name=3"]))


def test_archives_of_zeros_are_measured_before_they_are_read(tmp_path, monkeypatch):
    """A file of 300 kB that unpacks to 300 MB, on a machine that has 100 MB."""
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, features=np.zeros((100_000, 375)), labels=np.zeros(100_000))
    assert path.stat().st_size < 400_000
    before = peak()
    monkeypatch.setattr(sizes, "free_memory", lambda: 100 << 20)
    with pytest.raises(InvalidInput, match=r"zeros\.npz' needs about 1\.4 GiB of memory and 100 MiB are free"):
        load_data(path)
    assert peak() - before < 50 << 20


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (".".join(["a"] * 50_000) + " = 1\n", "line 1 has a key of more than 64 parts"),
        ("x = 1\n[" + " . ".join(['"a"'] * 500) + "]\n", "line 2 has a key of more than 64 parts"),
        ("x = " + "[" * 50_000, "nested too deeply"),
        ("x = " + "{a = " * 50_000, "nested too deeply"),
        ("x = " + "9" * 5000, r"4300 digits\) .* has 5000 digits$"),
        ("#" * (1 << 20) + "\n", "more than 1048576 bytes"),
    ],
)
def test_settings_that_would_cost_much(tmp_path, text, reason):
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=rf"study\.toml .*{reason}"):
        read_toml(tmp_path / "study.toml")


def test_keys_that_look_long_and_are_not(tmp_path):
    numbers = "x = [" + "0.5, " * 5000 + "]\n"
    words = 'y = "' + "a" * 100_000 + '"\n'
    (tmp_path / "study.toml").write_text(numbers + words + "a.b.c = 1\n", encoding="utf-8")
    assert read_toml(tmp_path / "study.toml")[1]["a"] == {"b": {"c": 1}}


def test_the_line_of_a_key_in_a_file_of_very_many():
    text = "\n".join(f"key{number} = 1" for number in range(20 * MOST_LINES))
    assert line_of(text, ["key31000"]) == 31_001
