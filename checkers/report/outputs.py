"""The report options that commands share, and writing the files that they name."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from floodmark.checkers.file_parameter import Named
from floodmark.checkers.gate.outcome import Drift
from floodmark.checkers.proof_result import Proved
from floodmark.checkers.report import atomic_file
from floodmark.checkers.result import CheckResult, ExitCode, worst
from floodmark.language.errors import SourceError

if TYPE_CHECKING:
    from floodmark.checkers.report.junit import Family
    from floodmark.checkers.report.verdict_summary import Case

F = TypeVar("F", bound=Callable[..., Any])
_GRAPHS = (".dot", ".graphml")


@dataclass(frozen=True, slots=True)
class Reports:
    """The files to write; None for those not asked for. ``itf`` is a folder, ``junit_family`` the kind of JUnit XML."""

    json: Path | None = None
    junit: Path | None = None
    sarif: Path | None = None
    html: Path | None = None
    itf: Path | None = None
    graph: Path | None = None
    junit_family: Family = "xunit1"

    @classmethod
    def of(cls, given: dict[str, Any]) -> Reports:
        """Takes the report options out of the options of a command."""
        files = {name: given.pop(f"{name}_file") for name in cls.file_fields()}
        return cls(**files, junit_family=given.pop("junit_family"))

    @classmethod
    def file_fields(cls) -> list[str]:
        """The names of the fields that are paths."""
        return [field.name for field in fields(cls) if field.name != "junit_family"]

    @property
    def are_wanted(self) -> bool:
        """Whether there is anything to write."""
        return _is_on_github() or any(getattr(self, name) is not None for name in Reports.file_fields())

    def must_be_writable(self, inputs: Sequence[Path] = ()) -> None:
        """Raises SourceError for a path that cannot be written or is an input; call it before a long search."""
        for name in self.file_fields():
            path = getattr(self, name)
            if path is not None and name == "itf":
                atomic_file.folder(path)
            elif path is not None:
                atomic_file.must_be_writable(path, inputs)


def _is_on_github() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def report_options(command: F) -> F:
    """Adds the options of a command that writes reports; ``Reports.of`` reads them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _graph(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and value.suffix not in _GRAPHS:
        raise click.BadParameter(f"{value} ends neither in .dot nor in .graphml", context, parameter)
    return value


def _file(name: str, metavar: str, text: str, **more: Any) -> Callable[[F], F]:
    return click.option(f"--{name}", f"{name}_file", type=Named(), metavar=metavar, help=text, **more)


_OPTIONS = (
    _file("json", "FILE", "Writes the results as JSON."),
    _file("junit", "FILE", "Writes the results as JUnit XML, for CI servers."),
    click.option("--junit-family", type=click.Choice(["xunit1", "xunit2"]), default="xunit1", show_default=True,
                 help="xunit2 keeps to Jenkins's schema, which has no place for files and lines of test cases."),
    _file("sarif", "FILE", "Writes unexpected results as SARIF, for code scanning."),
    _file("html", "FILE", "Writes one page with verdicts, counterexamples and coverage."),
    _file("itf", "DIR", "Writes each counterexample to DIR in the Informal Trace Format."),
    _file("graph", "FILE.dot|.graphml", "Writes the state graph of a counterexample, or of the first check.",
          callback=_graph),
)


def write_reports(
    reports: Reports,
    results: Sequence[CheckResult],
    proofs: Sequence[Proved] = (),
    drift: Sequence[Drift] = (),
) -> ExitCode:
    """Writes every report that was asked for, and, on GitHub Actions, annotations and a summary.

    A report that fails affects neither the others nor a verdict: the failure goes to standard error and into the exit
    code, and what an earlier run wrote to the same path is removed.
    """
    if not reports.are_wanted:
        return ExitCode.AS_EXPECTED
    writers = _writers(reports, results, proofs, drift, _is_on_github())
    codes = [_written(name, path, write) for name, path, write in writers]
    return worst([*codes, ExitCode.AS_EXPECTED])


def write_json(path: Path | None, content: object) -> ExitCode:
    """Writes what a command found as JSON, if that was asked for; call it when everything else is said and done.

    A file that cannot be written costs no verdict: the failure goes to standard error and into the exit code.
    """
    if path is None:
        return ExitCode.AS_EXPECTED
    return _written("JSON", path, lambda: atomic_file.write(path, json.dumps(content, indent=1) + "\n"))


def _written(name: str, path: Path | None, write: Callable[[], None]) -> ExitCode:
    try:
        write()
    except SourceError as error:
        click.echo(f"error: the {name} report: {error}", err=True)
        code = ExitCode.USER_ERROR
    except Exception as error:
        click.echo(f"internal error in floodmark, in the {name} report: {type(error).__name__}: {error}", err=True)
        click.echo(traceback.format_exc(), err=True)
        code = ExitCode.INTERNAL_ERROR
    else:
        return ExitCode.AS_EXPECTED
    if path is not None and path.is_file():
        with contextlib.suppress(OSError):
            path.unlink()
    return code


def _writers(
    reports: Reports, results: Sequence[CheckResult], proofs: Sequence[Proved], drift: Sequence[Drift], on_github: bool
) -> Iterator[tuple[str, Path | None, Callable[[], None]]]:
    """Each report that was asked for: its name, its file, and a function that writes it."""
    from floodmark.checkers.report.verdict_summary import cases

    every = functools.cache(lambda: cases(results, proofs, drift))

    def text(path: Path, of: Callable[[], str]) -> Callable[[], None]:
        return lambda: atomic_file.write(path, of())

    if reports.json is not None:
        from floodmark.checkers.report.json import document

        yield "JSON", reports.json, text(reports.json, lambda: document(results, proofs, drift))
    if reports.junit is not None:
        from floodmark.checkers.report.junit import junit

        yield "JUnit", reports.junit, text(reports.junit, lambda: junit(every(), reports.junit_family))
    if reports.sarif is not None:
        from floodmark.checkers.report.sarif import sarif

        yield "SARIF", reports.sarif, text(reports.sarif, lambda: sarif(every()))
    if reports.html is not None:
        from floodmark.checkers.report.html.document import html

        yield "HTML", reports.html, text(reports.html, lambda: html(every()))
    if reports.itf is not None:
        yield "ITF", None, functools.partial(_write_traces, reports.itf, results)
    if reports.graph is not None:
        yield "graph", reports.graph, functools.partial(_write_graph, reports.graph, results)
    if on_github:
        yield "GitHub", None, lambda: _tell_github(every())


def _write_traces(target: Path, results: Sequence[CheckResult]) -> None:
    from floodmark.checkers.report.itf import file_name, itf

    for result in results:
        if result.violation is not None and result.subject is not None:
            atomic_file.write(atomic_file.folder(target) / file_name(result), itf(result))


def _write_graph(target: Path, results: Sequence[CheckResult]) -> None:
    from floodmark.checkers.report import state_graph

    drawn = state_graph.drawn(results)
    if drawn is not None:
        made = state_graph.state_graph(drawn)
        atomic_file.write(target, state_graph.dot(made) if target.suffix == ".dot" else state_graph.graphml(made))


def _tell_github(every: Sequence[Case]) -> None:
    """Prints annotations to standard output, and appends the summary to the step's file."""
    from floodmark.checkers.report import github

    for line in github.workflow_commands(every):
        click.echo(line)
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    if target:
        try:
            with open(target, "a", encoding="utf-8", errors="backslashreplace") as page:
                page.write(github.summary(every))
        except OSError as error:
            raise atomic_file.unwritable(Path(target), error) from None
