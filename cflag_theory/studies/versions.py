"""What the last bits of stored results may depend on."""

from __future__ import annotations

from importlib.metadata import version

import cflag_theory
from cflag_theory.kernels.engines.codegen.cache import source_hash


def versions() -> dict[str, str]:
    """This package, a hash of its kernels, and the libraries that compute."""
    libraries = {name: version(name) for name in ("numpy", "numba")}
    return {"cflag_theory": cflag_theory.__version__, "kernels": source_hash()} | libraries
