"""Tests the compiler of the inner loops: the code for a function, and the errors for what it does not support."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from floodmark.checkers.codegen.jit import MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import Word, Words, compile_loops


def sums(w: Words, count: Word) -> Word:
    """Sums odd words until one is zero."""
    total = 0
    for index in range(count):
        if w[index] == 0:
            break
        if w[index] & 1 == 1 or w[index] > LARGE:
            total = total + w[index]
    return total


LARGE = 100


def continues(w: Words, count: Word) -> Word:
    for _ in range(count):
        continue
    return 0


def calls(w: Words) -> Word:
    return unknown(w)  # type: ignore[name-defined,no-any-return]  # noqa: F821


def divides(w: Words) -> Word:
    return w[0] if w[1] else w[2]


def test_a_loop_does_what_python_does() -> None:
    text = str(compile_loops([sums], {}))
    code = MachineCode([object_image({"test": text}, lambda: text)])
    words = [3, 102, 4, 5, 0, 7]
    array = (ctypes.c_uint64 * len(words))(*words)
    function: Any = code.function("sums", 2)
    assert function(ctypes.addressof(array), len(words)) == 3 + 102 + 5
    assert function(ctypes.addressof(array), 1) == 3


@pytest.mark.parametrize(
    ("function", "message"),
    [(continues, "loops have no continue"), (calls, "loops have no function unknown"), (divides, "loops have no w")],
)
def test_what_has_no_code_is_refused(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        compile_loops([function], {})
