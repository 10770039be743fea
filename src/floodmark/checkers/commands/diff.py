"""The command ``floodmark diff``."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from floodmark.checkers.edits import json_entries, text
from floodmark.checkers.edits.pairs import SpecPair, compare_pairs, pairs_in
from floodmark.checkers.edits.spec_edit import EditSettings, SpecEdit
from floodmark.checkers.edits.versions import Version, commit, working_tree
from floodmark.checkers.project.arguments import spec_path
from floodmark.checkers.project.paths import resolved
from floodmark.checkers.project.spec import Tier, only, read_all
from floodmark.checkers.report import edits as report
from floodmark.checkers.report.outputs import must_be_writable, write_edits_page, write_json
from floodmark.checkers.report.progress import StatusLine
from floodmark.checkers.search_result import Limits, Options, Progress
from floodmark.checkers.verdict.result import ExitCode, worst
from floodmark.language.errors import SourceError
from floodmark.language.plurals import counted


@dataclass(frozen=True)
class DiffRequest:
    """The arguments of the command: two specs, or up to two commits and the specs after ``--``."""

    named: Sequence[str]
    behind: Sequence[str] | None
    every: bool = False
    constants: Mapping[str, int] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    workers: int = 0
    json_file: Path | None = None
    html_file: Path | None = None


def diff(request: DiffRequest, say: Callable[[str], None]) -> ExitCode:
    """Compares, prints the differences, writes reports, and returns the exit code."""
    for path in (request.json_file, request.html_file):
        must_be_writable(path, ())
    settings = EditSettings(Options(request.workers, limits=request.limits), request.constants)
    with _subjects(request) as (versions, pairs):
        edits = []
        line = StatusLine()

        def watch(at: Progress) -> None:
            line.say(lambda: at.note or f"{counted(at.distinct, 'state')} in {counted(at.level, 'level')}")

        for edit in compare_pairs(pairs, versions, settings, watch):
            edits.append(edit)
            line.clear()
            if not edit.unchanged or request.every or len(pairs) == 1:
                for message in text.lines(edit, versions):
                    say(message)
        for message in end(edits, versions):
            say(message)
        content = json_entries.content(edits, versions)
        codes = [
            exit_code(edits), write_edits_page(request.html_file, content),
            write_json(request.json_file, "edits", content),
        ]
    return worst(codes)


def compare_versions(request: DiffRequest) -> tuple[dict[str, Any], ExitCode]:
    """The comparison without output, as JSON."""
    settings = EditSettings(Options(request.workers, limits=request.limits), request.constants)
    with _subjects(request) as (versions, pairs):
        edits = list(compare_pairs(pairs, versions, settings))
        return json_entries.content(edits, versions), exit_code(edits)


def end(edits: Sequence[SpecEdit], versions: tuple[Version, Version]) -> Iterator[str]:
    """The sums at the end of the output."""
    same = sum(edit.unchanged for edit in edits)
    rest = len(edits) - same
    if len(edits) > 1:
        yield ""
        yield (
            f"{counted(rest, 'spec')} changed from {versions[0].label} to {versions[1].label}, "
            f"{counted(same, 'spec')} did not"
        )


def edits_since(ref: str, folder: Path, tier: Tier, limits: Limits) -> dict[str, Any]:
    """The changes of a folder's specs since a commit, in the form for reports. The limits are those of the whole
    comparison."""
    began = time.perf_counter()
    with commit(ref, folder) as old:
        versions = old, working_tree(folder)
        edits: list[SpecEdit] = []
        for pair in pairs_in(versions, [folder], tier):
            left = None if limits.seconds is None else max(limits.seconds - (time.perf_counter() - began), 0.0)
            options = Options(limits=replace(limits, seconds=left))
            edits += compare_pairs([pair], versions, EditSettings(options))
        return json_entries.content(edits, versions)


def edit_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """The text in the output of a gate: the changes that weaken a check, then a line for each spec that changed."""
    lines = list(report.summary_lines(content))
    yield click.style(f"what the edit changes: {report.sums(content)}", bold=True)
    for line in lines:
        yield f"  {line}"
    if lines:
        yield f"  (floodmark diff {content['old']} -- SPEC shows the runs)"
    yield ""


def exit_code(edits: Sequence[SpecEdit]) -> ExitCode:
    """The exit code: everything is the same, a difference was found, or the answer is unknown."""
    if not edits:
        return ExitCode.NOTHING_CHECKED
    if any(edit.is_undetermined for edit in edits):
        return ExitCode.UNDETERMINED
    return ExitCode.AS_EXPECTED if all(edit.is_same for edit in edits) else ExitCode.NOT_AS_EXPECTED


@contextlib.contextmanager
def _subjects(request: DiffRequest) -> Iterator[tuple[tuple[Version, Version], list[SpecPair]]]:
    with ExitStack() as stack:
        if request.behind is None and len(request.named) == 2 and _is_spec(request.named[1]):
            old, new = (only(read_all(spec_path(name))) for name in request.named)
            near = [working_tree(spec.path) for spec in (old, new)]
            versions = tuple(
                Version(name, tree.root, tree.home) for name, tree in zip(request.named, near, strict=True)
            )
            yield (versions[0], versions[1]), [SpecPair(request.named[1], old, new)]
            return
        if not request.named or len(request.named) > 2:
            raise SourceError("name two specs, or one or two commits: floodmark diff main -- specs/lease.toml")
        paths = [spec_path(name) for name in request.behind or ["specs"]]
        for path in paths:
            if not path.exists() and "@" not in path.name:
                raise SourceError("there is no such spec", str(path))
        here = working_tree(resolved(paths[0]))
        trees = [stack.enter_context(commit(ref, resolved(paths[0]))) for ref in request.named]
        both = (trees[0], trees[1]) if len(trees) == 2 else (trees[0], here)
        yield both, pairs_in(both, paths, "quick")


def _is_spec(name: str) -> bool:
    try:
        spec_path(name)
    except SourceError:
        return False
    return True
