"""The report options of commands, and writing the files that they name. ``floodmark report`` makes every other report
from the JSON."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from floodmark.checkers.project.arguments import PathParameter
from floodmark.checkers.report import atomic_file, standard_output
from floodmark.checkers.verdict.gate_outcome import Drift
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import CheckResult, ExitCode, worst
from floodmark.language.errors import SourceError

if TYPE_CHECKING:
    from floodmark.checkers.report.verdict_summary import SummaryLine

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Reports:
    """The files to write; None for a report that was not requested."""

    json: Path | None = None
    junit: Path | None = None
    sarif: Path | None = None
    html: Path | None = None

    @classmethod
    def of(cls, given: dict[str, Any]) -> Reports:
        """Takes the report options out of the options of a command."""
        return cls(**{field.name: given.pop(f"{field.name}_file", None) for field in fields(cls)})

    @property
    def files(self) -> dict[str, Path]:
        """The file of each requested report."""
        named = {field.name: getattr(self, field.name) for field in fields(Reports)}
        return {name: path for name, path in named.items() if path is not None}

    @property
    def are_wanted(self) -> bool:
        """Whether any report was requested."""
        return _is_on_github() or bool(self.files)

    def must_be_writable(self, inputs: Sequence[Path] = ()) -> None:
        """Raises SourceError for a path that cannot be written, is an input or is named twice; call it before a long
        search."""
        named: dict[str, str] = {}
        for name, path in self.files.items():
            other = named.setdefault(os.path.realpath(path), name)
            if other != name and not (path.exists() and not path.is_file()):
                raise SourceError(f"--{other} and --{name} name the same file; each report needs its own", str(path))
            must_be_writable(path, inputs)


def must_be_writable(path: Path | None, inputs: Sequence[Path]) -> None:
    """Refuses a file for results that cannot be written or is an input."""
    if path is not None and path != standard_output.NAME:
        atomic_file.must_be_writable(path, inputs)


def _is_on_github() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def _reserved(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    if value == standard_output.NAME:
        context.with_resource(standard_output.reserved())
    return value


def _file(name: str, text: str, **more: Any) -> Callable[[F], F]:
    return click.option(f"--{name}", f"{name}_file", type=PathParameter(), metavar="FILE", help=text, **more)


json_option = _file("json", "Writes results as JSON; - is standard output.", callback=_reserved)
_OPTIONS = (
    json_option,
    _file("junit", "Writes the results as JUnit XML, for CI servers."),
    _file("sarif", "Writes unexpected results as SARIF, for code scanning."),
    _file("html", "Writes one page with verdicts, counterexamples and coverage."),
)
edits_page_option = _file("html", "Writes one page with what has changed.")


def report_options(command: F) -> F:
    """Adds the options of a command that writes reports; ``Reports.of`` reads them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def write_reports(
    reports: Reports,
    results: Sequence[CheckResult],
    proofs: Sequence[ProofResult] = (),
    drift: Sequence[Drift] = (),
    *,
    annotate: bool = True,
    edits: Mapping[str, Any] | None = None,
) -> ExitCode:
    """Writes every requested report and, on GitHub Actions, annotations and a summary.

    A report that fails affects neither the others nor a verdict: the failure goes to standard error and into the exit
    code, and what an earlier run wrote to the same path is removed.
    """
    if not reports.are_wanted:
        return ExitCode.AS_EXPECTED
    writers = _writers(reports, results, proofs, drift, annotate and _is_on_github(), edits)
    codes = [_written(name, path, write) for name, path, write in writers]
    return worst([*codes, ExitCode.AS_EXPECTED])


def write_json(path: Path | None, kind: str, content: Mapping[str, Any]) -> ExitCode:
    """Writes the results of a command as JSON, on request; to be called last.

    ``kind`` is the name of the schema. A file that cannot be written costs no verdict: the failure goes to standard
    error and into the exit code.
    """
    if path is None:
        return ExitCode.AS_EXPECTED
    whole = {"schema": f"floodmark.{kind}/1", **content}
    return _written("JSON", path, lambda: write_text(path, json.dumps(whole, indent=1) + "\n"))


def write_edits_page(path: Path | None, content: Mapping[str, Any]) -> ExitCode:
    """Writes a page about the effects of an edit, on request."""
    if path is None:
        return ExitCode.AS_EXPECTED
    from floodmark.checkers.report.html.document import edits_page

    return _written("HTML", path, lambda: write_text(path, edits_page(content)))


def write_text(path: Path, text: str) -> None:
    """Writes a file as a whole; or standard output, if that is its name."""
    if path == standard_output.NAME:
        standard_output.write(text)
    else:
        atomic_file.write(path, text)


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
    reports: Reports, results: Sequence[CheckResult], proofs: Sequence[ProofResult], drift: Sequence[Drift],
    on_github: bool, edits: Mapping[str, Any] | None,
) -> Iterator[tuple[str, Path | None, Callable[[], None]]]:
    """Each requested report: its name, its file, and a function that writes it."""
    from floodmark.checkers.report.verdict_summary import cases

    every = functools.cache(lambda: cases(results, proofs, drift))

    def text(path: Path, of: Callable[[], str]) -> Callable[[], None]:
        return lambda: write_text(path, of())

    if reports.json is not None:
        from floodmark.checkers.report.json import document

        yield "JSON", reports.json, text(reports.json, lambda: document(results, proofs, drift, edits))
    if reports.junit is not None:
        from floodmark.checkers.report.junit import junit

        yield "JUnit", reports.junit, text(reports.junit, lambda: junit(every()))
    if reports.sarif is not None:
        from floodmark.checkers.report.sarif import sarif

        yield "SARIF", reports.sarif, text(reports.sarif, lambda: sarif(every()))
    if reports.html is not None:
        from floodmark.checkers.report.html.document import html

        yield "HTML", reports.html, text(reports.html, lambda: html(every(), edits))
    if on_github:
        yield "GitHub", None, lambda: _tell_github(every(), edits)


def _tell_github(every: Sequence[SummaryLine], edits: Mapping[str, Any] | None) -> None:
    """Prints annotations to standard output, and appends the summary to the step's file."""
    from floodmark.checkers.report import github

    for line in github.workflow_commands(every):
        click.echo(line)
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    if target:
        try:
            with open(target, "a", encoding="utf-8", errors="backslashreplace") as page:
                page.write(github.summary(every, edits))
        except OSError as error:
            raise atomic_file.unwritable(Path(target), error) from None
