"""The output of a run of the gate: unexpected results, one table, the drift, the verdict, the command to run it again.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from floodmark.checkers.project.paths import shown, shown_line
from floodmark.checkers.report import text
from floodmark.checkers.report.verdict_summary import what_differs
from floodmark.checkers.verdict.gate_outcome import Drift, GateOutcome
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import MEANINGS, SHORT_MEANINGS, CheckResult, ExitCode

_GREEN, _RED, _YELLOW = "green", "red", "yellow"
WIDTH = 80
"""The columns of a terminal that the table fits."""
_MIN_WIDTH = 12


def wrong(result: CheckResult | ProofResult) -> list[str]:
    """The full text of an unexpected outcome; empty for an expected one."""
    if result.exit_code == ExitCode.AS_EXPECTED:
        return []
    if isinstance(result, CheckResult):
        return [*text.lines(result), *([result.traceback] if result.traceback else [])]
    lines = result.text_lines()
    return [*lines, f"{' ' * 14}reproduce: {result.reproduce}"] if result.reproduce else lines


@dataclass
class _TableRow:
    """A line of the table: for a spec with its known-bad designs, a file of claims, or a proof."""

    name: str
    word: str = ""
    figures: tuple[str, str, str] = ("", "", "")
    seconds: float = 0.0
    codes: list[ExitCode] = field(default_factory=list)


def table(outcome: GateOutcome) -> Iterator[str]:
    """One table of everything that was checked."""
    rows = [*_spec_rows(outcome.results), *_proof_rows(outcome.proofs)]
    head = ("", "", "states", "depth", "found", "seconds")
    cells = [(row.word, row.name, *row.figures, f"{row.seconds:.1f}") for row in rows]
    widths = [max(len(line[column]) for line in [head, *cells]) for column in range(len(head))]
    widths[1] = max(min(widths[1], WIDTH - sum(widths) + widths[1] - 2 * (len(widths) - 1)), _MIN_WIDTH)
    cells = [(line[0], _cut(line[1], widths[1]), *line[2:]) for line in cells]
    for row, line in [(None, head), *zip(rows, cells, strict=True)]:
        left = [cell.ljust(width) for cell, width in zip(line[:2], widths[:2], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(line[2:], widths[2:], strict=True)]
        if row is not None:
            left[0] = click.style(left[0], fg=_colour(row.codes))
        yield "  ".join([*left, *right]).rstrip()


def _cut(name: str, width: int) -> str:
    """A name shortened to leave room for the figures; a proof's may list many properties."""
    return name if len(name) <= width else f"{name[: width - 3]}..."


def _colour(codes: Sequence[ExitCode]) -> str:
    if all(code == ExitCode.AS_EXPECTED for code in codes):
        return _GREEN
    return _YELLOW if set(codes) <= {ExitCode.AS_EXPECTED, ExitCode.UNDETERMINED} else _RED


def _spec_rows(results: Sequence[CheckResult]) -> Iterator[_TableRow]:
    names = dict.fromkeys(result.name for result in results)
    for name in names:
        every = [result for result in results if result.name == name]
        row = _TableRow(name, "designs", codes=[result.exit_code for result in every])
        row.seconds = sum(_seconds(result) for result in every)
        for result in every:
            if result.variant is None:
                row.word = text.result_line(result).word
                found = result.search_result
                if found is not None:
                    trace = () if result.violation is None else result.violation.trace
                    row.figures = (f"{found.distinct:,}", str(len(trace) or found.depth), "")
        designs = [result for result in every if result.variant is not None]
        if designs:
            good = sum(result.expected for result in designs)
            row.figures = (*row.figures[:2], f"{good}/{len(designs)}")
        yield row


def _seconds(result: CheckResult) -> float:
    found = result.search_result
    return 0.0 if found is None else found.seconds + found.compile_seconds


def _proof_rows(proofs: Sequence[ProofResult]) -> Iterator[_TableRow]:
    files = dict.fromkeys(proved.spec for proved in proofs if proved.method == "claim")
    for file in files:
        every = [proved for proved in proofs if proved.spec == file and proved.method == "claim"]
        good = sum(proved.expected for proved in every)
        row = _TableRow(f"claims of {Path(file).name}", codes=[proved.exit_code for proved in every])
        row.word = "as expected" if good == len(every) else "not all"
        row.figures = ("", "", f"{good}/{len(every)}")
        row.seconds = sum(proved.seconds for proved in every)
        yield row
    for proved in proofs:
        if proved.method != "claim":
            word = "proved" if proved.verdict == "holds" else proved.word
            yield _TableRow(proved.name, word, seconds=proved.seconds, codes=[proved.exit_code])


def end(outcome: GateOutcome, written: bool) -> Iterator[str]:
    """The text below the table: what was not exercised, the drift, the verdict, and the command that runs it again."""
    for result in outcome.results:
        for line in text.notice_lines(result):
            yield f"{line} in {result.name}"
    for why, count in outcome.uncacheable.items():
        yield f"{count} verdict{' is' if count == 1 else 's are'} not cached: {why}"
    drift = [] if written else outcome.drift
    own = [each for each in drift if not each.follows]
    if own:
        yield ""
        yield click.style(f"drift from {shown(outcome.lock)} (was | now)", fg=_RED)
        yield from _drift(own)
    if len(drift) > len(own):
        yield ""
        yield from _consequences([each for each in drift if each.follows])
    yield ""
    if outcome.deferred:
        yield outcome.deferred
    yield _verdict(outcome, written)
    yield f"reproduce: {outcome.reproduce}"


def _drift(drift: Sequence[Drift]) -> Iterator[str]:
    entry = None
    for each in drift:
        if each.entry != entry:
            entry = each.entry
            yield f"  {entry}"
        place = shown_line(each.file, each.line)
        note = f"  {each.note}" if each.note else ""
        yield f"    {each.what}: {each.was} | {each.now}{note}  ({place})"


def _consequences(drift: Sequence[Drift]) -> Iterator[str]:
    """The differences that the failures above cause, one line each."""
    for title in dict.fromkeys(each.follows for each in drift):
        mine = [each for each in drift if each.follows == title]
        what = [each.what if each.entry == title else what_differs(each.table, each) for each in mine]
        differ = f"{', '.join(what)} {'differs' if len(what) == 1 else 'differ'}"
        yield from _wrapped(f"{title}: {differ} from the lock too, because it fails")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _verdict(outcome: GateOutcome, written: bool) -> str:
    code = ExitCode.AS_EXPECTED if written else outcome.exit_code
    what = _counted(outcome)
    warned = sum(len(result.unexercised()) for result in outcome.results)
    what += f", {warned} warning{'' if warned == 1 else 's'}" if warned else ""
    if outcome.is_empty:
        return click.style(f"nothing was checked: there is no {outcome.tier} spec here (exit {int(code)})", fg=_RED)
    if not outcome.has_models and not written:
        text = f"{what}: no model was checked, as the {outcome.tier} tier has only known-bad designs here"
        return click.style(f"{text} (exit {int(code)})", fg=_RED)
    time = f"{outcome.seconds:.1f} s, {outcome.cached} of {len(outcome.results) + len(outcome.proofs)} from the cache"
    if code == ExitCode.AS_EXPECTED:
        lock = f"{shown(outcome.lock)} {'is written' if written else 'is unchanged'}"
        return click.style(f"{what}: each as expected; {lock}", fg=_GREEN, bold=True) + f" ({time})"
    counts = Counter(result.exit_code for result in outcome.results)
    counts += Counter(proved.exit_code for proved in outcome.proofs)
    parts = [f"{counts[kind]} {text}" for kind, text in SHORT_MEANINGS.items() if counts[kind]]
    own = sum(not each.follows for each in outcome.drift)
    parts += [f"differences from the lock: {own}"] if own else []
    text = f"{what}: {', '.join(parts)} (exit {int(code)}: {MEANINGS[code]})"
    colour = _YELLOW if code == ExitCode.UNDETERMINED else _RED
    return click.style(text, fg=colour, bold=True) + f" ({time})"


def _counted(outcome: GateOutcome) -> str:
    kinds = Counter("spec" if result.variant is None else "known-bad design" for result in outcome.results)
    kinds += Counter("claim" if proved.method == "claim" else "proof" for proved in outcome.proofs)
    return ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in kinds.items())
