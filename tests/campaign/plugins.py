"""Python files of users that do their worst, two things at once, with the exit codes that each must have."""

from __future__ import annotations

import random

HEAD = """import atexit, ctypes, gc, math, os, random, resource, signal, sys, threading, time
from fractions import Fraction
"""
#: What a file may do to Python: the verdict is the same.
HARMLESS = """
Fraction.__le__ = Fraction.__lt__ = lambda a, b: True
Fraction.__eq__ = lambda a, b: True
Fraction.__le__ = Fraction.__lt__ = lambda a, b: False
import sympy; sympy.Add.__new__ = lambda *a, **k: sympy.S.Zero
os.chdir('/')
os.closerange(0, 50)
sys.stdout = sys.stderr = None
sys.stdin.close()
atexit.register(time.sleep, 100)
atexit.register(os._exit, 1)
threading.Thread(target=time.sleep, args=(100,)).start()
threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
for one in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT): signal.signal(one, signal.SIG_IGN)
os.fork()
print('left = 0')
os.write(1, b'refuted: all')
sys.setrecursionlimit(200)
sys.excepthook = sys.displayhook = None
gc.disable()
os.environ.clear()
sys.path.clear()
random.seed = None
signal.alarm(1)
os.nice(5)
time.time = time.monotonic = lambda: 0.0
import builtins; builtins.print = builtins.repr = None
import json; json.dumps = lambda *a, **k: '{}'
import pickle; pickle.dumps = lambda *a, **k: b''
""".strip().splitlines()
#: What ends a file: one sentence, code 2.
ENDING = """
os._exit(0)
os._exit(1)
sys.exit(0)
sys.exit('done')
raise SystemExit
raise KeyboardInterrupt
os.kill(os.getpid(), 9)
os.abort()
ctypes.string_at(0)
raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})
raise type('E', (BaseException,), {})('no')
1 / 0
import nothing_of_the_kind
bytearray(10**13)
def f(): f()\\nf()
raise OSError(28, 'no space')
raise BrokenPipeError
""".strip().splitlines()
#: Left sides of a claim about x in [0, 1] without an answer: one sentence, code 2.
LOST = """
os._exit(0)
os._exit(1)
sys.exit(0)
os.kill(os.getpid(), 9)
os.kill(os.getpid(), 11)
(_ for _ in ()).throw(KeyboardInterrupt)
[0 for _ in iter(int, 1)]
10**10**10
time.sleep(100)
bytearray(10**13)
ctypes.string_at(0)
2 + Fraction(random.randint(0, 10**9))
object
None
'1'
1j
""".strip().splitlines()
CLAIM = "from cflag_theory.falsify import Conjecture, Range\n{before}\n"
CLAIM += "claim = Conjecture(name='it', ranges={{'x': Range(0, 1)}}, left=lambda x: {left}, right={right})\n"
CLIENT = "{before}\ndef client_step(x, grad, lr, steps):\n    y = x\n    for k in range(steps):\n"
CLIENT += "        y = y - {factor} * lr * grad(y, k)\n    {within}\n    return y\n"
STEP = "from cflag_theory.kernels import own_algorithm\n{before}\ndef step(x, gradient, beta):\n    {within}\n"
STEP += "    return x - beta * gradient\nmine = own_algorithm(step, name='mine')\n"
# A file that closes or hides the streams of `simulate`, in whose process it runs, has no output to be judged by.
COMMANDS = {
    "decide": "decide it.py --budget 60 --seconds 0.5 --format json --out new",
    "conform": "conform it.py --algorithm fedavg --problems 2 --rounds 2 --seconds 1",
    "simulate": "simulate --beta 0.01 --E 1 --T 2 --algorithm it.py:mine",
}


def drawn(draw: random.Random) -> tuple[tuple[str, ...], str, tuple[int, ...]]:
    """The words of a command, its file it.py, and the exit codes that it may have."""
    command = draw.choice(("decide", "decide", "conform", "simulate"))
    before, lost = draw.sample(HARMLESS, draw.randint(0, 2)), draw.random() < 0.4
    where = draw.random() < 0.5
    if lost and where:
        before.insert(draw.randint(0, len(before)), draw.choice(ENDING).replace("\\n", "\n"))
    within = draw.choice(LOST[:6]) if lost and not where else "pass"
    text, wrong = "\n".join(before), draw.random() < 0.5
    if command == "decide":
        left = draw.choice(LOST) if lost and not where else draw.choice(("x * x", "x", "x - x * x / 8", "x * 1"))
        right = "Fraction(1, 2)" if wrong else "Fraction(1)"
        content = CLAIM.format(before=text, left=left, right=right)
    elif command == "conform":
        content = CLIENT.format(before=text, within=within, factor=2 if wrong else 1)
    else:
        content, wrong = STEP.format(before=text, within=within), False
    codes = (2,) if lost else (1,) if wrong else (0,)
    if not lost and (
        ("sympy.Add" in text and command == "decide")
        or (text.find("sys.excepthook") < text.find("Thread(") and "sys.excepthook" in text)
        or (text.find("builtins.print") < text.find("print('left") and "builtins.print" in text)
        or (text.find("os.closerange") < text.find("os.write") and "os.closerange" in text)
    ):
        # Its formula is not its function, or Python starts no thread, or it prints with what it has removed or writes
        # to what it has closed: no verdict is as right as the right one.
        codes = (*codes, 2)
    if lost and command == "simulate" and "KeyboardInterrupt" in content:
        codes = (130, 2) if before else (130,)
    if command == "simulate" and not lost:
        # It runs in the command's own process: what it breaks there may end it, in a sentence.
        codes = (0, 2) if before else (0,)
    return tuple(COMMANDS[command].split()), HEAD + content, codes
