"""Processes that grow are replaced, and nobody waits forever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

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
kept = []
def hoard(number):
    kept.append(bytearray(b"x") * 200_000_000)
    time.sleep(0.6)
    return number
"""


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
