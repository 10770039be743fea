"""Sends a kernel to workers: machine code if they have the driver's processor, else LLVM's text.

Neither the model's source nor the compiler's input is sent to a worker, so a model need not be installed there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from floodmark.checkers.codegen.jit import MachineCode, object_image, processor
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.codegen.model_module import parts, whole
from floodmark.checkers.kernel.loops import ALL_ONES
from floodmark.checkers.search_result import Symmetry
from floodmark.checkers.spark.loops import SPARK_LOOPS
from floodmark.checkers.symmetry.proof import prove_symmetry
from floodmark.compiler.program import read_program
from floodmark.language.model import Model


@dataclass(frozen=True, slots=True)
class KernelCode:
    """The code with which a worker expands, checks and stores packed states of one model."""

    words: int
    most_successors: int
    context_words: int
    counter_words: int
    """The number of words of a context in a report, without the words in which code caches results."""
    symmetry: bool
    model_text: str
    loops_text: str
    processor: dict[str, str]
    model_image: bytes
    loops_image: bytes

    @property
    def identity(self) -> str:
        """Equal for the same model, constants, properties, symmetry, and assignment of states to partitions."""
        return hashlib.sha256(f"{self.symmetry} {self.words}\n{self.model_text}{self.loops_text}".encode()).hexdigest()

    def load(self) -> LoadedKernel:
        """The functions, ready to be called in this process."""
        return LoadedKernel(self)


class LoadedKernel:
    """The functions of a kernel in this process."""

    def __init__(self, code: KernelCode) -> None:
        self.code = code
        if code.processor == processor():
            images = (code.model_image, code.loops_image)
        else:
            images = (_image("module", code.model_text), _image("loops", code.loops_text))
        self.model, self.loops = (MachineCode([image]) for image in images)

    @cached_property
    def insert(self) -> Callable[..., int]:
        return self.loops.function("insert", 3)

    @cached_property
    def route(self) -> Callable[..., int]:
        return self.loops.function("route", 4)

    @cached_property
    def copied(self) -> Callable[..., int]:
        return self.loops.function("copied", 3)

    @cached_property
    def fill_slice(self) -> Callable[..., int]:
        return self.loops.function("fill_slice", 3)

    @cached_property
    def check(self) -> Callable[..., int]:
        return self.loops.function("check_states", 3)

    @cached_property
    def digest(self) -> Callable[..., int]:
        return self.loops.function("digest", 3)

    @cached_property
    def misplaced(self) -> Callable[..., int]:
        return self.loops.function("misplaced", 1)

    @cached_property
    def find_parent(self) -> Callable[..., int]:
        return self.loops.function("find_parent", 3)


def build_code(model: Model, properties: Mapping[str, Callable[..., bool]], symmetry: Symmetry) -> KernelCode:
    """The code of ``model`` with its constants and ``properties``."""
    program = read_program(model, properties)
    symmetry_proof = prove_symmetry(model, properties, program, symmetry) if symmetry else None
    made_of, interface = parts(program, symmetry_proof)
    words = interface.layout.words
    constants = {"NW": words, "STRIDE": words * 8, "LAST": ALL_ONES, "SYMMETRY": int(bool(symmetry)), "THREADS": 1}
    model_text = str(whole(made_of, program.name))
    loops_text = str(compile_loops(SPARK_LOOPS, constants))
    return KernelCode(
        words,
        interface.most_successors,
        interface.context_words,
        interface.first_memory,
        bool(symmetry),
        model_text,
        loops_text,
        processor(),
        _image("module", model_text),
        _image("loops", loops_text),
    )


def _image(kind: str, text: str) -> bytes:
    return object_image({kind: text}, lambda: text)
