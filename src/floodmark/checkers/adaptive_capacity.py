"""Searches that restart with wider containers, for models in which some containers have no capacity.

Within one attempt such a container is one with a capacity: what is found is exact, and where CPython or compiled code
would need more room, CPython's replay of that step raises ``WidthExceeded``. Then everything found is thrown away, and
the search begins anew with twice the width. So

- every reported result comes from one attempt in which every container had room for its whole content. Nothing was
  left out of it, and in particular no violation that an earlier attempt did not reach;
- the last widths, and with them the digest of the states, depend on the model and its properties alone: whichever
  container is found to be too narrow first, each is doubled until it has room for what the search meets up to the level
  at which it ends. Levels are completed before they are examined, so neither workers nor time make a difference.

A search that a limit ends is undetermined at the widths that it had by then, and so is one whose containers become too
wide for a state. One that ends with a model error has the widths that it had when it met the error: other steps of that
level may have needed more; their widths stay unknown.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from floodmark.checkers.search_result import Limit, Limits, Options, Progress, SearchResult, Stop, Watcher
from floodmark.checkers.symmetry.proof import AsymmetryError
from floodmark.language.errors import ModelError
from floodmark.language.model import Model, grows, sized
from floodmark.language.plurals import counted
from floodmark.language.widths import FIRST_WIDTHS, WidthExceeded, Widths

T = TypeVar("T")
Run = Callable[[], SearchResult]
Prepare = Callable[[Model, Options, Widths], Run]
"""Compiles a model whose containers have these widths; what it returns searches it."""

_LONG_ATTEMPT = 1.0
"""Seconds after which attempts may hold so much memory that it is worth looking for: that takes a third of a second."""


def search_growing(
    model: Model, options: Options, watch: Watcher | None, prepare: Prepare, widths: Widths = FIRST_WIDTHS
) -> SearchResult:
    """The result of an attempt in which no container is outgrown. Its limit of seconds is one for all attempts."""
    if grows(model):
        options = replace(options, likely=None)  # which of the attempts will be long is not known
    started = time.perf_counter()
    spent = 0.0
    last: tuple[str, int] | None = None
    while True:
        stop = Limits(seconds=options.limits.seconds).reached(seconds=spent)
        if stop is not None:
            return _stopped_result(widths, spent, stop)
        try:
            try:
                run = prepare(sized(model, widths), _remaining(options, spent), widths)
            except AsymmetryError:
                raise  # a width may have been too small for the step that distinguishes an identifier
            except ModelError as error:
                if last is None:
                    raise
                return _stopped_result(widths, spent, Stop(Limit.WIDTH, last[1], last[0], error.message))
            found = run()
            stop = found.stopped
            if stop is not None and stop.limit is Limit.SECONDS:
                stop = Stop(Limit.SECONDS, options.limits.seconds or 0)  # not the remainder of the last attempt
            return replace(
                found, seconds=found.seconds + spent, stopped=stop, widths=dict(widths.chosen),
                notes=[*found.notes, *_restart_note(widths)],
            )
        except WidthExceeded as outgrown:
            last, widths = (outgrown.place, outgrown.width), widths.grown(outgrown.place)
            spent = time.perf_counter() - started
            if watch is not None:
                grew = f"{outgrown.place} grew from {outgrown.width} to {widths.of(outgrown.place)}"
                watch(Progress(0, 0, 0, 0, spent, 0, note=f"{grew}: the search restarts"))
        if spent >= _LONG_ATTEMPT:
            gc.collect()  # frees the memory of the attempts before the next one


def at_widths(model: Model, task: Callable[[Model], T]) -> T:
    """The result of a task on a model at the first widths that it does not outgrow."""
    widths = FIRST_WIDTHS
    while True:
        try:
            return task(sized(model, widths))
        except WidthExceeded as outgrown:
            widths = widths.grown(outgrown.place)


def _remaining(options: Options, spent: float) -> Options:
    """The options for another attempt, with the time that is left."""
    seconds = options.limits.seconds
    return options if seconds is None else replace(options, limits=replace(options.limits, seconds=seconds - spent))


def _stopped_result(widths: Widths, seconds: float, stop: Stop) -> SearchResult:
    return SearchResult(
        "native", stopped=stop, seconds=seconds, widths=dict(widths.chosen), notes=_restart_note(widths)
    )


def _restart_note(widths: Widths) -> list[str]:
    """The note for the user about a search that restarted."""
    if not widths.chosen:
        return []
    grown = ", ".join(f"{place} to {width}" for place, width in sorted(widths.chosen.items()))
    times = counted(widths.doublings, "time")
    return [f"the search restarted {times}, as containers without a capacity grew: {grown}"]
