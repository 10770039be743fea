"""The machine code of one model with its properties, ready to be called.

There are two editions of the code. The plain edition consists of parts that LLVM does not optimise: compiling them
takes hundredths of a second, and a known-bad design takes all parts that it shares with its model from the cache. The
good edition is one optimised module: a search in it is two to three times as fast, but compiling it takes a second or
more. The loops of the search have the same two editions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.cost import MIN_REPORTED_INSTRUCTIONS, compilation_note, size
from floodmark.checkers.codegen.jit import GOOD, UNOPTIMISED, MachineCode, is_kept, object_image
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.codegen.model_module import CodePart, Interface, parts, whole
from floodmark.checkers.kernel import loops
from floodmark.checkers.kernel.memory import reserve
from floodmark.checkers.kernel.partitioned import PARTITIONED_LOOPS
from floodmark.checkers.kernel.symmetry_loops import SYMMETRY_LOOPS
from floodmark.checkers.project.versions import source_hash
from floodmark.checkers.search_result import Symmetry
from floodmark.checkers.symmetry.proof import prove_symmetry
from floodmark.compiler.layout import Layout
from floodmark.compiler.program import read_program, with_arguments
from floodmark.compiler.renaming import SymmetryProof
from floodmark.language.errors import ModelError
from floodmark.language.model import Model

Tell = Callable[[str], None]
RECENT_BITS, RECENT_BITS_OF_ORBITS = 10, 13
"""The logarithm of how many successors a worker remembers at most (``loops.RECENT_BITS``). Without symmetry they fit
into half of a processor's first cache, as the filter must be faster than the table; with it, into its second one."""
RECENT_WORDS = 1 << 11
"""Words of what a worker remembers without symmetry."""
FILTERED_FROM = 1 << 22
"""Cells of a table that a processor's caches do not hold (``loops.FILTERED_FROM``)."""
HINTED_FROM = 1 << 25
"""Cells of a table of which a processor does not even hold where its pages are (``loops.HINTED_FROM``)."""


class Kernel:
    """``model`` has expand, check and canonical; ``loops`` has run, check_states, rehash and find_parent."""

    def __init__(
        self,
        name: str,
        made_of: Sequence[CodePart],
        interface: Interface,
        symmetry_proof: SymmetryProof | None,
        threads: int,
        good: bool = False,
        tell: Tell | None = None,
    ) -> None:
        self.interface = interface
        self._tell = tell
        self.symmetry_proof = symmetry_proof
        self.symmetry = symmetry_proof is not None
        self._constants = loop_constants(interface.layout, self.symmetry, threads, self.recent_bits)
        self._name = name
        self._parts = made_of
        self._key = {"whole": " ".join(part.key for part in made_of), "compiler": code_hash()}
        self.good = good or is_kept(self._key, GOOD)
        """Whether ``model`` is the good edition."""
        self.model = self._good() if self.good else self._plain()
        self._earlier: list[MachineCode] = []

    @property
    def recent_bits(self) -> int:
        """The logarithm of how many successors a worker remembers."""
        if self.symmetry:
            return RECENT_BITS_OF_ORBITS
        return min(RECENT_BITS, max(RECENT_WORDS // self.interface.layout.words, 1).bit_length() - 1)

    @cached_property
    def loops(self) -> MachineCode:
        """The loops of a search, which who takes single steps does not need."""
        return _loops(loops.LOOPS, self._constants, self.good)

    @cached_property
    def partitioned(self) -> MachineCode:
        """The loops of a set in partitions, which a search that fits in memory does not need."""
        constants = loop_constants(self.interface.layout, self.symmetry, 1)
        return _loops(PARTITIONED_LOOPS, constants, good=True)

    @cached_property
    def comparison(self) -> MachineCode:
        """The loop that compares states with renamed copies."""
        return _loops(SYMMETRY_LOOPS, loop_constants(self.interface.layout, self.symmetry, 1), self.good)

    def new_context(self) -> NDArray[np.uint64]:
        """A context as the model's code expects it, with all counters zero."""
        context = reserve(self.interface.context_words + 1)
        context[loops.OUTSIDE] = loops.ALL_ONES
        return context

    def prepare_for_files(self) -> None:
        """Compiles the code that a search needs to continue in files."""
        self.partitioned.address("route")

    def improve(self) -> None:
        """Makes ``model`` and ``loops`` the good editions. Addresses in the plain ones stay valid."""
        self._earlier.append(self.model)
        self.model = self._good()
        self.loops = _loops(loops.LOOPS, self._constants, good=True)
        self.good = True

    def _good(self) -> MachineCode:
        return MachineCode([object_image(self._key, self._optimised, GOOD)])

    def _optimised(self) -> ir.Module:
        module = self._module()
        if self._tell is not None and size(module) >= MIN_REPORTED_INSTRUCTIONS:
            self._tell(f"optimising {size(module):,} instructions")
        return module

    def _module(self) -> ir.Module:
        return whole(self._parts, self._name)

    def _plain(self) -> MachineCode:
        images = []
        for part in self._parts:
            key = {"part": part.key, "compiler": code_hash()}
            images.append(object_image(key, lambda part=part: self._built(part), UNOPTIMISED))  # type: ignore[misc]
        return MachineCode(images)

    def _built(self, part: CodePart) -> ir.Module:
        module = part.module()
        if self._tell is not None and (what := compilation_note(part, module)):
            self._tell(what)
        return module


def build_kernel(
    model: Model, properties: Mapping[str, Callable[..., bool]], symmetry: Symmetry, threads: int = 1,
    good: bool = False, bounded: bool = True, arguments: bool = False, tell: Tell | None = None,
) -> Kernel:
    """Compiles ``model`` with its constants and ``properties``, or takes the code from the cache.

    ``tell`` is called with what is about to be compiled, if it is much. With ``good`` it starts with the good edition,
    which a long search needs anyway. Without ``bounded``, boundaries are left out: ``expand`` then returns every
    successor; with ``arguments``, each has the arguments of its step behind the model's words. Raises ModelError when
    there is no symmetry proof for ``symmetry``.
    """
    program = read_program(model, properties)
    if not bounded:
        program.boundaries = []
    if arguments:
        program = with_arguments(program)
    symmetry_proof = prove_symmetry(model, properties, program, symmetry) if symmetry else None
    try:
        made_of, interface = parts(program, symmetry_proof)
        return Kernel(program.name, made_of, interface, symmetry_proof, threads, good, tell)
    except ModelError as error:
        if error.file is None:
            error.file, error.line = type(model).source_position()
        raise


def code_hash(*more: str) -> str:
    """The hash of the sources that determine the code of a model and the loops that run it, and of ``more`` folders."""
    return source_hash("checkers/codegen", "checkers/kernel", "compiler", "language", *more)


def stride_of(layout: Layout) -> int:
    """The bytes that a stored state takes: its words, but of the last one only the bytes that are used."""
    return (layout.words - 1) * 8 + -(-_last_bits(layout) // 8)


def _last_bits(layout: Layout) -> int:
    ends = (slot.word * 64 + slot.offset + slot.bits for slot in layout.slots.values())
    return max(max(ends, default=0) - (layout.words - 1) * 64, 1)


_KNOWN_LOOPS: dict[tuple[object, ...], MachineCode] = {}


def loop_constants(layout: Layout, symmetry: bool, threads: int, recent: int = 0) -> dict[str, int]:
    """The constants for which the loops are specialised."""
    words, stride = layout.words, stride_of(layout)
    bits = 8 * (stride - (words - 1) * 8)
    stored = {"NW": words, "STRIDE": stride, "LAST": (1 << bits) - 1}
    filtered = {"RECENT_BITS": recent, "FILTERED_FROM": FILTERED_FROM, "HINTED_FROM": HINTED_FROM}
    return {**stored, "SYMMETRY": int(symmetry), "THREADS": threads, **filtered}


def _loops(made_of: Sequence[Callable[..., object]], constants: Mapping[str, int], good: bool) -> MachineCode:
    """The loops; optimised on request, or if they have been optimised before."""
    names = " ".join(loop.__name__ for loop in made_of)
    source = {"loops": code_hash(), "constants": repr(constants), "names": names}
    for effort in (GOOD,) if good else (GOOD, UNOPTIMISED):
        key = (names, effort, *constants.values())
        if key in _KNOWN_LOOPS:
            return _KNOWN_LOOPS[key]
        if good or effort == UNOPTIMISED or is_kept(source, effort):
            image = object_image(source, lambda: compile_loops(list(made_of), constants), effort)
            return _KNOWN_LOOPS.setdefault(key, MachineCode([image]))
    raise AssertionError(made_of)
