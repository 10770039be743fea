"""Tests where a look-up goes on in a table of states: no cell that it passes may hold the state that it looks for."""

from __future__ import annotations

import ctypes
import random

import pytest

from floodmark.checkers.codegen.jit import MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import WINDOW, compile_loops
from floodmark.checkers.kernel.loops import CELLS_OF_LINE, SHARED_WINDOW, first_fitting

BEYOND = 2 * WINDOW
"""Cells after the table, which belong to something else."""


@pytest.fixture(scope="module", params=[1, 2])
def code(request: pytest.FixtureRequest) -> tuple[MachineCode, int]:
    """The compiled function, and how many cells it looks at together."""
    text = str(compile_loops([first_fitting], {"THREADS": request.param}))
    machine = MachineCode([object_image({"test": text}, lambda: text)])
    return machine, WINDOW if request.param == 1 else SHARED_WINDOW


def expected(cells: list[int], start: int, kept: int, wanted: int, width: int) -> int:
    """One cell after the other, up to the end of the window, which ends with the line or the table."""
    if len(cells) < width:
        return start
    line = start // CELLS_OF_LINE * CELLS_OF_LINE + CELLS_OF_LINE
    end = min(start + width, line, len(cells))
    for place in range(start, end):
        if cells[place] == 0 or cells[place] & kept == wanted:
            return place
    return end % len(cells)


@pytest.mark.parametrize("bits", [1, 7, 29, 31, 32])
@pytest.mark.parametrize("size", [1, 3, 4, 7, 8, 9, 16, 50])
def test_a_look_up_passes_only_cells_that_are_taken_by_other_states(
    code: tuple[MachineCode, int], size: int, bits: int
) -> None:
    machine, width = code
    function = machine.function("first_fitting", 5)
    draw = random.Random(f"{size} {bits}")
    kept = (1 << 32) - (1 << bits)
    tags = [tag << bits for tag in range(min(3, 1 << 32 - bits))]
    for share_of_empty in (0.0, 0.1, 0.5, 1.0):
        cells = [
            0 if draw.random() < share_of_empty else draw.choice(tags) | draw.randrange(1, 1 << bits)
            for _ in range(size)
        ]
        for wanted in tags:
            beyond = [draw.choice((0, *(tag | 1 for tag in tags))) for _ in range(BEYOND)]
            array = (ctypes.c_uint32 * (size + BEYOND))(*cells, *beyond)
            for start in range(size):
                found = function(ctypes.addressof(array), size, start, kept, wanted)
                assert found == expected(cells, start, kept, wanted, width)
