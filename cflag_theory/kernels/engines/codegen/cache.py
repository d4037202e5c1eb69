"""Compilation with a cache on disk, in a folder named by a hash of all sources of the kernels.

Numba alone compares the file of the compiled function with the cached one, and would run an old formula after an edit
in another file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import platformdirs
from numba.extending import register_jitable

import cflag_theory
from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.engines.codegen.kinds import FLAGS
from cflag_theory.kernels.engines.codegen.stored import NO_HOME, StoredLoop, safe_folder
from cflag_theory.kernels.engines.codegen.versions import REASON

# Numba fills this module from the environment, so that its attributes have no types.
config: Any = numba.config

Function = TypeVar("Function", bound=Callable[..., Any])

#: The folder of all kernel sources.
KERNELS = Path(__file__).parents[2]

#: Reordering of sums is allowed, so that they vectorise; nnan and ninf are not, because divergence must be seen.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}

#: Numba's own compiler, for loops and for their parts, or the changed ones where its version is known.
WHOLE: dict[str, Any] = {}
PART: dict[str, Any] = {}
APART: dict[str, Any] = {}
if not REASON:
    from cflag_theory.kernels.engines.codegen.compilation import ApartCompiler, PartCompiler, WholeCompiler

    WHOLE, PART, APART = ({"pipeline_class": kind} for kind in (WholeCompiler, PartCompiler, ApartCompiler))


def source_hash(folder: Path = KERNELS) -> str:
    """A hash over the names and texts of all modules of the kernels, or of those below another folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def cache_folder() -> Path | None:
    """The folder for these sources, made if need be for the user alone; a temporary one where that is not safe.

    It lies in ``NUMBA_CACHE_DIR`` if that is set, else in the user's cache folder. Plain loops have one of their own.
    None where no folder at all can be had.
    """
    try:
        root = config.CACHE_DIR or platformdirs.user_cache_dir("cflag-theory", appauthor=False)
    except RuntimeError:
        root = NO_HOME
    return safe_folder(root, source_hash() + ("-plain" if REASON else ""))


def compiled(function: Function) -> Function:
    """Compile a loop over plain arrays and numbers, with all that it calls; it releases the interpreter lock."""
    folder = cache_folder()
    usual = config.CACHE_DIR
    # Numba reads its cache folder while it decorates and at no other time.
    config.CACHE_DIR = str(folder or usual)
    try:
        loop: Any = _compiled(function, no_cfunc_wrapper=True, **WHOLE)
        if folder is not None:
            loop._cache = StoredLoop(loop.py_func)
            loop.compile = loop._cache.in_turn(loop.compile)
        return cast(Function, loop)
    finally:
        config.CACHE_DIR = usual


def inner(function: Function) -> Function:
    """Compile a function that only compiled ones call, and that makes no arrays.

    Code to call it from Python would take most of the time of compilation, and counting the references to the arrays
    of a block most of the time of a small round.
    """
    return _part(function, **PART)


def in_order(function: Function) -> Function:
    """As `inner`, for functions whose sums keep the order in which they are written."""
    return _part(function, fastmath=set(FLAGS), **PART)


def allocating(function: Function) -> Function:
    """As `inner`, for functions that make arrays."""
    return _part(function, counts_references=True, **PART)


def apart(function: Function) -> Function:
    """As `inner`, for long loops: the function is called, and has the machine's registers for itself."""
    return _part(function, **APART)


def _part(function: Function, *, counts_references: bool = False, **options: Any) -> Function:
    part: Any = _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=counts_references, **options)
    # A constant argument is a type of its own: without this each 0 and False compiles the function once more.
    widened: Any = numba.types.unliteral
    resolved = part.get_call_template
    part.get_call_template = lambda args, kws: resolved(tuple(map(widened, args)), kws)
    return cast(Function, part)


def _compiled(function: Function, *, fastmath: set[str] = FASTMATH, **options: Any) -> Function:
    if config.DISABLE_JIT:
        raise InvalidInput("NUMBA_DISABLE_JIT is set, and the loops run only when compiled: unset it")
    # Divisions by zero give infinities, which the loop sees; a check at each would keep it from vectorising.
    decorate = numba.njit(nogil=True, fastmath=fastmath, error_model="numpy", **options)
    return cast(Function, decorate(function))


def default_threads() -> int:
    """As many threads as there are cores for this process, or ``NUMBA_NUM_THREADS``."""
    return int(config.NUMBA_NUM_THREADS)


def callable_from_compiled(*functions: Callable[..., Any]) -> None:
    """Let compiled functions call these plain ones, which stay plain Python for everyone else."""
    for function in functions:
        register_jitable(fastmath=FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True, **PART)(function)


def versions() -> dict[str, str]:
    """This package, a hash of its kernels, and the libraries: what the last bits of stored results may depend on."""
    libraries = {name: version(name) for name in ("numpy", "numba")}
    return {"cflag_theory": cflag_theory.__version__, "kernels": source_hash()} | libraries
