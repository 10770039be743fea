"""Expands single states with a model's compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from floodmark.checkers.codegen.jit import MachineCode
from floodmark.checkers.codegen.model_module import Interface
from floodmark.checkers.kernel.loops import ALL_ONES, BROKEN, COUNTERS, CUT, FAILED, OUTSIDE


class Successors(NamedTuple):
    """All steps from a state: the packed states that they lead to, those outside the boundary left out.

    ``fired`` counts the steps of each action, in the order of the interface's actions; as long as none is ``cut`` at
    the boundary or ``failed``, ``after`` has them in that order. ``broken`` is the mask of the transition properties
    that are false of some step, ``inside`` that of the state properties that are true in every state outside the
    boundary.
    """

    after: list[list[int]]
    fired: list[int]
    failed: bool
    broken: int
    cut: int
    inside: int


class Stepper:
    """The compiled code of a model, with room for the successors of one state; not for several threads."""

    def __init__(self, code: MachineCode, interface: Interface) -> None:
        self._code = code  # which its functions do not keep from being freed
        self._expand, self._check = code.function("expand", 3), code.function("check", 2)
        words = interface.layout.words
        self._end = interface.first_premise
        self._state = np.zeros(words, dtype=np.uint64)
        self._out = np.zeros((interface.most_successors + 1, words), dtype=np.uint64)
        self._context = np.zeros(interface.context_words + 1, dtype=np.uint64)
        self._clean = self._context.copy()
        self._clean[OUTSIDE] = ALL_ONES
        self._places = self._state.ctypes.data, self._out.ctypes.data, self._context.ctypes.data

    def expand(self, state: Sequence[int]) -> Successors:
        """Takes all steps from a packed state."""
        self._state[:] = state
        self._context[:] = self._clean
        made = self._expand(*self._places)
        context = self._context[: self._end].tolist()
        return Successors(
            self._out[:made].tolist(), context[COUNTERS:],
            bool(context[FAILED]), context[BROKEN], context[CUT], context[OUTSIDE],
        )

    def check(self, state: Sequence[int]) -> tuple[int, bool]:
        """The mask of the state properties that are true in a packed state, and whether one of them fails."""
        self._state[:] = state
        self._context[FAILED] = 0
        mask = self._check(self._places[0], self._places[2])
        return mask, bool(self._context[FAILED])
