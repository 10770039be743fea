"""Compares a changed property with its old version: the states that it newly allows, and those that it newly forbids.

Both versions are evaluated in every state that a version's model or one of its known-bad designs reaches. In the states
of a correct model, both versions usually hold; the known-bad designs tell them apart, as their searches continue past
the violation. The number of evaluated states is reported: "allows the same" refers to these states, not to all states
of the types.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.codegen.model_module import parts
from floodmark.checkers.edits.alignment import Alignment
from floodmark.checkers.edits.difference import VersionName
from floodmark.checkers.edits.reach import explore, first_of, levels_of
from floodmark.checkers.gate.property_hashes import property_text
from floodmark.checkers.kernel.compiled_model import Kernel
from floodmark.checkers.kernel.stepper import Stepper
from floodmark.checkers.project.properties import Property
from floodmark.checkers.search.driver import Search
from floodmark.checkers.search_result import Limits, Options, SearchResult, TraceState
from floodmark.compiler.fingerprint import fingerprint
from floodmark.compiler.layout import lay_out
from floodmark.compiler.program import read_predicate, read_program
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, grows, sized
from floodmark.language.widths import FIRST_WIDTHS

STATES = 300_000
"""The maximum number of states that are evaluated for each model."""
MAX_TOGETHER = 30


@dataclass(frozen=True)
class StateSource:
    """A model in whose states properties are compared: a version's model, or one of its known-bad designs."""

    version: VersionName
    name: str
    model: Model


@dataclass(frozen=True)
class PropertyExample:
    """A shortest run to a state, or with a step, that only one version of a property allows."""

    source: StateSource
    trace: tuple[TraceState, ...]


@dataclass
class PropertyChange:
    """A property that both versions have in different forms.

    ``weaker`` is a run to a state or step that only the new version allows, ``stronger`` the reverse. ``states`` is the
    number of evaluated states. ``why_not`` says why the versions were not compared.
    """

    name: str
    old: Property
    new: Property
    weaker: PropertyExample | None = None
    stronger: PropertyExample | None = None
    states: int = 0
    complete: bool = True
    why_not: str = ""

    @property
    def word(self) -> str:
        if self.weaker and self.stronger:
            return "neither weaker nor stronger"
        if self.weaker:
            return "weaker"
        if self.stronger:
            return "stronger"
        return "not compared" if self.why_not else "written otherwise"


def changed_properties(
    old: Model, new: Model, pairs: Sequence[tuple[Property, Property]], sources: Sequence[StateSource],
    alignment: Alignment, options: Options,
) -> list[PropertyChange]:
    """Compares the properties whose code differs, given as pairs of equal name."""
    changes = []
    to_ask = []
    for before, after in pairs:
        if _is_same(old, new, before, after, alignment):
            continue
        change = PropertyChange(after.name, before, after)
        changes.append(change)
        if before.kind != after.kind:
            change.why_not = f"was @{before.kind} and is @{after.kind}"
        elif after.is_liveness or after.is_refinement or before.is_refinement:
            change.why_not = "is about whole runs or another model"
        elif not _has_same_words(old, new, alignment):
            change.why_not = "the variables of the model changed, too"
        else:
            to_ask.append(change)
    for source in sources if to_ask else ():
        try:
            for start in range(0, len(to_ask), MAX_TOGETHER):
                _look(old, new, to_ask[start : start + MAX_TOGETHER], source, options)
        except SourceError:
            continue  # its own check reports that
    return changes


def _has_same_words(old: Model, new: Model, alignment: Alignment) -> bool:
    if not alignment.is_whole or alignment.renamed_variables or grows(old) or grows(new):
        return False
    return lay_out(old.variable_types).slots == lay_out(new.variable_types).slots


def _is_same(old: Model, new: Model, before: Property, after: Property, alignment: Alignment) -> bool:
    """Whether two versions of a property have the same expression graph. Without graphs, or if the variables differ in
    type, name or width: whether they and the functions that they call have the same text."""
    if before.kind != after.kind:
        return False
    plain = not (before.is_refinement or before.is_liveness) and _has_same_words(old, new, alignment)
    with suppress(SourceError):
        if plain:
            return _graph(old, before) == _graph(new, after)
    return alignment.in_new_names(property_text(before, type(old))) == property_text(after, type(new))


def _graph(model: Model, prop: Property) -> str:
    return fingerprint(read_predicate(model, prop.name, prop.function).value)


def _look(old: Model, new: Model, changes: Sequence[PropertyChange], source: StateSource, options: Options) -> None:
    """Evaluates both versions in the states of a model, as long as some answer is open."""
    wanted = [each for each in changes if not (each.weaker and each.stronger)]
    if not wanted or not _is_packed_alike(source.model, new):
        return
    limits = Limits(states=STATES, seconds=options.limits.seconds, memory=options.limits.memory)

    def ask(search: Search, result: SearchResult) -> None:
        _ask(old, new, wanted, source, search, result.complete)

    explore(source.model, replace(options, limits=limits), ask)


def _is_packed_alike(design: Model, model: Model) -> bool:
    """Whether the variables of a model have the same layout in a known-bad design, which may have more variables."""
    if grows(design):
        return False
    return lay_out(design.variable_types).slots == lay_out(model.variable_types).slots


def _ask(
    old: Model, new: Model, wanted: Sequence[PropertyChange], source: StateSource, search: Search, is_complete: bool
) -> None:
    program = read_program(sized(source.model, FIRST_WIDTHS), {})
    predicates = []
    for number, each in enumerate(wanted):
        for version, owner, prop in (("old", old, each.old), ("new", new, each.new)):
            read = read_predicate(owner, prop.name, prop.function)
            predicates.append(replace(read, name=f"{version}.{number}", premises=[]))
    program.predicates = predicates
    made_of, interface = parts(program, None)
    kernel = Kernel(f"{program.name}, properties", made_of, interface, None, 1)
    rows, levels = levels_of(search)
    states, broken = _evaluated(kernel, rows)
    for number, each in enumerate(wanted):
        each.states += len(rows)
        each.complete = each.complete and is_complete
        if each.new.kind == "transition":
            names, masks, sense = interface.transition_predicates, broken, False
        else:
            names, masks, sense = interface.state_predicates, states, True
        was, now = (_bit(masks, names.index(f"{version}.{number}")) == sense for version in ("old", "new"))
        for attribute, where in (("weaker", now & ~was), ("stronger", was & ~now)):
            if getattr(each, attribute) is None and where.any():
                trace = first_of(search, rows[where], levels[where])
                setattr(each, attribute, PropertyExample(source, trace))


def _bit(masks: NDArray[np.uint64], place: int) -> NDArray[np.bool_]:
    return (masks >> np.uint64(place) & np.uint64(1)).astype(np.bool_)


def _evaluated(kernel: Kernel, rows: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """For each state, the bits of the state properties that hold, and of the step properties that some step breaks."""
    stepper = Stepper(kernel.model, kernel.interface)
    states = rows.tolist()
    true = np.array([stepper.check(state)[0] for state in states], dtype=np.uint64)
    if not kernel.interface.transition_predicates:
        return true, np.zeros_like(true)
    return true, np.array([stepper.expand(state).broken for state in states], dtype=np.uint64)
