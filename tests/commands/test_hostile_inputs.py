"""Tests that whatever lies where an input is expected ends the command with a documented code, a message, and in time.

``tests/commands/test_spoilt_inputs.py`` has random ones.
"""

from __future__ import annotations

import errno
import os
import socket
import subprocess
from pathlib import Path

import pytest

from floodmark.checkers.project import input_file
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import SourceError
from tests.support.command import COMMAND
from tests.support.hostile import Lay, Run, put, runs
from tests.support.projects import INVARIANTS, TANK, tank_project

__all__ = ["runs"]

DEEP = "[" * 100_000


def pipe(name: str) -> Lay:
    return lambda root: (root / name).unlink(missing_ok=True) or os.mkfifo(root / name)  # type: ignore[func-returns-value]


def link(name: str, target: str) -> Lay:
    return lambda root: (root / name).unlink(missing_ok=True) or (root / name).symlink_to(target)  # type: ignore[func-returns-value]


def in_spec(text: str) -> Lay:
    return put("specs/tank.toml", f'model = "model.tank:Tank"\n{text}\n')


def huge(name: str) -> Lay:
    def lay(root: Path) -> None:
        with (root / name).open("wb") as file:
            file.truncate(1 << 40)

    return lay


def latin(text: str) -> bytes:
    return "# -*- coding: latin-1 -*-\n# \xe9\n".encode("latin-1") + text.encode()


PIPE = "cannot be read: it is a pipe, not a file"
ZERO = "/dev/zero: cannot be read: it is a device, not a file"
TANK_SPEC = "specs/tank.toml"
CHECK = ("check", "--engine", "reference")

ERRORS: list[tuple[tuple[str, ...], Lay | None, str]] = [
    # links that lead round in a circle
    (CHECK, link("specs/loop.toml", "loop.toml"), "specs/loop.toml: cannot be read: Too many levels of symbolic links"),
    ((*CHECK, "specs/loop.toml"), link("specs/loop.toml", "loop.toml"), "Too many levels of symbolic links"),
    (("gate",), link("specs/loop.toml", "loop.toml"), "Too many levels of symbolic links"),
    (("gate",), link("specs/floodmark.lock", "floodmark.lock"), "Too many levels of symbolic links"),
    (("list",), link("specs/loop.toml", "loop.toml"), "Too many levels of symbolic links"),
    (CHECK, link("model/tank.py", "tank.py"), "specs/tank.toml:1: there is no module 'model.tank'"),
    # pipes and devices
    ((*CHECK, "a.toml"), pipe("a.toml"), f"a.toml: {PIPE}"),
    (CHECK, pipe("specs/a.toml"), f"specs/a.toml: {PIPE}"),
    (CHECK, pipe("model/tank.py"), "there is no module 'model.tank'"),
    (CHECK, lambda root: (pipe("specs/t.py")(root), put(TANK_SPEC, 'model = "t.py:Tank"\n')(root)), PIPE),
    (CHECK, put(TANK_SPEC, 'model = "/dev/zero.py:Tank"\n'), "there is no module '/dev/zero.py'"),
    (CHECK, in_spec('invariant_files = ["/dev/zero"]'), "/dev/zero cannot be read: it is a device"),
    ((*CHECK, "/dev/zero"), None, ZERO),
    ((*CHECK, "--invariants", "/dev/zero"), None, ZERO),
    ((*CHECK, "--invariants", "p.py"), pipe("p.py"), f"p.py: {PIPE}"),
    (("list", "/dev/zero"), None, ZERO),
    (("show", "/dev/zero"), None, ZERO),
    (("gate",), pipe("specs/floodmark.lock"), f"specs/floodmark.lock: {PIPE}"),
    (("mutate", "/dev/zero"), None, ZERO),
    (("export", "/dev/zero", "--as", "tla"), None, ZERO),
    (("prove", "/dev/zero"), None, ZERO),
    (("prove", "p.py"), pipe("p.py"), f"p.py: {PIPE}"),
    (("plan", "/dev/zero", "--current", "/dev/zero"), None, ZERO),
    (("plan", "p", "--current", "p"), pipe("p"), f"p: {PIPE}"),
    (("conform", "tank", "--trace", "p"), pipe("p"), f"p: {PIPE}"),
    (("conform", "tank", "--trace", "/dev/zero"), None, ZERO),
    (("conform", "--metadata-log", "p"), pipe("p"), f"p: {PIPE}"),
    (("conform", "--metadata-log", "/dev/zero"), None, ZERO),
    # folders in the place of files
    (CHECK, lambda root: (root / "specs/folder.toml").mkdir(), "folder.toml: cannot be read: it is a folder"),
    (("gate",), lambda root: (root / "specs/floodmark.lock").mkdir(), "floodmark.lock: cannot be read: it is a folder"),
    (("plan", "specs", "--current", "specs"), None, "specs: cannot be read: it is a folder"),
    (("conform", "--metadata-log", "specs"), None, "specs: cannot be read: it is a folder"),
    ((*CHECK, "--invariants", "model"), None, "model: cannot be read: it is a folder"),
    (("init", TANK_SPEC), None, "specs/tank.toml/.githooks/pre-commit: cannot be written: Not a directory"),
    (("export", "tank", "--as", "tla", "--into", TANK_SPEC), None, "specs/tank.toml: File exists"),
    (("prove", "tank", "--smt", TANK_SPEC), None, "specs/tank.toml: cannot be written: File exists"),
    # files without an end
    ((*CHECK, "h.toml"), huge("h.toml"), "h.toml: cannot be read: it is larger than 256 MiB"),
    (CHECK, huge("model/tank.py"), "tank.py: cannot be read: it is larger than 256 MiB"),
    (("plan", "h", "--current", "h"), huge("h"), "h: cannot be read: it is larger than 256 MiB"),
    (("conform", "tank", "--trace", "h"), huge("h"), "h: cannot be read: it is larger than 256 MiB"),
    (("conform", "--metadata-log", "h"), huge("h"), "h: cannot be read: a line is longer than 64 MiB"),
    # empty files
    ((*CHECK, "e.toml"), put("e.toml", ""), "e.toml:1: a spec needs model = "),
    (CHECK, put("model/tank.py", ""), "Tank is not defined"),
    (("gate",), put("specs/floodmark.lock", ""), "this is not a lock of version 2"),
    (("plan", "e", "--current", "e"), put("e", ""), "e:1: is not JSON"),
    (("conform", "tank", "--trace", "e"), put("e", ""), "e: has no lines"),
    ((*CHECK, "--invariants", "e.py"), put("e.py", ""), "e.py: no property in this file is about Tank"),
    # texts that are none
    (CHECK, put(TANK_SPEC, b"\xef\xbb\xbfmodel = 1\n"), "tank.toml:1: begins with a byte order mark"),
    (("plan", "b", "--current", "b"), put("b", b"\xef\xbb\xbf{}"), "b:1: begins with a byte order mark"),
    (CHECK, put(TANK_SPEC, "\n\nmodel".encode("utf-16")), "tank.toml:1: is UTF-16 text; save it as UTF-8"),
    (CHECK, put(TANK_SPEC, b"# fine\n# \xff\n"), "tank.toml:2: is not UTF-8 text"),
    (CHECK, put("model/tank.py", b"\0"), "this is not valid Python"),
    (CHECK, put("model/tank.py", "x = " + "(" * 100_000), "this is not valid Python"),
    (CHECK, put("model/tank.py", "x = " + "1 + " * 100_000 + "1"), "nested too deeply: Python itself"),
    (CHECK, put("model/tank.py", TANK.encode() + b"# \xe9\n"), "is not UTF-8 text: byte 0xe9; save it as UTF-8, or"),
    (CHECK, put("model/tank.py", TANK.encode("utf-16")), "tank.py:1: is UTF-16 text; save it as UTF-8"),
    (CHECK, put("model/tank.py", TANK.replace("self.level += 1", "self.level += " + "0 + " * 2000 + "1")),
     "tank.py:26: this is nested too deeply: 120 levels are the most"),
    (CHECK, put(TANK_SPEC, "".join(f"k{number} = 1\n" for number in range(600_000))), "no spec is larger than 1 MiB"),
    # a text that ends the program that reads it
    (CHECK, put("model/tank.py", "import sys\nsys.exit(0)\n"), "tank.py:2: the file ends the program: SystemExit: 0"),
    (("gate",), put("model/tank.py", "raise SystemExit\n"), "tank.py:1: the file ends the program: SystemExit"),
    (CHECK, put("invariants/tank.py", "quit()\n"), "invariants/tank.py:1: the file ends the program"),
    (CHECK, put("model/tank.py", TANK.replace("self.level += 1", "exit(0)")), "model/tank.py:26: SystemExit: 0"),
    # a model that makes itself
    (CHECK, put("model/tank.py", TANK.replace("    @rule\n", "    def __init__(self): pass\n\n    @rule\n")),
     "model/tank.py:19: Tank defines __init__, which compiled code would not call"),
    # deep nesting
    (CHECK, in_spec(f"x = {DEEP}"), "tank.toml: this is not TOML that can be read: it is nested too deeply"),
    (("gate",), put("specs/floodmark.lock", f"version = 1\nx = {DEEP}"), "it is nested too deeply"),
    (("plan", "d", "--current", "d"), put("d", DEEP), "d: is not JSON: it is nested too deeply"),
    (("conform", "tank", "--trace", "d"), put("d", '{"state": {"level": ' + DEEP), "it is nested too deeply"),
    (("conform", "tank", "--trace", "d.json"), put("d.json", DEEP), "d.json: is not the output of check --json"),
    (("conform", "--metadata-log", "d"), put("d", f'| offset: 0 payload: {{"type":"TOPIC_RECORD","data":{DEEP}'),
     "it is nested too deeply"),
    # numbers
    (CHECK, in_spec(f"[constants]\nsize = {'1' * 30}"), "tank.toml:3: the constant size must lie within 2**62"),
    (CHECK, in_spec(f"[constants]\nsize = {'1' * 5000}"), "a number has too many digits"),
    ((*CHECK, "--set", f"size={'1' * 30}"), None, "the constant size must lie within 2**62"),
    ((*CHECK, "--set", f"size={'1' * 5000}"), None, "is not NAME=VALUE"),
    (CHECK, put("model/tank.py", TANK.replace("Constant(3)", f"Constant({'1' * 30})")), "the constant size of Tank is"),
    (("check", "--max-memory", "99999999T"), None, "'99999999T' is more memory than any machine has"),
    (("check", "--max-memory", "1e400"), None, "is not an amount of memory"),
    (CHECK, in_spec('[limits]\nmemory = "99999999T"'), "tank.toml:3: '99999999T' is more memory than any machine has"),
    ((*CHECK, "--max-seconds", "1e300"), None, "must be at most ten years"),
    ((*CHECK, "--max-seconds", "nan"), None, "must be a number, 0 or more, not nan"),
    (CHECK, in_spec("[limits]\nseconds = nan"), "tank.toml:3: seconds must be a number, 0 or more, not nan"),
    (CHECK, in_spec("[limits]\nseconds = inf"), "tank.toml:3: seconds must be at most ten years"),
    ((*CHECK, "--max-states", "1" * 30), None, "is not in the range"),
    ((*CHECK, "--workers", "99999"), None, "is not in the range"),
    (("mutate", "tank", "--states", "inf"), None, "must be a number from 1 to"),
    (("check", "--workers", "1000", "--max-memory", "16T"), None, "set --workers or --max-memory lower"),
    # names
    ((*CHECK, "a" * 5000), None, "no file has so long a name"),
    ((*CHECK, ""), None, "an empty name stands for no file or folder"),
    ((*CHECK, "--invariants", "a" * 5000), None, "no file has so long a name"),
    ((*CHECK, "--json", "a" * 5000), None, "no file has so long a name"),
    ((*CHECK, "a\0b"), None, "no file has a name with a NUL character"),
    (CHECK, in_spec('invariant_files = ["a\\u0000b"]'), "no file has a name with a NUL character"),
    (CHECK, put(TANK_SPEC, 'model = "a\\u0000b:M"\n'), "there is no module"),
    (CHECK, put(TANK_SPEC, f'model = "{"a" * 5000}:M"\n'), "there is no module"),
    (CHECK, put(TANK_SPEC, 'model = "..:M"\n'), "there is no module '..'"),
    (CHECK, put(TANK_SPEC, 'model = ".model.tank:Tank"\n'), "there is no module '.model.tank'"),
    ((*CHECK, os.fsdecode(b"specs/\xff.toml")), None, "specs/\\xff.toml: the name of this file is not UTF-8 text"),
    (CHECK, lambda root: Path(os.fsdecode(b"specs/\xff.toml")).write_text("x"), "is not UTF-8 text; rename it"),
    (("gate",), lambda root: Path(os.fsdecode(b"specs/\xff.toml")).write_text("x"), "is not UTF-8 text; rename it"),
    (("list",), lambda root: Path(os.fsdecode(b"specs/\xff.toml")).write_text("x"), "is not UTF-8 text; rename it"),
    (("plan", os.fsdecode(b"\xff"), "--current", "x"), None, "is not UTF-8 text; rename it"),
]


@pytest.mark.parametrize(("arguments", "lay", "said"), ERRORS, ids=range(len(ERRORS)))
def test_hostile_input_is_a_clear_error(run: Run, arguments: tuple[str, ...], lay: Lay | None, said: str) -> None:
    code, text = run(*arguments, lay=lay)
    assert code == ExitCode.USER_ERROR, text
    assert said in text
    assert "Traceback" not in text
    assert len(text) < 3000


def test_the_whole_disk_is_no_place_for_specs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_file, "MAX_ENTRIES", 1000)
    for command in (("check", "/"), ("list", "/"), ("gate", "/")):
        code, text = run(*command)
        assert code == ExitCode.USER_ERROR
        assert "/: has more than 1,000 files and folders; name the folder in which to look" in text


@pytest.mark.parametrize("error", [errno.EACCES, errno.EIO, errno.EMFILE])
@pytest.mark.parametrize(
    ("command", "file"),
    [
        (CHECK, TANK_SPEC),
        (CHECK, "model/tank.py"),
        (("gate",), "specs/floodmark.lock"),
        (("plan", "a.json", "--current", "a.json"), "a.json"),
        (("conform", "tank", "--trace", "a.json"), "a.json"),
        (("conform", "--metadata-log", "a.json"), "a.json"),
        ((*CHECK, "--invariants", "a.json"), "a.json"),
    ],
)
def test_a_file_that_may_not_be_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], file: str, error: int
) -> None:
    """The system is made to refuse, because an administrator, as whom tests may run, may read everything."""
    real = os.open

    def refusing(path: str | Path, *more: int, **names: int) -> int:
        if str(path).endswith(file):
            raise OSError(error, os.strerror(error), str(path))
        return real(path, *more, **names)

    monkeypatch.setattr(os, "open", refusing)
    code, text = run(*command, lay=lambda root: (put("a.json", "{}")(root), put("specs/floodmark.lock", "")(root)))
    assert code == ExitCode.USER_ERROR
    assert f"{file}: cannot be read: {os.strerror(error)}" in text


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="there is no /proc here")
def test_a_file_that_is_longer_than_the_system_says_is_not_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Path("/proc/self/status")
    assert file.stat().st_size == 0
    monkeypatch.setattr(input_file, "MAX_BYTES", 10)
    with pytest.raises(SourceError, match="it is larger than"):
        input_file.bytes_of(file)


def test_a_socket_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
        with pytest.raises(SourceError, match="s: cannot be read"):
            input_file.text_of(Path("s"))


@pytest.mark.parametrize("text", [b"\xef\xbb\xbf" + TANK.encode(), latin(TANK)], ids=["mark", "latin"])
def test_a_model_file_may_have_any_encoding_that_python_reads(run: Run, text: bytes) -> None:
    """Python accepts a byte order mark and other encodings, and CPython says what a model means."""
    code, said = run("check", lay=put("model/tank.py", text))
    assert (code, "4 states" in said) == (0, True)
    assert run("gate", "--update-lock", "--no-cache")[0] == 0
    assert run("gate", "--no-cache")[0] == 0
    trace = '{"action": "start"}\n{"action": "drain"}\n'
    assert run("conform", "tank", "--trace", "t.jsonl", lay=put("t.jsonl", trace))[0] == ExitCode.NOT_AS_EXPECTED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code", "verdict"),
    [
        (CHECK, 0, "1 check, each as expected"),
        (("gate",), 4, "differences from the lock"),
        (("prove", "tank"), 0, "1 question, each as expected"),
        (("mutate", "tank", "--only", "fill"), 0, "every mutant is noticed"),
        (("conform", "tank", "--trace", "t.jsonl"), 0, "1 trace: 1 accepted"),
        (("plan", "p.json", "--current", "c.json"), 1, "foo-0"),
    ],
)
def test_a_full_disk_costs_no_verdict(run: Run, command: tuple[str, ...], code: int, verdict: str) -> None:
    def lay(root: Path) -> None:
        entry = '{"version":1,"partitions":[{"topic":"foo","partition":0,"replicas":[%s]}]}'
        put("p.json", entry % "1,2")(root)
        put("c.json", entry % "1,3")(root)
        put("t.jsonl", '{"action": "start"}\n')(root)

    assert run(*command, lay=lay)[0] == code
    ended, text = run(*command, "--json", "/dev/full")
    assert ended == ExitCode.USER_ERROR
    assert verdict in text
    assert "error: the JSON report: /dev/full: cannot be written: No space left on device" in text


@pytest.mark.parametrize(
    ("option", "file", "name"),
    [
        ("--json", "r", "JSON"), ("--junit", "r", "JUnit"), ("--sarif", "r", "SARIF"), ("--html", "r", "HTML"),
    ],
)  # fmt: skip
def test_a_full_disk_costs_no_verdict_whatever_the_report(run: Run, option: str, file: str, name: str) -> None:
    put("invariants/tank.py", INVARIANTS)(Path())
    code, text = run("gate", "--engine", "native", option, file, lay=link(file, "/dev/full"))
    assert code == ExitCode.USER_ERROR
    assert "Tank violates never_two" in text
    assert f"error: the {name} report: {file}: cannot be written: No space left on device" in text


@pytest.mark.parametrize(
    ("kind", "into", "full"),
    [("html", "r", "r"), ("graph", "r.dot", "r.dot"), ("itf", "traces", "traces/tank-Tank.itf.json")],
)
def test_a_report_on_a_full_disk_is_a_user_error(run: Run, kind: str, into: str, full: str) -> None:
    put("invariants/tank.py", INVARIANTS)(Path())
    Path("traces").mkdir()
    run(*CHECK, "--json", "r.json")
    code, text = run("report", "r.json", "--as", kind, "--into", into, lay=link(full, "/dev/full"))
    assert code == ExitCode.USER_ERROR
    assert f"error: {full}: cannot be written: No space left on device" in text


def test_a_full_standard_output_is_a_user_error(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, "list"], cwd=tank_project(tmp_path), stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == ExitCode.USER_ERROR
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


def test_characters_that_a_terminal_lacks_are_escaped(tmp_path: Path) -> None:
    root = tank_project(tmp_path, 'title = "\u6c34"\n')
    ended = subprocess.run([*COMMAND, "list"], cwd=root, env={**os.environ, "PYTHONIOENCODING": "latin-1"},
                           capture_output=True)
    assert (ended.returncode, b"\\u6c34" in ended.stdout) == (0, True)


def test_a_repository_whose_folder_is_no_text(tmp_path: Path) -> None:
    """Errors, not verdicts: no lock or report could name the files. But no internal error either."""
    folder = tmp_path / os.fsdecode(b"\xff")
    ended = subprocess.run([*COMMAND, *CHECK], cwd=tank_project(folder), capture_output=True, text=True)
    assert ended.returncode == ExitCode.USER_ERROR
    assert "the name of this file is not UTF-8 text; rename it" in ended.stdout
