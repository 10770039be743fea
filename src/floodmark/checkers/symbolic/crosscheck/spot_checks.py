"""Spot checks of a proof for every value of some constants: proves the same obligations at a few values, one by one.

At given values the model is finite, its types are known and its numbers are bit vectors, so the check shares little
with the general proof. A difference is an internal error, never a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.methods.induction import induction
from floodmark.checkers.symbolic.tactics.budget import MAX_EFFORT, Deadline
from floodmark.checkers.symbolic.translate.transition_system import System, system_of
from floodmark.compiler.ir import BOOL, Const, Inline, walk
from floodmark.language.errors import ModelError, ValueOutOfRange
from floodmark.language.types import IntType, OpenSetType, Type, parts_of

SMALL_VALUES = (0, 1, 2)
LARGE_VALUE = 1000
"""A representative of large values; twice the largest number in the model if that is larger."""
LARGE_CAPACITY = 1
"""The value that a capacity gets together with large values; queries get harder much faster with capacities."""
MAX_NUMBERS = 6
"""The maximum number of numbers in a model that are tried."""

Constants = dict[str, int]


@dataclass(frozen=True, slots=True)
class SpotChecks:
    """The values at which the obligations were proved again, and those at which z3 did not decide them."""

    proved: list[Constants] = field(default_factory=list)
    open: list[Constants] = field(default_factory=list)
    seconds: float = 0.0


def spot_check(system: System, properties: Sequence[Property], seconds: float | None = None) -> SpotChecks:
    """Proves the properties again at some values: small ones, large ones, and those that the model mentions.

    A choice of values that z3 does not decide does not count. Raises RuntimeError when an obligation fails.
    """
    found = SpotChecks()
    deadline = Deadline(seconds)
    for constants in choices(system):
        try:
            model = type(system.model)(**{**system.model.constant_values, **constants})
            proof = induction(system_of(model, properties), properties, deadline.left, effort=MAX_EFFORT)
        except ValueOutOfRange as error:
            raise RuntimeError(f"{_wrong(constants)}: {error}") from error
        except ModelError:  # an empty type, no initial state, too many elements for z3
            found.open.append(constants)
            continue
        if proof.outcome == "fails":
            failing = next(obligation for obligation in proof.failing() if obligation.outcome == "fails")
            raise RuntimeError(
                f"{_wrong(constants)}: {failing.action} does not preserve {failing.property}: {failing.counterexample}"
            )
        (found.proved if proof.outcome == "proved" else found.open).append(constants)
    return replace(found, seconds=deadline.seconds_used)


def choices(system: System) -> list[Constants]:
    """The values to try."""
    names = system.values.types.unbounded
    capacities = _capacities(system.variables.values())
    tried: list[Constants] = [dict.fromkeys(names, value) for value in SMALL_VALUES]
    tried.append({name: system.model.constant_values[name] for name in names})
    numbers = _numbers(system)
    tried += [dict.fromkeys(names, value) for value in numbers]
    large = max([LARGE_VALUE, *(2 * number for number in numbers)])
    tried.append({name: LARGE_CAPACITY if name in capacities else large for name in names})
    return [constants for index, constants in enumerate(tried) if constants not in tried[:index]]


def _wrong(constants: Constants) -> str:
    text = ", ".join(f"{name} = {value}" for name, value in constants.items())
    return f"what is proved for every {', '.join(constants)} is wrong for {text}"


def _capacities(kinds: Iterable[Type]) -> set[str]:
    """The constants that bound the number of elements of a set."""
    sets = [part for kind in kinds for part in parts_of(kind) if isinstance(part, OpenSetType)]
    return {name for part in sets for name, _ in part.limit.times}


def _numbers(system: System) -> list[int]:
    """The largest numbers in a program, because a model may behave differently at one of them than anywhere else."""
    program = system.program
    roots = [it.value for it in (*program.predicates, *program.boundaries)]
    for action in program.actions:
        roots += [*action.guards, Inline(BOOL, action.at, action.body, None)]
    constants = (part for root in roots for part in walk(root) if isinstance(part, Const))
    found = {part.value for part in constants if isinstance(part.type, IntType) and part.value > SMALL_VALUES[-1]}
    return sorted(found)[-MAX_NUMBERS:]
