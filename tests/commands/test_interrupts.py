"""Interrupts end the command and all that it started, with one line, whatever it is doing."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time

import pytest

from floodmark.checkers import interrupts
from floodmark.checkers.command_line import cli
from tests.commands.test_processes import HEED, UNMEASURED, is_gone
from tools.interrupts import KINDS, lines_of_terminal, tries

SCRIPT = """
import ctypes, os, subprocess, sys, time
from floodmark.checkers.interrupts import end_command, tell

def works():
{}

end_command(130)
try:
    works()
except KeyboardInterrupt:
    tell("interrupted")
    sys.exit(130)
"""
DROPS = """
class Finalised:
    def __del__(self):
        print(os.getpid(), flush=True)
        time.sleep(60)  # KeyboardInterrupt is raised here, and dropped
Finalised()
while True:
    time.sleep(0.01)
"""
IGNORES = """
ignores = "import signal, time; signal.signal(2, 1); signal.signal(15, 1); print(1, flush=True); time.sleep(60)"
other = subprocess.Popen([sys.executable, "-c", ignores], stdout=subprocess.PIPE)
other.stdout.readline()
print(other.pid, flush=True)
time.sleep(60)
"""
LATE = """
class Late:
    def __del__(self):
        raise OSError("Signal 2 ignored due to race condition")  # as CPython says it, in signalmodule.c
Late()
print(os.getpid(), flush=True)
time.sleep(60)
"""
NEVER_RETURNS = """
print(os.getpid(), flush=True)
while True:
    try:
        ctypes.PyDLL(None).usleep(10_000) or ctypes.CDLL(None).sleep(60)
    except KeyboardInterrupt:
        pass
"""


@pytest.mark.parametrize(
    "script", [DROPS, IGNORES, LATE, NEVER_RETURNS], ids=["finaliser", "child", "late", "machine code"]
)
def test_whatever_runs_is_ended(script: str) -> None:
    words = [sys.executable, "-c", SCRIPT.format(textwrap.indent(script, "    "))]
    started = subprocess.Popen(
        words, env=UNMEASURED, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=HEED
    )
    assert started.stdout is not None
    other = int(started.stdout.readline())
    time.sleep(0.2)
    started.send_signal(signal.SIGINT)
    time.sleep(0.1)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=30)
    assert is_gone(other)
    assert (started.returncode, said) == (130, "interrupted\n")


def test_what_waits_for_an_interrupt_does_not_keep_a_command_from_its_end() -> None:
    words = [sys.executable, "-c", SCRIPT.format("    return")]
    ended = subprocess.run(words, env=UNMEASURED, capture_output=True, text=True, timeout=30, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_what_a_terminal_shows_in_the_end_is_without_progress() -> None:
    said = "1 of 3\r\x1b[2K2 of 3\r\n\x1b[1A\x1b[2Kinterrupted\r\n"
    assert lines_of_terminal(said) == ("interrupted",)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupt_at_a_random_moment_ends_everything(kind: str) -> None:
    """The machine may be busy, so the seconds are for ``python -m tools.interrupts``."""
    for tried in tries(kind, 5, seed=3):
        assert (tried.code, len(tried.output), tried.left) == (130, 1, ()), tried


def test_the_line_is_printed_once_and_no_progress_comes_after_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupts, "_is_announced", False)
    monkeypatch.setattr(sys, "stderr", sys.stderr)  # which is another one afterwards
    interrupts.tell("interrupted", at_last=True)
    print("progress of another thread", file=sys.stderr)
    interrupts.tell("interrupted")
    assert capsys.readouterr().err == "interrupted\n"


def test_a_line_is_printed_as_often_as_it_is_said_before_the_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupts, "_is_announced", False)
    monkeypatch.setattr(interrupts, "_TO_BE_GONE", 0.01)
    for _ in range(2):
        interrupts.tell("interrupted")
    assert capsys.readouterr().err == "interrupted\n" * 2


def test_a_process_is_there_until_it_ends_and_another_of_its_number_is_not_it() -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = interrupts._status(other.pid)
    assert known is not None and interrupts._is_there((other.pid, known[1]))
    assert not interrupts._is_there((other.pid, "an earlier start"))
    assert (other.pid, known[1]) in interrupts._descendants()
    assert other.stdin is not None
    other.stdin.close()
    for _ in range(500):
        if interrupts._status(other.pid) is None:
            break
        time.sleep(0.02)
    assert interrupts._status(other.pid) is None, "it has ended, and nobody has asked how"
    other.wait()


def test_what_fails_while_an_interrupt_is_handled_is_part_of_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*, standalone_mode: bool) -> int:
        try:
            raise KeyboardInterrupt
        finally:
            [].pop()

    monkeypatch.setattr(interrupts, "_is_announced", False)
    monkeypatch.setattr(cli.command, "main", fails)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "interrupted\n")
