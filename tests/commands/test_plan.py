"""floodmark plan: shapes, their verdicts, and the command."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from floodmark.checkers.command_line.cli import command
from floodmark.checkers.commands.plan import moves_of
from floodmark.checkers.plan import report
from floodmark.checkers.plan.reassignment_json import PartitionReassignment, TopicPartition, dumps
from floodmark.checkers.plan.shapes import PlannedReassignment, Shape
from floodmark.checkers.plan.verdicts import check_shape, check_shapes, map_shapes, map_shapes_on_spark
from floodmark.language.errors import SourceError


def move(current: Sequence[int], target: Sequence[int], topic: str = "foo", partition: int = 0) -> PlannedReassignment:
    return PlannedReassignment(TopicPartition(topic, partition), tuple(current), tuple(target))


def write(path: Path, replicas: Sequence[Sequence[int]]) -> Path:
    partitions = [TopicPartition("foo", number) for number in range(len(replicas))]
    path.write_text(dumps(map(PartitionReassignment, partitions, map(tuple, replicas))))
    return path


def plan(tmp_path: Path, *options: str, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> tuple[int, str]:
    current = write(tmp_path / "current.json", [current for current, _ in pairs])
    target = write(tmp_path / "plan.json", [target for _, target in pairs])
    arguments = ["plan", str(target), "--current", str(current), "--workers", "1", *options]
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.return_value, result.output


class TestShapes:
    def test_a_shape_does_not_depend_on_broker_numbers(self) -> None:
        assert move([1, 2, 3], [1, 2, 4]).shape == move([9, 3, 7], [3, 9, 5]).shape == Shape(1, 2, 1, True)

    def test_a_leader_that_goes_makes_another_shape(self) -> None:
        assert move([1, 2, 3], [2, 3, 4]).shape == Shape(1, 2, 1, False)

    def test_brokers_come_in_the_order_of_the_model(self) -> None:
        assert move([5, 6, 8], [7, 9, 8]).brokers == (5, 6, 8, 7, 9)

    def test_a_cancellation_keeps_the_order_of_the_target(self) -> None:
        assert move([1, 2, 3], [3, 4, 2]).restored == (3, 2, 1)


class TestVerdicts:
    @pytest.mark.parametrize("shape", [Shape(0, 3, 0, True), Shape(1, 2, 0, True), Shape(2, 1, 0, False)])
    def test_what_adds_nobody_can_always_be_cancelled(self, shape: Shape) -> None:
        assert check_shape(shape, min_insync=2, design="kraft", most_failures=None).cancellable

    def test_one_failure_of_three_is_not_enough(self) -> None:
        assert check_shape(Shape(3, 0, 3, False), min_insync=2, design="kraft", most_failures=1).cancellable

    def test_two_failures_of_three_replicas_block_producers(self) -> None:
        verdict = check_shape(Shape(3, 0, 3, False), min_insync=2, design="kraft", most_failures=None)
        assert (verdict.trouble, verdict.failures, len(verdict.way)) == ("below min.insync.replicas", 2, 5)
        assert verdict.end is not None
        assert verdict.end.leader == 1

    def test_three_failures_of_three_leave_no_leader(self) -> None:
        verdict = check_shape(Shape(3, 0, 3, False), min_insync=1, design="kraft", most_failures=None)
        assert (verdict.trouble, verdict.failures) == ("no leader", 3)

    def test_of_one_replica_no_two_are_asked_for(self) -> None:
        verdict = check_shape(Shape(1, 0, 2, False), min_insync=2, design="kraft", most_failures=0)
        assert verdict.cancellable

    def test_kip236_has_no_leader_after_a_controller_crash_alone(self) -> None:
        verdict = check_shape(Shape(3, 0, 3, False), min_insync=2, design="kip236", most_failures=0)
        assert verdict.trouble == "no leader"
        assert verdict.failures == 0
        assert "controller_fails_over" in [step.action for step in verdict.way]

    def test_too_many_states_are_undetermined(self) -> None:
        verdict = check_shape(Shape(3, 0, 3, False), min_insync=2, design="kraft", most_failures=1, max_states=10)
        assert verdict.trouble == "undetermined"
        assert not verdict.cancellable

    def test_each_shape_is_checked_once(self) -> None:
        asked: list[Shape] = []

        def mapped(shapes, check):  # type: ignore[no-untyped-def]
            asked.extend(shapes)
            return map_shapes(shapes, check, workers=1)

        shape, other = Shape(0, 1, 0, True), Shape(0, 2, 0, True)
        found = check_shapes([other, shape, other], min_insync=1, mapped=mapped)
        assert asked == [shape, other]
        assert set(found) == {shape, other}

    def test_processes_find_the_same(self) -> None:
        shapes = [Shape(1, 0, 1, False), Shape(1, 1, 1, True)]
        assert check_shapes(shapes, 2) == check_shapes(
            shapes, 2, mapped=lambda every, check: map_shapes(every, check, workers=1)
        )


def is_cancellable(shape: Shape, min_insync: int, failures: int) -> bool:
    """The answer under KRaft by counting, without a search.

    An added replica must be in the ISR while the reassignment is under way: with another one that is not, added or
    kept, and the ISR keeps its last member. Then it takes as many original replicas out of the ISR, or down, as leave
    fewer than ``min_insync`` of them.
    """
    original = shape.removed + shape.kept
    lingers = shape.added > 1 or (shape.added == 1 and shape.kept > 0 and original > 1)
    return not lingers or failures < max(1, original - min(min_insync, original) + 1)


def shapes_up_to(brokers: int) -> list[Shape]:
    numbers = range(brokers + 1)
    return [
        Shape(removed, kept, added, stays)
        for removed, kept, added, stays in itertools.product(numbers, numbers, numbers, (False, True))
        if removed + kept > 0 and kept + added > 0 and removed + kept + added <= brokers
        and (kept if stays else removed) > 0
    ]


FEW = [Shape(0, 1, 1, True), Shape(1, 1, 1, False), Shape(2, 1, 1, True)]


@pytest.mark.slow
@pytest.mark.parametrize("shapes", [FEW, pytest.param(shapes_up_to(5), marks=pytest.mark.slow)], ids=["few", "small"])
def test_shapes_have_the_answer_of_counting(shapes: list[Shape]) -> None:
    for shape in shapes:
        for min_insync, failures in itertools.product((1, 2, 3), range(shape.removed + shape.kept + 1)):
            verdict = check_shape(shape, min_insync, design="kraft", most_failures=failures)
            assert verdict.cancellable == is_cancellable(shape, min_insync, failures), (shape, min_insync, failures)


class TestTold:
    def test_the_way_is_told_of_the_partitions_own_brokers(self) -> None:
        verdict = check_shape(Shape(1, 1, 1, False), min_insync=2, design="kraft", most_failures=None)
        steps = report.way(verdict, move([11, 12], [12, 14]))
        assert steps[0] == "the plan is submitted"
        assert {"broker 14 catches up", "broker 14 joins the ISR"} <= set(steps)

    def test_many_partitions_take_few_lines(self) -> None:
        moves = [move([1, 2], [2, 3], "topic", number) for number in range(0, 60, 2)]
        lines = list(report._wrapped(report._named(moves)))
        assert " ".join(lines).split() == [f"topic-{number}" for number in range(0, 60, 2)]
        assert [len(line) <= 110 for line in lines] == [True] * 3


class TestCommand:
    def test_a_safe_plan_can_be_cancelled_at_every_point(self, tmp_path: Path) -> None:
        code, said = plan(tmp_path, "--min-insync", "2", pairs=[([1, 2, 3], [2, 3, 1]), ([4, 5, 6], [5, 6])])
        assert code == 0
        assert "2 partitions, 2 shapes: 2 can be cancelled at every point" in said
        assert "foo-0 comes back as [2,3,1], not [1,2,3]" in said

    def test_an_unsafe_plan_is_reported_with_its_partitions(self, tmp_path: Path) -> None:
        code, said = plan(tmp_path, "--min-insync", "2", pairs=[([1, 2, 3], [4, 5, 6]), ([7, 8, 9], [4, 5, 6])])
        assert code == 1
        assert "2 partitions: cannot: below min.insync.replicas, 5 steps, 2 failing" in said
        assert "foo-0..1" in said
        assert "the ISR is [1,4]; cancelled, it would be [1], fewer than min.insync.replicas = 2" in said

    def test_failures_can_be_limited(self, tmp_path: Path) -> None:
        code, _ = plan(tmp_path, "--min-insync", "2", "--failures", "1", pairs=[([1, 2, 3], [4, 5, 6])])
        assert code == 0

    def test_an_empty_plan_checks_nothing(self, tmp_path: Path) -> None:
        assert plan(tmp_path, pairs=[])[0] == 5

    def test_json_has_a_verdict_for_each_partition(self, tmp_path: Path) -> None:
        file = tmp_path / "out.json"
        plan(tmp_path, "--json", str(file), pairs=[([1, 2, 3], [1, 2, 4]), ([1, 2, 3], [3, 2, 1])])
        written = json.loads(file.read_text())
        first, second = written["partitions"]
        assert (first["topic"], first["partition"], first["cancellable"]) == ("foo", 0, False)
        assert first["trouble"] == "no leader"
        assert first["way"][0] == "the plan is submitted"
        assert second["cancellable"] is True
        assert second["restored"] == [3, 2, 1]

    def test_a_partition_without_current_replicas_is_an_error(self, tmp_path: Path) -> None:
        current = write(tmp_path / "current.json", [[1, 2]])
        target = write(tmp_path / "plan.json", [[1, 3], [1, 4]])
        with pytest.raises(SourceError, match=r"current\.json: no current replicas for foo-1 of .*plan\.json"):
            moves_of(target, current)

    def test_other_original_replicas_are_an_error(self, tmp_path: Path) -> None:
        current = write(tmp_path / "current.json", [[1, 2]])
        target = tmp_path / "plan.json"
        target.write_text(dumps([PartitionReassignment(TopicPartition("foo", 0), (1, 3), (2, 1))]))
        with pytest.raises(SourceError, match=r"foo-0: original_replicas is \[2, 1\]"):
            moves_of(target, current)

    def test_original_replicas_of_every_partition_are_compared(self, tmp_path: Path) -> None:
        current = write(tmp_path / "current.json", [[1, 2], [1, 2]])
        target = tmp_path / "plan.json"
        originals = ((1, 2), (2, 1))
        moves = [
            PartitionReassignment(TopicPartition("foo", number), (1, 3), original)
            for number, original in enumerate(originals)
        ]
        target.write_text(dumps(moves))
        with pytest.raises(SourceError, match=r"foo-1: original_replicas is \[2, 1\]"):
            moves_of(target, current)

    def test_a_move_of_too_many_brokers_is_refused(self, tmp_path: Path) -> None:
        current = write(tmp_path / "current.json", [range(10)])
        target = write(tmp_path / "plan.json", [range(10, 20)])
        with pytest.raises(SourceError, match="involves 20 brokers"):
            moves_of(target, current)


@pytest.mark.slow
def test_ten_thousand_partitions_need_two_searches(tmp_path: Path) -> None:
    """All three replicas move to other brokers, or one of them does, over 10,000 partitions: two shapes."""
    def pair(n: int) -> tuple[Sequence[int], Sequence[int]]:
        first, second, third = n % 7, n % 7 + 10, n % 7 + 20
        return (first, second, third), (first, second, third + 1) if n % 2 else (first + 1, second + 1, third + 1)

    pairs = [pair(n) for n in range(10_000)]
    code, said = plan(tmp_path, "--min-insync", "2", pairs=pairs)
    assert code == 1
    assert "10,000 partitions, 2 shapes: 0 can be cancelled at every point, 10,000 cannot" in said


@pytest.mark.slow
def test_tasks_of_a_cluster_find_the_same() -> None:
    from floodmark.checkers.spark.session import stop

    shapes = [Shape(1, 1, 1, True), Shape(2, 0, 2, False)]
    try:
        assert check_shapes(shapes, 2, mapped=map_shapes_on_spark) == check_shapes(shapes, 2)
    finally:
        stop()
