"""Tests that state traces of etcd's Raft are read as runs of its model: a trace made by hand and, where
``FLOODMARK_TRACES`` names them, traces that others recorded. What the model accepts, a replay in plain Python accepts.
"""

from __future__ import annotations

import importlib
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from floodmark.checkers.command_line.cli import command
from floodmark.checkers.conformance.foreign_traces import reader_of
from floodmark.checkers.conformance.traces import TraceComparison, TraceOutcome, judge_text
from floodmark.checkers.verdict.check import CheckSettings, one_check
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import SourceError

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "etcd"
READER = EXAMPLE / "reader.py"
SPEC = ROOT / "specs" / "etcd_raft" / "recorded.toml"
LEARNER = EXAMPLE / "joining_learner.ndjson"
TRACES = os.environ.get("FLOODMARK_TRACES")
WRONGLY_RECORDED = {
    "leaseRead__slow_follower_after_compaction": 164,
    "leaseRead__snapshot_and_recovery": 37,
    "leaseRead__snapshot_status_report": 37,
    "leaseRead__snapshot_status_report_failure": 37,
    "leaseRead__snapshot_succeed_via_app_resp": 37,
}
"""Where a recorder says at CompactLog that nothing is applied, between events that show otherwise."""

recorded = pytest.mark.skipif(TRACES is None, reason="FLOODMARK_TRACES names no folder with recorded runs")


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return importlib.import_module


@pytest.fixture(scope="module")
def work() -> TraceComparison:
    check = one_check(SPEC, None, CheckSettings(constants=dict(reader_of(READER).constants)))
    return TraceComparison(check, reader=READER, runs=False)


def judged(work: TraceComparison, text: str) -> TraceOutcome:
    return judge_text(work, ("trace.ndjson", text))


def changed(number: int, change: Callable[[dict[str, Any]], None]) -> str:
    """The trace with a change of the event in a line."""
    rows = LEARNER.read_text().split("\n")
    row = json.loads(rows[number - 1])
    change(row["event"])
    rows[number - 1] = json.dumps(row)
    return "\n".join(rows)


def line_of(name: str, nid: str, times: int = 1) -> int:
    """The line of the so manyth event of a node by this name."""
    rows = enumerate(LEARNER.read_text().split("\n"), 1)
    events = [(number, json.loads(row)["event"]) for number, row in rows if row]
    return [number for number, event in events if (event["name"], event["nid"]) == (name, nid)][times - 1]


def test_a_trace_of_an_election_a_joint_configuration_and_a_snapshot_is_accepted(
    example: Callable[[str], ModuleType]
) -> None:
    words = ["conform", str(SPEC), "--reader", str(READER), "--trace", str(EXAMPLE)]
    result = CliRunner().invoke(command, words)
    assert result.exit_code == ExitCode.AS_EXPECTED
    assert "1 trace: 1 accepted" in result.output
    assert example("replay").replay(LEARNER.read_text()) is None


@pytest.mark.parametrize(("name", "nid", "times", "change", "reason"), [
    ("Commit", "1", 1, lambda event: event["state"].update(commit=1), "commit[n1] is 2, the line has 1"),
    ("Ready", "2", 3, lambda event: event["state"].update(vote="0"), "vote[n2] is n1, the line has None"),
    ("SendAppendEntriesResponse", "2", 1, lambda event: event["msg"].update(index=1),
     "outbox[n2][0][index] is 2, the line has 1"),
    ("SendAppendEntriesRequest", "1", 2, lambda event: event["msg"].update(commit=1),
     "outbox[n1][0][commit] is 2, the line has 1"),
    ("ApplyConfChange", "1", 1, lambda event: event["prop"]["cc"].update(learners=["2"]),
     "config[n1][learners] is {n3}, the line has [\"n2\"]"),
    ("BecomeLeader", "1", 1, lambda event: event["state"].update(pendingConfIndex=0),
     "pending_change[n1] is 1, the line has 0"),
])
def test_the_event_is_named_at_which_a_trace_is_not_accepted_and_what_differs(
    work: TraceComparison, name: str, nid: str, times: int, change: Callable[[dict[str, Any]], None], reason: str
) -> None:
    number = line_of(name, nid, times)
    outcome = judged(work, changed(number, change))
    assert (outcome.verdict, outcome.line) == ("rejected", number)
    assert reason in outcome.reasons[0].text


def test_a_message_that_nobody_sent_is_not_received(work: TraceComparison) -> None:
    number = line_of("ReceiveAppendEntriesRequest", "2", 2)
    outcome = judged(work, changed(number, lambda event: event["msg"].update(commit=1)))
    assert (outcome.verdict, outcome.line) == ("rejected", number)
    assert "nothing satisfies message in self.network" in outcome.reasons[0].text


def test_a_message_is_received_by_the_node_that_it_is_sent_to(work: TraceComparison) -> None:
    number = line_of("ReceiveAppendEntriesRequest", "2", 2)
    outcome = judged(work, changed(number, lambda event: event.update(nid="1")))
    assert (outcome.verdict, outcome.line) == ("error", number)
    assert "a node receives what is sent to it" in outcome.message


@pytest.mark.parametrize(("text", "message"), [
    ("{", "is not an event"),
    ('{"tag": "trace"}', "is not an event"),
    ('{"tag": "trace", "event": {"name": "Sleep", "nid": "1", "role": "StateFollower", "state": {}}}', "'Sleep'"),
])
def test_what_is_no_trace_is_refused_with_its_line(work: TraceComparison, text: str, message: str) -> None:
    outcome = judged(work, f"\n{text}\n")
    assert (outcome.verdict, outcome.line) == ("error", 2)
    assert message in outcome.message


def test_a_file_without_a_reader_is_refused(tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text("SUFFIXES = ('.log',)\n")
    words = ["conform", str(SPEC), "--reader", str(tmp_path / "reader.py"), "--trace", str(EXAMPLE)]
    result = CliRunner().invoke(command, words)
    assert isinstance(result.exception, SourceError)
    assert "has lines(text)" in result.exception.message


@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_mutant_is_accepted_that_the_replay_refuses(
    work: TraceComparison, example: Callable[[str], ModuleType], count: int
) -> None:
    mutants, replay = example("mutants"), example("replay")
    verdicts = set()
    for seed in range(count):
        how, text = mutants.mutant(LEARNER.read_text(), random.Random(seed))
        accepted = judged(work, text).verdict == "accepted"
        verdicts.add(accepted)
        assert not accepted or replay.replay(text) is None, f"seed {seed}, {how}: {replay.replay(text)}"
    assert verdicts == {True, False}


@recorded
@pytest.mark.slow
def test_recorded_traces_are_accepted_but_for_those_that_were_recorded_wrongly(
    work: TraceComparison, example: Callable[[str], ModuleType]
) -> None:
    files = sorted(Path(str(TRACES), "etcd-raft").rglob("*.ndjson"))
    assert files
    rejected = {}
    for file in files:
        outcome = judged(work, file.read_text())
        assert outcome.verdict in ("accepted", "rejected"), f"{file}: {outcome.message}"
        assert (outcome.verdict == "accepted") == (example("replay").replay(file.read_text()) is None)
        if outcome.verdict == "rejected":
            rejected[file.stem] = outcome.line
            assert "applied[n1] is" in outcome.reasons[0].text
    assert rejected == {name: line for name, line in WRONGLY_RECORDED.items() if name in {it.stem for it in files}}


@pytest.mark.slow
def test_spark_judges_a_folder_of_traces_in_a_format_of_others_as_one_process_does(tmp_path: Path) -> None:
    number = line_of("Commit", "1")
    texts = {
        "accepted": LEARNER.read_text(),
        "rejected": changed(number, lambda event: event["state"].update(commit=1)),
        "unreadable": "{",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.ndjson").write_text(text)
    words = ["conform", str(SPEC), "--reader", str(READER), "--trace", str(tmp_path)]
    alone, spark = (
        CliRunner().invoke(command, [*words, *options]) for options in (["--workers", "1"], ["--engine", "spark"])
    )
    assert "3 traces: 1 accepted, 1 error, 1 rejected" in alone.output
    assert (alone.exit_code, sorted(alone.output.split("\n"))) == (spark.exit_code, sorted(spark.output.split("\n")))
