"""Symmetry: orbits are counted right, verdicts stay, and a model that tells identifiers apart is refused."""

from __future__ import annotations

import itertools
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import pytest

from checkers import reference
from checkers.explicit.permutation import _ties
from checkers.explicit.search import explore
from checkers.exploration import Exploration, Options
from checkers.properties import collect
from model.language import (
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
    boundary,
    implies,
    initial,
    invariant,
    reachable,
    require,
    transition,
)
from model.language.errors import ModelError
from model.language.model import State
from model.language.reference import fire
from specs.examples.two_phase_commit import ResourceManager, TwoPhaseCommit
from tests.agreement import reference_set
from tests.broken import action_text, load, model_text, property_text, search
from tests.projects import write
from tests.test_cli import floodmark


class Node(Identifier, count="nodes", prefix="n"):
    pass


class Item(Identifier, count="items", prefix="i"):
    pass


class Colour(Enum):
    RED = 1
    GREEN = 2


Small = Annotated[int, Between(0, 2)]


class Letter(Record):
    sender: Node
    receiver: Node | None
    colour: Colour


class Base(Model):
    nodes = Constant(3)
    items = Constant(2)


class Sets(Base):
    """Sets of identifiers, of optionals, of records and of sets."""

    some: Set[Node]
    maybe: Set[Node | None]
    groups: Set[Set[Node]]
    letters: Set[Letter]

    @initial
    def start(self) -> None:
        self.some = Set()
        self.maybe = Set()
        self.groups = Set()
        self.letters = Set()

    @action
    def join(self, node: Node) -> None:
        require(node not in self.some)
        self.some.add(node)

    @action
    def wonder(self, node: Node | None) -> None:
        require(len(self.maybe) < 2 and len(self.some) == 1 and node not in self.maybe)
        self.maybe.add(node)

    @action
    def group(self) -> None:
        require(len(self.groups) < 2)
        self.groups.add(self.some)

    @action
    def write(self, node: Node, other: Node) -> None:
        require(len(self.letters) < 1 and node in self.some and len(self.groups) == 1)
        receiver = None if node == other else other
        self.letters.add(Letter(sender=node, receiver=receiver, colour=Colour.GREEN))

    @invariant
    def who_writes_is_in(self) -> bool:
        return all(letter.sender in self.some for letter in self.letters)

    @reachable
    def writes_to_itself(self) -> bool:
        return any(letter.receiver is None for letter in self.letters)


class Maps(Base):
    """Maps from and to identifiers, with records and sequences inside."""

    votes: Map[Node, Node | None]
    logs: Map[Node, Annotated[Seq[Node], Capacity(2)]]
    best: Map[Node, Small]
    leader: Node | None

    @initial
    def start(self) -> None:
        self.votes = Map({node: None for node in Node})
        self.logs = Map({node: Seq() for node in Node})
        self.best = Map({node: 0 for node in Node})
        self.leader = None

    @action
    def vote(self, voter: Node, candidate: Node) -> None:
        require(self.votes[voter] is None)
        self.votes[voter] = candidate

    @action
    def lead(self, node: Node) -> None:
        require(self.leader is None and sum(1 for voter in Node if self.votes[voter] == node) >= 2)
        self.leader = node

    @action
    def note(self, node: Node) -> None:
        require(self.leader is not None and len(self.logs[node]) < 1)
        self.logs[node].append(self.leader)  # type: ignore[arg-type]
        self.best[node] = 2 if node == self.leader else 1

    @invariant
    def only_the_leader_is_best(self) -> bool:
        return all(implies(self.best[node] == 2, node == self.leader) for node in Node)

    @transition
    def leaders_stay(self, new: Maps) -> bool:
        return implies(self.leader is not None, new.leader == self.leader)


class Flawed(Maps):
    @invariant
    def nobody_is_best(self) -> bool:
        return all(self.best[node] != 2 for node in Node)


class FlawedStep(Maps):
    @transition
    def nobody_notes(self, new: Maps) -> bool:
        return new.logs == self.logs


class Slots(Base):
    """Slotted sets and bags of records, a sequence of identifiers."""

    letters: Annotated[Set[Letter], Capacity(2)]
    bag: Annotated[Bag[Node], Capacity(3)]
    order: Annotated[Seq[Node], Capacity(2)]

    @initial
    def start(self) -> None:
        self.letters = Set()
        self.bag = Bag()
        self.order = Seq()

    @action
    def write(self, node: Node, other: Node) -> None:
        require(len(self.letters) < 2 and len(self.order) == 0)
        self.letters.add(Letter(sender=node, receiver=other, colour=Colour.RED if node == other else Colour.GREEN))

    @action
    def throw(self, letter: Letter) -> None:
        require(letter in self.letters and len(self.bag) < 3)
        self.bag.add(letter.sender)

    @action
    def take(self, node: Node) -> None:
        require(node in self.bag and len(self.order) < 2)
        self.bag.remove(node)
        self.order.append(node)

    @boundary
    def small(self) -> bool:
        return len(self.bag) + len(self.order) < 3

    @invariant
    def whoever_is_ordered_has_written(self) -> bool:
        return all(any(letter.sender == node for letter in self.letters) for node in self.order)


class TwoKinds(Base):
    """Two kinds of identifiers, related by maps, sets and records."""

    owner: Map[Item, Node | None]
    wishes: Map[Node, Set[Item]]
    last: Item | None

    @initial
    def start(self) -> None:
        self.owner = Map({item: None for item in Item})
        self.wishes = Map({node: Set() for node in Node})
        self.last = None

    @action
    def wish(self, node: Node, item: Item) -> None:
        require(item not in self.wishes[node])
        self.wishes[node].add(item)

    @action
    def give(self, node: Node, item: Item) -> None:
        require(item in self.wishes[node] and self.owner[item] is None)
        self.owner[item] = node
        self.last = item

    @action
    def drop(self, item: Item) -> None:
        require(self.owner[item] is not None and self.last != item)
        self.owner[item] = None

    @invariant
    def owners_wished(self) -> bool:
        return all((node == self.owner[item] and item in self.wishes[node]) or node != self.owner[item]
                   for item in Item for node in Node)


class Chosen(Base):
    """The first state may name an identifier: what counts is which orbits are reached."""

    leader: Node
    seen: Set[Node]

    @initial
    def start(self) -> None:
        self.leader = Node(1)
        self.seen = Set({Node(1)})

    @action
    def move(self, node: Node) -> None:
        require(node not in self.seen)
        self.leader = node
        self.seen.add(node)

    @invariant
    def leader_was_seen(self) -> bool:
        return self.leader in self.seen


# The oracle: renames by hand what CPython reaches, with nothing of the compiler.


def renamed(value: Any, names: dict[Identifier, Identifier]) -> Any:
    match value:
        case Identifier():
            return names[value]
        case Record():
            return value.build({name: renamed(item, names) for name, item in value._values.items()})
        case Map():
            return Map({renamed(key, names): renamed(item, names) for key, item in value.items()})
        case Set():
            return Set(renamed(item, names) for item in value)
        case Bag():
            return Bag(renamed(item, names) for item in value)
        case Seq():
            return Seq(renamed(item, names) for item in value)
    return value


def renamings(counts: dict[type[Identifier], int]) -> list[dict[Identifier, Identifier]]:
    kinds = [[cls(number) for number in range(1, count + 1)] for cls, count in counts.items()]
    orders = itertools.product(*(itertools.permutations(kind) for kind in kinds))
    flat = list(itertools.chain(*kinds))
    return [dict(zip(flat, itertools.chain(*order), strict=True)) for order in orders]


def orbits(states: set[State], counts: dict[type[Identifier], int]) -> int:
    """How many of the states differ by more than names; the whole orbit of each has to be reached or not at all."""
    every = renamings(counts)
    left, found = set(states), 0
    while left:
        state = left.pop()
        left -= {tuple(renamed(value, names) for value in state) for names in every}
        found += 1
    return found


def native(cls: type[Model], symmetry: bool, workers: int = 1, **constants: int) -> Exploration:
    properties = list(collect(cls, ()).values())
    return explore(cls(**constants), properties, Options(workers=workers, symmetry=symmetry))


CASES: list[tuple[type[Model], dict[str, int], dict[type[Identifier], int]]] = [
    (Sets, {"nodes": 2}, {Node: 2}),
    (Sets, {"nodes": 3}, {Node: 3}),
    (Maps, {"nodes": 2}, {Node: 2}),
    (Maps, {"nodes": 3}, {Node: 3}),
    (Slots, {"nodes": 2}, {Node: 2}),
    (Slots, {"nodes": 3}, {Node: 3}),
    (TwoKinds, {"nodes": 2, "items": 2}, {Node: 2, Item: 2}),
    (TwoKinds, {"nodes": 1, "items": 3}, {Node: 1, Item: 3}),
    (TwoKinds, {"nodes": 3, "items": 1}, {Node: 3, Item: 1}),
    (Chosen, {"nodes": 4}, {Node: 4}),
]


@pytest.mark.parametrize(("cls", "constants", "counts"), CASES, ids=lambda value: getattr(value, "__name__", None))
def test_orbits_are_counted(cls: type[Model], constants: dict[str, int], counts: dict[type[Identifier], int]) -> None:
    states, _, depth = reference_set(cls(**constants))
    whole, reduced = native(cls, False, **constants), native(cls, True, **constants)
    assert whole.distinct == len(states)
    assert reduced.distinct == orbits(states, counts)
    assert reduced.distinct < len(states)
    assert reduced.complete == whole.complete
    assert {v.property for v in reduced.violations} == {v.property for v in whole.violations}
    assert set(reduced.reached) == set(whole.reached)
    assert {(p.property, p.line) for p in reduced.vacuous} == {(p.property, p.line) for p in whole.vacuous}
    if whole.complete:
        assert reduced.depth == whole.depth == depth
        assert {name for name, times in reduced.actions.items() if times} == {
            name for name, times in whole.actions.items() if times
        }
    for workers in (2, 3):
        again = native(cls, True, workers, **constants)
        assert (again.digest, again.levels, again.actions) == (reduced.digest, reduced.levels, reduced.actions)
    plain = reference.explore(cls(**constants), list(collect(cls, ()).values()), Options(symmetry=True))
    assert (plain.digest, plain.distinct, plain.levels) == (reduced.digest, reduced.distinct, reduced.levels)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_ways_keep_ties_together(count: int) -> None:
    ways, starts = _ties(count)
    for ties in range(1 << (count - 1)):
        mine = {tuple(way >> 4 * place & 15 for place in range(count)) for way in ways[starts[ties] : starts[ties + 1]]}
        runs = [0]
        for place in range(1, count):
            runs.append(runs[-1] + (not ties >> (place - 1) & 1))
        wanted = itertools.permutations(range(count))
        assert mine == {way for way in wanted if all(runs[place] == runs[image] for place, image in enumerate(way))}


@pytest.mark.parametrize(("managers", "orbits_of"), [(2, 34), (3, 80), (4, 166)])
def test_orbits_of_two_phase_commit(managers: int, orbits_of: int) -> None:
    found = native(TwoPhaseCommit, True, managers=managers)
    whole = native(TwoPhaseCommit, False, managers=managers)
    states, _, _ = reference_set(TwoPhaseCommit(managers=managers))
    assert found.distinct == orbits(states, {ResourceManager: managers})
    assert found.depth == whole.depth
    assert (found.violations, found.reached) == (whole.violations, whole.reached)
    assert found.distinct == orbits_of


@pytest.mark.parametrize("workers", [1, 2])
def test_a_trace_under_symmetry_is_a_run(workers: int) -> None:
    for cls in (Flawed, FlawedStep):
        plain, found = native(cls, False), native(cls, True, workers)
        assert len(found.violations[0].trace) == len(plain.violations[0].trace)
        model = cls()
        for before, after in itertools.pairwise(found.violations[0].trace):
            assert fire(model, before.state, after.step) == after.state


# What tells identifiers apart.


@pytest.mark.parametrize(
    "body",
    [
        action_text("require(self.node == Node(1))  #!\nself.x = 1"),
        action_text("if n == Node(2):  #!\n    self.x = 1", "n: Node"),
        action_text("self.node = Node(1)  #!"),
        action_text("self.some.add(Node(2))  #!"),
        action_text("self.x = self.per[Node(1)]  #!"),
        action_text("for n in Node:\n    if n in self.some:\n        self.per[Node(1)] = 1  #!"),
        action_text("self.some = {n for n in Node if n != Node(1)}  #!"),
        "@rule\ndef first(self) -> Node:\n    return Node(1)  #!\n\n" + action_text("self.node = self.first()"),
        property_text("return self.node != Node(1)  #!"),
        property_text("return Node(1) not in self.some  #!", "reachable"),
        property_text("return new.node != Node(1)  #!", "transition", "self, new"),
        property_text("return self.node != Node(1)  #!", "boundary"),
    ],
)
def test_a_named_identifier_is_refused(tmp_path: Path, body: str) -> None:
    text = model_text(body)
    options = Options(workers=1, symmetry=True)
    with pytest.raises(ModelError) as caught:
        search(load(tmp_path, text), options=options)
    marked = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("#!")]
    assert [caught.value.line] == marked
    assert "is named here, so the model is not symmetric; use symmetry = false" in caught.value.message
    search(load(tmp_path, text))


ORDERED = {
    "the first of a loop": action_text(
        "for n in Node:\n    if n not in self.some:\n        self.node = n\n        break"
    ),
    "the last of a loop": action_text("for n in Node:\n    if n not in self.some:\n        self.node = n"),
    "a sequence in the order of a set": (
        "order: Annotated[Seq[Node], Capacity(4)] = Seq()\n\n" + action_text("self.order = Seq(self.some)")
    ),
    "the first of a set": action_text("for n in self.some:\n    self.node = n\n    return"),
    "a sum that counts places": action_text(
        "place = 0\nfor n in Node:\n    place += 1\n    if n == self.node:\n        self.x = place"
    ),
}
JOIN = "\n\n@action\ndef join(self, n: Node) -> None:\n    self.some.add(n)\n\n"
CHOOSE = (
    "@action\ndef choose(self, n: Node) -> None:\n    self.node = n\n\n"
    "@action\ndef mark(self, n: Node) -> None:\n    self.per[n] = 1"
)


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("nodes", [2, 3])
def test_a_loop_that_depends_on_the_order_is_refused(tmp_path: Path, name: str, nodes: int) -> None:
    text = model_text(ORDERED[name] + JOIN + CHOOSE)
    line = text.splitlines().index("    def step(self) -> None:") + 1
    module = load(tmp_path, text)
    for workers in (1, 2):
        with pytest.raises(ModelError) as caught:
            search(module, options=Options(workers=workers, symmetry=True), nodes=nodes)
        assert (caught.value.line, caught.value.file) == (line, module.__file__)
        assert "the action step tells one Node from another" in caught.value.message
    search(module, nodes=nodes)


def test_a_property_that_depends_on_the_order_is_refused(tmp_path: Path) -> None:
    first = "if len(self.some) < 2:\n    return True\nfor n in self.some:\n    return n != self.node\nreturn True"
    text = model_text(JOIN.strip() + "\n\n" + CHOOSE + "\n\n" + property_text(first))
    with pytest.raises(ModelError) as caught:
        search(load(tmp_path, text), options=Options(workers=1, symmetry=True))
    assert "tells one Node from another" in caught.value.message


@pytest.mark.parametrize(
    "statements",
    [
        "for n in Node:\n    if n not in self.some:\n        self.x = 1\n        break",
        "for n in self.some:\n    self.per[n] = 1",
        "self.some = {n for n in Node if n not in self.some}",
        "self.x = min(self.per[n] for n in Node)",
        "count = 0\nfor n in Node:\n    if n in self.some:\n        count += 1\nself.x = count",
    ],
)
def test_a_loop_that_does_not_is_not(tmp_path: Path, statements: str) -> None:
    body = action_text(statements) + JOIN + CHOOSE
    options = Options(workers=2, symmetry=True)
    assert search(load(tmp_path, model_text(body)), options=options, nodes=3).complete


def test_an_asymmetry_that_is_reached_late(tmp_path: Path) -> None:
    """The sample is not only of the beginning."""
    late = "require(self.steps >= 20)\nfor n in Node:\n    if n in self.some:\n        self.node = n"
    go = "@action\ndef go(self) -> None:\n    require(self.steps < 24)\n    self.steps += 1"
    body = ["steps: Annotated[int, Between(0, 24)] = 0", action_text(late), JOIN.strip(), CHOOSE, go]
    text = model_text("\n\n".join(body))
    with pytest.raises(ModelError):
        search(load(tmp_path, text), options=Options(workers=1, symmetry=True), nodes=3)


def test_too_many_renamings(tmp_path: Path) -> None:
    text = model_text(JOIN.strip())
    with pytest.raises(ModelError) as caught:
        search(load(tmp_path, text), options=Options(workers=1, symmetry=True), nodes=8)
    assert "use symmetry = false" in caught.value.message
    assert caught.value.line == text.splitlines().index("class M(Model):") + 1


def test_the_command_refuses_it_in_one_line(tmp_path: Path) -> None:
    checked = "\n\n" + property_text("return self.x < 4")
    texts = {"named": model_text(action_text("self.node = Node(1)") + checked)}
    texts["ordered"] = model_text(ORDERED["the first of a loop"] + JOIN + CHOOSE + checked)
    for name, text in texts.items():
        write(tmp_path, {f"specs/{name}.toml": f'model = "model.{name}:M"\nsymmetry = true\n', f"model/{name}.py": ""})
        (tmp_path / f"model/{name}.py").write_text(text, encoding="utf-8")
    ended = floodmark("check", "--workers", "1", at=tmp_path)
    assert ended.code == 2
    for name in texts:
        assert ended.out.count(f"model/{name}.py:") == 1
        assert "symmetry = false" in ended.out
