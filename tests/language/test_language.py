"""The modelling language as CPython runs it: values, places, types, and what is refused."""

from __future__ import annotations

import ast
from enum import Enum
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floodmark import (
    ActionDisabled,
    Bag,
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
    ValueOutOfRange,
    action,
    implies,
    initial,
    invariant,
    require,
    rule,
)
from floodmark.compiler.layout import lay_out
from floodmark.language.annotations import bound, resolve
from floodmark.language.model import State, opened
from floodmark.language.reference import Step, fire, holds, initial_states, parameter_types, successors
from floodmark.language.source import leading_guards, source_of
from floodmark.language.universe import universe
from floodmark.language.values import admit, order_key, running


class Broker(Identifier, count="brokers", prefix="b"):
    """A broker."""


class Colour(Enum):
    RED = 1
    GREEN = 2


Offset = Annotated[int, Between(0, "top")]


class Entry(Record):
    offset: Offset
    owner: Broker | None = None


class Node(Record):
    hw: Offset
    log: Annotated[Seq[Offset], Capacity(2)]
    seen: Set[Broker]


class Everything(Model):
    """A variable of every type, and actions that change each in place."""

    brokers = Constant(2)
    top = Constant(3)

    number: Offset = 0
    colour: Colour
    leader: Broker | None
    members: Set[Broker]
    node: Map[Broker, Node]
    log: Annotated[Seq[Entry], Capacity(2)]
    mail: Annotated[Bag[Offset], Capacity(2)]
    asked: Annotated[Set[Entry], Capacity(3)]

    @initial
    def start(self) -> None:
        self.colour = Colour.RED
        self.leader = None
        self.members = Set()
        self.node = Map({broker: Node(hw=0, log=Seq[int](), seen=Set()) for broker in Broker})
        self.log = Seq()
        self.mail = Bag()
        self.asked = Set()

    @action
    def count(self, by: Annotated[int, Between(1, 2)]) -> None:
        self.number += by

    @action
    def nested(self, broker: Broker) -> None:
        self.node[broker].hw += 1
        self.node[broker].log.append(self.node[broker].hw)
        self.node[broker].seen.add(broker)

    @action
    def join(self, broker: Broker) -> None:
        require(broker not in self.members)
        self.members.add(broker)

    @action
    def leave(self, broker: Broker) -> None:
        self.members.remove(broker)

    @action
    def append(self, owner: Broker | None) -> None:
        self.log.append(Entry(offset=len(self.log), owner=owner))

    @action
    def post(self) -> None:
        self.mail.add(1)

    @action
    def read(self) -> None:
        self.mail.remove(1)

    @action
    def copy(self) -> None:
        before = self.members
        self.members.add(Broker(1))
        assert before == Set(), "a local keeps what it was"

    @action
    def twist(self) -> None:
        local = Set([Broker(1)])
        local.add(Broker(2))

    @action
    def third(self) -> None:
        self.leader = Broker(3)

    @action
    def wrong_type(self) -> None:
        self.number = True

    @action
    def no_key(self) -> None:
        self.node[Broker.__call__(1)].hw = self.log[0].offset

    @action
    def fails(self) -> None:
        assert self.number > 0, f"the number is {self.number}"


def start() -> tuple[Everything, State]:
    model = Everything()
    ((_, state),) = initial_states(model)
    return model, state


def after(*steps: Step) -> dict[str, Any]:
    """The variables after steps from the initial state."""
    model, state = start()
    for step in steps:
        new = fire(model, state, step)
        assert new is not None
        state = new
    return dict(zip(model.variable_types, state, strict=True))


def error(*steps: Step) -> ValueOutOfRange | ModelError:
    """The error that the last step ends with; it has a line of this file."""
    with pytest.raises(ModelError) as caught:
        after(*steps)
    assert caught.value.file == __file__
    assert caught.value.line is not None
    return caught.value


B1, B2 = Broker(1), Broker(2)


class Manager(Identifier, count=2):
    """Has no prefix of its own."""


def test_an_identifier_is_shown_with_its_prefix_or_the_first_letter_of_its_class() -> None:
    assert (str(Broker(2)), str(Manager(1))) == ("b2", "m1")


def test_the_class_body_and_initial_give_the_first_state() -> None:
    _, state = start()
    assert state[:4] == (0, Colour.RED, None, Set())


def test_entries_of_maps_and_fields_of_records_can_be_assigned() -> None:
    node = after(Step("nested", {"broker": B2}))["node"]
    assert node[B1] == Node(hw=0, log=Seq[int](), seen=Set())
    assert node[B2] == Node(hw=1, log=Seq([1]), seen=Set([B2]))


def test_a_local_keeps_what_it_was() -> None:
    assert after(Step("copy"))["members"] == Set([B1])


def test_a_step_leaves_the_state_before_it_alone() -> None:
    model, state = start()
    saved = tuple(repr(value) for value in state)
    for _ in successors_until_error(model, state):
        assert tuple(repr(value) for value in state) == saved


def successors_until_error(model: Model, state: State) -> list[tuple[Step, State]]:
    found = []
    for name in ("count", "nested", "join", "append", "post", "copy"):
        for kind in _arguments(model, name):
            new = fire(model, state, Step(name, kind))
            if new is not None:
                found.append((Step(name, kind), new))
    return found


def _arguments(model: Model, name: str) -> list[dict[str, Any]]:
    kinds = parameter_types(model, type(model).methods("action")[name])
    if not kinds:
        return [{}]
    ((parameter, kind),) = kinds.items()
    return [{parameter: value} for value in universe(kind)]


def test_what_is_no_variable_cannot_be_changed_in_place() -> None:
    assert "write x = x | {e}" in str(error(Step("twist")))


def test_a_value_out_of_range_is_a_model_error() -> None:
    two = Step("count", {"by": 2})
    assert error(two, two).message == "number would become 4, outside of 0..3"
    assert "there is no Broker(3): the model has 2" in error(Step("third")).message
    assert error(Step("wrong_type")).message == "number would become True, which is not a value of 0..3"


def test_an_element_beyond_the_capacity_is_a_model_error() -> None:
    step = Step("append", {"owner": None})
    assert error(step, step, step).message == "log would hold 3 elements, more than its capacity of 2"
    full = error(Step("post"), Step("post"), Step("post"))
    assert full.message == "mail would hold 3 elements, more than its capacity of 2"


def test_removing_or_indexing_a_missing_element_is_a_model_error() -> None:
    assert "b1 is not in the set" in error(Step("leave", {"broker": B1})).message
    assert "1 is not in the bag" in error(Step("read")).message
    assert "index 0 is outside a sequence of length 0" in error(Step("no_key")).message


def test_a_failed_assert_is_a_model_error_with_its_message() -> None:
    assert error(Step("fails")).message.startswith("the number is 0")


def test_a_false_guard_gives_no_successor() -> None:
    model, state = start()
    joined = fire(model, state, Step("join", {"broker": B1}))
    assert joined is not None
    assert fire(model, joined, Step("join", {"broker": B1})) is None


def test_min_of_nothing_is_a_model_error() -> None:
    def least(model: Everything) -> bool:
        return min(entry.offset for entry in model.log) == 0

    model, state = start()
    with pytest.raises(ValueOutOfRange) as caught:
        holds(model, least, state)
    assert caught.value.file == __file__


def test_a_property_cannot_change_the_state() -> None:
    def meddles(model: Everything) -> bool:
        model.number = 1
        return True

    model, state = start()
    with pytest.raises(ModelError, match="outside of an action"):
        holds(model, meddles, state)


def test_values_are_compared_by_content() -> None:
    assert Set([B1, B2]) == Set([B2, B1])
    plain: object = {B1, B2}
    assert Set([B1, B2]) == plain
    assert Bag([2, 1, 2]) == Bag([2, 2, 1]) != Bag([1, 2])
    assert Seq([1, 2]) != Seq([2, 1])
    assert Entry(offset=1) == Entry(offset=1, owner=None) != Entry(offset=1, owner=B1)
    assert len({Set([B1, B2]), Set([B2, B1])}) == len({Entry(offset=1), Entry(offset=1)}) == 1
    assert Map({B2: 1, B1: 0}) == Map({B1: 0, B2: 1})


def test_plain_containers_stand_on_either_side() -> None:
    plain: Any = {1, 2}
    assert plain | Set({3}) == Set({3}) | plain == Set({1, 2, 3})
    assert plain & Set({2, 3}) == Set({2, 3}) & plain == Set({2})
    assert plain ^ Set({2, 3}) == Set({2, 3}) ^ plain == Set({1, 3})
    assert plain - Set({2, 3}) == Set({1, 3}) - {3} == Set({1})
    one, two = [1], [2]
    assert one + Seq(two) == Seq(one) + two == Seq([1, 2])
    with pytest.raises(TypeError):
        Set({1}) & [1]  # type: ignore[operator]


def test_sets_iterate_in_the_order_of_their_type() -> None:
    assert list(Set([Broker(10), Broker(9)])) == [Broker(9), Broker(10)]
    assert list(Set([Colour.GREEN, Colour.RED])) == [Colour.RED, Colour.GREEN]
    assert repr(Set([B2, B1])) == "{b1, b2}"


def test_records_refuse_what_they_do_not_have() -> None:
    with pytest.raises(ModelError, match="needs the field 'offset'"):
        Entry()  # type: ignore[call-arg]
    with pytest.raises(ModelError, match="has no field 'ofset'; it has offset, owner"):
        Entry(offset=1, ofset=2)  # type: ignore[call-arg]
    assert Entry(offset=1).replace(owner=B1) == Entry(offset=1, owner=B1)


def test_implies_is_material_and_a_false_require_disables() -> None:
    assert [implies(a, b) for a in (False, True) for b in (False, True)] == [True, True, False, True]
    require(True)
    with pytest.raises(ActionDisabled):
        require(False)


def test_a_rule_can_be_overridden_and_an_action_replaced() -> None:
    class Base(Model):
        n: Annotated[int, Between(0, 3)] = 0

        @rule
        def step(self) -> int:
            return 1

        @action
        def go(self) -> None:
            require(self.n == 0)
            self.n += self.step()

    class Faster(Base):
        def step(self) -> int:
            return 1 + super().step()

    class Again(Base):
        def go(self) -> None:
            super().go()
            self.n += 1

    def reached(cls: type[Model]) -> list[int]:
        model = cls()
        ((_, state),) = initial_states(model)
        return [new[0] for _, new in successors(model, state)]

    assert (reached(Base), reached(Faster), reached(Again)) == ([1], [2], [2])
    assert list(Again.methods("action")) == ["go"]


# Types.


@pytest.mark.parametrize(
    ("annotation", "codes", "text"),
    [
        (bool, 2, "bool"),
        (Offset, 4, "0..3"),
        (Colour, 2, "Colour"),
        (Broker, 2, "Broker"),
        (Broker | None, 3, "Broker | None"),
        (Colour | None, 3, "Colour | None"),
        (Set[Broker], 4, "Set[Broker]"),
        (Entry, 16, "Entry"),
        (Map[Broker, Offset], 16, "Map[Broker, 0..3]"),
        (Annotated[Seq[Offset], Capacity(2)], 64, "Seq[0..3]"),
    ],
)
def test_a_type_has_as_many_values_as_codes(annotation: Any, codes: int, text: str) -> None:
    kind = resolve(annotation, {"brokers": 2, "top": 3})
    assert (kind.codes, str(kind)) == (codes, text)
    with running(Everything()):
        values = list(universe(kind))
    assert len(values) == len(set(values)) <= codes
    assert all(admit(kind, value, "x") == value for value in values)
    assert len({order_key(value) for value in values}) == len(values)
    assert sorted(values, key=order_key) == values or text.startswith("Seq")


def test_a_bag_may_have_each_number_of_each_element() -> None:
    values = list(universe(resolve(Annotated[Bag[bool], Capacity(2)], {})))
    assert len(set(values)) == len(values) == 6


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (int, "an integer needs bounds"),
        (str, "is not a type of the modelling language"),
        (Seq[bool], "a sequence needs a capacity"),
        (Bag[bool], "a bag needs a capacity"),
        (int | bool, "an integer needs bounds"),
        (bool | Annotated[int, Between(0, 1)], "a union is T [|] None, or of records"),
        (Annotated[int, Between(2, 1)], "contain no integer"),
        (Annotated[int, Between(0, "tpo")], "the bound names the constant 'tpo'"),
        (Annotated[int, Between(0, "top **")], "is not an expression over constants"),
        (Set[Annotated[int, Between(0, 5000)]], "needs a capacity"),
    ],
)
def test_types_that_are_not_finite_are_refused(annotation: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        resolve(annotation, {"brokers": 2, "top": 3})


def test_bounds_are_expressions_over_constants() -> None:
    assert bound("2 * brokers - 1 + -top // 2", {"brokers": 3, "top": 3}) == 2 * 3 - 1 + -3 // 2


def test_constants_are_checked_by_name_and_type() -> None:
    assert Everything(top=1).constant_values == {"brokers": 2, "top": 1}
    with pytest.raises(ModelError, match="has no constant 'tpo'; it has brokers, top"):
        Everything(tpo=1)
    with pytest.raises(ModelError, match="needs int"):
        Everything(top=True)

    class Needs(Model):
        size: Constant[int] = Constant()

    with pytest.raises(ModelError, match="the constant 'size' of Needs has no value"):
        Needs()


def test_a_variable_that_initial_forgets() -> None:
    class Forgets(Model):
        here: bool
        there: bool

        @initial
        def start(self) -> None:
            self.here = True

    with pytest.raises(ModelError, match="no @initial method sets the variable 'there'"):
        list(initial_states(Forgets()))


# Draws.


class Shop(Model):
    """Actions with and without draws that mean the same."""

    brokers = Constant(2)
    top = Constant(2)
    asked: Set[Entry]
    open: Set[Broker]

    @initial
    def start(self) -> None:
        self.asked = Set()
        self.open = Set()

    @action
    def ask(self, offset: Offset, owner: Broker | None) -> None:
        require(len(self.asked) < 3)
        self.asked.add(Entry(offset=offset, owner=owner))

    @action
    def toggle(self, broker: Broker) -> None:
        self.open ^= {broker}

    @action
    def drawn(self, broker: Broker, entry: Entry) -> None:
        require(broker in self.open and entry in self.asked)
        require(entry.owner == broker)
        self.asked.discard(entry)

    @action
    def enumerated(self, broker: Broker, entry: Entry) -> None:
        allowed = broker in self.open
        require(allowed and entry in self.asked)
        require(entry.owner == broker)
        self.asked.discard(entry)


@st.composite
def shops(draw: st.DrawFn) -> tuple[Shop, State]:
    model = Shop()
    with running(model):
        entries = list(universe(resolve(Entry, model.constant_values)))
    asked = draw(st.sets(st.sampled_from(entries), max_size=3))
    return model, (Set(asked), Set(draw(st.sets(st.sampled_from([B1, B2])))))


@settings(max_examples=50)
@given(shops())
def test_draws_find_what_full_enumeration_finds(shop: tuple[Shop, State]) -> None:
    model, state = shop
    found: dict[str, set[tuple[str, State]]] = {"drawn": set(), "enumerated": set()}
    for step, new in successors(model, state):
        if step.action in found:
            found[step.action].add((str(Step("", step.arguments)), new))
    assert found["drawn"] == found["enumerated"]
    assert len(found["drawn"]) == sum(entry.owner in state[1] for entry in state[0])


def test_leading_guards_are_the_requires_that_open_an_action() -> None:
    guards, count = leading_guards(source_of(Shop.drawn))
    assert (len(guards), count) == (3, 2)
    assert leading_guards(source_of(Shop.enumerated)) == ([], 0)


@settings(max_examples=50)
@given(shops())
def test_a_packed_state_unpacks_to_the_state(shop: tuple[Shop, State]) -> None:
    model, state = shop
    layout = lay_out(model.variable_types)
    with running(model):
        assert layout.unpack(layout.pack(state)) == state


def test_the_second_draw_is_from_the_state_before_the_step() -> None:
    class Pairs(Model):
        brokers = Constant(2)
        left: Set[Broker]
        right: Set[Broker]

        @initial
        def start(self) -> None:
            self.left = Set(Broker)
            self.right = Set(Broker)

        @action
        def pair(self, a: Broker, b: Broker) -> None:
            require(a in self.left and b in self.right)
            self.left.discard(a)
            self.right = Set()

    model = Pairs()
    ((_, state),) = initial_states(model)
    assert len(list(successors(model, state))) == 4


def test_an_error_has_the_line_of_the_model() -> None:
    class Wrong(Model):
        n: Annotated[int, Between(0, 1)] = 0

        @action
        def go(self) -> None:
            self.n = 1
            self.n += 1  # this line

        @invariant
        def fine(self) -> bool:
            return True

    model = Wrong()
    ((_, state),) = initial_states(model)
    with pytest.raises(ValueOutOfRange) as caught:
        list(successors(model, state))
    assert caught.value.line is not None
    with open(__file__, encoding="utf-8") as source:
        assert "this line" in source.readlines()[caught.value.line - 1]


def test_variables_of_every_base_class_belong_to_the_state() -> None:
    class Left(Model):
        left: bool = False

    class Right(Model):
        right: bool = True

    class Both(Left, Right):
        own: bool = False

    model = Both()
    assert set(model.variable_types) == {"left", "right", "own"}
    assert next(initial_states(model))[1] == model.snapshot()


class Hanging(Model):
    """A method may have lines that stand further left than it does."""

    n: Annotated[int, Between(0, 1)]

    @initial
    def start(self) -> None:
        self.n = max(0,
 0)


def test_lines_may_hang_to_the_left() -> None:
    found = source_of(Hanging.start)
    assert found.tree.body[0].lineno == found.tree.lineno + 1
    assert ast.unparse(found.tree.body[0]) == "self.n = max(0, 0)"


class Held(Model):
    brokers = Constant(2)
    by: Broker | None = None


class Managed(Model):
    by: Manager | None = None


def test_only_a_model_without_constants_has_any_number_of_identifiers_when_none_is_left_open() -> None:
    counted, any_number = (opened(model, [], any_size=True).variable_types["by"] for model in (Held(), Managed()))
    assert counted == Held().variable_types["by"]
    assert any_number != Managed().variable_types["by"] and str(any_number) == "Manager | None"
