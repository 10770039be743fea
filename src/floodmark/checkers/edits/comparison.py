"""Compares two versions of a model: the behaviours that the new version adds and removes.

A behaviour is the sequence of values that the shared variables take along a run from an initial state, without
repetitions. All states of a run but the last lie within the boundary of its version. Behaviours are finite; liveness is
not compared.

The comparison takes the cheapest exact way. Equal expression graphs with equal initial states need no search. Versions
with the same variables need one search that takes the steps of both (``joint_search.py``). Otherwise it builds the
graphs of both versions and decides whether the runs of one include those of the other (``inclusion.py``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from floodmark.checkers.adaptive_capacity import at_widths
from floodmark.checkers.edits import joint_loops
from floodmark.checkers.edits.alignment import Alignment, align, paired_actions
from floodmark.checkers.edits.difference import (
    ActionChange,
    Answer,
    Difference,
    DistinguishingRun,
    Reason,
    VersionError,
    VersionName,
)
from floodmark.checkers.edits.inclusion import InclusionCounterexample, InclusionUndetermined, ProjectedGraph, escape
from floodmark.checkers.edits.joint_search import JointSearch, compare_jointly
from floodmark.checkers.edits.projection import projected
from floodmark.checkers.edits.reach import Known, reach
from floodmark.checkers.edits.reasons import boundary_against, reason_against, reinterpreted_state
from floodmark.checkers.edits.run_graph import Numbers, RunGraph, run_graph
from floodmark.checkers.liveness.compiled_graph import budget
from floodmark.checkers.search.store import Packed
from floodmark.checkers.search_result import LimitReached, Options, SearchResult, TraceState, Watcher
from floodmark.compiler.fingerprint import fingerprint
from floodmark.compiler.layout import lay_out
from floodmark.compiler.program import read_program
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, grows
from floodmark.language.reference import initial_states, successors, within_boundary


def compare(old: Model, new: Model, options: Options, watch: Watcher | None = None) -> Difference:
    """Compares the behaviours of two models. Raises SourceError for one that cannot be read or compiled."""
    started = time.perf_counter()
    options = replace(options, symmetry=False, deadlock=False)
    alignment = align(old, new)
    if not alignment.shared:
        raise SourceError("the two versions have no variable in common, so no behaviour can be compared",
                          *type(new).source_position())
    found = Difference(alignment)
    if _has_same_layout(old, new, alignment):
        pairs = _same_graph(old, new, alignment)
        if pairs is not None:
            found.added = found.removed = "none"
            found.by = "graph"
            found.actions = [ActionChange(pairs[name], name) for name in pairs if pairs[name] != name]
        else:
            _JointComparison(old, new, options, watch, found).run()
    else:
        _compare_graphs(old, new, options, watch, found)
    found.seconds = time.perf_counter() - started
    return found


def _has_same_layout(old: Model, new: Model, alignment: Alignment) -> bool:
    """Whether equal states of the two versions are packed into equal words."""

    if grows(new) and (alignment.renamed_variables or alignment.renames.changed):
        return False  # a width is known by the name of its place

    def slots(model: Model, names: list[str]) -> object:
        layout = at_widths(model, lambda sized: lay_out(sized.variable_types))
        return [layout.slots[name] for name in names], layout.words, list(layout.variables) == names

    before, after = [each.old for each in alignment.shared], [each.new for each in alignment.shared]
    return alignment.is_whole and slots(old, before) == slots(new, after)


# The same graph of expressions.


def _same_graph(old: Model, new: Model, alignment: Alignment) -> dict[str, str] | None:
    """The old name of each action if the two versions have the same expression graphs, up to the names and the order of
    actions; else None.

    Models with containers without a capacity are never equal here: the graph of a guard on the size of such a container
    depends on its width.
    """
    if alignment.renamed_variables or grows(old) or grows(new):
        return None
    before, after = read_program(old, {}), read_program(new, {})
    pairs = paired_actions(before, after)
    if len(pairs) != len(before.actions) or len(pairs) != len(after.actions):
        return None
    by_name = {action.name: action for action in before.actions}
    for action in after.actions:
        versions = action, by_name[pairs[action.name]]
        own, its = (fingerprint(each.parameters, each.guards, each.body) for each in versions)
        if own != its:
            return None
    bounds = [[fingerprint(each.value) for each in program.boundaries] for program in (before, after)]
    with suppress(SourceError):
        if bounds[0] == bounds[1] and _beginnings(old) == _beginnings(new):
            return pairs
    return None


def _beginnings(model: Model) -> set[Packed]:
    """The initial states, packed. Raises SourceError if the model fails in one of them."""
    layout = lay_out(model.variable_types)
    return {layout.pack(state) for _, state in initial_states(model)}


# The same variables.


class _JointComparison:
    """One comparison by a joint search, and the difference that it fills."""

    def __init__(self, old: Model, new: Model, options: Options, watch: Watcher | None, found: Difference) -> None:
        self.models = old, new
        self.options = options
        self.watch = watch
        self.found = found

    def run(self) -> None:
        found = self.found
        result, failure = compare_jointly(*self.models, self.options, self._look, self.watch)
        if failure is not None:
            version: VersionName = "old" if failure.version == "old" else "new"
            error, model = failure.error, self.models[version == "new"]
            found.failure = VersionError(version, error.message, error.file, error.line, model, failure.trace)
        if result.stopped is not None:
            found.stopped = str(result.stopped)

    def _count(self, search: JointSearch) -> None:
        """Adds which states only one version reaches, and which actions never fire."""
        found, widths = self.found, search.widths
        known: dict[VersionName, Known] = {}
        if not any(type(model).methods("boundary") for model in self.models):
            sides: tuple[tuple[VersionName, Answer], ...] = (("new", found.added), ("old", found.removed))
            known = {version: (search, search.compared.fired[version]) for version, answer in sides if answer == "none"}
        seen = reach(*self.models, self.options, widths, known, self.watch)
        if not seen.is_complete:
            return
        found.states = {**found.states, **{str(version): count for version, count in seen.states.items()}}
        found.actions = with_silence(found.actions, seen.fired["old"], seen.fired["new"])
        models = search.joint_kernel.old.model, search.joint_kernel.new.model
        pairs = search.compared.actions
        names = {"new": pairs, "old": {before: after for after, before in pairs.items()}}
        for version, (mine, trace) in seen.alone.items():
            other = models[0] if version == "new" else models[1]
            reason = _reason(mine, other, trace, names[version])
            add_state_witness(found, DistinguishingRun(version, "state", mine, trace, reason))

    def _look(self, search: JointSearch, result: SearchResult) -> None:
        compared, found = search.compared, self.found
        found.witnesses, found.actions = [], []
        pairs = compared.actions
        back = {before: after for after, before in pairs.items()}
        sides: tuple[tuple[VersionName, list[TraceState], int], ...] = (
            ("new", compared.starts, joint_loops.ADDED), ("old", compared.lost, joint_loops.REMOVED),
        )  # fmt: skip
        for version, begun, bit in sides:
            if begun:
                found.witnesses.append(_begins(version, search.tracers[version].model, begun))
            elif bit in compared.noted:
                names = pairs if version == "new" else back
                found.witnesses.append(self._witness(search, version, bit, None, names))
        old_actions, new_actions = (search.tracers[each].kernel.interface.actions for each in ("old", "new"))
        common = result.distinct
        for name in [*new_actions, *(each for each in old_actions if each not in back)]:
            new = name if name in new_actions else None
            before = pairs.get(name) if new else name
            more, less = compared.more[name] if new else 0, compared.less[before] if before else 0
            if before == new and not more and not less:
                continue
            examples = []
            if new and before:
                more_bit = joint_loops.ALLOWS_MORE + new_actions.index(new)
                less_bit = joint_loops.ALLOWS_LESS + old_actions.index(before)
                if more_bit < joint_loops.ALLOWS_LESS and more_bit in compared.noted:
                    examples.append(self._witness(search, "new", more_bit, new, pairs))
                if less_bit in compared.noted:
                    examples.append(self._witness(search, "old", less_bit, before, back))
            found.actions.append(ActionChange(before, new, more, less, common, False, tuple(examples)))
        finished: Answer = "none" if result.complete else "undetermined"
        found.added = "some" if any(each.version == "new" for each in found.witnesses) else finished
        found.removed = "some" if any(each.version == "old" for each in found.witnesses) else finished
        found.states = {"common": common}
        if found.is_same:
            found.by = "search"
        elif result.complete:
            self._count(search)

    def _witness(
        self, search: JointSearch, version: VersionName, bit: int, action: str | None, names: dict[str, str]
    ) -> DistinguishingRun:
        """The run to a noted state, and the step that only this version takes there: of any action, or of one action
        that the other version's partner does not take."""
        state, level = search.compared.noted[bit]
        mine, other = search.tracers[version], search.tracers["old" if version == "new" else "new"]
        trace = mine.to_state(state, level)
        here = trace[-1].state
        there = other.layout.unpack(state)
        partner = None if action is None else names.get(action)
        goes_on = within_boundary(other.model, there)
        taken = {
            other.layout.pack(after)
            for step, after in (successors(other.model, there) if goes_on else ())
            if action is None or step.action == partner
        }
        for step, after in successors(mine.model, here):
            words = mine.layout.pack(after)
            if words in taken or (action is None and words == state) or (action is not None and step.action != action):
                continue
            trace = (*trace, TraceState(step, after))
            return DistinguishingRun(version, "step", mine.model, trace, _reason(mine.model, other.model, trace, names))
        raise RuntimeError("compiled code takes a step of one version alone, but in CPython both take it")


def with_silence(changes: list[ActionChange], old: Mapping[str, int], new: Mapping[str, int]) -> list[ActionChange]:
    """Adds the actions that never fire any more; ``old`` and ``new`` count the firings of each action."""
    changed = {change.new: change for change in changes if change.new is not None}
    known = [change for change in changes if change.new is None]
    for name, times in new.items():
        change = changed.get(name, ActionChange(name if name in old else None, name))
        if change.old is not None and old.get(change.old, 0) and not times:
            change = replace(change, gone=True)
        if name in changed or change.gone:
            known.append(change)
    return known


def add_state_witness(found: Difference, alone: DistinguishingRun) -> None:
    """Adds a run to a state that only one version reaches. It replaces the runs of that version of the same length:
    every step of it but the last is then a step of both versions."""
    version = alone.version
    others = [each for each in found.witnesses if each.version == version]
    if any(each.kind == "state" or (each.kind == "start" and len(alone.trace) == 1) for each in others):
        return
    found.witnesses = [each for each in found.witnesses if each not in others or len(each.trace) != len(alone.trace)]
    place = max((index for index, each in enumerate(found.witnesses, 1) if each.version == version), default=None)
    found.witnesses.insert(place if place is not None else 0 if version == "new" else len(found.witnesses), alone)


def _reason(mine: Model, other: Model, trace: tuple[TraceState, ...], names: Mapping[str, str]) -> Reason | None:
    """Why the other version does not take the last step of a run; None if it takes that step or the run has no step."""
    if len(trace) == 1:
        return None
    here, (step, after) = trace[-2].state, (trace[-1].step, trace[-1].state)
    there = reinterpreted_state(mine, here, other)
    if not within_boundary(other, there):
        return boundary_against(other, there)
    if any(reinterpreted_state(other, then, mine) == after for _, then in successors(other, there)):
        return None
    return reason_against(mine, here, step, other, names.get(step.action))


def _begins(version: VersionName, model: Model, begun: list[TraceState]) -> DistinguishingRun:
    layout = lay_out(model.variable_types)
    first = min(begun, key=lambda entry: layout.pack(entry.state))
    return DistinguishingRun(version, "start", model, (first,))


# Other variables.


def _compare_graphs(old: Model, new: Model, options: Options, watch: Watcher | None, found: Difference) -> None:
    paused = budget(time.perf_counter(), options.limits)
    graphs: dict[VersionName, RunGraph] = {}
    counted: dict[str, int] = {}
    sides: tuple[tuple[VersionName, Model], ...] = (("old", old), ("new", new))
    try:
        for version, model in sides:
            result, graph = run_graph(model, options, paused, watch)
            if graph is None:
                _unfinished(version, model, result, found)
                return
            graphs[version] = graph
            counted[version] = result.distinct
        looks = projected(graphs["old"], graphs["new"], found.alignment)
    except LimitReached as ended:
        found.stopped = str(ended.stop)
        return
    found.states = counted
    seen: dict[VersionName, ProjectedGraph] = {
        "old": ProjectedGraph(graphs["old"], looks[0]), "new": ProjectedGraph(graphs["new"], looks[1])
    }
    sides_of_two: tuple[tuple[VersionName, VersionName], ...] = (("new", "old"), ("old", "new"))
    for version, other in sides_of_two:
        answer = _answer(seen[version], seen[other], version, paused, found)
        if version == "new":
            found.added = answer
        else:
            found.removed = answer
    if found.is_same:
        found.by = "search"
    fired = {version: _fired(graph) for version, graph in graphs.items()}
    found.actions = with_silence(_action_changes(seen["old"], seen["new"]), fired["old"], fired["new"])
    for version, other in sides_of_two:
        alone = np.flatnonzero(~np.isin(seen[version].looks, seen[other].looks))
        if len(alone):
            graph = graphs[version]
            path = graph.path_to(seen[version].first_with(alone))
            add_state_witness(found, DistinguishingRun(version, "state", graph.model, graph.trace(path)))


def _fired(graph: RunGraph) -> dict[str, int]:
    return {name: int((graph.labels == place).sum()) for place, name in enumerate(graph.actions)}


def _unfinished(version: VersionName, model: Model, result: SearchResult, found: Difference) -> None:
    for violation in result.violations:
        found.failure = VersionError(version, violation.message, violation.file, violation.line, model, violation.trace)
        found.stopped = f"a model error of the {version} version"
        return
    found.stopped = str(result.stopped)


def _answer(
    mine: ProjectedGraph, other: ProjectedGraph, version: VersionName, paused: Callable[[], None], found: Difference
) -> Answer:
    try:
        escaped = escape(mine, other, paused)
    except InclusionUndetermined as ended:
        found.stopped = str(ended)
        return "undetermined"
    except LimitReached as ended:
        found.stopped = str(ended.stop)
        return "undetermined"
    if escaped is None:
        return "none"
    found.witnesses.append(_escaped(mine, escaped, version))
    return "some"


def _escaped(mine: ProjectedGraph, escaped: InclusionCounterexample, version: VersionName) -> DistinguishingRun:
    return DistinguishingRun(version, escaped.kind, mine.graph.model, mine.graph.trace(escaped.path))


def _action_changes(old: ProjectedGraph, new: ProjectedGraph) -> list[ActionChange]:
    """Compares actions by the changes of shared values that they make in the states that both versions reach."""
    common = np.intersect1d(old.looks[old.graph.sources], new.looks[new.graph.sources])
    made = [_new_steps(seen, common) for seen in (old, new)]
    programs = [read_program(seen.graph.model, {}) for seen in (old, new)]
    pairs = paired_actions(*programs)
    found = []
    none = np.zeros(0, dtype=np.int64)
    for name in [*made[1], *(each for each in made[0] if each not in pairs.values())]:
        after = name if name in made[1] else None
        before = pairs.get(name) if after else name
        its = made[0].get(before, none) if before else none
        ours = made[1].get(after, none) if after else none
        more = len(np.unique(np.setdiff1d(ours, its) >> 32))
        less = len(np.unique(np.setdiff1d(its, ours) >> 32))
        if before != after or more or less:
            found.append(ActionChange(before, after, more, less, len(common)))
    return found


def _new_steps(seen: ProjectedGraph, common: Numbers) -> dict[str, Numbers]:
    graph = seen.graph
    keys = seen.keys((graph.sources, graph.targets))
    here = np.isin(seen.looks[graph.sources], common)
    return {name: np.unique(keys[here & (graph.labels == place)]) for place, name in enumerate(graph.actions)}
