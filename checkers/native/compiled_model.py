"""The machine code of one model with its properties, ready to be called.

There are two editions of the code. The plain edition consists of parts that LLVM does not optimise: compiling them
takes hundredths of a second, and a known-bad design takes all parts that it shares with its model from the cache. The
good edition is one optimised module: a search in it is two to three times as fast, but compiling it takes a second or
more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from floodmark.checkers.codegen.jit import GOOD, PLAIN, MachineCode, is_kept, object_image
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.codegen.model_module import Interface, Part, parts, whole
from floodmark.checkers.licence import license_symmetry
from floodmark.checkers.native import loops
from floodmark.compiler.program import read_program
from floodmark.language.errors import ModelError
from floodmark.language.model import Model


class Kernel:
    """``model`` has expand, check and canonical; ``loops`` has run, check_states, rehash and find_parent."""

    def __init__(
        self, name: str, made_of: Sequence[Part], interface: Interface, symmetry: bool, threads: int, good: bool = False
    ) -> None:
        self.interface = interface
        self.symmetry = symmetry
        self.loops = _loops(interface.layout.words, symmetry, threads)
        self._name = name
        self._parts = made_of
        self._key = {"whole": " ".join(part.key for part in made_of), "compiler": _compiler()}
        self.good = good or is_kept(self._key, GOOD)
        """Whether ``model`` is the good edition."""
        self.model = self._good() if self.good else self._plain()
        self._earlier: list[MachineCode] = []

    def improve(self) -> None:
        """Makes ``model`` the good edition. Addresses in the plain one stay valid."""
        self._earlier.append(self.model)
        self.model = self._good()
        self.good = True

    def _good(self) -> MachineCode:
        return MachineCode([object_image(self._key, lambda: whole(self._parts, self._name), GOOD)])

    def _plain(self) -> MachineCode:
        images = []
        for part in self._parts:
            key = {"part": part.key, "compiler": _compiler()}
            images.append(object_image(key, part.module, PLAIN))
        return MachineCode(images)


def build_kernel(
    model: Model, properties: Mapping[str, Callable[..., bool]], symmetry: bool, threads: int = 1, good: bool = False,
    bounded: bool = True,
) -> Kernel:
    """Compiles ``model`` with its constants and ``properties``, or takes the code from the cache.

    With ``good`` it starts with the good edition, which a long search needs anyway. Without ``bounded``, boundaries are
    left out: ``expand`` then returns every successor. Raises ModelError when there is no licence for ``symmetry``.
    """
    program = read_program(model, properties)
    if not bounded:
        program.boundaries = []
    licence = license_symmetry(model, properties, program) if symmetry else None
    try:
        made_of, interface = parts(program, licence)
        return Kernel(program.name, made_of, interface, symmetry, threads, good)
    except ModelError as error:
        if error.file is None:
            error.file, error.line = type(model).source_position()
        raise


_KNOWN_LOOPS: dict[tuple[int, bool, int], MachineCode] = {}


def _loops(words: int, symmetry: bool, threads: int) -> MachineCode:
    key = (words, symmetry, threads)
    if key not in _KNOWN_LOOPS:
        constants = {"NW": words, "SYMMETRY": int(symmetry), "THREADS": threads}
        source = {"loops": _compiler(), "constants": repr(constants)}
        image = object_image(source, lambda: compile_loops(loops.LOOPS, constants), GOOD)
        _KNOWN_LOOPS[key] = MachineCode([image])
    return _KNOWN_LOOPS[key]


_COMPILER = ("floodmark.checkers.codegen", "floodmark.checkers.native", "floodmark.compiler", "floodmark.language")


@cache
def _compiler() -> str:
    """A hash of the sources that determine the code of a model."""
    whole = hashlib.sha256()
    for package in _COMPILER:
        for file in _sources(files(package)):
            for part in (file.name.encode(), file.read_bytes()):
                whole.update(f"{len(part)}:".encode())
                whole.update(part)
    return whole.hexdigest()


def _sources(package: Traversable) -> Iterator[Traversable]:
    yield from sorted((file for file in package.iterdir() if file.name.endswith(".py")), key=lambda file: file.name)
