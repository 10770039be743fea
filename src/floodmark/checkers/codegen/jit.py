"""Compiles LLVM modules to machine code, and caches the code on disk so that the next run need not compile it."""

from __future__ import annotations

import ctypes
import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from floodmark.checkers import disk_cache
from floodmark.checkers.codegen.llvm_ir import Module


@dataclass(frozen=True, slots=True)
class Effort:
    """LLVM's optimisation: the level of its passes (0 for none) and that of its code generator."""

    passes: int
    code: int


GOOD = Effort(3, 3)
UNOPTIMISED = Effort(0, 0)


@cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _target(effort: Effort = GOOD) -> Any:
    """A new description of this processor; an execution engine takes ownership of the one that it gets."""
    _initialize()
    known = processor()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=known["cpu"], features=known["features"], opt=effort.code)


class _Targets(threading.local):
    """The descriptions with which this thread compiles. Making one, and compiling the first function with it, takes
    longer than compiling a small part does."""

    def __init__(self) -> None:
        self._made: dict[Effort, Any] = {}

    def of(self, effort: Effort) -> Any:
        if effort not in self._made:
            self._made[effort] = _target(effort)
        return self._made[effort]


_TARGETS = _Targets()


class MachineCode:
    """Functions in memory that Python can call; a call releases the interpreter lock."""

    def __init__(self, images: Sequence[bytes]) -> None:
        """Links object files, which may call each other's functions."""
        target = _target()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
        for image in images:
            self._engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(image))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """The address of a function."""
        address: int = self._engine.get_function_address(name)
        if not address:
            raise KeyError(name)
        return address

    def function(self, name: str, arguments: int) -> Callable[..., int]:
        """A function with this many 64-bit arguments, as a Python callable."""
        kind = ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_uint64] * arguments)
        return kind(self.address(name))


@cache
def processor() -> dict[str, str]:
    """The inputs of machine code besides its source: where all of these are equal, the code can be shared."""
    return {
        "llvmlite": llvmlite.__version__,
        "cpu": llvm.get_host_cpu_name(),
        "features": llvm.get_host_cpu_features().flatten(),
        "triple": llvm.get_default_triple(),
    }


def object_image(key_parts: Mapping[str, str], build: Callable[[], Module | str], effort: Effort = GOOD) -> bytes:
    """The object file of a module, which ``build`` returns as written or as text; from the cache if it is there.

    ``key_parts`` say what the code depends on; the processor and LLVM's version are added.
    """
    path = _path(key_parts, effort)
    image = disk_cache.read(path)
    if image is None:
        image = _compile(build(), effort)
        disk_cache.write(path, image)
    return image


def is_kept(key_parts: Mapping[str, str], effort: Effort) -> bool:
    """Whether ``object_image`` would find the code in the cache."""
    return disk_cache.read(_path(key_parts, effort)) is not None


def _path(key_parts: Mapping[str, str], effort: Effort) -> Path:
    key = repr(sorted({**key_parts, **processor(), "effort": repr(effort)}.items()))
    return disk_cache.cache_directory() / "code" / f"{hashlib.sha256(key.encode()).hexdigest()}.o"


def _compile(module: Module | str, effort: Effort) -> bytes:
    target = _TARGETS.of(effort)
    parsed = llvm.parse_assembly(str(module))
    parsed.triple = llvm.get_default_triple()
    parsed.verify()
    if effort.passes:
        options = llvm.PipelineTuningOptions(speed_level=effort.passes)
        options.loop_unrolling = True
        passes = llvm.create_pass_builder(target, options)
        passes.getModulePassManager().run(parsed, passes)
    image: bytes = target.emit_object(parsed)
    return image
