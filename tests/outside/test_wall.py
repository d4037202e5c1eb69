"""Files of users that end Python, hang, fill the memory or change Python itself: a verdict, or a sentence, code 2."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from dividing import command

from cflag_theory.errors import CflagError, InvalidInput
from cflag_theory.outside.child import Child, NoAnswer

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes of POSIX")

HEAD = """\
import atexit, math, os, random, signal, sys, threading, time
from fractions import Fraction
import sympy
from cflag_theory.falsify import Conjecture, Range
"""
CLAIM = "claim = Conjecture(name='it', ranges={{'x': Range(0, 1)}}, left={left}, right=Fraction(1, 2))\n"
SQUARE = "lambda x: x * x"


def claim(before: str = "", left: str = SQUARE) -> str:
    return f"{HEAD}{before}\n{CLAIM.format(left=left)}"


#: The claim x^2 <= 1/2 is false, whatever else the file does.
REFUTED = {
    "comparisons are changed": claim("Fraction.__le__ = Fraction.__lt__ = lambda a, b: True"),
    "sympy is changed": claim("sympy.Add.__new__ = lambda *a, **k: sympy.S.Zero"),
    "Python's functions are changed": claim("import builtins; builtins.print = builtins.repr = None"),
    "pickles are empty": claim("import pickle; pickle.dumps = lambda *a, **k: b''"),
    "another folder": claim("os.chdir('/')"),
    "descriptors are closed": claim("os.closerange(0, 50)"),
    "no streams": claim("sys.stdout = sys.stderr = None"),
    "an end that hangs": claim("atexit.register(time.sleep, 100)"),
    "a thread without end": claim("threading.Thread(target=time.sleep, args=(100,)).start()"),
    "signals are ignored": claim("for one in (signal.SIGALRM, signal.SIGTERM): signal.signal(one, signal.SIG_IGN)"),
    "two processes": claim("os.fork()"),
    "prints": claim("print('left = 0')"),
    "a byte order mark": "\ufeff" + claim(),
    "a number too long to print": claim(left="lambda x: x * 10**100000"),
}
TOLD = {
    "exit": (HEAD + "os._exit(0)", "ended with exit code 0 before it had answered"),
    "exit in a function": (claim(left="lambda x: os._exit(0)"), "ended with exit code 0 before it had answered"),
    "killed": (claim(left="lambda x: os.kill(os.getpid(), 9)"), "was killed before it had answered"),
    "ended": (claim(left="lambda x: os.kill(os.getpid(), 15)"), "was ended by SIGTERM before it had answered"),
    "sys.exit": (HEAD + "sys.exit(0)", "the file raised SystemExit: 0"),
    "an error without words": (
        HEAD + "class E(Exception):\n    def __str__(self): raise self\nraise E",
        "the file raised E: fix it",
    ),
    "no Exception": (HEAD + "class E(BaseException): pass\nraise E('no')", "the file raised E: no"),
    "an interrupt of its own": (claim(left="lambda x: (_ for _ in ()).throw(KeyboardInterrupt)"), "KeyboardInterrupt"),
    "a range that cannot be shown": (
        HEAD
        + "class R(Range):\n    def __repr__(self): raise ValueError\n"
        + CLAIM.format(left=SQUARE).replace("Range(", "R("),
        "gives values of a type R of its own",
    ),
    "a loop": (claim(left="lambda x: [0 for _ in iter(int, 1)]"), "left took more than 0.3 s at x = 1/2"),
    "a loop that catches all": (
        HEAD
        + "def left(x):\n    while True:\n        try:\n            while True: pass\n        except: pass\n"
        + CLAIM.format(left="left"),
        "left took more than 0.3 s at x = 1/2: fix the loop",
    ),
    "a loop without Python": (claim(left="lambda x: 10**10**10"), "left took more than 0.3 s at x = 1/2"),
    "memory": (claim(left="lambda x: bytearray(10**13)"), "left raised MemoryError at x = 1/2"),
    "recursion": (HEAD + "def left(x): return left(x)\n" + CLAIM.format(left="left"), "RecursionError: maximum"),
    "chance": (claim(left="lambda x: 2 + Fraction(random.randint(0, 10**9))"), "evaluated again, has other values"),
    "other numbers": (claim("from decimal import Decimal", "lambda x: Decimal(1)"), "left returned Decimal('1')"),
    "no number": (claim(left="lambda x: object"), "return a real number"),
}


@pytest.mark.parametrize("name", REFUTED)
def test_what_a_file_does_to_python_is_not_done_to_the_verdict(cflag, tmp_path, name):
    (tmp_path / "it.py").write_text(REFUTED[name], encoding="utf-8")
    code, out, _ = cflag("decide", tmp_path / "it.py", "--budget", 100)
    assert code == 1
    assert "it: refuted" in out
    assert "x = 1\n" in out


@pytest.mark.parametrize("name", TOLD)
def test_a_file_without_an_answer_is_told(cflag, tmp_path, name):
    text, words = TOLD[name]
    (tmp_path / "it.py").write_text(text, encoding="utf-8")
    code, out, err = cflag("decide", tmp_path / "it.py", "--budget", 100, "--seconds", 0.3)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1


def test_a_number_too_long_to_print_is_not_repaired(cflag, tmp_path):
    (tmp_path / "it.py").write_text(REFUTED["a number too long to print"], encoding="utf-8")
    code, _, err = cflag("decide", tmp_path / "it.py", "--repair", "--budget", 50)
    assert (code, err.count("\n")) == (2, 1)
    assert "its formula is too long" in err


RIGHT = """\
def client_step(x, grad, lr, steps):
    y = x
    for k in range(steps):
        y = y - lr * grad(y, k)
    return y
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (RIGHT, 0),
        (RIGHT.replace("lr *", "2 * lr *"), 1),
        (
            f"from fractions import Fraction\nFraction.__eq__ = lambda a, b: True\n{RIGHT.replace('lr *', '2 * lr *')}",
            1,
        ),
        (f"import os\n{RIGHT}    os._exit(0)\n".replace("    return y\n", ""), 2),
        (f"import os, atexit, time\natexit.register(time.sleep, 60)\nos.chdir('/')\n{RIGHT}", 0),
        (f"import random\n{RIGHT.replace('lr *', 'random.choice((1, 2)) * lr *')}", 2),
    ],
    ids=["right", "wrong", "wrong, and equality changed", "exit", "end that hangs", "chance"],
)
def test_an_implementation_is_compared_elsewhere(cflag, tmp_path, text, expected):
    (tmp_path / "it.py").write_text(text, encoding="utf-8")
    code, out, err = cflag("conform", tmp_path / "it.py", "--algorithm", "fedavg", "--problems", 3)
    assert code == expected
    assert bool(out) == (code != 2)
    assert len(err.splitlines()) == (code == 2)


STEP = """\
import atexit, ctypes, os, sys, threading, time
from cflag_theory.kernels import own_algorithm
{before}
def step(x, gradient, beta):
    {within}
    return x - beta * gradient
mine = own_algorithm(step, name="mine")
"""
ENDS = {
    "right": ("", "pass", 0, ""),
    "exit": ("os._exit(0)", "pass", 2, "ended with exit code 0 before there was a result"),
    "exit in a step": ("", "os._exit(0)", 2, "ended with exit code 0 before there was a result"),
    "sys.exit in a step": ("", "sys.exit(0)", 2, "line 5: SystemExit: leave out what ends Python"),
    "killed": ("", "os.kill(os.getpid(), 9)", 2, "was killed before there was a result"),
    "crashed": ("ctypes.string_at(0)", "pass", 2, "was ended by SIGSEGV"),
    "two processes without memory": ("os.fork(); bytearray(10**13)", "pass", 2, "not enough memory"),
    "descriptors are closed": ("os.closerange(0, 50); os.chdir('/')", "pass", 0, ""),
    "an error without words": (
        "class E(Exception):\n    def __str__(self): raise self\nraise E",
        "pass",
        2,
        "line 5: E:",
    ),
}


SIMULATE = ("simulate", "--beta", 0.01, "--E", 2, "--algorithm", "it.py:mine")


@pytest.mark.parametrize("name", ENDS)
def test_a_command_says_how_a_plug_in_ended_it(tmp_path, name):
    before, within, expected, words = ENDS[name]
    (tmp_path / "it.py").write_text(STEP.format(before=before, within=within), encoding="utf-8")
    done = command(*SIMULATE, "--T", 3, "--out", "it.csv", cwd=tmp_path)
    assert done.returncode == expected
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == (expected == 2)
    assert bool(done.stdout) == (tmp_path / "it.csv").exists() == (expected == 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_part_that_works_ends_with_the_command(tmp_path, number):
    within = "open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    (tmp_path / "it.py").write_text(STEP.format(before="", within=within), encoding="utf-8")
    words = map(str, (sys.executable, "-m", "cflag_theory", *SIMULATE, "--T", 3))
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as main:
        ends = time.monotonic() + 60
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text(encoding="ascii"):
            assert time.monotonic() < ends
            time.sleep(0.05)
        works = int((tmp_path / "pid").read_text(encoding="ascii"))
        assert works != main.pid
        main.send_signal(number)
        _, err = main.communicate(timeout=30)
    if number == signal.SIGINT:
        assert (main.returncode, err) == (130, "cflag: interrupted; nothing was written\n")
    while running(works):
        assert time.monotonic() < ends
        time.sleep(0.05)


def running(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().split()[2] != "Z"
    except OSError:
        return False


def test_without_processes_that_divide_files_are_run_here(cflag, tmp_path, monkeypatch):
    monkeypatch.setattr("cflag_theory.outside.child.POSSIBLE", False)
    (tmp_path / "it.py").write_text(claim(), encoding="utf-8")
    assert "it: refuted" in cflag("decide", tmp_path / "it.py", "--budget", 100)[1]
    (tmp_path / "own.py").write_text(RIGHT, encoding="utf-8")
    assert cflag("conform", tmp_path / "own.py", "--algorithm", "fedavg", "--problems", 2)[0] == 0


def test_a_child_answers_again_after_it_ended():
    def begin():
        calls = []

        def answer(question):
            calls.append(question)
            if question == "end":
                os._exit(3)
            if question == "wait":
                time.sleep(60)
            if question == "raise":
                raise CflagError("no")
            return len(calls)

        return answer

    child = Child(begin, "it", seconds=10)
    assert [child.ask("a", 10), child.ask("b", 10)] == [1, 2]
    with pytest.raises(InvalidInput, match="it ended with exit code 3 before it had answered"):
        child.ask("end", 10)
    assert child.ask("a", 10) == 1
    with pytest.raises(NoAnswer):
        child.ask("wait", 0.01)
    with pytest.raises(CflagError, match="no"):
        child.ask("raise", 10)
    assert child.ask("b", 10) == 2
    child.end()


def test_a_child_has_no_pipe_of_another():
    """It could ask the other one, or keep it from seeing that it is let go, which ends it at once."""
    first, second = (Child(lambda: lambda question: os.getpid(), "it", seconds=10) for _ in range(2))
    assert first.ask(None, 10) != second.ask(None, 10)
    assert [first.end(), second.end()] == ["ended with exit code 70"] * 2
