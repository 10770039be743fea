"""Searches the states that two versions of a model reach in the same way, and compares their steps in each.

Both versions have the same variables. A run of one version that the other lacks either begins in another state or has a
first step that the other does not take; both versions reach the state before that step in the same way. The search
visits exactly these common states, level by level, and takes the steps of both versions in each. If no state shows a
difference, both versions have the same runs, by induction over the steps. Otherwise the first level with a difference
gives a shortest run.

The search does not reduce by symmetry. A failure of a version ends the comparison, since the runs beyond it are
unknown; the differences found before remain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.adaptive_capacity import search_growing
from floodmark.checkers.codegen.jit import GOOD, MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.codegen.model_module import Interface
from floodmark.checkers.edits import joint_loops as joint
from floodmark.checkers.edits.alignment import paired_actions
from floodmark.checkers.edits.version_code import VersionCode
from floodmark.checkers.kernel import loops
from floodmark.checkers.kernel.compiled_model import Kernel, code_hash
from floodmark.checkers.kernel.memory import MemoryBudget, reserve
from floodmark.checkers.native.memory import MemoryStore
from floodmark.checkers.resources import cores
from floodmark.checkers.search.beginning import without_initial_state
from floodmark.checkers.search.driver import Search, StoreMigration, is_long, telling
from floodmark.checkers.search.store import Packed
from floodmark.checkers.search.trace import Tracer
from floodmark.checkers.search_result import Limit, Options, SearchResult, Stop, TraceState, Watcher
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, sized
from floodmark.language.reference import initial_states, successors, within_boundary
from floodmark.language.widths import Widths


@dataclass
class JointFindings:
    """The findings of a comparison. ``noted`` has the first state for each bit of a mark, with its level; ``starts``
    and ``lost`` are the initial states of only the new and only the old version. ``more`` counts the common states in
    which an action of the new version allows more, ``less`` those in which one of the old version allows less.
    ``fired`` counts the firings of each version's actions in common states."""

    actions: dict[str, str] = field(default_factory=dict)
    noted: dict[int, tuple[Packed, int]] = field(default_factory=dict)
    starts: list[TraceState] = field(default_factory=list)
    lost: list[TraceState] = field(default_factory=list)
    more: dict[str, int] = field(default_factory=dict)
    less: dict[str, int] = field(default_factory=dict)
    fired: dict[str, dict[str, int]] = field(default_factory=dict)
    failure: JointFailure | None = None


@dataclass(frozen=True)
class JointFailure:
    """A version leaves its declared types: the version, the run to that point, and the error."""

    version: str
    trace: tuple[TraceState, ...]
    error: SourceError


class JointKernel(Kernel):
    """The code of both versions, as a kernel for one model."""

    def __init__(self, old: VersionCode, new: VersionCode, pairs: dict[str, str], threads: int) -> None:
        self.old, self.new = old, new
        names = [f"more {name}" for name in new.interface.actions]
        names += [f"less {name}" for name in old.interface.actions]
        names += [f"new {name}" for name in new.interface.actions] + [f"old {name}" for name in old.interface.actions]
        most = max(old.interface.most_successors, new.interface.most_successors)
        self.interface = replace(
            new.interface, actions=tuple(names), state_predicates=(), transition_predicates=(), premises=(),
            most_successors=most, memory_words=0,
        )
        self.symmetry, self.symmetry_proof, self.good = False, None, old.kernel.good and new.kernel.good
        self.threads = threads
        self._tables = [_partners(new.interface, old.interface, pairs), _partners(old.interface, new.interface, {
            before: after for after, before in pairs.items()})]
        self._functions = np.zeros(joint.FUNCTION_WORDS, dtype=np.uint64)
        self._rooms: list[NDArray[np.uint64]] = []
        self.model = _joint_code(self.interface.layout.words)
        self._point()

    def _point(self) -> None:
        """Stores the addresses of the present editions."""
        functions = self._functions
        for place, side in enumerate((self.old, self.new)):
            code = side.kernel.model
            functions[joint.OLD_EXPAND + place] = code.address("expand")
            functions[joint.OLD_WITHIN + place] = code.address("within") if side.has_boundary else 0
            functions[joint.OLD_ACTIONS + place] = len(side.interface.actions)
        functions[joint.OLD_OF_NEW], functions[joint.NEW_OF_OLD] = (table.ctypes.data for table in self._tables)

    def new_context(self) -> NDArray[np.uint64]:
        """A context with its own block, which lives as long as this kernel."""
        context = super().new_context()
        block = np.zeros(joint.BLOCK_WORDS, dtype=np.uint64)
        block[joint.FUNCTIONS] = self._functions.ctypes.data
        for place, side in enumerate((self.old, self.new)):
            words = side.interface.layout.words
            rows = reserve((side.interface.most_successors + 1) * words)
            own = side.kernel.new_context()
            starts = np.zeros(len(side.interface.actions) + 1, dtype=np.uint64)
            block[joint.OLD_ROWS + place] = rows.ctypes.data
            block[joint.OLD_CONTEXT + place] = own.ctypes.data
            block[joint.OLD_STARTS + place] = starts.ctypes.data
            self._rooms += [rows, own, starts]
        self._rooms.append(block)
        context[joint.BLOCK] = block.ctypes.data
        return context

    def improve(self) -> None:
        for side in (self.old, self.new):
            side.kernel.improve()
        self._point()
        self.good = True

    @property
    def loops(self) -> MachineCode:
        return self.new.kernel.loops


def _partners(of: Interface, among: Interface, pairs: dict[str, str]) -> NDArray[np.uint64]:
    """The index of each action's partner plus one; 0 for an action without a partner."""
    places = {name: place for place, name in enumerate(among.actions, 1)}
    return np.array([places.get(pairs.get(name, ""), 0) for name in of.actions] or [0], dtype=np.uint64)


@cache
def _joint_code(words: int) -> MachineCode:
    source = {"joint": code_hash("checkers/edits"), "words": str(words)}
    return MachineCode([object_image(source, lambda: compile_loops(joint.LOOPS, {"NW": words}), GOOD)])


class JointSearch(Search):
    """A comparison in progress. ``model`` is the new version's."""

    def __init__(
        self, kernel: JointKernel, options: Options, budget: MemoryBudget, watch: Watcher | None, widths: Widths
    ) -> None:
        self.joint_kernel = kernel
        self.widths = widths
        store = MemoryStore(kernel, options.workers or cores(), budget, deadlock=False)
        super().__init__(kernel.new.model, [], options, kernel, store, budget, StoreMigration(), watch)
        self.compared = JointFindings(paired_actions(kernel.old.program, kernel.new.program))
        self.tracers = {
            "old": Tracer(kernel.old.model, kernel.old.kernel, store),
            "new": Tracer(kernel.new.model, kernel.new.kernel, store),
        }

    def _start(self) -> None:
        begun = {}
        for version, side in (("old", self.joint_kernel.old), ("new", self.joint_kernel.new)):
            try:
                layout = side.interface.layout
                begun[version] = {layout.pack(state): (step, state) for step, state in initial_states(side.model)}
                if not begun[version]:
                    raise without_initial_state(side.model)
            except SourceError as error:
                self._fail(JointFailure(version, (), error))
                return
            self.tracers[version].initial = list(begun[version].values())
        old, new = begun["old"], begun["new"]
        self.compared.starts = [TraceState(*new[words]) for words in new if words not in old]
        self.compared.lost = [TraceState(*old[words]) for words in old if words not in new]
        common = [words for words in new if words in old]
        self.initial = len(common)
        packed = []
        for words in common:
            is_inside = []
            for version, side in (("old", self.joint_kernel.old), ("new", self.joint_kernel.new)):
                first = TraceState(*begun[version][words])
                try:
                    is_inside.append(within_boundary(side.model, first.state))
                except SourceError as error:
                    self._fail(JointFailure(version, (first,), error))
                    return
            if any(is_inside):
                packed.append(words)
        for start in range(0, len(packed), loops.BATCH):
            self.store.add(packed[start : start + loops.BATCH])

    def _fail(self, failure: JointFailure) -> None:
        self.compared.failure = failure
        self.stop = Stop(Limit.STORE, detail=f"a model error of the {failure.version} version")

    def _look_at_steps(self) -> None:
        level = self.level - 1
        failed = {}
        for bit in range(64):
            state = self.store.noted(loops.BEST_STEP + bit)
            if state is None:
                continue
            if bit in (joint.OLD_FAILS, joint.NEW_FAILS):
                failed[bit] = state
            else:
                self.compared.noted.setdefault(bit, (state, level))
        for bit, state in failed.items():
            self._fail(self._failure("old" if bit == joint.OLD_FAILS else "new", state, level))
            break

    def _failure(self, version: str, state: Packed, level: int) -> JointFailure:
        """The failure in a state. Raises ``WidthExceeded`` if a container merely needs a greater width."""
        tracer = self.tracers[version]
        trace = tracer.to_state(state, level)
        try:
            for _, after in successors(tracer.model, trace[-1].state):
                within_boundary(tracer.model, after)
        except SourceError as error:
            return JointFailure(version, trace, error)
        fault = tracer.unexplained(f"a step fails, but CPython takes it, in {trace[-1].state}")
        if isinstance(fault, SourceError):
            return JointFailure(version, trace, fault)
        raise fault

    def _check(self) -> None:
        """Checks no predicate."""

    def _counted(self, result: SearchResult) -> SearchResult:
        new, old = self.joint_kernel.new.interface.actions, self.joint_kernel.old.interface.actions
        self.compared.more = {name: result.actions[f"more {name}"] for name in new}
        self.compared.less = {name: result.actions[f"less {name}"] for name in old}
        for version, names in (("new", new), ("old", old)):
            self.compared.fired[version] = {name: result.actions[f"{version} {name}"] for name in names}
        return result


def compare_jointly(
    old: Model, new: Model, options: Options, then: Callable[[JointSearch, SearchResult], None],
    watch: Watcher | None = None,
) -> tuple[SearchResult, JointFailure | None]:
    """Compares two models with the same variables. ``then`` is called while the states are still in memory.

    Raises SourceError for a model that cannot be compiled.
    """
    failures: list[JointFailure | None] = [None]

    def prepared(model: Model, options: Options, widths: Widths) -> Callable[[], SearchResult]:
        workers, tell = options.workers or cores(), telling(watch)
        sides = [VersionCode(each, workers, is_long(options), tell) for each in (sized(old, widths), model)]
        kernel = JointKernel(sides[0], sides[1], paired_actions(sides[0].program, sides[1].program), workers)
        try:
            search = JointSearch(kernel, options, MemoryBudget(options.limits.memory), watch, widths)
        except (OSError, OverflowError):
            message = "there is no room for all successors that a state may have in two versions"
            raise SourceError(message, *type(model).source_position()) from None

        def run() -> SearchResult:
            try:
                result = search.run()
                failures.append(search.compared.failure)
                then(search, result)
                return result
            finally:
                search.close()

        return run

    return search_growing(new, options, watch, prepared), failures[-1]
