"""The native search: states in memory, and in files once memory is full."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.kernel.memory import MemoryBudget, give_back_large_arrays
from floodmark.checkers.kernel.scratch import base_folder
from floodmark.checkers.liveness import check
from floodmark.checkers.native.files import FileStore
from floodmark.checkers.native.memory import MemoryStore
from floodmark.checkers.project.properties import Property
from floodmark.checkers.resources import cores
from floodmark.checkers.search.driver import Search, StoreMigration, is_long, search_in, telling
from floodmark.checkers.search.store import StoreFull
from floodmark.checkers.search_result import Options, SearchResult, Stop, Watcher
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model, sized
from floodmark.language.plurals import counted
from floodmark.language.widths import Widths

ADDRESSES = 1 << 46
"""The number of bytes of address space that every process has."""


class FileMigration(StoreMigration):
    """Continues a search in files when memory is full, with all its data, at the same point of the level."""

    def budget(self, options: Options) -> MemoryBudget:
        """The memory that the states may take."""
        return MemoryBudget(options.limits.memory)

    def outgrown(self, search: Search, why: Stop) -> None:
        memory = search.store
        if not isinstance(memory, MemoryStore):
            raise StoreFull(why)
        search.look_at_memory()
        at = counted(memory.count, "state")
        search.say(f"at {at} it outgrew {why}, and continued in files in {base_folder()}")
        search.go_on_in(FileStore(memory, search.budget))


def search_states(
    model: Model, properties: Sequence[Property], options: Options, watch: Watcher | None = None
) -> SearchResult:
    """Searches ``model`` and returns the result.

    Raises SourceError when the model or a property cannot be read, or fails in an initial state.
    """
    of_states, of_runs = check.split_properties(properties)
    check.refuse_symmetry(of_runs, options)

    def start_search(model: Model, options: Options, _: Widths) -> Search:
        return begin(model, of_states, options, watch)

    def judge(search: Search, result: SearchResult) -> SearchResult:
        if not of_runs:
            return result
        return check.after_native(search.model, of_runs, search.options, search.pieces(), result)

    return search_in(model, options, watch, start_search, judge)


def reachable_set(model: Model, options: Options) -> tuple[NDArray[np.uint64], Model]:
    """Every reachable state of a model, a row of packed words each, in no particular order; and the model with the
    widths with which they are packed.

    Raises SourceError when the model leaves its declared types, RuntimeError when a limit ends the search.
    """
    rows: list[NDArray[np.uint64]] = []

    def start_search(model: Model, options: Options, _: Widths) -> Search:
        return begin(model, (), options)

    def keep(search: Search, result: SearchResult) -> SearchResult:
        rows[:] = [np.zeros((0, search.store.words), dtype=np.uint64), *search.pieces()]
        return result

    found = search_in(model, options, None, start_search, keep)
    for violation in found.violations:
        raise SourceError(violation.message, violation.file, violation.line)
    if not found.complete:
        raise RuntimeError(f"the search was ended by {found.stopped}")
    return np.concatenate(rows), sized(model, Widths(found.widths))


def begin(
    model: Model,
    properties: Sequence[Property],
    options: Options,
    watch: Watcher | None = None,
    moves: FileMigration | None = None,
) -> Search:
    """A search whose states are in memory at first and then move with ``moves``, by default into files."""
    started = time.perf_counter()
    moves = moves or FileMigration()
    budget = moves.budget(options)
    workers = options.workers or cores()
    functions = {prop.name: prop.function for prop in properties}
    kernel = build_kernel(model, functions, options.symmetry, workers, is_long(options), tell=telling(watch))
    compiled = time.perf_counter()
    if options.limits.memory is not None:
        kernel.prepare_for_files()  # while there is room for a compiler
        give_back_large_arrays()
    try:
        memory = MemoryStore(kernel, workers, budget, options.deadlock)
    except (OSError, OverflowError):
        if workers * budget.limit > ADDRESSES:
            message = "the reservations of all workers do not fit into memory; set --workers or --max-memory lower"
            raise SourceError(message) from None
        message = (
            f"there is no room for {counted(kernel.interface.most_successors, 'successor')} that a state may have; "
            "draw the parameters of actions from sets of the state: require(request in self.requests)"
        )
        raise ModelError(message, *type(model).source_position()) from None
    search = Search(model, properties, options, kernel, memory, budget, moves, watch)
    search.found.workers = workers
    search.found.compile_seconds = compiled - started
    return search
