"""The cost of refinements and the designs that they notice: ``python -m benchmarks.refinement [--write]``.

Each spec of the quick tier whose model refines another one is measured. Where its search is too short, the row of the
deep tier in the same file is measured instead, if there is one.
The cost is the processor time of a search that judges a refinement beside the same search without properties. What is
noticed is the number of known-bad designs of the quick tier that do not refine the abstract model, with no other
property. Designs count whose good design refines it, with the same constants: of the others that they do not says
nothing.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results import section
from floodmark.checkers.native.search import begin, search_states
from floodmark.checkers.project.properties import Property, is_about
from floodmark.checkers.project.spec import find, read
from floodmark.checkers.search_result import Limits, Options
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.language.errors import SourceError
from floodmark.language.model import Model
from floodmark.language.reference import abstract_class

REPOSITORY = Path(__file__).parents[1]
FEWEST = 200_000
"""A search that generates fewer states is over too soon for its time to be compared: what is evaluated for the first
time takes most of it."""
STATES = 3_000_000
"""A design of which so many states refine is taken to refine."""


@dataclass(frozen=True)
class Family:
    """A spec that judges a refinement."""

    name: str
    check: Check
    refinement: Property


def families(every: Sequence[Check]) -> list[Family]:
    """The specs whose model refines another one."""
    return [
        Family(check.spec.name, check, prop)
        for check in every
        if check.flawed is None and check.spec.expect.verdict == "holds"
        for prop in check.properties()
        if prop.is_refinement
    ]


def costs(every: Sequence[Family], runs: int) -> Iterator[str]:
    """The table of processor time: each the smallest of some runs. Before a search the source is read, and the code
    that was compiled before is loaded, which takes as long for any number of states."""
    titles = "generated states | search without properties | with the refinement | ratio | before the one | the other"
    yield f"| spec | {titles} |"
    yield "|---|---|---|---|---|---|---|"
    done: set[Path] = set()
    """The files of which a spec was measured."""
    for family in sorted(every, key=lambda family: (family.check.tier != "quick", family.name)):
        if family.check.tier != "quick" and family.check.spec.path in done:
            continue
        measured: list[list[tuple[float, float]]] = [[], []]
        generated = 0
        for _ in range(runs + 1):  # the first compiles
            for properties, times in zip(([], [family.refinement]), measured, strict=True):
                before, during, generated = _seconds(family.check, properties)
                times.append((before, during))
        (first, plain), (read, judged) = (map(min, zip(*times[1:], strict=True)) for times in measured)
        if generated < FEWEST:
            continue
        done.add(family.check.spec.path)
        figures = f"{plain:.2f} | {judged:.2f} | {judged / plain:.2f} | {first:.2f} | {read:.2f}"
        yield f"| {family.name} | {generated:,} | {figures} |"


def _seconds(check: Check, properties: Sequence[Property]) -> tuple[float, float, int]:
    """The processor seconds before a search and of it, and how many states it generates."""
    started = time.process_time()
    search = begin(check.model(), properties, Options(workers=1, likely=10_000_000))
    ready = time.process_time()
    try:
        found = search.run()
        return ready - started, time.process_time() - ready, found.generated
    finally:
        search.close()


def noticed(mappings: Sequence[Property], designs: Sequence[Check]) -> Iterator[str]:
    """The table of known-bad designs that a refinement alone notices."""
    yield "| refines | by | known-bad designs | do not refine it |"
    yield "|---|---|---|---|"
    for refinement in mappings:
        good: dict[tuple[type[Model], str], bool] = {}
        found: dict[type[Model], bool] = {}
        for check in designs:
            model, of = check.model(), check.spec.model_class()
            if not _maps(refinement, type(model)):
                continue
            key = (of, str(model.constant_values))
            if key not in good:
                good[key] = _maps(refinement, of) and _refines(of(**model.constant_values), refinement)
            if good[key] and not found.get(type(model)):
                found[type(model)] = not _refines(model, refinement)
        name = abstract_class(refinement.function).__name__
        if found:
            yield f"| {name} | {refinement.name} | {len(found)} | {sum(found.values())} |"


def _checks() -> list[Check]:
    """The checks of all tiers."""
    return [
        check
        for address in find([REPOSITORY / "specs"], "all")
        for check in checks(read(address), CheckSettings(workers=1))
    ]


def _designs(every: Sequence[Check]) -> list[Check]:
    """The known-bad designs of the quick tier, but for those that specs of refinements have again."""
    return [
        check
        for check in every
        if check.tier == "quick"
        and check.flawed is not None
        and not any(prop.is_refinement for prop in check.properties())
    ]


def _maps(refinement: Property, cls: type[Model]) -> bool:
    """Whether a refinement is about a class: a function in a file of its own, or a method."""
    function = refinement.function
    if "." in function.__qualname__:
        return any(function is member for base in cls.__mro__ for member in vars(base).values())
    return is_about(function, cls)


def _refines(model: Model, refinement: Property) -> bool:
    options = Options(workers=1, limits=Limits(states=STATES))
    return not search_states(model, [refinement], options).violations


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="puts the figures into benchmarks/RESULTS.md")
    asked = parser.parse_args()
    every = _checks()
    refining = families(every)
    quick = [family for family in refining if family.check.tier == "quick"]
    mappings = list({family.refinement.place: family.refinement for family in quick}.values())
    lines = []
    for line in itertools.chain(costs(refining, asked.runs), [""], noticed(mappings, _designs(every))):
        print(line, flush=True)
        lines.append(line)
    if asked.write:
        section("refinement", f"python -m benchmarks.refinement --runs {asked.runs} --write", lines)


if __name__ == "__main__":
    try:
        main()
    except SourceError as error:
        raise SystemExit(str(error)) from None
