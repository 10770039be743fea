"""``floodmark report``: makes reports of results that were written as JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import click

from floodmark.checkers.report import atomic_file, standard_output, state_graph
from floodmark.checkers.report.html.document import html
from floodmark.checkers.report.itf import file_name, itf
from floodmark.checkers.report.junit import junit
from floodmark.checkers.report.outputs import must_be_writable, write_text
from floodmark.checkers.report.replay import test_module
from floodmark.checkers.report.sarif import sarif
from floodmark.checkers.report.verdict_summary import SummaryLine, cases
from floodmark.checkers.saved.results_file import SavedResults, read
from floodmark.language.errors import SourceError

ReportKind = Literal["html", "sarif", "junit", "itf", "graph", "test"]
_OF_CASES: dict[ReportKind, Callable[[list[SummaryLine]], str]] = {"sarif": sarif, "junit": junit}
_GRAPHS = {".dot": state_graph.dot, ".graphml": state_graph.graphml}


def report(results: Path, kind: ReportKind, into: Path | None) -> None:
    """Writes one report: to standard output, a file or, in the Informal Trace Format, into a folder."""
    target = into or standard_output.NAME
    _require_place(kind, target, results)
    saved = read(results)
    if kind == "itf":
        _write_traces(target, saved)
        return
    text = _text(kind, target, saved)
    if text:
        write_text(target, text)
    else:
        click.echo("no counterexample was found, so there is no test", err=True)


def _require_place(kind: ReportKind, target: Path, results: Path) -> None:
    """Refuses a place that cannot be written, before the results are read."""
    if kind == "itf":
        if target == standard_output.NAME:
            raise SourceError("traces are a file for each counterexample; say --into FOLDER")
        atomic_file.folder(target)
    elif kind == "test" and target.suffix == ".py" and not target.exists():
        must_be_writable(target.with_suffix(""), [])
    else:
        must_be_writable(target, [results])
    if kind == "graph" and target != standard_output.NAME and target.suffix not in _GRAPHS:
        raise SourceError(f"{target} ends neither in .dot nor in .graphml")


def _text(kind: ReportKind, target: Path, saved: SavedResults) -> str:
    if kind == "test":
        return test_module(saved.results)
    if kind == "html":
        return html(cases(saved.results, saved.proofs, saved.drift), saved.edits)
    if kind != "graph":
        return _OF_CASES[kind](cases(saved.results, saved.proofs, saved.drift))
    drawn = state_graph.check_to_draw(saved.results)
    if drawn is None:
        raise SourceError("has no model that could be read, so there is no graph")
    return _GRAPHS.get(target.suffix, state_graph.dot)(state_graph.state_graph(drawn))


def _write_traces(folder: Path, saved: SavedResults) -> None:
    for result in saved.results:
        if result.violation is not None and result.subject is not None:
            atomic_file.write(folder / file_name(result), itf(result))
