"""The text printed for an obligation that was not proved."""

from __future__ import annotations

from collections.abc import Sequence

from floodmark.checkers.explanation.trace import change_lines
from floodmark.checkers.project.properties import Property
from floodmark.checkers.symbolic.methods.induction import CounterexampleToInduction, Obligation
from floodmark.checkers.symbolic.translate.obligations import BOUNDARY, INITIAL, TYPES
from floodmark.checkers.symbolic.translate.transition_system import System
from floodmark.checkers.value_text import show, show_step
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import holds, initial_states


def obligation_lines(system: System, obligation: Obligation, known: Sequence[Property] = ()) -> list[str]:
    """An obligation that was not proved, with its counterexample to induction.

    ``known`` are properties of states that were not assumed; those that exclude the counterexample are named.
    """
    if obligation.action == INITIAL:
        text = f"{obligation.property} is false in an initial state"
        if obligation.property == TYPES:
            text = "an initial state has values that are not of the declared types"
    else:
        text = f"{obligation.action} does not preserve {obligation.property}"
    if obligation.property == BOUNDARY:
        where = "in an initial state" if obligation.action == INITIAL else f"after {obligation.action}"
        text = f"the boundary cannot be evaluated {where}"
    if obligation.outcome == "undetermined":
        return [f"undetermined whether {obligation.action} preserves {obligation.property}: {obligation.reason}"]
    shown = obligation.counterexample
    if shown is None:
        return [text]
    lines = _counterexample_lines(system, shown, known, fails=obligation.property == TYPES)
    return [text, *(f"    {line}" for line in lines), ""]


def _counterexample_lines(
    system: System, shown: CounterexampleToInduction, known: Sequence[Property], fails: bool
) -> list[str]:
    """Two states: the first as its differences from an initial state, the second as its differences from the first.
    An initial step, and one that ``fails``, has the first alone.
    """
    names = list(system.variables)
    lines = state_lines(system, shown, known)
    if shown.after is None:
        lines.append(f"{show_step(shown.step)} {'leaves the declared types' if fails else 'leads there'}")
        return lines
    lines.append(f"{show_step(shown.step)} leads to:")
    lines += [f"  {line}" for line in change_lines(names, shown.before, shown.after)] or ["  the same state"]
    return lines


def state_lines(system: System, shown: CounterexampleToInduction, known: Sequence[Property] = ()) -> list[str]:
    """The first state of a counterexample, as its differences from an initial state."""
    names = list(system.variables)
    first = _first_state(system.model)
    constants = ", ".join(f"{name} = {value}" for name, value in shown.constants.items())
    text = f"in a state{', with ' + constants if constants else ''}"
    excluding = _excluding(system.model, shown, known)
    if shown.reachable:
        text += ", which is reachable"
    elif excluding:
        text += f", which {' and '.join(excluding)} would exclude, if proved together with this"
    elif shown.reachable is not None:
        text += ", which is not reachable: a lemma that excludes it is missing"
    lines = [f"{text}:"]
    return lines + ([f"  {line}" for line in _differences(names, first, shown.before)] or ["  as in an initial one"])


def _first_state(model: Model) -> State | None:
    """An initial state, if there is one at this size."""
    try:
        return next((state for _, state in initial_states(model)), None)
    except ModelError:
        return None


def _excluding(model: Model, shown: CounterexampleToInduction, known: Sequence[Property]) -> list[str]:
    """The properties that CPython finds false in the first state of a counterexample."""
    sized = type(model)(**{**model.constant_values, **shown.constants})
    return [prop.name for prop in known if not _is_true(sized, prop, shown.before)]


def _is_true(model: Model, prop: Property, state: State) -> bool:
    try:
        return holds(model, prop.function, state)
    except SourceError:
        return False


def _differences(names: list[str], first: State | None, state: State) -> list[str]:
    pairs = enumerate(zip(names, state, strict=True))
    return [f"{name}: {show(new)}" for at, (name, new) in pairs if first is None or first[at] != new]
