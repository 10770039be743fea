"""``floodmark plan``: from the operator's files to the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from floodmark.checkers.plan import report
from floodmark.checkers.plan.reassignment_json import read
from floodmark.checkers.plan.shapes import PlannedReassignment, planned_reassignments
from floodmark.checkers.plan.verdicts import (
    MAX_SHAPE_BROKERS,
    ControllerDesign,
    ShapeMap,
    ShapeVerdict,
    check_shapes,
    map_shapes,
    map_shapes_on_spark,
)
from floodmark.checkers.report.outputs import write_json
from floodmark.checkers.verdict.check import EngineName
from floodmark.checkers.verdict.result import ExitCode, worst
from floodmark.language.errors import SourceError


def moves_of(plan: Path, current: Path) -> list[PlannedReassignment]:
    """The moves of a plan file, each with the partition's current replicas. Raises SourceError."""
    moves = planned_reassignments(read(plan), read(current), str(plan), str(current))
    for move in moves:
        if len(move.brokers) > MAX_SHAPE_BROKERS:
            raise SourceError(
                f"{move.partition} involves {len(move.brokers)} brokers; the most is {MAX_SHAPE_BROKERS}", str(plan)
            )
    return moves


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """The arguments of the command, apart from the files."""

    min_insync: int = 1
    design: ControllerDesign = "kraft"
    failures: int | None = None
    engine: EngineName = "auto"
    master: str | None = None
    workers: int = 0

    def mapped(self) -> ShapeMap:
        """The executor of the checks of shapes."""
        if self.engine == "spark":
            return partial(map_shapes_on_spark, master=self.master)
        return partial(map_shapes, workers=self.workers)


def check_plan(plan: Path, current: Path, settings: PlanSettings, json_file: Path | None) -> Iterator[str | ExitCode]:
    """The lines to print, then the exit code."""
    moves = moves_of(plan, current)
    if not moves:
        yield f"nothing was checked: {plan} has no partitions"
        yield ExitCode.NOTHING_CHECKED
        return
    shapes = {move.shape for move in moves}
    in_cpython = settings.engine == "reference"
    given = settings.min_insync, settings.design, settings.failures
    verdicts = check_shapes(shapes, *given, settings.mapped(), in_cpython)
    yield from report.lines(moves, verdicts, settings.min_insync)
    content = report.as_json(moves, verdicts, settings.min_insync, settings.design)
    yield worst([_exit_code(verdicts.values()), write_json(json_file, "plan", content)])


def _exit_code(verdicts: Iterable[ShapeVerdict]) -> ExitCode:
    troubles = {verdict.trouble for verdict in verdicts}
    if troubles - {"", "undetermined"}:
        return ExitCode.NOT_AS_EXPECTED
    return ExitCode.UNDETERMINED if "undetermined" in troubles else ExitCode.AS_EXPECTED
