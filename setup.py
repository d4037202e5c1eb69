"""Equal sources make equal wheels, whoever builds them: files have the time of the last commit and the same rights."""

import os
import subprocess
from pathlib import Path
from typing import Any

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel

#: The first second that an archive can hold, for sources without a history.
_EARLIEST = "315532800"


class _Wheel(bdist_wheel):
    def write_wheelfile(self, folder: str, **how: Any) -> None:
        """The last file of the wheel; rights come from the umask under which the sources were written."""
        super().write_wheelfile(folder, **how)
        for path in Path(folder).parent.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)


def _time() -> str:
    asked = ["git", "-C", str(Path(__file__).parent), "log", "-1", "--format=%ct", "--", "."]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() or _EARLIEST
    except (OSError, subprocess.CalledProcessError):
        return _EARLIEST


os.environ.setdefault("SOURCE_DATE_EPOCH", _time())
setup(cmdclass={"bdist_wheel": _Wheel})
