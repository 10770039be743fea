"""Tests what commands say while they run, when they are interrupted, and when an error ends them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from floodmark.checkers.conformance.traces import judge_all
from floodmark.checkers.mutation.run import run as try_mutants
from floodmark.checkers.processes import run_each
from floodmark.checkers.report.progress import CountingLine
from floodmark.checkers.run.checks import run as run_checks
from floodmark.checkers.symbolic.prove import prove_claim
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import SourceError
from tests.support.hostile import Run, put, runs

__all__ = ["runs"]

COMMANDS = "floodmark.checkers.commands"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that stands still until its ``seconds`` are set."""
    clock = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr("time.monotonic", lambda: clock.seconds)
    return clock


def test_without_a_terminal_a_line_comes_now_and_then(
    clock: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    with CountingLine(7, "mutant", "tank") as count:
        for done in range(1, 8):
            clock.seconds = 4.0 * done
            count.one()
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == ["tank: 3 of 7 mutants, 16 s left", "tank: 6 of 7 mutants, 4 s left"]


def test_on_a_terminal_a_line_is_kept_in_place(
    clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It fits the terminal, and is gone before anything else is printed."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    with CountingLine(30, "mutant", "a/" + "b" * 90) as count:
        for done in (1, 2):
            clock.seconds = 100.0 * done
            count.one()
            count.clear()
    drawn = re.split(r"\r?\x1b\[2K", capsys.readouterr().err)
    shown = [re.sub(r"\x1b\[[\d;?]*[A-Za-z]|\s", "", part) for part in drawn]
    assert {len(text) for text in shown if text} == {80} and shown[-1] == ""


def test_long_times_are_shown_in_minutes(clock: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    with CountingLine(3, "trace") as count:
        clock.seconds = 600.0
        count.one()
    assert capsys.readouterr().err == "1 of 3 traces, 20 min left\n"


def test_an_interrupt_says_how_far_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    count = CountingLine(3, "shape")
    count.one()
    with pytest.raises(click.exceptions.Exit) as ended, count:
        raise KeyboardInterrupt
    assert ended.value.exit_code == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "interrupted: 1 of 3 shapes ended\n"


def interrupt(monkeypatch: pytest.MonkeyPatch, function: Callable[..., Iterator[Any]], name: str) -> None:
    """The function is interrupted after its first result."""

    def some(*given: Any, **named: Any) -> Iterator[Any]:
        yield next(iter(function(*given, **named)))
        raise KeyboardInterrupt

    monkeypatch.setattr(name, some)


def test_every_command_says_what_it_had_done(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        put(f"{name}.jsonl", '{"action": "start"}\n')(Path())
    put("claims.py", "from floodmark.claims import holds\n\n\n@holds('all')\ndef equal(x: int) -> bool:\n"
        "    return x == x\n\n\n@holds('all')\ndef again(x: int) -> bool:\n    return x == x\n")(Path())
    entry = '{{"topic":"foo","partition":{},"replicas":[{}]}}'
    for name, replicas in (("p", ("1,2", "1,2,3")), ("c", ("1,3", "1,2"))):
        moves = ",".join(entry.format(number, each) for number, each in enumerate(replicas))
        put(f"{name}.json", f'{{"version":1,"partitions":[{moves}]}}')(Path())
    interrupt(monkeypatch, try_mutants, f"{COMMANDS}.mutate.run")
    interrupt(monkeypatch, judge_all, f"{COMMANDS}.conform.judge_all")
    interrupt(monkeypatch, run_each, "floodmark.checkers.processes.run_each")
    asked: list[object] = []

    def once(*given: Any) -> Any:
        asked.append(given)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return prove_claim(*given)

    monkeypatch.setattr(f"{COMMANDS}.prove.prove_claim", once)
    for arguments, said in (
        (("mutate", "tank", "--only", "drain", "--workers", "1"), r"\ninterrupted: tank: 1 of \d mutants ended"),
        (("conform", "tank", "--trace", "a.jsonl", "--trace", "b.jsonl"), "interrupted: 1 of 2 traces ended"),
        (("prove", "claims.py"), "interrupted: 1 of 2 questions ended"),
        (("plan", "p.json", "--current", "c.json", "--workers", "2"), "interrupted: 1 of 2 shapes ended"),
    ):
        code, text = run(*arguments)
        assert code == ExitCode.INTERRUPTED, text
        assert re.search(said, f"\n{text}"), text


def test_an_error_in_the_middle_says_what_was_checked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    flawed = '[[flawed]]\nclass = "flawed:Leaks"\nproperty = "gets_full"\n'
    put("specs/tank.toml", f'model = "model.tank:Tank"\n{flawed}')(Path())
    def broken(*given: Any) -> Iterator[Any]:
        yield next(iter(run_checks(*given)))
        raise SourceError("the cluster is gone")

    monkeypatch.setattr(f"{COMMANDS}.check.run", broken)
    code, text = run("check", "--engine", "reference")
    assert code == ExitCode.USER_ERROR
    assert text.startswith("holds         tank  4 states, 7 generated")
    assert text.endswith("ended by an error: 1 of 2 checks ended\nerror: the cluster is gone\n")
