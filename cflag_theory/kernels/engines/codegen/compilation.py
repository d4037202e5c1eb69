"""One optimisation and one piece of machine code for each loop, whatever it calls.

Numba optimises every function and makes machine code of it, and does both again for each function that calls it. The
inner functions here are only translated; the loop that calls them is optimised as a whole, once.

Numba also leaves functions that were not inlined visible to every other loop of the process, and the first copy that is
loaded serves all. Copies differ in the last bits of their sums, so that a result depended on which loops had run
before, and on whether they were compiled or came from the cache. Here a loop keeps its functions to itself.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _NothingToRun:
    """Numba's code generator, for a library without machine code."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing: machine code would find its Python objects there, and inner functions use none."""


class _Part(JITCodeLibrary):
    """An inner function: translated, and neither optimised nor made machine code before a loop takes it in."""

    @property
    def codegen(self) -> Any:
        """What Numba asks for when it has translated a function."""
        return _NothingToRun(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        """Null, since nobody calls it but the loops that take it in."""
        self._ensure_finalized()
        return 0

    def _optimize_functions(self, ll_module: Any) -> None:
        """Not yet."""

    def _optimize_final_module(self) -> None:
        """Not yet."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _Apart(_Part):
    """An inner function that is called and not taken in where it is called: it has the registers for itself."""

    def _optimize_final_module(self) -> None:
        own = f"{len(self.name)}{self.name}"
        for function in self._final_module.functions:
            if not function.is_declaration and own in function.name:
                function.add_function_attribute("noinline")


class _Whole(JITCodeLibrary):
    """A loop with all that it calls."""

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "linkonce_odr":
                function.linkage = "internal"
        super()._optimize_final_module()


class _Compiler(Compiler):
    makes: type[JITCodeLibrary]

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """As usual, into a library of our own, which can be cached."""
        library = self.makes(self.state.targetctx.codegen(), func.__qualname__)
        library.enable_object_caching()
        self.state["library"] = library
        return super().compile_extra(func)


class PartCompiler(_Compiler):
    """Numba's ``pipeline_class`` for inner functions."""

    makes = _Part


class ApartCompiler(_Compiler):
    """Numba's ``pipeline_class`` for inner functions with loops that need all registers."""

    makes = _Apart


class WholeCompiler(_Compiler):
    """Numba's ``pipeline_class`` for loops."""

    makes = _Whole

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """As usual, but garbage is not looked for meanwhile, which takes a tenth of the time."""
        enabled = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if enabled:
                gc.enable()
