"""Processes keep what they have computed, those that grow are replaced, and nobody waits forever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import pairwise

import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.verify import workers
from cflag_theory.verify.workers import across, how_many

# loky looks once a second, and replaces a process that has grown by more than 300 MB since its first call.
GROWING = """
import sys, time, warnings
warnings.simplefilter("error")
sys.path.insert(0, {folder!r})
from joblib import Parallel, delayed
from cflag_theory.verify.workers import replaced_quietly
from hoarding import hoard
with replaced_quietly():
    print(list(Parallel(n_jobs=2, return_as="generator", batch_size=1)(delayed(hoard)(i) for i in range(8))))
"""
HOARDING = """
import time
from itertools import pairwise
kept = []
def hoard(number):
    kept.append(bytearray(b"x") * 200_000_000)
    time.sleep(0.6)
    return number
"""


def at_work(number):
    time.sleep(0.02)
    return number, os.getpid()


def refuse(number):
    if number == 3:
        raise InvalidInput("three is too many")
    return number


def end_at_three(number):
    return os._exit(1) if number == 3 else number


def test_results_come_in_order_and_later_calls_go_where_the_earlier_ones_were():
    told = []
    keys = [f"key {number}" for number in range(40)]
    first = list(across(at_work, [(number,) for number in range(40)], 2, keys=keys, done=told.append))
    assert [number for number, _ in first] == list(range(40))
    assert sorted(told) == list(range(40))
    assert len({process for _, process in first} | {os.getpid()}) == 3
    again = list(across(at_work, [(number,) for number in reversed(range(40))], 2, keys=keys[::-1]))
    # The last ones go to whoever is free.
    assert sum(one == other for one, other in zip(first, again[::-1], strict=True)) > 30
    # Neighbours go together, but for those that go to whoever is free: calls in turn would change process 39 times.
    assert sum(one[1] != other[1] for one, other in pairwise(first)) < 13


def test_a_machine_starts_no_more_processes_than_it_can_use():
    assert how_many(3) <= 3
    assert how_many(2**63) == how_many(10**6) == 4 * os.cpu_count()
    assert 1 <= how_many(None) <= os.cpu_count()


def test_an_error_reaches_the_caller_and_the_processes_go_on():
    with pytest.raises(InvalidInput, match="three is too many"):
        list(across(refuse, [(number,) for number in range(20)], 2))
    assert list(across(refuse, [(1,), (2,), (4,)], 2)) == [1, 2, 4]


def test_a_process_that_dies_is_an_error_and_others_take_the_next_calls():
    with pytest.raises(RuntimeError):
        list(across(end_at_three, [(number,) for number in range(20)], 2))
    assert list(across(end_at_three, [(1,), (2,), (4,)], 2)) == [1, 2, 4]


def test_nothing_is_at_work_for_a_caller_who_left():
    found = across(at_work, [(number,) for number in range(2000)], 2)
    next(found)
    crew = workers._crews[2]
    processes = [process for one in crew.processes for process in one._processes.values()]
    found.close()
    assert 2 not in workers._crews
    assert not any(process.is_alive() for process in processes)


def test_a_caller_who_took_every_result_and_asks_for_no_more_leaves_the_processes_as_they_are():
    found = across(at_work, [(number,) for number in range(4)], 2)
    assert [next(found)[0] for _ in range(4)] == [*range(4)]
    crew = workers._crews[2]
    found.close()
    assert workers._crews[2] is crew


@pytest.mark.full
def test_a_process_that_grows_is_replaced(tmp_path):
    """Where warnings are errors, as in tests, this waited forever."""
    pytest.importorskip("psutil", reason="without it loky does not look")
    (tmp_path / "hoarding.py").write_text(HOARDING, encoding="utf-8")
    command = [sys.executable, "-c", GROWING.format(folder=str(tmp_path))]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert (out, err) == ("[0, 1, 2, 3, 4, 5, 6, 7]\n", "")
