"""The machine code of one model with its properties, ready to be called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from checkers.explicit import flood
from checkers.explicit.loops import compile_loops
from checkers.explicit.machine import BRIEF, FULL, MachineCode, load_or_compile
from checkers.explicit.module import Interface, build_module
from model.compiler.program import read_program
from model.language.errors import ModelError
from model.language.model import Model


@dataclass(frozen=True, slots=True)
class Kernel:
    """``model`` has expand, check and canonical; ``loops`` has run, check_states, rehash and find_parent."""

    interface: Interface
    model: MachineCode
    loops: MachineCode
    symmetry: bool


def build_kernel(
    model: Model, properties: Mapping[str, Callable[..., bool]], symmetry: bool, threads: int = 1, brief: bool = False
) -> Kernel:
    """Compiles ``model`` with its constants and ``properties``, or takes the code from the cache."""
    program = read_program(model, properties)
    try:
        module, interface = build_module(program, symmetry)
    except ModelError as error:
        if error.file is None:
            error.file, error.line = type(model).source_position()
        raise
    if brief:
        for function in module.functions:
            if function.linkage == "internal":
                function.attributes.add("noinline")
    code = load_or_compile({"module": str(module)}, lambda: module, BRIEF if brief else FULL)
    return Kernel(interface, code, _loops(interface.layout.words, symmetry, threads), symmetry)


_KNOWN_LOOPS: dict[tuple[int, bool, int], MachineCode] = {}


def _loops(words: int, symmetry: bool, threads: int) -> MachineCode:
    key = (words, symmetry, threads)
    if key not in _KNOWN_LOOPS:
        constants = {"NW": words, "SYMMETRY": int(symmetry), "THREADS": threads}
        source = {"loops": _source(), "constants": repr(constants)}
        _KNOWN_LOOPS[key] = load_or_compile(source, lambda: compile_loops(flood.LOOPS, constants))
    return _KNOWN_LOOPS[key]


def _source() -> str:
    from checkers.explicit import loops

    return inspect.getsource(flood) + inspect.getsource(loops)
