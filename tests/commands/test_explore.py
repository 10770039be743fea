"""``floodmark explore``: what is enabled and what stops the rest, paths, designs beside each other, and the server."""

from __future__ import annotations

import json
import multiprocessing
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html import unescape
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from floodmark.checkers.command_line.cli import command as floodmark
from floodmark.checkers.explorer.server import MAX_REQUEST_BYTES, Explorer
from floodmark.checkers.explorer.session import PageAddress, Session
from floodmark.checkers.project.spec import read
from floodmark.checkers.verdict.check import CheckSettings, checks, variant_name
from floodmark.checkers.verdict.result import ExitCode
from floodmark.checkers.walking.expansion import expand
from floodmark.language import reference
from floodmark.language.errors import SourceError
from tests.support.command import found_in
from tests.support.outcomes import inside, tank
from tests.support.projects import TANK, write
from tests.support.shipped import SPECS, quick

REPOSITORY = Path(__file__).parents[2]
QUICK = [address.relative_to(SPECS).as_posix() for address in quick()]
HEED = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
"""What a shell's background jobs ignore."""
ALWAYS = ("alter_isr/core.toml", "examples/dekker.toml", "kraft/sizes.toml@one_voter", "reassignment/kip236_small.toml")


def session(spec: Path, variant: str | None = None) -> Session:
    every = {variant_name(check): check for check in checks(read(spec), CheckSettings(workers=1))}
    return Session(read(spec), every[variant or next(iter(every))])


@pytest.fixture
def isr() -> Session:
    return session(REPOSITORY / "specs/alter_isr/core.toml")


def words(html: str) -> str:
    return re.sub(r"<[^>]*>", "", re.sub("</(li|p|h3)>", "\n", html))


EACH = [pytest.param(each, marks=() if each in ALWAYS else pytest.mark.slow) for each in QUICK]


@pytest.mark.parametrize("spec", EACH)
def test_every_spec_has_a_page(spec: str) -> None:
    """The last of its designs beside the good one, before the first step, after it, and after another."""
    one = session(REPOSITORY / "specs" / spec)
    design = list(one.designs)[-1]
    path: tuple[str, ...] = ()
    for at in (-1, 0, 1):
        answer = one.answer(PageAddress(design, one.good, path, at))
        assert (answer["at"], answer["path"], answer["stop"]) == (at, list(path), "")
        steps = re.findall(r'data-step="([^"]*)"', answer["parts"]["actions"])
        assert steps
        assert (answer["parts"]["chart"] == "") == (at == -1)
        path = (*path, unescape(steps[-1 if at < 0 else 0]))  # of several beginnings, an inherited one may lead nowhere


@pytest.mark.parametrize("spec", EACH)
def test_what_is_enabled_is_what_the_reference_meaning_says(spec: str) -> None:
    """Along a run; and whatever is not enabled at all has a guard with its place."""
    for check in islice(checks(read(REPOSITORY / "specs" / spec), CheckSettings()), 2):
        model = check.model()
        state = next(iter(reference.initial_states(model)))[1]
        for turn in range(4):
            actions = expand(model, state)
            successors = list(reference.successors(model, state))
            assert [found for action in actions for found in action.enabled] == successors
            for action in actions:
                assert action.error is None and not action.failed
                assert action.enabled or action.stopped
                for stopped in action.stopped:
                    assert stopped.guard.file is not None and stopped.guard.line is not None
                    for step in stopped.steps:
                        assert reference.fire(model, state, step) is None
            if not successors:
                break
            state = successors[len(successors) * turn // 4][1]


def test_a_guard_is_shown_with_its_place_and_its_reason(isr: Session) -> None:
    said = isr.answer(PageAddress("AlterIsr", "", ("start()",), 0))["parts"]["actions"]
    text = words(said)
    assert "nothing satisfies request in self.requests model/alter_isr/core.py:" in text
    requires = "it requires self.replicated_offset() &gt; self.high_watermark, that is 0 &gt; 0"
    assert f"{requires} model/alter_isr/core.py:" in text
    assert 'data-step="leader_appends()"' in said
    assert "log_end_offset[b1] 0 → 1" in text


def test_a_path_is_taken_as_far_as_it_goes(isr: Session) -> None:
    path = ("start()", "leader_appends()", "follower_fetches(follower=b1)", "leader_appends()")
    answer = isr.answer(PageAddress("AlterIsr", "", path, 3))
    assert answer["path"] == ["start()", "leader_appends()"]
    assert answer["at"] == 1
    assert re.fullmatch(
        r"follower_fetches\(follower=b1\) is not enabled: it requires follower != self.leader, that is b1 != b1 "
        r"\(.*core.py:\d+\)",
        answer["stop"],
    )
    assert isr.answer(PageAddress("AlterIsr", "", ("begin()",), 0))["stop"] == "begin() is no initial state of AlterIsr"
    answer = isr.answer(PageAddress("AlterIsr", "", ("start()", "jump()"), 1))
    assert answer["stop"] == "AlterIsr has no action jump"
    answer = isr.answer(PageAddress("AlterIsr", "", (), -1))
    assert answer["at"] == -1
    assert 'data-step="start()"' in answer["parts"]["actions"]


def test_a_known_bad_design_stands_beside_the_good_one(isr: Session) -> None:
    """At the same state: what the other does with each step, the step of the path that it would not take, and what only
    it can do."""
    found = searched(isr, "JoinsBelowHighWatermark")
    (track,) = found["tracks"]
    assert track["title"] == "isr_holds_committed is violated"
    assert "the rule caught_up(b3)" in track["why"]
    answer = isr.answer(PageAddress("JoinsBelowHighWatermark", "AlterIsr", tuple(track["path"]), 3))
    assert answer["path"] == list(track["path"])
    assert answer["parts"]["timeline"].count("AlterIsr</b> does not take it") == 1
    assert answer["parts"]["actions"].count("AlterIsr</b> does not take it") == 1
    answer = isr.answer(PageAddress("AlterIsr", "JoinsBelowHighWatermark", tuple(track["path"][:4]), 3))
    assert "Only JoinsBelowHighWatermark can take leader_proposes_expand(follower=b3)" in " ".join(
        words(answer["parts"]["actions"]).split()
    )
    answer = isr.answer(PageAddress("JoinsBelowHighWatermark", "", tuple(track["path"]), 6))
    assert "isr_holds_committed" in answer["parts"]["properties"]
    false = "false: model.log_end_offset[broker] &gt;= model.high_watermark, that is 0 &gt;= 1"
    assert false in answer["parts"]["properties"]
    _, found, true_here = answer["parts"]["properties"].partition(" true here")
    assert found and "assignment" not in true_here and "isr_holds_committed" not in true_here


def searched(explored: Session, name: str) -> dict[str, Any]:
    """What the search of a design ends with."""
    explored.search(name)
    explored.searches[name].ended.wait(60)
    found = explored.search(name)
    assert not found["searching"]
    return found


@pytest.mark.slow
def test_a_search_goes_on_beside_questions_and_can_be_stopped() -> None:
    quorum = session(REPOSITORY / "specs/kraft/quorum.toml")
    name = quorum.good
    assert quorum.stop(name)["said"] == "nothing is searched"
    assert quorum.search(name)["searching"]
    deadline = time.monotonic() + 60
    while "states" not in (said := quorum.search(name)["said"]) and time.monotonic() < deadline:
        assert quorum.answer(PageAddress(name, "", (), -1))["at"] == -1
        time.sleep(0.05)
    assert "states, " in said
    assert quorum.stop(name) == {"searching": False, "said": "the search was stopped", "tracks": []}
    assert not [process for process in multiprocessing.active_children() if process.is_alive()]


def test_a_page_that_is_closed_before_its_answer_is_no_error(isr: Session, capfd: pytest.CaptureFixture[str]) -> None:
    with served(isr) as explorer:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", explorer.server.server_port)) as closed:
                closed.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                closed.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % explorer.server.server_port)
        assert asked(explorer, "POST", "/overview", {})[0] == 200
        time.sleep(0.3)
    assert capfd.readouterr().err == ""


def test_a_lasso_is_a_path_with_a_place_to_return_to() -> None:
    alternating = session(REPOSITORY / "specs/examples/alternating_bit.toml")
    (track,) = [it for it in searched(alternating, "LosesEverything")["tracks"] if it["title"].startswith("a_message")]
    assert track["loop"] == 0
    assert track["path"] == ("start()", "sends()", "loses_message()")
    assert "why that is fair:" in track["why"]
    assert alternating.search("LosesEverything") == alternating.search("LosesEverything")
    peterson = session(REPOSITORY / "specs/examples/peterson.toml")
    assert [it["title"] for it in searched(peterson, "Peterson")["tracks"]] == ["somebody_enters is reached"]


def test_a_step_that_fails_is_shown_with_its_error(tmp_path: Path) -> None:
    with inside(tank(tmp_path)):
        tanks = session(Path("specs/tank.toml"))
        (tmp_path / "specs/flawed.py").write_text(
            "from model.tank import Tank\n\n\nclass Leaks(Tank):\n    def fill(self) -> None:\n        self.level = 9\n"
            "\n\nclass StopsHalf(Tank):\n    pass\n"
        )
        said = tanks.answer(PageAddress("Leaks", "Tank", ("start()",), 0))
        text = words(said["parts"]["actions"])
        assert "leaves the declared types: level would become 9, outside of 0..3 specs/flawed.py:6" in text
        stop = tanks.answer(PageAddress("Leaks", "", ("start()", "fill()"), 1))["stop"]
        assert stop.startswith("fill() fails: ")


def test_a_property_that_cannot_be_evaluated_is_told_apart_from_a_false_one(tmp_path: Path) -> None:
    asked = '''
        from floodmark import invariant
        from model.tank import Tank


        @invariant
        def never_two(tank: Tank) -> bool:
            return tank.level != 2


        @invariant
        def has_a_name(tank: Tank) -> bool:
            return ("empty", "low")[tank.level] != ""
    '''
    with inside(write(tank(tmp_path, spec=""), {"invariants/tank.py": asked})):
        path = ("start()", "fill()", "fill()")
        said = session(Path("specs/tank.toml")).answer(PageAddress("Tank", "", path, 2))["parts"]["properties"]
    signs = re.findall(r'class="sign (\w+)">(.)</span> <b>(\w+)</b>', said)
    assert signs == [("bad", "✗", "never_two"), ("warn", "!", "has_a_name")]
    assert "range" in words(said)


@pytest.mark.parametrize(
    "given",
    [
        None, [], {"design": "A"}, {"design": "A", "beside": "", "path": "start()", "at": 0},
        {"design": "A", "beside": "", "path": [1], "at": 0},
        {"design": "A", "beside": "", "path": ["a"] * 9999, "at": 0},
        {"design": "A", "beside": "", "path": [], "at": True},
    ],
)
def test_a_malformed_request_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match=r"a request|a path"):
        PageAddress.of(given)


def test_an_unknown_design_is_refused(isr: Session) -> None:
    with pytest.raises(SourceError, match="there is no design 'AlterIs'; did you mean 'AlterIsr'"):
        isr.answer(PageAddress("AlterIs", "", (), -1))


@contextmanager
def served(one: Session) -> Iterator[Explorer]:
    """An explorer whose main thread is another, which ends with the context."""
    explorer = Explorer(one)
    thread = threading.Thread(target=explorer.run)
    thread.start()
    try:
        yield explorer
    finally:
        explorer.stop()
        thread.join(20)
        assert not thread.is_alive()


def asked(
    explorer: Explorer, method: str, path: str, body: object = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = HTTPConnection("127.0.0.1", explorer.server.server_port, timeout=20)
    content = None if body is None else json.dumps(body)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        given.setdefault("Content-Type", "application/json")
    connection.request(method, path, content, given)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


def test_the_server_answers_only_this_machine_and_its_own_page(isr: Session) -> None:
    with served(isr) as explorer:
        port = explorer.server.server_port
        assert explorer.server.server_address[0] == "127.0.0.1"
        status, headers, page = asked(explorer, "GET", "/")
        assert status == 200
        assert b"<title>Floodmark</title>" in page
        assert "script-src 'self'" in headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", ""):
            for method, path in (("GET", "/"), ("GET", "/explore.js"), ("POST", "/overview")):
                status, _, said = asked(explorer, method, path, {} if method == "POST" else None, Host=host)
                assert status == 403, (host, path)
                assert b"the name that the explorer printed" in said
        assert asked(explorer, "POST", "/overview", {}, Origin="http://evil.example")[0] == 403
        assert asked(explorer, "POST", "/overview", {}, Origin="null")[0] == 403
        assert asked(explorer, "POST", "/overview", {}, Origin=f"http://127.0.0.1:{port}")[0] == 200
        assert asked(explorer, "POST", "/overview", {}, Host=f"localhost:{port}")[0] == 200
        assert asked(explorer, "POST", "/overview", {}, Content_Type="text/plain")[0] == 415
        assert asked(explorer, "POST", "/walk", {})[0] == 400
        assert asked(explorer, "POST", "/walk", {"design": "X", "beside": "", "path": [], "at": 0})[0] == 422
        assert asked(explorer, "POST", "/shutdown", {})[0] == 404
        assert asked(explorer, "POST", "/walk", {}, Content_Length=str(MAX_REQUEST_BYTES + 1))[0] == 400
        for path in ("/nothing", "/../server.py", "/explore/session.py", "//etc/passwd"):
            assert asked(explorer, "GET", path)[0] == 404


def test_a_connection_that_says_nothing_holds_nobody_up(isr: Session) -> None:
    with served(isr) as explorer, socket.create_connection(("127.0.0.1", explorer.server.server_port)):
        assert asked(explorer, "POST", "/overview", {})[0] == 200


def test_a_fault_is_told_and_the_server_goes_on(isr: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise KeyError("nothing")

    with served(isr) as explorer:
        monkeypatch.setattr(isr, "answer", broken)
        status, _, said = asked(explorer, "POST", "/walk", {"design": "A", "beside": "", "path": [], "at": 0})
        assert status == 500
        assert b"internal error in floodmark: KeyError" in said
        assert asked(explorer, "POST", "/overview", {})[0] == 200


def test_what_fails_beside_the_answers_is_printed(isr: Session, capfd: pytest.CaptureFixture[str]) -> None:
    with served(isr) as explorer:
        for error in (KeyError("nothing"), ConnectionResetError()):
            try:
                raise error
            except Exception:
                explorer.server.handle_error(None, ("127.0.0.1", 1))
    said = capfd.readouterr().err
    assert ("KeyError: 'nothing'" in said, "ConnectionResetError" in said) == (True, False)


@contextmanager
def command(root: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, with pipes for its terminal, and the address that it prints."""
    words = [sys.executable, "-u", "-m", "floodmark", "explore", *arguments]
    with subprocess.Popen(words, cwd=root, env=found_in(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, preexec_fn=HEED) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield process, line.split(" at ")[1].split()[0]
        finally:
            process.kill()


def test_a_breakpoint_stops_in_the_terminal_at_the_step_that_is_taken(tmp_path: Path) -> None:
    """Not while it is found out what is enabled, and not when the path is walked again."""
    guard = "        require(not self.full())\n"
    stopping = TANK.replace(guard, f"        breakpoint()\n{guard}")
    with command(write(tank(tmp_path), {"model/tank.py": stopping}), "tank") as (process, address):
        assert process.stdin is not None and process.stdout is not None
        connection = HTTPConnection(address.removeprefix("http://").rstrip("/"), timeout=20)
        question = {"design": "Tank", "beside": "", "path": ["start()", "fill()"], "at": 1}
        headers = {"Content-Type": "application/json"}
        connection.request("POST", "/walk", json.dumps(question), headers)
        assert json.loads(connection.getresponse().read())["path"] == ["start()", "fill()"]
        connection.request("POST", "/walk", json.dumps({**question, "taken": True}), headers)
        process.stdin.write("p ('the level is', self.level)\nc\n")
        process.stdin.flush()
        said = "".join(process.stdout.readline() for _ in range(3))
        assert "tank.py" in said
        assert "('the level is', 0)" in said
        assert json.loads(connection.getresponse().read())["path"] == ["start()", "fill()"]
        connection.request("POST", "/search", json.dumps({"design": "Tank"}), headers)
        found = json.loads(connection.getresponse().read())
        while found["searching"]:
            time.sleep(0.1)
            connection.request("POST", "/search", json.dumps({"design": "Tank"}), headers)
            found = json.loads(connection.getresponse().read())
        assert "never_two is violated" in [it["title"] for it in found["tracks"]]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == ExitCode.AS_EXPECTED


def test_what_cannot_be_explored_is_an_error_before_anything_is_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with inside(tank(tmp_path)), socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for arguments, message in (
            (["tank", "--only-variant", "Leak"], "there is no variant 'Leak'; did you mean 'Leaks'?"),
            (["tank", "--set", "depth=3"], "--set depth: Tank has no constant 'depth'"),
            (["tank", "--port", str(port)], f"port {port} cannot be used: "),
            (["tub"], "there is no spec or folder 'tub' here"),
        ):
            with pytest.raises(SourceError, match=re.escape(message)):
                floodmark.main(["explore", *arguments], standalone_mode=False)
    assert capsys.readouterr().out == ""
