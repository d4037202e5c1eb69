"""`python -m cflag_theory`, and what the command `cflag` starts: ready for interrupts before anything loads."""

from __future__ import annotations

import gc
import os
import signal
from typing import Any

INTERRUPTED = 130


def main() -> None:
    """Run the command line; an interrupt ends it with code 130, even while modules are loading."""
    # To look for garbage at each 700th new object takes a tenth of the time: there are many, which stay.
    gc.set_threshold(50_000, 20, 50)
    # Where a shell has interrupts ignored, they stay so.
    try:
        if heeded := signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _leave)
    except KeyboardInterrupt:
        _leave()
    from cflag_theory.cli.edge import say
    from cflag_theory.cli.main import main as run
    from cflag_theory.outside.divided import may_divide

    may_divide(say)
    try:
        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    finally:
        if heeded:
            signal.signal(signal.SIGINT, _leave)


def _leave(*_: Any) -> None:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
