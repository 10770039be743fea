"""The code of one version of a model, which also gives the successors outside the boundary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.model_module import parts, whole
from floodmark.checkers.kernel.compiled_model import Kernel
from floodmark.compiler.program import read_program
from floodmark.language.model import Model


class VersionCode:
    """One version: its model, and its code."""

    def __init__(
        self, model: Model, threads: int, good: bool = False, tell: Callable[[str], None] | None = None
    ) -> None:
        self.model = model
        self.program = read_program(model, {})
        bounded, self.interface = parts(self.program, None)
        unbounded, _ = parts(replace(self.program, boundaries=[]), None)
        # The boundary is there to be asked, and no successor is judged by it.
        asked = [part for part in bounded if part.name == "within" or part.name.startswith("boundary.")]
        self.parts = [*asked, *(part for part in unbounded if part.name != "within")]
        name = f"{self.program.name}, unbounded"
        self.kernel = _VersionKernel(name, self.parts, self.interface, None, threads, good, tell)
        self.has_boundary = bool(self.program.boundaries)


class _VersionKernel(Kernel):
    """The code of one version, whose ``within`` can be called."""

    def _module(self) -> ir.Module:
        return whole(self._parts, self._name, ("within",))
