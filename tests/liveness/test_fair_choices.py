"""Fairness for each value of a method: judged by every engine as its meaning says, and refused where it has none.

What random graphs say of it is in ``test_liveness_graphs.py`` and, on Spark, in ``tests/spark/test_elimination.py``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest

from floodmark import (
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    ModelError,
    Record,
    Seq,
    Set,
    action,
    always_eventually,
    fair,
    initial,
    invariant,
    leads_to,
    require,
)
from floodmark.checkers.liveness.assumptions import assumptions_of
from floodmark.checkers.mutation.mutant import mutants
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.lint import require_calls
from floodmark.checkers.project.properties import collect
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search_result import Options
from floodmark.compiler import fair_choices
from floodmark.compiler.ir import SetLocal, Stmt
from floodmark.language.fairness import Fairness
from floodmark.language.universe import universe
from tests.support.command import floodmark


class Node(Identifier, count="nodes", prefix="n"):
    """A node."""


class Ask(Record):
    to: Node


class Answer(Record):
    to: Node
    urgent: bool


class Mail(Model):
    """Messages of two classes wait; who gets one is asked by a method. Urgent ones may go first for ever."""

    nodes = Constant(2)
    waiting: Set[Ask | Answer] = Set()
    last: Ask | Answer | None = None

    @action
    def sends(self, message: Ask | Answer) -> None:
        self.waiting.add(message)

    @fair(each="receiver")
    @action
    def delivers(self, message: Ask | Answer) -> None:
        require(message in self.waiting)
        self.waiting.remove(message)
        self.last = message

    def receiver(self, message: Ask | Answer) -> Node:
        return message.to

    @leads_to
    def node_gets_mail(self, node: Node) -> tuple[bool, bool]:
        return any(message.to == node for message in self.waiting), self.last is not None and self.last.to == node

    @leads_to
    def question_arrives(self, node: Node) -> tuple[bool, bool]:
        return Ask(to=node) in self.waiting, self.last == Ask(to=node)


class Wheel(Model):
    """It turns on or back by one place. It is fair to each direction: which that is depends on where it is before."""

    place: Annotated[int, Between(0, 3)] = 1
    turned_on: bool = False

    @fair(each="turns_on")
    @action
    def turns(self, to: Annotated[int, Between(0, 3)]) -> None:
        require((to - self.place) % 2 == 1)
        self.turned_on = to == (self.place + 1) % 4
        self.place = to

    def turns_on(self, to: int) -> bool:
        return to == (self.place + 1) % 4

    @always_eventually
    def has_turned_on(self) -> bool:
        return self.turned_on

    @always_eventually
    def has_turned_back(self) -> bool:
        return not self.turned_on

    @always_eventually
    def is_at_the_top(self) -> bool:
        return self.place == 3


def verdicts(cls: type[Model], engine: Any, each: tuple[str, ...] | None = None, strong: bool = False) -> list[str]:
    fairness = {} if each is None else {next(iter(cls.methods("action"))): Fairness(strong, each)}
    if each is not None and cls is Mail:
        fairness = {"delivers": Fairness(strong, each)}
    options = Options(workers=1, fairness=fairness)
    return [it.verdict for it in engine(cls(), list(collect(cls, []).values()), options).liveness]


@pytest.mark.parametrize(
    ("engine", "each", "node", "question"),
    [pytest.param(engine, *row, marks=[pytest.mark.slow] if engine is search_states and row[1] == row[2] else [])
     for engine in (reference.search_states, search_states)
     for row in (((), "violated", "violated"), (("receiver",), "holds", "violated"), (("message",), "holds", "holds"))],
)
def test_some_message_of_each_receiver_is_delivered(
    engine: Any, each: tuple[str, ...], node: str, question: str
) -> None:
    assert verdicts(Mail, engine, each) == [node] * 2 + [question] * 2


@pytest.mark.parametrize("engine", [reference.search_states, search_states])
@pytest.mark.parametrize(
    ("each", "weak", "strong"),
    [
        ((), ["violated", "violated", "violated"], ["violated", "violated", "violated"]),
        (("turns_on",), ["holds", "holds", "violated"], ["holds", "holds", "violated"]),
        (("to",), ["violated", "violated", "violated"], ["violated", "violated", "holds"]),
        (("turns_on", "to"), ["violated", "violated", "violated"], ["holds", "holds", "holds"]),
    ],
)
def test_the_value_is_that_before_the_step(
    engine: Any, each: tuple[str, ...], weak: list[str], strong: list[str]
) -> None:
    """Both directions are possible everywhere, so weak fairness suffices; each place is one only every other time."""
    assert verdicts(Wheel, engine, each) == weak
    assert verdicts(Wheel, engine, each, strong=True) == strong


def test_an_assumption_names_the_method_and_its_values() -> None:
    assumption = assumptions_of(Mail()).by_action["delivers"]
    assert str(assumption) == "delivers weakly fair for each receiver"
    chosen = [assumption.chosen(label) for label in assumption.all_labels(8)]
    assert chosen == [{"receiver": node} for node in universe(assumption.each[0].kind)]
    assert len(chosen) == 2


def test_the_order_of_what_is_chosen_keeps_labels_apart() -> None:
    both = assumptions_of(Wheel(), {"turns": Fairness(False, ("to", "turns_on"))}).by_action["turns"]
    assert len({*both.all_labels(99)}) == 8
    assert {(it["to"], it["turns_on"]) for it in map(both.chosen, both.all_labels(99))} == {
        (to, on) for to in range(4) for on in (False, True)
    }


def test_a_value_of_after_the_step_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(body: list[Stmt]) -> list[Stmt]:
        first = [statement for statement in body if isinstance(statement, SetLocal)]
        return [*(statement for statement in body if statement not in first), *first]

    read = fair_choices.read_choices

    def planted(model: Model, name: str, methods: tuple[str, ...]) -> fair_choices.ChoosingAction:
        found = read(model, name, methods)
        return replace(found, action=replace(found.action, body=late(found.action.body)))

    monkeypatch.setattr("floodmark.checkers.liveness.labelled_module.read_choices", planted)
    with pytest.raises(RuntimeError, match="compiled code calls a loop fair"):
        verdicts(Wheel, search_states, ("turns_on",))


class Refused(Model):
    """Methods that are no value of every step."""

    nodes = Constant(2)
    leader: Node | None = None
    log: Annotated[Seq[Node], Capacity(2)] = Seq()
    names: Map[Node, Node]

    @initial
    def start(self) -> None:
        self.names = Map({node: node for node in Node})

    @action
    def leads(self, node: Node) -> None:
        self.leader = node

    @action
    def appends(self, node: Node) -> None:
        require(len(self.log) < 2)
        self.log.append(node)

    def first(self) -> Node:
        return self.log[0]

    def of(self, broker: Node) -> Node:
        return broker

    def forgets(self, node: Node) -> bool:
        self.leader = None
        return node == Node(1)

    def guards(self, node: Node) -> Node:
        require(self.leader is None)
        return node

    def nothing(self) -> None:
        pass

    @invariant
    def is_true(self) -> bool:
        return True


class Bounded(Refused):
    limit = Constant(3, bound=True)

    def who(self, node: Node) -> Node:
        return node


@pytest.mark.parametrize(
    ("cls", "name", "said"),
    [
        (Refused, "first", "but that may fail, as an index, a division or an optional value may"),
        (Refused, "of", "which takes broker; it may take the action's node"),
        (Refused, "forgets", "a property must not change the state"),
        (Refused, "guards", "require guards an action"),
        (Refused, "nothing", "returns"),
        (Refused, "is_true", "but that is decorated as invariant; name a method without a decorator"),
        (Refused, "appends", "but that is decorated as action; name a method without a decorator"),
        (Bounded, "who", "a method, and the model has bounds: its values beyond them are not known; name a parameter"),
    ],
)
def test_a_method_that_is_no_value_of_every_step_is_refused(cls: type[Model], name: str, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        assumptions_of(cls(), {"leads": Fairness(False, (name,))})
    assert said in caught.value.message


RULE = '''
from typing import Annotated
from floodmark import Between, Model, action, always_eventually, fair, require, rule

Floor = Annotated[int, Between(0, 3)]


class Lift(Model):
    floor: Floor = 1

    @fair(strong=True, each=("goes_up", "to"))
    @action
    def moves(self, to: Floor) -> None:
        require(abs(to - self.floor) == 1)
        self.floor = to

    @rule
    def goes_up(self, to: Floor) -> bool:
        return {body}

    @always_eventually
    def is_at_the_top(self) -> bool:
        return self.floor == 3
'''


def test_a_rule_that_only_fairness_mentions_is_called_and_no_step_runs_it(tmp_path: Path) -> None:
    from floodmark.checkers.project.modules import Project

    (tmp_path / "lift.py").write_text(RULE.replace("{body}", "to > self.floor"), encoding="utf-8")
    cls = vars(Project.of(tmp_path / "lift.py").load(tmp_path / "lift.py"))["Lift"]
    require_calls(cls, [], None)
    assert {mutant.change for mutant in mutants(cls) if "goes_up" in mutant.change} == set()


def test_the_gate_checks_again_when_the_method_changes(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    model = tmp_path / "specs" / "lift.py"
    model.write_text(RULE.replace("{body}", "to > self.floor"), encoding="utf-8")
    (tmp_path / "specs" / "lift.toml").write_text('model = "lift.py:Lift"\n', encoding="utf-8")
    assert floodmark("gate", "specs", "--update-lock", at=tmp_path).code == 0
    assert "1 of 1 from the cache" in floodmark("gate", "specs", at=tmp_path).out
    model.write_text(RULE.replace("{body}", "to > self.floor and to > 1"), encoding="utf-8")
    assert "0 of 1 from the cache" in floodmark("gate", "specs", at=tmp_path).out


def test_a_method_whose_values_have_no_capacity_is_refused() -> None:
    class Grows(Mail):
        log: Seq[Node] = Seq()

        def receiver(self, message: Ask | Answer) -> Seq[Node]:  # type: ignore[override]
            return self.log

    with pytest.raises(ModelError, match="delivers is fair for each receiver, but its values have no capacity"):
        assumptions_of(Grows())
