"""Tests that logs of etcd's interaction tests are read as runs of its model: a log made by hand and, where
``FLOODMARK_TRACES`` names them, those of the library. Whatever line of it is compared cannot be changed unnoticed.
"""

from __future__ import annotations

import importlib
import os
import random
import tomllib
from pathlib import Path

import pytest

from floodmark.checkers.conformance.foreign_traces import reader_of
from floodmark.checkers.conformance.traces import TraceComparison, TraceOutcome, judge_text
from floodmark.checkers.project.modules import load_file
from floodmark.checkers.verdict.check import CheckSettings, one_check

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "etcd"
READER = EXAMPLE / "interactions.py"
SPEC = ROOT / "specs" / "etcd_raft" / "interactive.toml"
LOG = EXAMPLE / "three_nodes.txt"
TRACES = os.environ.get("FLOODMARK_TRACES")


@pytest.fixture(scope="module")
def work() -> TraceComparison:
    check = one_check(SPEC, None, CheckSettings(constants=dict(reader_of(READER).constants)))
    return TraceComparison(check, reader=READER, runs=False)


def judged(work: TraceComparison, text: str) -> TraceOutcome:
    return judge_text(work, ("log.txt", text))


def with_line(old: str, new: str, times: int = 1) -> tuple[int, str]:
    """The log with another line, and its number."""
    rows = LOG.read_text().split("\n")
    number = [at for at, row in enumerate(rows, 1) if row.strip() == old][times - 1]
    rows[number - 1] = new
    return number, "\n".join(rows)


def test_a_log_with_stretches_that_are_not_shown_is_accepted(work: TraceComparison) -> None:
    assert judged(work, LOG.read_text()).verdict == "accepted"


@pytest.mark.parametrize(("old", "new", "reason"), [
    ("2->1 MsgAppResp Term:1 Log:0/6", "2->1 MsgAppResp Term:1 Log:0/5", "outbox[n2][0][index] is 6, the line has 5"),
    ("HardState Term:1 Vote:1 Commit:6", "HardState Term:1 Vote:1 Commit:5", "commit[n1] is 6, the line has 5"),
    ("HardState Term:1 Vote:1 Commit:6", "HardState Term:1 Commit:6", "vote[n1] is n1, the line has None"),
    ("1: StateFollower (Voter) Term:2 Lead:2", "1: StateFollower (Voter) Term:2 Lead:3",
     "leader[n1] is n2, the line has 'n3'"),
    ('1/5 EntryNormal ""', '2/5 EntryNormal ""', "stored_log[n3][4][term] is 1, the line has 2"),
])
def test_the_line_is_named_at_which_a_log_is_not_accepted_and_what_differs(
    work: TraceComparison, old: str, new: str, reason: str
) -> None:
    number, text = with_line(old, new)
    outcome = judged(work, text)
    assert (outcome.verdict, outcome.line) == ("rejected", number)
    assert reason in outcome.reasons[0].text


@pytest.mark.parametrize(("old", "new", "message"), [
    ("3: StateReplicate match=5 next=7 learner inflight=1", "3: StateReplicate match=5 next=6 learner inflight=1",
     "n3 is StateReplicate match=5 next=7 learner inflight=1"),
    ("INFO 2 became candidate at term 2", "DEBUG 2", "the output ends, where the model has n2 became candidate"),
    ("dropped: 1->3 MsgApp Term:1 Log:1/5 Commit:5 Entries:[1/6 EntryNormal \"a\"]", "no messages",
     "the log has 'no messages', where the model has dropped: 1->3 MsgApp"),
    ("1->2 MsgTimeoutNow Term:1 Log:0/0", "1->3 MsgTimeoutNow Term:1 Log:0/0", "has 1->2 MsgTimeoutNow"),
    ("propose 1 a", "propose 9 a", "not a command of etcd's tests"),
    ("compact", "sleep 1", "the command 'sleep' is not known"),
])
def test_a_line_that_comes_where_the_model_has_another_is_refused(
    work: TraceComparison, old: str, new: str, message: str
) -> None:
    if old == "compact":
        number, text = 5, LOG.read_text().replace("log-level none\n", "sleep 1\n", 1)
        number = text.split("\n").index("sleep 1") + 1
    else:
        number, text = with_line(old, new)
    outcome = judged(work, text)
    assert (outcome.verdict, outcome.line) == ("error", number if "output ends" not in message else outcome.line)
    assert message in outcome.message


@pytest.mark.parametrize("count", [10, pytest.param(300, marks=pytest.mark.slow)])
def test_no_line_that_is_compared_is_changed_unnoticed(
    work: TraceComparison, count: int
) -> None:
    mutants, outputs = load_file(EXAMPLE / "mutants.py"), load_file(EXAMPLE / "outputs.py")
    text = LOG.read_text()
    for seed in range(count):
        how, number, changed = mutants.log_mutant(text, random.Random(seed))
        if judged(work, changed).verdict == "accepted":
            assert outputs.difference(text, changed) is None, f"seed {seed}, {how}, line {number}"


@pytest.mark.parametrize(("old", "new", "same"), [
    ("2->1 MsgAppResp Term:1 Log:0/6", "2->1 MsgAppResp Term:1 Log:0/5", False),
    ("HardState Term:1 Vote:1 Commit:6", "HardState Term:1 Commit:6", False),
    ("INFO 2 became candidate at term 2", "INFO 2 became candidate at term 3", False),
    ("INFO 2 became candidate at term 2", "", False),
    ("1: StateFollower (Voter) Term:2 Lead:2", "1: StateFollower (Voter) Term:2 Lead:3", False),
    ("Ready MustSync=true:", "Ready MustSync=false:", True),
    ('1/6 EntryNormal "a"', '1/6 EntryNormal "b"', True),
    ('1/6 EntryNormal "a"', '1/7 EntryNormal "a"', False),
])
def test_a_log_says_the_same_only_if_what_differs_is_free(old: str, new: str, same: bool) -> None:
    _, text = with_line(old, new)
    assert (load_file(EXAMPLE / "outputs.py").difference(LOG.read_text(), text) is None) == same


def test_messages_that_change_their_places_say_the_same() -> None:
    difference = load_file(EXAMPLE / "outputs.py").difference
    one, other = "1->2 MsgApp Term:1 Log:1/2", "1->3 MsgApp Term:1 Log:1/2"
    assert difference(f"{one}\n{other}\n> 2", f"{other}\n{one}\n> 2") is None
    assert difference(f"{one}\n{other}\n> 2", f"{one}\n> 2\n{other}") is not None
    assert difference(f"{one}\n{other}", one) is not None


@pytest.mark.skipif(TRACES is None, reason="FLOODMARK_TRACES names no folder with recorded runs")
@pytest.mark.slow
def test_the_logs_of_the_library_are_accepted(work: TraceComparison) -> None:
    files = sorted(Path(str(TRACES), "etcd-raft", "datadriven").glob("*.txt"))
    assert files
    assert {file.name: judged(work, file.read_text()).verdict for file in files} == {
        file.name: "accepted" for file in files
    }


def test_a_progress_prints_as_the_library_prints_it() -> None:
    progress = importlib.import_module("examples.etcd.flow").Progress(next=3, most=1)
    progress.active = True
    progress.replicate()
    progress.next = 3
    progress.sent(1, 0)
    assert str(progress) == "StateReplicate match=0 next=4 paused inflight=1[full]"
    progress.probe()
    progress.send_snapshot(7)
    assert str(progress) == "StateSnapshot match=0 next=8 paused pendingSnap=7"


def test_the_page_has_as_many_designs_as_the_specs_and_the_steps_of_the_lock() -> None:
    page = (ROOT / "docs" / "etcd.md").read_text()
    designs = {
        folder: sum(text.count("[[flawed]]") for text in map(Path.read_text, (ROOT / "specs" / folder).glob("*.toml")))
        for folder in ("etcd_raft", "hashicorp_raft")
    }
    assert designs == {"etcd_raft": 8, "hashicorp_raft": 5}
    assert "eight known-bad designs" in page
    assert "five known-bad designs" in page
    lock = tomllib.loads((ROOT / "specs" / "floodmark.lock").read_text())
    depth = lock["specs"]["hashicorp_raft/raft"]["flawed"]["CommitsUpToLastIndex"]["depth"]
    assert f"(`CommitsUpToLastIndex`, {depth} steps)" in page


@pytest.mark.parametrize(("title", "mutants"), [("traces of etcd", "10,000"), ("logs of etcd", "700")])
def test_no_measured_mutant_is_accepted_by_the_model_alone(title: str, mutants: str) -> None:
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text()
    section = results[results.index(f"<!-- {title} -->") : results.index(f"<!-- end of {title} -->")]
    rows = [row.strip("| ").split(" | ") for row in section.split("\n") if row.startswith("| ")]
    assert rows[-1][:2] == ["all", mutants]
    assert {row[-1] for row in rows[-5:]} == {"0"}
    if title == "traces of etcd":
        assert "84 accepted, 5 rejected; the replay in plain Python agrees on 89" in section
