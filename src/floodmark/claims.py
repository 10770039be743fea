"""Claims: sentences of a protocol's text as functions over sets and numbers, with the expected answer.

    @fails("KIP-236, cancellation, step 2")
    def replicas_that_may_return(original: Set[Broker], target: Set[Broker]) -> bool:
        "The replicas that are not assigned any more are OAR - RAR."
        return (original | target) - original == original - target

``floodmark prove FILE.py`` checks a claim for all values of its parameters that its leading ``require`` statements
allow. A parameter has a finite type of the modelling language, or is an ``int``, which then means any integer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeVar

from floodmark.language.errors import ModelError

F = TypeVar("F", bound=Callable[..., bool])

_CLAIM = "__floodmark_claim__"


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected answer, and where the sentence is found, for example ``KIP-497, "Proposed Changes"``."""

    holds: bool
    source: str


def holds(source: str) -> Callable[[F], F]:
    """Marks a claim that is expected to be true for all values. ``source`` says where the sentence is found."""
    return _expecting(True, source)


def fails(source: str) -> Callable[[F], F]:
    """Marks a claim that is expected to be false for some values: a mistake in the text, or the answer to a
    question.
    """
    return _expecting(False, source)


def _expecting(answer: bool, source: str) -> Callable[[F], F]:
    if isinstance(source, FunctionType):  # without brackets the function would be no claim, and never be asked
        name, word = source.__name__, "holds" if answer else "fails"
        message = f"{name} needs the place of its sentence: @{word}(\"KIP-497, Proposed Changes\")"
        raise ModelError(message, source.__code__.co_filename, source.__code__.co_firstlineno)
    expectation = Expectation(answer, source)

    def mark(function: F) -> F:
        setattr(function, _CLAIM, expectation)
        return function

    return mark


def expectation_of(function: Any) -> Expectation | None:
    """The expected answer of a function that is a claim; None for any other function."""
    found = getattr(function, _CLAIM, None)
    return found if isinstance(found, Expectation) else None
