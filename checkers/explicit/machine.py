"""Turns LLVM modules into machine code, and keeps the code on disk so that the next run need not compile it."""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
from llvmlite import ir

_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard LLVM tries: the level of its passes and that of its code generator."""

    passes: int
    code: int
    unroll: bool


FULL = Effort(2, 2, True)
BRIEF = Effort(1, 0, False)


def cache_directory() -> Path:
    """Where compiled code is kept: FLOODMARK_CACHE, else the user's cache directory."""
    own = os.environ.get("FLOODMARK_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "floodmark"


@cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _target(effort: Effort = FULL) -> Any:
    """A new description of this processor; an execution engine takes the one that it is given for its own."""
    _initialize()
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=effort.code)


class MachineCode:
    """Functions in memory that Python can call; calling one releases the interpreter lock."""

    def __init__(self, image: bytes) -> None:
        target = _target()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
        self._engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(image))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function starts."""
        address: int = self._engine.get_function_address(name)
        if not address:
            raise KeyError(name)
        return address

    def function(self, name: str, arguments: int) -> Callable[..., int]:
        """A function of so many 64-bit arguments as a Python callable."""
        kind = ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_uint64] * arguments)
        return kind(self.address(name))


def load_or_compile(key_parts: Mapping[str, str], build: Callable[[], ir.Module], effort: Effort = FULL) -> MachineCode:
    """The machine code of the module that ``build`` makes, from the cache when it is there.

    ``key_parts`` say what the code depends on; the processor and LLVM's version are added.
    """
    return MachineCode(object_image(key_parts, build, effort))


def processor() -> dict[str, str]:
    """What machine code depends on beside its source: where all of this is equal, code can be passed on."""
    return {
        "llvmlite": llvmlite.__version__,
        "cpu": llvm.get_host_cpu_name(),
        "features": llvm.get_host_cpu_features().flatten(),
        "triple": llvm.get_default_triple(),
    }


def object_image(key_parts: Mapping[str, str], build: Callable[[], ir.Module | str], effort: Effort = FULL) -> bytes:
    """The object file of a module, given as it was built or as its text; from the cache when it is there."""
    key = hashlib.sha256(
        repr(sorted({**key_parts, **processor(), "effort": repr(effort)}.items())).encode()
    ).hexdigest()
    path = cache_directory() / "code" / f"{key}.o"
    image = _read(path)
    if image is None:
        image = _compile(build(), effort)
        _write(path, image)
    return image


def _compile(module: ir.Module | str, effort: Effort) -> bytes:
    target = _target(effort)
    parsed = llvm.parse_assembly(str(module))
    parsed.triple = llvm.get_default_triple()
    parsed.verify()
    options = llvm.PipelineTuningOptions(speed_level=effort.passes)
    options.loop_unrolling = effort.unroll
    passes = llvm.create_pass_builder(target, options)
    passes.getModulePassManager().run(parsed, passes)
    image: bytes = target.emit_object(parsed)
    return image


def _read(path: Path) -> bytes | None:
    """The kept code, unless it is absent or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, image = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return image if image and hashlib.sha256(image).digest() == digest else None


def _write(path: Path, image: bytes) -> None:
    """Keeps code; a cache that cannot be written is no error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(hashlib.sha256(image).digest() + image)
        os.replace(file.name, path)
    except OSError:
        return
