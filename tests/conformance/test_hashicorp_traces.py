"""Tests that recorded runs of HashiCorp's Raft are read as runs of its model: a trace made by hand and, where
``FLOODMARK_TRACES`` names them, traces that others recorded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from floodmark.checkers.conformance.foreign_traces import reader_of
from floodmark.checkers.conformance.traces import TraceComparison, TraceOutcome, judge_text
from floodmark.checkers.verdict.check import CheckSettings, one_check

ROOT = Path(__file__).parents[2]
READER = ROOT / "examples" / "hashicorp" / "reader.py"
SPEC = ROOT / "specs" / "hashicorp_raft" / "raft.toml"
TRACE = READER.parent / "removed_server.ndjson"
TRACES = os.environ.get("FLOODMARK_TRACES")

Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def work() -> TraceComparison:
    check = one_check(SPEC, None, CheckSettings(constants=dict(reader_of(READER).constants)))
    return TraceComparison(check, reader=READER, runs=False)


def judged(work: TraceComparison, text: str) -> TraceOutcome:
    return judge_text(work, ("trace.ndjson", text))


def changed(number: int, change: Change) -> str:
    """The trace with a change of the event in a line."""
    rows = TRACE.read_text().split("\n")
    row = json.loads(rows[number - 1])
    change(row["event"])
    rows[number - 1] = json.dumps(row)
    return "\n".join(rows)


def line_of(name: str, server: str, times: int = 1) -> int:
    """The line of the so manyth event of a server by this name."""
    events = [json.loads(row)["event"] for row in TRACE.read_text().split("\n") if row]
    return [at for at, event in enumerate(events, 1) if (event["name"], event["nid"]) == (name, server)][times - 1]


def test_a_trace_whose_events_are_logged_late_is_accepted(work: TraceComparison) -> None:
    assert judged(work, TRACE.read_text()).verdict == "accepted"


@pytest.mark.parametrize(("name", "server", "times", "change", "reason"), [
    ("BecomeCandidate", "s3", 1, lambda event: event["state"].update(votedFor="s1"),
     "vote[s3] is s3, the line has 's1'"),
    ("HandleReplicateResponse", "s3", 3, lambda event: event["msg"].update(matchIndex=2),
     "match[s3][s1] is 3, the line has 2"),
    ("HandleAppendEntriesRequest", "s1", 3, lambda event: event["state"].update(lastLogIndex=2), "log[s1] is 3"),
    ("SendReplicateEntries", "s3", 1, lambda event: event["msg"].update(entries=2),
     "start + count <= self.last_index(leader), that is 3 <= 2"),
])
def test_the_event_is_named_at_which_a_trace_is_not_accepted_and_what_differs(
    work: TraceComparison, name: str, server: str, times: int, change: Change, reason: str
) -> None:
    number = line_of(name, server, times)
    outcome = judged(work, changed(number, change))
    assert (outcome.verdict, outcome.line) == ("rejected", number)
    assert reason in outcome.reasons[0].text


@pytest.mark.parametrize(("name", "server", "change", "message"), [
    ("SendHeartbeat", "s3", lambda event: event["msg"].update(subtype="replicate"), "no message of SendHeartbeat"),
    ("HandleRequestVoteRequest", "s2", lambda event: event["msg"].update(voteGranted=False), "given if it is stored"),
    ("AdvanceCommitIndex", "s3", lambda event: event["state"].update(commitIndex=0), "has not moved"),
    ("SendHeartbeat", "s3", lambda event: event.update(name="Sleep"), "'Sleep' is not known"),
    ("HandleReplicateResponse", "s3", lambda event: event["state"].pop("term"), "not an event"),
])
def test_what_no_recorder_logs_is_refused_with_its_line(
    work: TraceComparison, name: str, server: str, change: Change, message: str
) -> None:
    number = line_of(name, server)
    outcome = judged(work, changed(number, change))
    assert (outcome.verdict, outcome.line) == ("error", number)
    assert message in outcome.message


def test_a_commit_index_that_is_seen_is_logged(work: TraceComparison) -> None:
    rows = TRACE.read_text().split("\n")
    del rows[line_of("AdvanceCommitIndex", "s3", 2) - 1]
    outcome = judged(work, "\n".join(rows))
    assert (outcome.verdict, outcome.message) == ("error", "AdvanceCommitIndex has not logged {'s3': 3}")


@pytest.mark.skipif(TRACES is None, reason="FLOODMARK_TRACES names no folder with recorded runs")
@pytest.mark.slow
def test_recorded_traces_are_accepted(work: TraceComparison) -> None:
    files = sorted(Path(str(TRACES), "hashicorp-raft").glob("*.ndjson"))
    assert files
    assert {judged(work, file.read_text()).verdict for file in files} == {"accepted"}
