"""The size of a part's machine code before LLVM optimises it, by lines of the model."""

from __future__ import annotations

from collections import Counter

from floodmark.checkers.codegen.llvm_ir import Module, Survey
from floodmark.checkers.codegen.model_module import CodePart
from floodmark.checkers.project.paths import shown_line
from floodmark.compiler.ir import Position

MIN_REPORTED_INSTRUCTIONS = 10_000
"""The number of instructions from which compiling takes long enough to report: about a second without optimisation."""


def size(module: Module) -> int:
    """The number of instructions in a module."""
    return sum(len(block.lines) for function in module.functions for block in function.blocks)


def lines(part: CodePart) -> Counter[Position]:
    """The number of instructions for each line of the model; those of called functions count for their own lines."""
    module = Survey(part.name)
    part.emit(module)
    return module.places


def compilation_note(part: CodePart, module: Module) -> str:
    """A note on the compilation that begins, and the line that causes most of it; empty if it is short."""
    count = size(module)
    if count < MIN_REPORTED_INSTRUCTIONS:
        return ""
    kind, _, name = (*part.name.split(".", 2), "", "")[:3]
    what = f"compiling {f'{kind} {name}'.strip()}: {count:,} instructions"
    for at, dearest in lines(part).most_common(1):
        what += f", {dearest:,} of them for {shown_line(at.file, at.line)}"
    return what
