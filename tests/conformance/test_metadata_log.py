"""Tests that metadata logs are judged as the models say: each step of a good one passes, and errors are found."""

from __future__ import annotations

import itertools
import json
import random
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.conformance import write_log
from floodmark.checkers.command_line.cli import command
from floodmark.checkers.conformance.metadata_log.dump import LogShard
from floodmark.checkers.conformance.metadata_log.judge import LogReport, judge
from floodmark.checkers.conformance.metadata_log.registration import Registration, apply_change, partition_of_record
from floodmark.checkers.conformance.metadata_log.rules import broken_rules
from floodmark.checkers.conformance.metadata_log.run import judge_log
from floodmark.checkers.conformance.state_machine import model_of
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import collect
from floodmark.checkers.search_result import Options
from floodmark.checkers.spark.session import session
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language import Map, Model, Seq, Set, SourceError, State, reference
from invariants.reassignment import kip455 as reassignment_kip455
from invariants.reassignment import replicas as reassignment_replicas
from model.reassignment.kip455 import Assignment
from model.reassignment.kraft import KraftReassignment
from model.reassignment.replicas import Broker, Partition

ROOT = Path(__file__).parents[2]
TOPIC = "Rvh5VW3dTc2Xs9HfyMqYbg"
Data = dict[str, Any]


def line(offset: int, kind: str, data: Data) -> str:
    payload = json.dumps({"type": kind, "version": 0, "data": data}, separators=(",", ":"))
    return (
        f"| offset: {offset} CreateTime: 1700000000000 keySize: -1 valueSize: 60 sequence: -1 headerKeys: [] "
        f"payload: {payload}"
    )


def topic(**more: Any) -> tuple[str, Data]:
    return "TOPIC_RECORD", {"name": "foo", "topicId": TOPIC, **more}


def partition(**fields: Any) -> tuple[str, Data]:
    plain = {"replicas": [1, 2, 3], "isr": [1, 2, 3], "removingReplicas": [], "addingReplicas": [], "leader": 1,
             "leaderEpoch": 0, "partitionEpoch": 0}
    return "PARTITION_RECORD", {"partitionId": 0, "topicId": TOPIC, **plain, **fields}


def change(**fields: Any) -> tuple[str, Data]:
    return "PARTITION_CHANGE_RECORD", {"partitionId": 0, "topicId": TOPIC, **fields}


def dump(path: Path, records: Iterable[tuple[str, Data]], start: int = 0) -> Path:
    lines = [f"Dumping {start:020d}.log", f"Log starting offset: {start}"]
    lines += [line(offset, *record) for offset, record in enumerate(records, start)]
    path.write_text("\n".join(lines) + "\n")
    return path


def snapshot(path: Path, end: int, records: Iterable[tuple[str, Data]]) -> Path:
    lines = [f"Dumping {end:020d}-0000000001.checkpoint", f"Snapshot end offset: {end}, epoch: 1"]
    header = 'keySize: 4 valueSize: 19 sequence: -1 headerKeys: [] SnapshotHeader {"version":0}'
    lines.append(f"| offset: 0 CreateTime: 1700000000000 {header}")
    lines += [line(offset, *record) for offset, record in enumerate(records, 1)]
    path.write_text("\n".join(lines) + "\n")
    return path


def adds_up(report: LogReport) -> bool:
    """Nothing is lost: every line and every record is counted once."""
    counted = report.judged + report.skipped.total() + report.repeated + report.aborted + report.unknown
    lines = report.headers + report.control + report.records + len(report.malformed)
    return counted == report.records and lines == report.lines


def rules(report: LogReport) -> list[str]:
    assert adds_up(report)
    return [finding.rule for finding in report.findings]


# The models' runs as records.


def registration_of(model: Model, state: State, old: Registration | None = None) -> Registration:
    """A partition of the model as the controller has it; the epochs are what the controller would make them."""
    values = dict(zip(model.variable_types, state, strict=True))
    (replication,), (assignment,) = values["replication"].values(), values["assignment"].values()
    replicas = tuple(broker.number for broker in assignment.replicas)
    leader = -1 if replication.leader is None else replication.leader.number
    isr = tuple(broker.number for broker in replication.isr)
    epoch = 0
    if old is not None:
        raises = leader != old.leader or not set(old.replicas) <= set(replicas)
        epoch = old.leader_epoch + raises
    return Registration(
        replicas, isr, tuple(broker.number for broker in assignment.adding),
        tuple(broker.number for broker in assignment.removing), leader, False, epoch,
        0 if old is None else old.partition_epoch + 1,
    )


def record_of(old: Registration, new: Registration) -> Data:
    """The PartitionChangeRecord that a controller writes for a step."""
    names = {"replicas": "replicas", "isr": "isr", "adding": "addingReplicas", "removing": "removingReplicas"}
    data: Data = {"partitionId": 0, "topicId": TOPIC}
    for field, name in names.items():
        if getattr(old, field) != getattr(new, field):
            data[name] = list(getattr(new, field))
    if new.leader_epoch > old.leader_epoch:
        data["leader"] = new.leader
    return data


def same(old: Registration, new: Registration) -> bool:
    return old[:5] == new[:5]


def test_every_step_of_the_model_is_accepted() -> None:
    """All that a small KRaft cluster can do, breadth first; an override is KIP-455's, so strictly."""
    model = KraftReassignment(brokers=3, submissions=2, brokers_down=1)
    start = next(reference.initial_states(model))[1]
    seen, queue, steps = {start}, deque([start]), 0
    while queue and len(seen) < 400:
        state = queue.popleft()
        old = registration_of(model, state)
        for step, after in reference.successors(model, state):
            new = registration_of(model, after, old)
            if not same(old, new):
                steps += 1
                assert broken_rules(old, new, strict=True) == [], (str(step), old, new)
                assert apply_change(old, record_of(old, new)) == new
            if after not in seen:
                seen.add(after)
                queue.append(after)
    assert steps > 300


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "prop", "rule"), [
    ("MergesAdding", "origin_changes_only_by_completion", "override_keeps_origin"),
    ("CompletesWithAdding", "enough_replicas_stay_in_sync", "completion_waits_for_target"),
    ("CancelsWithoutLeader", "only_crashes_take_partitions_offline", "cancellation_keeps_leader"),
    ("CancelsUncleanly", "isr_holds_committed", "isr_grows_by_its_leader"),
])
def test_what_a_flawed_design_writes_is_found(tmp_path: Path, variant: str, prop: str, rule: str) -> None:
    """The counterexample of each known-bad design whose mistake a log can show, as a log."""
    model = model_of(ROOT / "specs/reassignment/kraft.toml", variant)
    properties = collect(type(model), [reassignment_kip455, reassignment_replicas])
    violation = search_states(model, [properties[prop]], Options(workers=1)).violations[0]
    report = judge([written_run(tmp_path / "run.txt", model, [at.state for at in violation.trace])], strict=True)
    assert rule in rules(report)


def written_run(path: Path, model: Model, states: list[State]) -> Path:
    old = registration_of(model, states[0])
    whole = {"replicas": list(old.replicas), "isr": list(old.isr), "leader": old.leader}
    records = [topic(), partition(**whole)]
    for state in states[1:]:
        new = registration_of(model, state, old)
        if not same(old, new):
            records.append(("PARTITION_CHANGE_RECORD", record_of(old, new)))
            old = new
    return dump(path, records)


def test_random_runs_of_the_model_are_accepted_as_logs(tmp_path: Path) -> None:
    model = KraftReassignment(brokers=4, submissions=3)
    for seed in range(4):
        chance, states = random.Random(seed), [next(reference.initial_states(model))[1]]
        for _ in range(40):
            states.append(chance.choice(list(reference.successors(model, states[-1])))[1])
        report = judge([written_run(tmp_path / f"{seed}.txt", model, states)], strict=True)
        assert rules(report) == []
        assert report.judged > 5


# The rules about states are the models' invariants.

brokers = st.lists(st.integers(1, 4), unique=True, max_size=4)


@pytest.mark.slow
@settings(max_examples=150)
@given(brokers.filter(bool), brokers, brokers, brokers, st.integers(1, 4) | st.none())
def test_state_rules_say_what_the_invariants_say(
    replicas: list[int], isr: list[int], adding: list[int], removing: list[int], leader: int | None
) -> None:
    model = KraftReassignment(brokers=4)
    state = next(reference.initial_states(model))[1]
    values = dict(zip(model.variable_types, state, strict=True))

    def members(numbers: list[int]) -> Set[Broker]:
        return Set(Broker(number) for number in numbers)

    (key,) = values["assignment"]
    assignment = Assignment(
        replicas=Seq(Broker(number) for number in replicas), adding=members(adding), removing=members(removing)
    )
    replication = values["replication"][key].replace(
        isr=members(isr), leader=None if leader is None else Broker(leader), known=members([1, 2, 3, 4])
    )
    values |= {"assignment": Map({key: assignment}), "replication": Map({key: replication})}
    assert key == Partition(1)
    here = tuple(values.values())
    properties = collect(type(model), [reassignment_kip455, reassignment_replicas])
    judged = {name: reference.holds(model, properties[name].function, here) for name in (
        "assignment_is_consistent", "isr_is_assigned", "leader_is_in_isr", "isr_is_never_empty"
    )}
    registration = Registration(
        tuple(replicas), tuple(isr), tuple(adding), tuple(removing), -1 if leader is None else leader, False, 0, 0
    )
    found = {each.rule for each in broken_rules(None, registration)}
    judged["isr_is_empty_only_with_elr"] = judged.pop("isr_is_never_empty")
    assert {name for name, holds in judged.items() if not holds} == found


# What a log may hold, record by record.

GOOD: list[tuple[str, list[tuple[str, Data]]]] = [
    ("shrink and expand", [change(isr=[1, 2]), change(isr=[1, 2, 3])]),
    ("election", [change(isr=[2, 3], leader=2)]),
    ("a leader epoch for the same leader", [change(isr=[1, 2], leader=1)]),
    ("nobody leads", [change(isr=[1]), change(leader=-1), change(leader=1)]),
    ("unclean election", [change(isr=[1]), change(leader=2, isr=[2], leaderRecoveryState=1),
                          change(leaderRecoveryState=0), change(isr=[2, 3])]),
    ("eligible leader replicas", [change(isr=[1]), change(isr=[], leader=-1, eligibleLeaderReplicas=[1]),
                                  change(isr=[1], leader=1, eligibleLeaderReplicas=[])]),
    ("reassignment", [change(replicas=[4, 2, 3, 1], addingReplicas=[4], removingReplicas=[1]),
                      change(isr=[2, 3, 4], leader=4, replicas=[4, 2, 3], addingReplicas=[], removingReplicas=[])]),
    ("cancellation", [change(replicas=[4, 2, 3, 1], addingReplicas=[4], removingReplicas=[1]),
                      change(replicas=[2, 3, 1], addingReplicas=[], removingReplicas=[], leader=1)]),
    ("fewer replicas at once", [change(replicas=[1, 2], isr=[1, 2], leader=1)]),
    ("another order", [change(replicas=[3, 2, 1])]),
    ("override as shipped", [change(replicas=[4, 2, 3, 1], addingReplicas=[4], removingReplicas=[1]),
                             change(replicas=[5, 2, 3, 1, 4], addingReplicas=[5], removingReplicas=[1, 4])]),
    ("the leader leaves with an expansion", [change(isr=[1, 2]), change(isr=[1, 2, 3], leader=3)]),
    ("directories", [change(directories=["AAAAAAAAAAAAAAAAAAAAAQ"] * 3)]),
]


@pytest.mark.parametrize(("name", "records"), GOOD, ids=[name for name, _ in GOOD])
def test_legal_records_break_no_rule(tmp_path: Path, name: str, records: list[tuple[str, Data]]) -> None:
    assert rules(judge([dump(tmp_path / "log.txt", [topic(), partition(), *records])])) == []


def overridden(old: Data, target: list[int]) -> tuple[str, Data]:
    """What ReplicationControlManager.changePartitionReassignment makes of a request (trunk of October 2024).

    An empty list of adding or of removing replicas is not set, so that the record leaves the earlier one as it was.
    """
    removing = sorted(set(old["replicas"]) - set(target))
    adding = sorted(set(target) - set(old["replicas"]))
    lists = {"removingReplicas": removing, "addingReplicas": adding}
    return change(replicas=[*target, *removing], **{name: value for name, value in lists.items() if value})


@pytest.mark.parametrize(("target", "rule"), [
    ([1, 2, 3, 4], "target_comes_first"),
    ([1, 2, 3], "assignment_is_consistent"),
])
def test_what_an_earlier_request_leaves_behind_shows(tmp_path: Path, target: list[int], rule: str) -> None:
    """A candidate: as read in Kafka's source, a request for 1 to 4, while 1 is to leave for 4, still loses 1."""
    behind = change(isr=[1, 2])
    log = dump(tmp_path / "log.txt", [topic(), partition(), behind, REASSIGNING, overridden(REASSIGNING[1], target)])
    assert rules(judge([log])) == [rule]


REASSIGNING = change(replicas=[4, 2, 3, 1], addingReplicas=[4], removingReplicas=[1])
BAD: list[tuple[str, list[tuple[str, Data]]]] = [
    ("isr_is_assigned", [change(isr=[1, 2, 3, 7])]),
    ("leader_is_in_isr", [change(isr=[2, 3])]),
    ("isr_is_empty_only_with_elr", [change(isr=[], leader=-1)]),
    ("replicas_are_distinct", [change(replicas=[1, 2, 3, 3])]),
    ("assignment_is_consistent", [change(addingReplicas=[3], removingReplicas=[3])]),
    ("assignment_is_consistent", [change(addingReplicas=[7])]),
    ("recovering_leader_is_alone", [change(leaderRecoveryState=1, leader=1)]),
    ("removal_raises_leader_epoch", [change(replicas=[1, 2], isr=[1, 2])]),
    ("new_leader_is_in_sync", [change(isr=[1, 2]), change(isr=[3, 2], leader=3)]),
    ("isr_grows_by_its_leader", [change(isr=[1]), change(leader=-1), change(isr=[1, 2])]),
    ("who_comes_is_adding", [change(replicas=[1, 2, 3, 4])]),
    ("origin_stays", [change(replicas=[4, 2, 3], addingReplicas=[4], leader=2, isr=[2, 3])]),
    ("target_comes_first", [change(replicas=[1, 4, 2, 3], addingReplicas=[4], removingReplicas=[1])]),
    ("completion_waits_for_target", [REASSIGNING, change(
        replicas=[4, 2, 3], isr=[2, 3], leader=2, addingReplicas=[], removingReplicas=[])]),
    ("completion_waits_for_target", [REASSIGNING, change(
        replicas=[2, 3, 5], isr=[2, 3], leader=2, addingReplicas=[], removingReplicas=[])]),
    ("cancellation_keeps_leader", [REASSIGNING, change(
        replicas=[2, 3, 1], leader=-1, addingReplicas=[], removingReplicas=[])]),
    ("isr_grows_by_its_leader", [change(isr=[1]), REASSIGNING, change(isr=[1, 4], leader=4), change(
        replicas=[2, 3, 1], leader=2, isr=[2], addingReplicas=[], removingReplicas=[])]),
    ("partition_epoch_steps_by_one", [partition(partitionEpoch=2)]),
    ("leader_epoch_rises_with_leader", [partition(partitionEpoch=1, leader=2)]),
]


@pytest.mark.parametrize(("rule", "records"), BAD, ids=[rule for rule, _ in BAD])
def test_illegal_records_break_their_rule(tmp_path: Path, rule: str, records: list[tuple[str, Data]]) -> None:
    report = judge([dump(tmp_path / "log.txt", [topic(), partition(), *records])])
    assert rule in rules(report)
    assert all(finding.line == 2 + 2 + len(records) for finding in report.findings if finding.rule == rule)
    assert all(finding.topic == "foo" for finding in report.findings)


def test_an_override_as_shipped_is_found_when_asked(tmp_path: Path) -> None:
    records = next(records for name, records in GOOD if name == "override as shipped")
    path = dump(tmp_path / "log.txt", [topic(), partition(), *records])
    assert rules(judge([path], strict=True)) == ["override_keeps_origin"]


# What else a dump has.


def test_malformed_lines_are_reported_by_number_and_the_rest_is_judged(tmp_path: Path) -> None:
    path = dump(tmp_path / "log.txt", [topic(), partition(), change(isr=[1, 2])])
    lines = path.read_text().splitlines()
    bad = [
        "what is this",
        line(3, "PARTITION_CHANGE_RECORD", {})[:-9],
        "| offset: 4 CreateTime: 1 keySize: -1 valueSize: 1 sequence: -1 headerKeys: [] payload: Error at 4, skipping.",
        line(5, *change(isr="1,2")),
        line(6, *change(leader="1")),
        line(7, "PARTITION_RECORD", {"topicId": TOPIC, "partitionId": 7}),
        line(8, "TOPIC_RECORD", {"name": "bar"}),
        line(5, *change(isr=[1])),
    ]
    path.write_text("\n".join([*lines, *bad, line(9, *change(isr=[2, 1, 7]))]) + "\n")
    report = judge([path])
    assert [it.line for it in report.malformed] == list(range(6, 14))
    assert rules(report) == ["isr_is_assigned"]
    assert whole([path], 3) == report


def whole(paths: list[Path], shards: int) -> LogReport:
    return sum((judge(paths, shard=LogShard(number, shards)) for number in range(shards)), LogReport())


def test_other_records_are_counted_by_their_type(tmp_path: Path) -> None:
    records = [("FENCE_BROKER_RECORD", {"id": 1, "epoch": 2}), topic(), partition(), ("NO_OP_RECORD", {})]
    report = judge([dump(tmp_path / "log.txt", records)])
    assert dict(report.skipped) == {"FENCE_BROKER_RECORD": 1, "NO_OP_RECORD": 1}
    assert (report.judged, report.records) == (2, 4)
    assert rules(report) == []


def test_a_removed_topic_stays_removed(tmp_path: Path) -> None:
    removed = ("REMOVE_TOPIC_RECORD", {"topicId": TOPIC})
    report = judge([dump(tmp_path / "log.txt", [topic(), partition(), removed, change(isr=[1]), partition()])])
    assert rules(report) == ["removed_topics_stay_removed"] * 2


def test_a_change_of_nothing_is_wrong_only_where_the_log_is_whole(tmp_path: Path) -> None:
    assert rules(judge([dump(tmp_path / "a.txt", [change(isr=[1])])])) == ["changes_are_of_partitions"]
    report = judge([dump(tmp_path / "b.txt", [change(isr=[1])], start=100)])
    assert (rules(report), report.unknown) == ([], 1)


def test_snapshots_are_held_against_the_log(tmp_path: Path) -> None:
    log = dump(tmp_path / "log.txt", [topic(), partition(), change(isr=[1, 2]), change(isr=[1])])
    right = snapshot(tmp_path / "right.txt", 3, [topic(), partition(isr=[1, 2], partitionEpoch=1)])
    wrong = snapshot(tmp_path / "wrong.txt", 4, [topic(), partition(isr=[1, 2], partitionEpoch=1)])
    for order in itertools.permutations([log, right]):
        assert rules(judge(list(order))) == []
    report = judge([wrong, log])
    assert rules(report) == ["snapshot_agrees_with_log"]
    assert "ISR [1], leader 1" in report.findings[0].message


def test_a_file_may_hold_a_snapshot_and_then_a_log_that_began_before(tmp_path: Path) -> None:
    log = dump(tmp_path / "log.txt", [topic(), partition(), change(isr=[1, 2]), change(isr=[1])])
    wrong = snapshot(tmp_path / "wrong.txt", 4, [topic(), partition(isr=[1, 2], partitionEpoch=1)])
    both = tmp_path / "both.txt"
    both.write_text(wrong.read_text() + log.read_text())
    report = judge([both])
    assert rules(report) == ["snapshot_agrees_with_log"]
    assert report.judged == judge([wrong, log]).judged


def test_a_log_that_begins_with_a_snapshot_is_whole(tmp_path: Path) -> None:
    start = snapshot(tmp_path / "start.txt", 100, [topic(), partition(partitionEpoch=9)])
    log = dump(tmp_path / "log.txt", [change(isr=[1, 7])], start=100)
    assert rules(judge([log, start])) == ["isr_is_assigned"]
    assert judge([log, start]).gaps == 0


def test_a_hole_makes_what_follows_unknown_until_a_snapshot(tmp_path: Path) -> None:
    first = dump(tmp_path / "1.txt", [topic(), partition()])
    second = dump(tmp_path / "2.txt", [change(isr=[1, 2]), change(isr=[1, 2, 3])], start=10)
    report = judge([second, first])
    assert (rules(report), report.gaps, report.unknown) == ([], 1, 2)
    known = snapshot(tmp_path / "3.txt", 11, [topic(), partition(isr=[1, 2], partitionEpoch=4)])
    report = judge([second, known, first])
    assert (rules(report), report.gaps, report.unknown) == ([], 1, 1)


def test_the_same_log_from_two_controllers_counts_once(tmp_path: Path) -> None:
    records = [topic(), partition(), change(isr=[1, 2]), change(isr=[1])]
    one, two = dump(tmp_path / "1.txt", records), dump(tmp_path / "2.txt", records)
    assert judge([one, two]).repeated == 3
    assert rules(judge([one, two])) == []
    other = dump(tmp_path / "3.txt", [*records[:-1], change(isr=[1, 3])])
    assert rules(judge([one, other])) == ["one_record_has_an_offset"]


def test_an_aborted_transaction_has_not_happened(tmp_path: Path) -> None:
    begin, end, abort = (
        (f"{word}_TRANSACTION_RECORD", {"name": "t"}) for word in ("BEGIN", "END", "ABORT")
    )
    records = [topic(), partition(), begin, change(isr=[1]), abort, begin, change(isr=[1, 2]), end]
    report = judge([dump(tmp_path / "log.txt", [*records, begin, change(isr=[9])])])
    assert (rules(report), report.aborted) == ([], 2)


def test_offsets_may_be_left_out(tmp_path: Path) -> None:
    """As with ``--skip-record-metadata``; then the batches' count."""
    records = [topic(), partition(), change(isr=[1, 2]), change(isr=[1, 9])]
    lines = ["Dumping 0.log", "Log starting offset: 0"]
    for offset, record in enumerate(records):
        batch = f"baseOffset: {offset} lastOffset: {offset} count: 1 baseSequence: -1 isControl: false"
        lines += [batch, f"| {line(offset, *record).partition('headerKeys: [] ')[2]}"]
    (tmp_path / "log.txt").write_text("\n".join(lines))
    report = judge([tmp_path / "log.txt"])
    assert rules(report) == ["isr_is_assigned"]
    assert report.findings[0].offset == 3


@pytest.mark.parametrize("shards", [2, 3])
def test_shards_together_are_the_whole(tmp_path: Path, shards: int) -> None:
    paths = write_log(tmp_path, 3000, 120)
    text = paths[0].read_text().replace('"isr":[', '"isr":[77,', 40).replace('"isr":[77,]', '"isr":[77]')
    paths[0].write_text(text)
    alone = judge(paths)
    assert rules(alone)
    assert whole(paths, shards) == alone
    assert judge_log(paths, workers=shards) == alone


def test_what_is_made_up_for_the_benchmark_is_good(tmp_path: Path) -> None:
    report = judge(write_log(tmp_path, 4000, 100, seed=3), strict=True)
    assert rules(report) == []
    assert report.partitions == 100


@pytest.mark.slow
def test_spark_judges_as_one_process_does(tmp_path: Path) -> None:
    paths = write_log(tmp_path, 3000, 120)
    assert judge_log(paths, on_spark=True, workers=3) == judge(paths)
    kept, bad = str(tmp_path / "kept"), dump(tmp_path / "bad.txt", [topic(), partition(), change(isr=[2, 3])])
    assert conform("--metadata-log", str(bad), "--spark", f"keep_results={kept}")[0] == ExitCode.NOT_AS_EXPECTED
    (row,) = session().read.parquet(kept).select("rule", "offset", "before.isr", "after.isr").collect()
    assert tuple(row) == ("leader_is_in_isr", 2, [1, 2, 3], [2, 3])


# The command.


def conform(*arguments: str) -> tuple[int, str]:
    run = CliRunner().invoke(command, ["conform", *arguments], standalone_mode=False)
    if run.exception is not None:
        raise run.exception
    return int(run.return_value), run.output


def test_the_command_and_its_exit_codes(tmp_path: Path) -> None:
    good = dump(tmp_path / "good.txt", [topic(), partition(), change(isr=[1, 2])])
    bad = dump(tmp_path / "bad.txt", [topic(), partition(), change(isr=[2, 3])])
    late = dump(tmp_path / "late.txt", [change(isr=[2, 3])], start=5)
    (tmp_path / "broken.txt").write_text(bad.read_text() + "???\n")
    (tmp_path / "empty.txt").write_text("")
    assert conform("--metadata-log", str(good))[0] == ExitCode.AS_EXPECTED
    report = tmp_path / "report.json"
    code, said = conform("--metadata-log", str(bad), "--json", str(report))
    assert code == ExitCode.NOT_AS_EXPECTED
    assert "broken  leader_is_in_isr: foo-0 at offset 2" in said
    assert "bad.txt:5)" in said
    assert "before: replicas [1, 2, 3], ISR [1, 2, 3], leader 1, leader epoch 0, partition epoch 0" in said
    (finding,) = json.loads(report.read_text())["findings"]
    assert (finding["rule"], finding["offset"], finding["after"]["isr"]) == ("leader_is_in_isr", 2, [2, 3])
    code, said = conform("--metadata-log", str(tmp_path / "broken.txt"))
    assert code == ExitCode.USER_ERROR
    assert "broken.txt:6: " in said
    code, said = conform("--metadata-log", str(late))
    assert (code, "hole" in said) == (ExitCode.UNDETERMINED, False)
    code, said = conform("--metadata-log", str(good), "--metadata-log", str(late))
    assert code == ExitCode.UNDETERMINED
    assert "the log has 1 hole: judging resumes at the next snapshot" in said
    with pytest.raises(SourceError, match=r"nowhere\.txt: cannot be read"):
        conform("--metadata-log", str(tmp_path / "nowhere.txt"), "--workers", "2")
    assert conform("--metadata-log", str(tmp_path / "empty.txt"))[0] == ExitCode.NOTHING_CHECKED


def test_replay_is_what_kafka_does() -> None:
    """After PartitionRegistration.merge: each record raises one epoch, one that names a leader the other as well."""
    old = partition_of_record(partition()[1])
    assert apply_change(old, change(isr=[1, 2])[1]) == old._replace(isr=(1, 2), partition_epoch=1)
    assert apply_change(old, change(leader=1)[1]) == old._replace(leader_epoch=1, partition_epoch=1)
    assert apply_change(old, change(leader=-1)[1]) == old._replace(leader=-1, leader_epoch=1, partition_epoch=1)
    assert apply_change(old, change(leader=-2)[1]) == old._replace(partition_epoch=1)
