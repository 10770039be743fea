"""Many searches on Spark: one task each, natively; those that turn out large are distributed afterwards, one by one.

A task gets a check and gives a pickled result. Where a worker does not see the spec's files, it unpacks them from what
the driver sends along, under the module names that they have on the driver.
"""

from __future__ import annotations

import functools
import hashlib
import io
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodmark.checkers.native.memory import physical_memory
from floodmark.checkers.native.search import SHARE_OF_MEMORY
from floodmark.checkers.project import Project, project_at
from floodmark.checkers.resources import cores
from floodmark.checkers.result import CheckResult
from floodmark.language.errors import SourceError

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext
    from pyspark.sql import DataFrame, SparkSession

    from floodmark.checkers.run import Check

TASK_STATES = 20_000_000
"""A search that finds more states than this in its task is given up there and distributed instead. So many are found
natively, on one core, in about the time that Spark needs for the levels of a distributed search."""
_SUFFIXES = (".py", ".toml", ".lock")
Files = dict[str, tuple[str, bytes]]
"""For each project's root on the driver: the prefix of its modules' names and a zip file of its sources."""
_SHIPPED = ""
"""Stands for the root of the shipped project, which every worker has."""


def run_as_tasks(spark: SparkSession, every: Sequence[Check]) -> Iterator[tuple[Check, CheckResult | None]]:
    """Runs each check in a task of its own, and gives the results in order; None for one that is to be distributed."""
    from floodmark.checkers.run import unpickled

    for check in every:
        try:
            check.properties()
        except SourceError:
            continue
    context = spark.sparkContext
    files = broadcast_files(context, every)
    tasks = context.parallelize([_for_a_task(check) for check in every], len(every))
    results = tasks.map(functools.partial(_run, files)).toLocalIterator(prefetchPartitions=True)
    for check, content in zip(every, results, strict=True):
        result = unpickled(check, content)
        yield check, None if _is_too_large(check, result) else _as_of(check, result)
    files.destroy()


def _for_a_task(check: Check) -> Check:
    limits = check.settings.limits
    states = min(limits.states or TASK_STATES, TASK_STATES)
    settings = replace(
        check.settings, engine="native", workers=1, limits=replace(limits, states=states),
        invariant_files=tuple(file.resolve() for file in check.settings.invariant_files),
    )
    spec = replace(
        check.spec, path=check.spec.path.resolve(),
        invariant_files=tuple(file.resolve() for file in check.spec.invariant_files),
    )
    return replace(check, spec=spec, settings=settings)


def _as_of(check: Check, result: CheckResult) -> CheckResult:
    """The result as it is of the check of this machine."""
    from floodmark.checkers.run import shown

    if result.exploration is not None:
        result.exploration.engine = "spark"
        result.engine = "spark"
    return replace(result, spec=shown(check.spec.path), reproduce=check.reproduce())


def _is_too_large(check: Check, result: CheckResult) -> bool:
    """Whether only the task's own limit ended a search, or that its memory is a part of the machine's."""
    found = result.exploration
    if result.verdict != "undetermined" or found is None:
        return False
    own = check.options.limits
    if "states" in found.stopped:
        return own.states is None or own.states > TASK_STATES
    return "memory" in found.stopped and own.memory is None


def _run(files: Broadcast[Files], check: Check) -> bytes:
    from floodmark.checkers.run import run_pickled

    return run_pickled(_with_its_share(placed(files.value, check)))


def _with_its_share(check: Check) -> Check:
    """The check with as much of this machine's memory as it has of its cores, unless it says how much."""
    if check.options.limits.memory is not None:
        return check
    limits = replace(check.settings.limits, memory=int(SHARE_OF_MEMORY * physical_memory()) // cores())
    return replace(check, settings=replace(check.settings, limits=limits))


def broadcast_files(context: SparkContext, every: Sequence[Check]) -> Broadcast[Files]:
    """The projects of checks for the workers of a cluster; the sources only where those are on other machines."""
    return context.broadcast(files_of(every, with_sources=not str(context.master).startswith("local")))


def files_of(every: Sequence[Check], with_sources: bool = True) -> Files:
    """Every project that a check belongs to, and the shipped one."""
    projects = dict.fromkeys(check.spec.project for check in every)
    found = {str(each.root): (each.prefix, _sources(each, every) if with_sources else b"") for each in projects}
    return {_SHIPPED: (Project.shipped().prefix, b""), **found}


def _sources(project: Project, every: Sequence[Check]) -> bytes:
    """A zip file with the models, properties and specs of a project, and what lies beside the specs of its checks."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder in ("model", "invariants", "specs"):
            for file in sorted((project.root / folder).rglob("*")):
                if file.suffix in _SUFFIXES and file.is_file():
                    archive.write(file, file.relative_to(project.root).as_posix())
        for path in (check.spec.path.resolve() for check in every if check.spec.project is project):
            for file in (path, *path.parent.glob("*.py")):
                name = file.relative_to(project.root).as_posix()
                if name not in archive.namelist():
                    archive.write(file, name)
    return buffer.getvalue()


def placed(files: Files, check: Check) -> Check:
    """The check with the paths that its files have on this machine."""
    places: dict[str, Path] = {}
    for root, (prefix, content) in files.items():
        if root == _SHIPPED:
            Project.shipped().prefix = prefix
        else:
            places[root] = _root_here(root, prefix, content)

    def here(path: Path) -> Path:
        for root, place in places.items():
            if path.is_relative_to(root):
                return place / path.relative_to(root)
        return path

    spec = replace(
        check.spec, path=here(check.spec.path), invariant_files=tuple(here(file) for file in check.spec.invariant_files)
    )
    settings = replace(check.settings, invariant_files=tuple(here(file) for file in check.settings.invariant_files))
    return replace(check, spec=spec, settings=settings)


@functools.cache
def _root_here(root: str, prefix: str, content: bytes) -> Path:
    """The folder of a project on this machine, whose modules then have the names that they have on the driver."""
    folder = Path(root)
    if not folder.exists():
        folder = Path(tempfile.gettempdir()) / f"floodmark-files-{hashlib.sha256(content).hexdigest()[:16]}"
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            archive.extractall(folder)
    project_at(folder.resolve()).prefix = prefix
    return folder.resolve()


def results_frame(spark: SparkSession, results: Sequence[CheckResult]) -> DataFrame:
    """The results of a run, one row each."""
    return spark.createDataFrame([_row(result) for result in results], _RESULT)


_RESULT = (
    "spec string, variant string, model string, tier string, engine string, verdict string, expected boolean, "
    "property string, distinct bigint, generated bigint, depth int, digest string, seconds double, "
    "compile_seconds double, memory bigint, constants map<string,bigint>, actions map<string,bigint>, "
    "levels array<bigint>, trace_length int"
)


def _row(result: CheckResult) -> tuple[Any, ...]:
    found = result.exploration
    figures: tuple[Any, ...] = (0, 0, 0, "", 0.0, 0.0, 0)
    if found is not None:
        figures = (found.distinct, found.generated, found.depth, found.digest, found.seconds, found.compile_seconds,
                   found.memory)
    return (
        result.name, result.variant, result.model, result.tier, result.engine, result.verdict, result.expected,
        result.property, *figures,
        {name: int(value) for name, value in result.constants.items()},
        {} if found is None else found.actions,
        [] if found is None else found.levels,
        None if result.violation is None else len(result.violation.trace),
    )
