"""The command line in processes of its own, each divided from one that has imported what it needs."""

from __future__ import annotations

import socket
import subprocess
import sys
from functools import cache
from tempfile import TemporaryFile

#: Waits for a folder and words, with the three streams, and says how the command ended. The command itself runs as if
#: Python had just begun it.
WAITING = """
import os, socket, sys, warnings
import cflag_theory.cli.tables.rate, cflag_theory.kernels.trace.store, cflag_theory.studies.sweeps.check
from cflag_theory.cli.main import main
from cflag_theory.kernels import own_algorithm, simulate
door = socket.socket(fileno=int(sys.argv[1]))
while True:
    said, streams, *_ = socket.recv_fds(door, 100_000, 3)
    if not said:
        os._exit(0)
    with warnings.catch_warnings():
        # Python warns of threads, which the child does not have.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if not process:
        break
    for stream in streams:
        os.close(stream)
    door.sendall(str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())
door.close()
for place, stream in enumerate(streams):
    os.dup2(stream, place)
    os.close(stream)
folder, *words = said.decode().split("\\0")
os.chdir(folder)
sys.argv = ["cflag", *words]
from cflag_theory.__main__ import main
main()
"""


@cache
def waiting() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    ours, its = socket.socketpair()
    with its:
        started = subprocess.Popen([sys.executable, "-c", WAITING, str(its.fileno())], pass_fds=[its.fileno()])
    return ours, started


def command(*words: object, cwd: object) -> subprocess.CompletedProcess[str]:
    """What `python -m cflag_theory` with these words does in the folder."""
    door, _ = waiting()
    with TemporaryFile() as out, TemporaryFile() as err, open("/dev/null", "rb") as nothing:
        socket.send_fds(
            door, ["\0".join(map(str, (cwd, *words))).encode()], [one.fileno() for one in (nothing, out, err)]
        )
        ended = door.recv(20)
        assert ended, "the process that waits has ended"
        printed = []
        for stream in (out, err):
            stream.seek(0)
            printed.append(stream.read().decode())
    return subprocess.CompletedProcess(words, int(ended), *printed)
