"""Sends the code that elimination needs to workers: the steps of a model with their labels, and the loops over them.

As with the code of the search (``code_transfer.py``), neither the model's source nor the compiler's input is sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from floodmark.checkers.codegen.jit import MachineCode, object_image, processor
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.codegen.model_module import whole
from floodmark.checkers.kernel.loops import ALL_ONES
from floodmark.checkers.liveness.assumptions import Assumptions
from floodmark.checkers.liveness.labelled_module import labelled_parts
from floodmark.checkers.spark.elimination_loops import ELIMINATION_LOOPS
from floodmark.language.conditions import Condition
from floodmark.language.model import Model

WORD = 64


@dataclass(frozen=True, slots=True)
class StepCode:
    """The code with which a worker recomputes the steps of packed states, their labels, and the conditions of a
    state."""

    words: int
    label_words: int
    most_successors: int
    context_words: int
    steps_text: str
    loops_text: str
    processor: dict[str, str]
    steps_image: bytes
    loops_image: bytes

    @property
    def identity(self) -> str:
        return hashlib.sha256(f"{self.words} {self.steps_text}{self.loops_text}".encode()).hexdigest()

    def load(self) -> Steps:
        """The functions, ready to be called in this process."""
        return Steps(self)


class Steps:
    """The functions of elimination in this process."""

    def __init__(self, code: StepCode) -> None:
        self.code = code
        if code.processor == processor():
            images = (code.steps_image, code.loops_image)
        else:
            images = (_image("steps", code.steps_text), _image("elimination", code.loops_text))
        self.steps, self.loops = (MachineCode([image]) for image in images)

    @cached_property
    def expand(self) -> int:
        return self.steps.address("expand")

    @cached_property
    def check(self) -> int:
        return self.steps.address("check")

    def loop(self, name: str, *arguments: int) -> int:
        """Calls a loop. The arguments are addresses and numbers."""
        return self.loops.function(name, len(arguments))(*arguments)


def build_steps(model: Model, conditions: Sequence[Condition], assumptions: Assumptions) -> StepCode:
    """The code of a model's steps. What may happen beyond its bounds is not in it: a property that holds, holds of the
    runs within them."""
    made_of, interface = labelled_parts(model, conditions, assumptions, {})
    words = interface.layout.words
    constants = {"NW": words, "STRIDE": words * 8, "LAST": ALL_ONES, "THREADS": 1}
    steps_text = str(whole(made_of, type(model).__name__))
    loops_text = str(compile_loops(ELIMINATION_LOOPS, constants))
    return StepCode(
        words,
        -(-assumptions.labels // WORD),
        interface.most_successors,
        interface.context_words,
        steps_text,
        loops_text,
        processor(),
        _image("steps", steps_text),
        _image("elimination", loops_text),
    )


def words_of(labels: Set[int], count: int) -> tuple[int, ...]:
    """Labels as bits of so many words."""
    bits = sum(1 << label for label in labels)
    return tuple(bits >> WORD * word & (1 << WORD) - 1 for word in range(count))


def _image(kind: str, text: str) -> bytes:
    return object_image({kind: text}, lambda: text)
