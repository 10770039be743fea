"""Tests the parts of a counterexample that can be shown, and the expressions that can be watched."""

from __future__ import annotations

from typing import Annotated

import pytest

from floodmark import Between, Constant, Identifier, Map, Model, Record, Set, action, initial
from floodmark.checkers.report.trace_view import TraceView, require_meaning
from floodmark.checkers.report.watched import WatchExpression
from floodmark.checkers.search_result import TraceState, Violation
from floodmark.language.errors import SourceError
from floodmark.language.reference import Step, fire, initial_states

Offset = Annotated[int, Between(0, 3)]


class Node(Identifier, count="nodes", prefix="n"):
    """A node."""


class Note(Record):
    source: Node
    to: Node


class Mail(Model):
    """Nodes count, and send notes to each other."""

    nodes = Constant(3)
    count: Map[Node, Offset]
    sent: Set[Note]
    total: Offset = 0

    @initial
    def start(self) -> None:
        self.count = Map({node: 0 for node in Node})
        self.sent = Set()

    @action
    def node_counts(self, node: Node) -> None:
        self.count[node] += 1
        self.total = max(self.count.values())

    @action
    def node_sends(self, node: Node, to: Node) -> None:
        self.sent = self.sent | {Note(source=node, to=to)}

    @action
    def note_arrives(self, node: Node, note: Note) -> None:
        self.sent -= {note}

    @action
    def all_count(self) -> None:
        self.count = Map({node: count + 1 for node, count in self.count.items()})

    def most(self) -> int:
        return max(self.count.values())


def violation(*steps: Step) -> Violation:
    model = Mail()
    (begun, state), *_ = initial_states(model)
    trace = [TraceState(begun, state)]
    for step in steps:
        after = fire(model, trace[-1].state, step)
        assert after is not None
        trace.append(TraceState(step, after))
    return Violation("invariant", "none", tuple(trace))


RUN = violation(
    Step("node_counts", {"node": Node(1)}),
    Step("node_counts", {"node": Node(2)}),
    Step("node_counts", {"node": Node(2)}),
    Step("node_sends", {"node": Node(3), "to": Node(1)}),
    Step("node_counts", {"node": Node(3)}),
)


def shown(*words: str) -> list[str]:
    return list(TraceView.of(Mail(), words).lines(RUN, lambda _: ""))


def test_a_participant_has_the_steps_in_which_it_takes_part_and_its_own_entries() -> None:
    assert shown("n1") == [
        "1  start()",
        "     count: {n1: 0, n2: 0, n3: 0}",
        "     sent: {}",
        "     total: 0",
        "2  node_counts(node=n1)",
        "     total: 0 -> 1",
        "     count[n1]: 0 -> 1",
        "     (steps 3 to 4 are without n1)",
        "5  node_sends(node=n3, to=n1)",
        "     sent: + Note(source=n3, to=n1)",
        "     (step 6 is without n1)",
    ]


def test_a_message_to_another_participant_is_not_shown() -> None:
    note = Note(source=Node(3), to=Node(1))
    run = violation(
        Step("node_sends", {"node": Node(3), "to": Node(1)}), Step("note_arrives", {"node": Node(1), "note": note}),
        Step("node_counts", {"node": Node(2)}),
    )
    lines = list(TraceView.of(Mail(), ["n2"]).lines(run, lambda _: ""))
    assert lines[4:] == [
        "     (steps 2 to 3 are without n2)", "4  node_counts(node=n2)", "     total: 0 -> 1", "     count[n2]: 0 -> 1",
    ]  # fmt: skip


def test_a_step_that_changes_an_entry_is_shown_whoever_takes_it() -> None:
    run = violation(Step("all_count"), Step("node_counts", {"node": Node(2)}))
    lines = list(TraceView.of(Mail(), ["n1"]).lines(run, lambda _: ""))
    assert lines[lines.index("2  all_count()") :] == [
        "2  all_count()", "     count[n1]: 0 -> 1", "     (step 3 is without n1)",
    ]  # fmt: skip


def test_chosen_variables_stand_alone_and_steps_keep_their_numbers() -> None:
    assert shown("total")[:6] == [
        "1  start()", "     total: 0", "2  node_counts(node=n1)", "     total: 0 -> 1", "3  node_counts(node=n2)",
        "4  node_counts(node=n2)",
    ]  # fmt: skip


def test_a_watched_expression_is_shown_where_its_value_changes() -> None:
    lines = [line.strip() for line in shown("total", "self.most() * 2")]
    assert [line for line in lines if line.startswith("self")] == [
        "self.most() * 2: 0", "self.most() * 2: 0 -> 2", "self.most() * 2: 2 -> 4",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("count[n2]", "2"),
        ("[node for node in Node if self.count[node] > 0]", "[n1,n2,n3]"),
        ("{note.to for note in sent}", "{n1}"),
        ("sum(count.values()) // nodes", "1"),
        ("1 // (total - 2)", "no value (ZeroDivisionError: integer division or modulo by zero)"),
        ("self.node_counts", "no value"),
    ],
)
def test_an_expression_reads_the_state(expression: str, value: str) -> None:
    found = WatchExpression(Mail(), expression).value(RUN.trace[-1].state)
    assert found == value or expression == "self.node_counts"


@pytest.mark.parametrize(
    "expression",
    [
        "__import__", "open",
        "self.__class__", "(lambda: 1)()", "'{0.__class__}'.format(self)", "total = 3", "(total:=3)",
        "[x for x in ()].__class__", "(x for x in ()).gi_frame", "[f(1) for f in (len,)]", "(len)(count)()", "2 ** 99",
        "self.load", "Node.__subclasses__()", "f'{total}'", "print(1)", "eval", "getattr(self, total)", "a" * 2000,
    ],
)  # fmt: skip
def test_what_is_no_reading_of_the_state_is_refused(expression: str) -> None:
    with pytest.raises(SourceError):
        WatchExpression(Mail(), expression)


def test_a_word_that_means_nothing_is_refused_before_a_search() -> None:
    with pytest.raises(SourceError, match="--for n9: n9 is no name of the model"):
        require_meaning(["n1", "n9"], [Mail()])
    require_meaning(["n1", "controller", "total", "total + 1"], [Mail()])
