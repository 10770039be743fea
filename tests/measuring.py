"""How a whole run is measured and ordered: ``pytest -p tests.measuring``, as the README's command has it.

Tracing every line doubles the time of whatever Python does, and most lines of the language, the compiler and the
engines, which are what is measured, are run by many tests. So only the tests in ``traced.txt`` are traced, which
``python -m tools.tracing`` chooses: together they run nearly every line, in a fraction of the time of all. Every test
runs in any case, and its outcome does not depend on tracing. Without this plug-in everything is traced.

The tests are collected untraced as well, after what is measured has been imported: importing a file runs its lines.
Within a file the traced tests come first, because stopping and continuing takes time.

What takes longest begins first, so that the processes of pytest-xdist end at about the same time: each of them takes
the next file when it has nearly finished one. The files that need Spark go to one process, which starts it once.

Hundreds of tests start a process. Those read Floodmark compiled, as everywhere where the environment does not say
otherwise: else each of them would compile it anew.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatch
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from coverage import Coverage
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

SOURCES = Path(__file__).parents[1] / "src" / "floodmark"
FOR_PROCESSES = "COVERAGE_PROCESS_CONFIG"
"""With this in the environment coverage measures the Python processes that are started."""

ON_SPARK = (
    "test_spark", "test_generated_models", "test_spark_runs", "test_spark_checkpoints", "test_spark_liveness",
    "test_spark_growth", "test_spark_symmetry", "test_spark_walks", "test_spark_s3",
)
"""Files of tests that share a session of Spark. Its workers are traced if it was started by a test that is."""

LONGEST = (
    *ON_SPARK, "test_edits", "test_answers", "test_suggestions", "test_growth", "test_readme", "test_symbolic",
    "test_conformance", "test_zookeeper", "test_constructs", "test_cli", "test_any_size", "test_elimination",
    "test_planting", "test_compiled_representatives", "test_self_checks",
)
"""Files of tests that take longest."""

TRACED = frozenset(Path(__file__).with_name("traced.txt").read_text().split())
"""The tests that are measured, by the names that pytest gives them, without parameters."""


def is_traced(item: pytest.Item) -> bool:
    """Whether a test is measured."""
    return item.nodeid.partition("[")[0] in TRACED


@contextmanager
def untraced(measured: Coverage) -> Iterator[None]:
    """Nothing is traced in this process, nor in those that it starts."""
    from coverage.multiproc import original_bootstrap

    measured.stop()
    measured.save()  # a fork that ends would save it once more
    for_processes = os.environ.pop(FOR_PROCESSES, None)
    bootstrap: Any = BaseProcess._bootstrap  # type: ignore[attr-defined]
    BaseProcess._bootstrap = original_bootstrap  # type: ignore[attr-defined]
    try:
        yield
    finally:
        BaseProcess._bootstrap = bootstrap  # type: ignore[attr-defined]
        if for_processes is not None:
            os.environ[FOR_PROCESSES] = for_processes
        measured.start()


_STOPPED = ExitStack()
"""What continues what has been stopped."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Imports what is measured, and stops tracing for all that the files of tests do when they are imported."""
    collects = session.config.getoption("dist", "no") == "no"  # else its workers do
    if collects and (measured := _current()) is not None:
        for name in measured_modules(measured):
            importlib.import_module(name)
        _STOPPED.enter_context(untraced(measured))


def measured_modules(measured: Coverage) -> Iterator[str]:
    """The modules of Floodmark whose files are measured."""
    included, omitted = (measured.get_option(f"run:{option}") for option in ("include", "omit"))
    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES.parent).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        if _is_among(path, included) and not _is_among(path, omitted):
            yield name


def _is_among(path: Path, patterns: Any) -> bool:
    return any(fnmatch(str(path), pattern) for pattern in patterns or ())


def _current() -> Coverage | None:
    """What measures this process, if something does and has not been stopped."""
    coverage = sys.modules.get("coverage")
    return None if coverage is None else coverage.Coverage.current()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Tracing stops at the first test that is not traced, and continues at the next one that is."""
    if is_traced(item):
        _STOPPED.close()
    elif (measured := _current()) is not None:
        _STOPPED.enter_context(untraced(measured))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test on Spark that is skipped has failed: in a whole run every package is there, and so is Java. What may be
    missing is a disk of a few kilobytes, which not every user may mount."""
    report = yield
    if report.skipped and item.path.stem in ON_SPARK and "small disk" not in str(report.longrepr):
        report.outcome, report.longrepr = "failed", f"{item.nodeid} was skipped"
    return report


def pytest_sessionfinish() -> None:
    _STOPPED.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Moves the longest files to the beginning, and in each file what is traced."""
    longest = {name: place for place, name in enumerate(LONGEST)}
    files = {path: place for place, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(key=lambda it: (longest.get(it.path.stem, len(LONGEST)), files[it.path], not is_traced(it)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """A process takes whole files, as with ``--dist loadfile``, and those on Spark as if they were one."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "Spark" if Path(file).stem in ON_SPARK else file

    return Scheduling(config, log) if config.getvalue("dist") == "loadfile" else None
