"""Tests what is printed: values, steps, and why a property is false."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Annotated, Any

import click
import pytest

from floodmark import (
    Bag,
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    implies,
    initial,
    invariant,
    require,
    rule,
    transition,
)
from floodmark.checkers.explanation.false_property import explain
from floodmark.checkers.explanation.predicate import MAX_LINES
from floodmark.checkers.explanation.trace import change_lines, state_lines, trace_lines
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import Spec
from floodmark.checkers.reference.search import search_states
from floodmark.checkers.report import progress, text
from floodmark.checkers.search_result import Options, Premise, Progress, SearchResult, TraceState, Violation
from floodmark.checkers.value_text import plain, show, show_step
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.checkers.verdict.result import CheckResult, ExitCode
from floodmark.language.reference import Step, initial_states
from floodmark.language.values import running


class Broker(Identifier, count="brokers", prefix="b"):
    """A broker."""


class Role(Enum):
    LEADER = "leader"
    FOLLOWER = "follower"


Offset = Annotated[int, Between(0, 3)]


class Proposal(Record):
    isr: Set[Broker]
    version: Offset


class Node(Record):
    hw: Offset
    role: Role


def b(*numbers: int) -> Set[Broker]:
    return Set(Broker(number) for number in numbers)


class Cluster(Model):
    """A cluster with something of every type."""

    brokers = Constant(3)
    isr: Set[Broker]
    leader: Broker | None
    node: Map[Broker, Node]
    log: Map[Broker, Annotated[Seq[Offset], Capacity(3)]]
    requests: Annotated[Set[Proposal], Capacity(4)]
    network: Annotated[Bag[Offset], Capacity(3)]
    cleaned: bool

    @initial
    def start(self) -> None:
        self.isr = Set(Broker)
        self.leader = None
        self.node = Map({broker: Node(hw=0, role=Role.FOLLOWER) for broker in Broker})
        self.log = Map({broker: Seq[int]() for broker in Broker})
        self.requests = Set()
        self.network = Bag()
        self.cleaned = False

    @action
    def elect(self, broker: Broker) -> None:
        require(self.leader is None)
        self.leader = broker
        self.node[broker].role = Role.LEADER

    @action
    def change(self, broker: Broker) -> None:
        require(self.leader == broker)
        self.node[broker].hw = 2
        self.log[broker].append(1)
        self.isr -= {broker}
        self.requests.add(Proposal(isr=self.isr, version=1))
        self.network.add(3)

    @rule
    def committed(self, broker: Broker, offset: int) -> bool:
        return len(self.log[broker]) > offset


def changed(**changes: Any) -> list[str]:
    """The lines for a change of the initial state."""
    model = Cluster()
    with running(model):
        (_, before), *_ = initial_states(model)
    values = dict(zip(model.variable_types, before, strict=True))
    return change_lines(list(values), before, tuple({**values, **changes}.values()))


def nodes(**hw: int) -> Map[Broker, Node]:
    entries = {broker: Node(hw=hw.get(repr(broker), 0), role=Role.FOLLOWER) for broker in b(1, 2, 3)}
    return Map(entries)


@pytest.mark.parametrize(
    ("value", "shown", "in_json"),
    [
        (b(2, 1), "{b1,b2}", ["b1", "b2"]),
        (Set[int](), "{}", []),
        (Role.LEADER, "LEADER", "LEADER"),
        (None, "None", None),
        (True, "True", True),
        (Seq([1, 2]), "[1,2]", [1, 2]),
        (Bag([2, 1, 2]), "[1,2,2]", [1, 2, 2]),
        (Broker(3), "b3", "b3"),
        (Proposal(isr=b(1), version=2), "Proposal(isr={b1}, version=2)", {"isr": ["b1"], "version": 2}),
        (Map({Broker(1): 0, Broker(2): 1}), "{b1: 0, b2: 1}", {"b1": 0, "b2": 1}),
        (
            Set([Proposal(isr=b(1, 2), version=2), Proposal(isr=b(), version=1)]),
            "{Proposal(isr={}, version=1), Proposal(isr={b1,b2}, version=2)}",
            [{"isr": [], "version": 1}, {"isr": ["b1", "b2"], "version": 2}],
        ),
        ({Broker(1)}, "{b1}", ["b1"]),
        (Seq([b(1, 2), b(3)]), "[{b1,b2}, {b3}]", [["b1", "b2"], ["b3"]]),
    ],
)
def test_values_are_shown_as_they_are_written(value: Any, shown: str, in_json: Any) -> None:
    assert show(value) == shown
    assert plain(value) == in_json


def test_a_step_is_a_call() -> None:
    assert show_step(Step("elect", {"broker": Broker(2), "role": Role.LEADER})) == "elect(broker=b2, role=LEADER)"
    assert show_step(Step("start")) == "start()"


def test_a_step_shows_only_what_it_changes() -> None:
    assert changed() == []
    assert changed(cleaned=True) == ["cleaned: False -> True"]
    assert changed(isr=b(1, 2)) == ["isr: {b1,b2,b3} -> {b1,b2}"]
    assert changed(leader=Broker(1)) == ["leader: None -> b1"]


def test_changes_inside_of_maps_and_records() -> None:
    assert changed(node=nodes(b2=1)) == ["node[b2].hw: 0 -> 1"]


def test_messages_come_and_go() -> None:
    one, two = Proposal(isr=b(1), version=1), Proposal(isr=b(), version=2)
    names = ["requests", "network"]
    before, after = (Set([one]), Bag([1, 1, 2])), (Set([two]), Bag([1, 3]))
    assert change_lines(names, before, after) == [
        "requests: - Proposal(isr={b1}, version=1)",
        "requests: + Proposal(isr={}, version=2)",
        "network: - 1",
        "network: - 2",
        "network: + 3",
    ]


def test_changes_are_grouped_by_broker() -> None:
    logs = Map({broker: Seq([1]) if broker.number > 1 else Seq[int]() for broker in b(1, 2, 3)})
    assert changed(node=nodes(b1=1, b3=2), log=logs, cleaned=True) == [
        "cleaned: False -> True",
        "node[b1].hw: 0 -> 1",
        "log[b2][0]: + 1",
        "node[b3].hw: 0 -> 2",
        "log[b3][0]: + 1",
    ]


def test_a_list_that_grew_or_lost_its_head_shows_only_that() -> None:
    def lines(old: list[int], new: list[int]) -> list[str]:
        return change_lines(["log"], (Seq(old),), (Seq(new),))

    assert lines([1, 2], [1, 2, 2, 3]) == ["log[2]: + 2", "log[3]: + 3"]
    assert lines([1, 2, 3], [1]) == ["log[1]: - 2", "log[2]: - 3"]
    assert lines([1, 2, 3], [2, 3]) == ["log[0]: - 1"]
    assert lines([1, 2], [1, 3]) == ["log: [1,2] -> [1,3]"]
    assert lines([1, 2], [3, 1, 2]) == ["log: [1,2] -> [3,1,2]"]
    assert lines([1, 2], []) == ["log: [1,2] -> []"]


def test_a_list_of_records_shows_the_field_that_changed_or_the_record_that_came() -> None:
    one, two = Proposal(isr=b(1), version=1), Proposal(isr=b(1), version=2)
    assert change_lines(["log"], (Seq([one, one]),), (Seq([one, two]),)) == ["log[1].version: 1 -> 2"]
    assert change_lines(["log"], (Seq([one]),), (Seq([one, two]),)) == ["log[1]: + Proposal(isr={b1}, version=2)"]


def test_a_first_state_with_nested_maps_has_a_line_for_each_part() -> None:
    seen = Map({broker: Map({other: broker == other for other in b(1, 2, 3)}) for broker in b(1, 2)})
    deep = Map({broker: Map({other: Seq(range(20)) for other in b(1, 2)}) for broker in b(1)})
    long = ",".join(map(str, range(20)))
    assert state_lines(["seen", "turn", "deep"], (seen, 3, deep)) == [
        "turn: 3",
        "seen[b1]: {b1: True, b2: False, b3: False}",
        f"deep[b1][b1]: [{long}]",
        f"deep[b1][b2]: [{long}]",
        "seen[b2]: {b1: False, b2: True, b3: False}",
    ]


def broken(prop: Callable[..., bool], cls: type[Cluster] = Cluster) -> tuple[Cluster, Violation]:
    """The violation of a property that a search of the cluster finds."""
    model = cls()
    found = search_states(model, list(collect(Cluster, [_module(prop)]).values()), Options())
    assert found.violations, "the property holds"
    assert found.violations[0].kind != "error", found.violations[0].message
    return model, found.violations[0]


def _module(prop: Callable[..., bool]) -> ModuleType:
    module = ModuleType("invariants_of_the_test")
    vars(module)[prop.__name__] = prop
    return module


def why(prop: Callable[..., bool], cls: type[Cluster] = Cluster) -> list[str]:
    """The explanation of a property that fails, without its first line."""
    model, violation = broken(prop, cls)
    found = collect(Cluster, [_module(prop)])[prop.__name__]
    first, *lines = explain(model, found, violation.trace)
    assert first == f"why {prop.__name__} is false:"
    return [line[2:] for line in lines]


def test_a_trace_has_numbered_steps() -> None:
    @invariant
    def nothing_logged(model: Cluster) -> bool:
        return all(len(model.log[broker]) == 0 for broker in Broker)

    model, violation = broken(nothing_logged)
    lines = trace_lines(model, violation.trace)
    assert lines[0] == "1  start()"
    assert lines[1:8] == [
        "     isr: {b1,b2,b3}",
        "     leader: None",
        "     log: {b1: [], b2: [], b3: []}",
        "     requests: {}",
        "     network: []",
        "     cleaned: False",
        "     node[b1]: Node(hw=0, role=FOLLOWER)",
    ]
    second = lines.index("2  elect(broker=b1)")
    assert lines[second:] == [
        "2  elect(broker=b1)",
        "     leader: None -> b1",
        "     node[b1].role: FOLLOWER -> LEADER",
        "3  change(broker=b1)",
        "     isr: {b1,b2,b3} -> {b2,b3}",
        "     requests: + Proposal(isr={b2,b3}, version=1)",
        "     network: + 3",
        "     node[b1].hw: 0 -> 2",
        "     log[b1][0]: + 1",
    ]


def test_a_step_that_changes_nothing_says_so() -> None:
    (step, state), *_ = initial_states(Cluster())
    lines = trace_lines(Cluster(), [TraceState(step, state), TraceState(Step("wait"), state)])
    assert lines[-2:] == ["2  wait()", "     nothing changes"]


def test_all_is_explained_by_the_choice_that_fails() -> None:
    @invariant
    def hw_within_log(model: Cluster) -> bool:
        return all(model.node[broker].hw <= len(model.log[broker]) for broker in Broker)

    assert why(hw_within_log) == [
        "for broker = b1:",
        "  false: model.node[broker].hw <= len(model.log[broker]), that is 2 <= 1",
        "    model.log[broker] = [1]",
    ]


def test_why_the_condition_of_a_choice_is_told() -> None:
    @invariant
    def leaders_stay(model: Cluster) -> bool:
        return all(broker in model.isr for broker in Broker if model.node[broker].hw > 1)

    assert why(leaders_stay) == [
        "for broker = b1:",
        "  true: model.node[broker].hw > 1, that is 2 > 1",
        "  false: broker in model.isr, that is b1 in {b2,b3}",
    ]


def test_any_is_explained_by_every_choice() -> None:
    @invariant
    def someone_is_new(model: Cluster) -> bool:
        return any(model.node[broker].hw > 2 for broker in model.isr if broker != model.leader)

    assert why(someone_is_new) == [
        "no broker satisfies broker != model.leader and model.node[broker].hw > 2",
        "  model.isr = {b1,b2,b3}",
        "  for broker = b1:",
        "    true: broker != model.leader, that is b1 != None",
        "    false: model.node[broker].hw > 2, that is 0 > 2",
        "  for broker = b2:",
        "    true: broker != model.leader, that is b2 != None",
        "    false: model.node[broker].hw > 2, that is 0 > 2",
        "  for broker = b3:",
        "    true: broker != model.leader, that is b3 != None",
        "    false: model.node[broker].hw > 2, that is 0 > 2",
    ]


def test_an_implication_is_explained_by_both_sides() -> None:
    @invariant
    def no_leader_is_out(model: Cluster) -> bool:
        return all(implies(model.leader == broker, broker in model.isr) for broker in Broker)

    assert why(no_leader_is_out) == [
        "for broker = b1:",
        "  the premise is true:",
        "    true: model.leader == broker, that is b1 == b1",
        "  the conclusion does not:",
        "    false: broker in model.isr, that is b1 in {b2,b3}",
    ]


def test_why_the_part_of_and_that_fails() -> None:
    @invariant
    def both(model: Cluster) -> bool:
        return not model.cleaned and model.leader is None

    assert why(both) == ["false: model.leader is None, that is b1 is None"]


def test_or_is_explained_by_every_part() -> None:
    @invariant
    def either(model: Cluster) -> bool:
        return model.cleaned or len(model.isr) == 3 or not model.requests

    assert why(either) == [
        "model.cleaned = False",
        "false: len(model.isr) == 3, that is 2 == 3",
        "  model.isr = {b2,b3}",
        "model.requests = {Proposal(isr={b2,b3}, version=1)}",
    ]


def test_a_negated_conjunction_is_explained_by_both_conjuncts() -> None:
    @invariant
    def never_both(model: Cluster) -> bool:
        return not (any(model.node[it].role == Role.LEADER for it in Broker) and model.leader is not None)

    assert why(never_both) == [
        "for it = b1:",
        "  true: model.node[it].role == Role.LEADER, that is LEADER == LEADER",
        "true: model.leader is not None, that is b1 is not None",
    ]


def test_why_the_failing_link_of_a_chain() -> None:
    @invariant
    def ordered(model: Cluster) -> bool:
        return 0 <= len(model.requests) <= len(model.isr) - 2

    assert why(ordered) == [
        "false: len(model.requests) <= len(model.isr) - 2, that is 1 <= 0",
        "  model.requests = {Proposal(isr={b2,b3}, version=1)}",
        "  model.isr = {b2,b3}",
    ]


def test_explanations_follow_helpers_and_rules() -> None:
    @invariant
    def leader_has_committed(model: Cluster) -> bool:
        return model.leader is None or model.node[model.leader].hw == 0 or model.committed(model.leader, 1)

    assert why(leader_has_committed) == [
        "false: model.leader is None, that is b1 is None",
        "false: model.node[model.leader].hw == 0, that is 2 == 0",
        "false: committed(b1, 1), because",
        "  false: len(self.log[broker]) > offset, that is 1 > 1",
        "    self.log[broker] = [1]",
    ]


def clean(model: Cluster, brokers: Set[Broker]) -> bool:
    for broker in Broker:
        if broker in brokers:
            continue
        if model.log[broker]:
            return False
    return True


def test_explanations_follow_loops_and_tests() -> None:
    @invariant
    def outsiders_are_clean(model: Cluster) -> bool:
        return clean(model, brokers=model.isr)

    assert why(outsiders_are_clean) == [
        "false: clean(brokers={b2,b3}), because",
        "  for broker = b1:",
        "    model.log[broker] = [1]",
    ]


def nobody_follows(model: Cluster) -> bool:
    for broker in Broker:  # noqa: SIM110 - the loop is what is explained
        if model.leader is not None and broker != model.leader:
            return False
    return True


def test_an_explanation_goes_through_a_loop_until_it_is_left() -> None:
    @invariant
    def leads_alone(model: Cluster) -> bool:
        return nobody_follows(model)

    assert why(leads_alone) == [
        "false: nobody_follows(), because",
        "  for broker = b2:",
        "    true: model.leader is not None, that is b1 is not None",
        "    true: broker != model.leader, that is b2 != b1",
    ]


def test_each_name_of_a_pair_is_bound() -> None:
    @invariant
    def nobody_is_ahead(model: Cluster) -> bool:
        return all(node.hw <= 1 or broker in model.isr for broker, node in model.node.items())

    assert why(nobody_is_ahead) == [
        "for broker = b1, node = Node(hw=2, role=LEADER):",
        "  false: node.hw <= 1, that is 2 <= 1",
        "  false: broker in model.isr, that is b1 in {b2,b3}",
    ]


class Cautious(Cluster):
    @rule
    def committed(self, broker: Broker, offset: int) -> bool:
        return super().committed(broker, offset) and offset < 3


def test_an_explanation_follows_a_call_of_what_is_overridden() -> None:
    @invariant
    def leader_has_committed(model: Cluster) -> bool:
        return model.leader is None or model.committed(model.leader, 1)

    assert why(leader_has_committed, Cautious) == [
        "false: model.leader is None, that is b1 is None",
        "false: committed(b1, 1), because",
        "  false: committed(b1, 1), because",
        "    false: len(self.log[broker]) > offset, that is 0 > 1",
        "      self.log[broker] = []",
    ]


def test_a_constant_is_no_explanation() -> None:
    def never(model: Cluster) -> bool:
        return False

    @invariant
    def is_never(model: Cluster) -> bool:
        return model.leader is None or never(model)

    assert why(is_never) == ["false: model.leader is None, that is b1 is None", "false: never(), because"]


def test_a_name_that_a_comprehension_binds_is_its_own_explanation() -> None:
    @invariant
    def all_true(model: Cluster) -> bool:
        return all(fact for fact in (model.leader is not None, model.cleaned))

    assert why(all_true) == ["for fact = False:", "  fact = False"]


def test_an_explanation_follows_local_variables() -> None:
    @invariant
    def with_locals(model: Cluster) -> bool:
        size = len(model.isr)
        enough = size > 2
        return enough  # noqa: RET504 - the name is what is tested

    assert why(with_locals) == [
        "false: size > 2, that is 2 > 2",
        "  size = len(model.isr) = 2",
        "  model.isr = {b2,b3}",
    ]


def test_explanations_follow_the_taken_branch() -> None:
    @invariant
    def branches(model: Cluster) -> bool:
        return model.cleaned if model.leader is not None else len(model.isr) == 3

    assert why(branches) == ["true: model.leader is not None, that is b1 is not None", "model.cleaned = False"]


def test_a_transition_is_explained_by_both_states() -> None:
    @transition
    def isr_grows(old: Cluster, new: Cluster) -> bool:
        return old.isr <= new.isr

    assert why(isr_grows) == ["false: old.isr <= new.isr, that is {b1,b2,b3} <= {b2,b3}"]


def test_why_of_long_values_is_a_list() -> None:
    @invariant
    def no_requests(model: Cluster) -> bool:
        return model.requests | {Proposal(isr=model.isr, version=2)} <= {Proposal(isr=model.isr, version=2)}

    assert why(no_requests) == [
        "false: model.requests | {Proposal(isr=model.isr, version=2)} <= {Proposal(isr=model.isr, version=2)}",
        "  model.requests | {Proposal(isr=model.isr, version=2)} = "
        "{Proposal(isr={b2,b3}, version=1), Proposal(isr={b2,b3}, version=2)}",
        "  {Proposal(isr=model.isr, version=2)} = {Proposal(isr={b2,b3}, version=2)}",
        "  model.requests = {Proposal(isr={b2,b3}, version=1)}",
        "  model.isr = {b2,b3}",
    ]


def test_an_explanation_does_not_go_on_for_ever() -> None:
    @invariant
    def long_or(model: Cluster) -> bool:
        return (
            any(
                model.cleaned and len(model.isr) == n + m and model.node[broker].hw == n + m
                for n in range(9)
                for m in range(9)
                for broker in Broker
            )
            or model.cleaned
        )

    assert len(why(long_or)) <= MAX_LINES + 1


def result(**changes: Any) -> CheckResult:
    fields: dict[str, Any] = {
        "spec": "specs/cluster.toml",
        "name": "cluster",
        "model": "model.cluster:Cluster",
        "variant": None,
        "tier": "quick",
        "verdict": "holds",
        "expected": True,
        "exit_code": ExitCode.AS_EXPECTED,
        "reproduce": "floodmark check specs/cluster.toml",
        "search_result": SearchResult("native", complete=True, distinct=9716, generated=41202, depth=19, seconds=0.12),
    }
    return CheckResult(**{**fields, **changes})


def said(outcome: CheckResult, traces: bool = False) -> list[str]:
    return [click.unstyle(line) for line in text.lines(outcome, traces)]


def test_a_success_is_one_line() -> None:
    assert said(result()) == ["holds         cluster  9,716 states, 41,202 generated, depth 19, 0.1 s"]


def test_symmetric_counts_are_called_orbits() -> None:
    assert "9,716 orbits" in said(result(symmetry=True))[0]


def test_warnings_are_printed_without_an_option() -> None:
    found = SearchResult("native", complete=True, distinct=4, actions={"elect": 3, "clean": 0}, cut=1200)
    found.vacuous.append(Premise("hw_within_log", "invariants/cluster.py", 17))
    assert [line.strip() for line in said(result(search_result=found))[1:]] == [
        "warning  never fired: clean",
        "warning  hw_within_log: its premise is never true (invariants/cluster.py:17)",
        "warning  the search was cut at the boundary 1,200 times",
    ]


def test_what_the_spec_lists_is_no_warning() -> None:
    vacuous = [Premise("hw_within_log", "invariants/cluster.py", 17), Premise("other", "own.py", 3)]
    found = SearchResult("native", complete=True, distinct=1, actions={"elect": 0, "clean": 0}, vacuous=vacuous)
    listed = result(search_result=found, idle=["clean"], vacuous=["hw_within_log"])
    assert [line.strip() for line in said(listed)[1:]] == [
        "warning  never fired: elect",
        "warning  other: its premise is never true (own.py:3)",
    ]


def test_an_incomplete_search_does_not_warn_of_idle_actions() -> None:
    found = SearchResult("native", complete=False, actions={"clean": 0})
    assert len(said(result(search_result=found, verdict="undetermined", expected=False, reproduce=""))) == 1


def test_a_known_bad_design_is_found() -> None:
    @invariant
    def leaderless(model: Cluster) -> bool:
        return model.leader is None

    model, violation = broken(leaderless)
    properties = list(collect(Cluster, [_module(leaderless)]).values())
    outcome = result(variant="Bad", verdict="violated", property="leaderless", violation=violation, subject=model,
                     properties=properties)
    assert said(outcome) == ["found           Bad  breaks leaderless in 2 steps, 0.1 s"]
    lines = said(outcome, traces=True)
    assert any(line.startswith("Bad violates leaderless (") and line.endswith("after 2 steps") for line in lines)
    assert lines[-2] == "reproduce: floodmark check specs/cluster.toml"
    assert "  false: model.leader is None, that is b1 is None" in lines


def test_the_last_line_is_the_verdict_in_words() -> None:
    good, bad = result(), result(expected=False, exit_code=ExitCode.NOT_AS_EXPECTED)
    assert click.unstyle(text.summary([good, good], ExitCode.AS_EXPECTED)) == "2 checks, each as expected"
    assert click.unstyle(text.summary([good, bad], ExitCode.NOT_AS_EXPECTED)).startswith("2 checks: 1 not as expected")


def test_progress_without_a_terminal_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 1.0, 10.5, 11.0])
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(progress, "PLAIN_EVERY", 10.0)
    spec = Spec(Path("specs/cluster.toml"), "model.cluster:Cluster")
    line = progress.SearchProgress(lambda check: 4_800_000)
    for _ in range(3):
        line.show(
            Check(spec, None, CheckSettings()), Progress(7, 10, 1_200_000, 5_000_000, 0.5, 212_000_000, 33_000_000)
        )
    printed = capsys.readouterr().err.splitlines()
    assert printed == [
        "cluster Cluster: 25 %, 1,200,000 states, 2.4 M/s, level 7 of 10, 212.0 MB, 5,000,000 generated, "
        "33.0 MB shuffled"
    ]
