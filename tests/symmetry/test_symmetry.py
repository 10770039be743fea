"""Symmetry: orbits are counted right, verdicts stay, and a model that tells identifiers apart is refused."""

from __future__ import annotations

import itertools
import re
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

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
    boundary,
    implies,
    initial,
    invariant,
    reachable,
    require,
    transition,
)
from floodmark.checkers.codegen.permutation import _ties
from floodmark.checkers.native import search as native_engine
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import collect
from floodmark.checkers.reference import search as reference
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.checkers.symmetry import proof
from floodmark.language.errors import ModelError
from floodmark.language.model import State
from floodmark.language.reference import fire
from specs.examples.two_phase_commit import ResourceManager, TwoPhaseCommit
from tests.support.agreement import reference_set
from tests.support.broken import action_text, load, marked_lines, model_text, property_text, search
from tests.support.command import floodmark
from tests.support.projects import write


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


class Elects(Base):
    """A map that relates identifiers, beside a set and a record that say something of each alone."""

    members: Set[Node]
    votes: Map[Node, Node | None]
    letter: Letter | None

    @initial
    def start(self) -> None:
        self.members = Set()
        self.votes = Map({node: None for node in Node})
        self.letter = None

    @action
    def join(self, node: Node) -> None:
        require(len(self.members) < 2)
        self.members.add(node)

    @action
    def vote(self, node: Node, other: Node) -> None:
        require(node in self.members and self.votes[node] is None)
        self.votes[node] = other

    @action
    def write(self, node: Node, other: Node) -> None:
        require(self.letter is None and self.votes[node] == other)
        self.letter = Letter(sender=node, receiver=other, colour=Colour.RED)


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


def native(cls: type[Model], symmetry: bool, workers: int = 1, **constants: int) -> SearchResult:
    properties = list(collect(cls, ()).values())
    return search_states(cls(**constants), properties, Options(workers=workers, symmetry=symmetry))


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "constants", "counts"),
    [pytest.param(*case, marks=[pytest.mark.slow] if case[:2] == (Sets, {"nodes": 3}) else []) for case in CASES],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_symmetric_search_counts_orbits(
    cls: type[Model], constants: dict[str, int], counts: dict[type[Identifier], int]
) -> None:
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
    plain = reference.search_states(cls(**constants), list(collect(cls, ()).values()), Options(symmetry=True))
    assert (plain.digest, plain.distinct, plain.levels) == (reduced.digest, reduced.distinct, reduced.levels)


@pytest.mark.parametrize(("cls", "nodes"), [(Elects, 3), (Chosen, 4)])
def test_a_small_symmetric_search_counts_orbits(cls: type[Model], nodes: int) -> None:
    states, _, _ = reference_set(cls(nodes=nodes))
    assert native(cls, True, nodes=nodes).distinct == orbits(states, {Node: nodes}) < len(states)


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


@pytest.mark.slow
@pytest.mark.parametrize(("managers", "orbits_of"), [(2, 34), (3, 80), (4, 166)])
def test_two_phase_commit_has_the_orbits_of_brute_force(managers: int, orbits_of: int) -> None:
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
    message = refused(tmp_path, text)
    assert "is named here, so the model is not symmetric; use symmetry = false" in message
    assert "with n1 and n2 swapped" in message
    search(load(tmp_path, text))


ORDERED = {
    "the first of a loop": action_text(
        "for n in Node:\n    if n not in self.some:\n        self.node = n\n        break  #!"
    ),
    "the last of a loop": action_text("for n in Node:\n    if n not in self.some:\n        self.node = n  #!"),
    "a sequence in the order of a set": (
        "order: Annotated[Seq[Node], Capacity(4)] = Seq()\n\n" + action_text("self.order = Seq(self.some)  #!")
    ),
    "the first of a set": action_text("for n in self.some:\n    self.node = n\n    return  #!"),
    "a sum that counts places": action_text(
        "place = 0\nfor n in Node:\n    place += 1  #!\n    if n == self.node:\n        self.x = place"
    ),
}
JOIN = "\n\n@action\ndef join(self, n: Node) -> None:\n    self.some.add(n)\n\n"
CHOOSE = (
    "@action\ndef choose(self, n: Node) -> None:\n    self.node = n\n\n"
    "@action\ndef mark(self, n: Node) -> None:\n    self.per[n] = 1"
)
ENGINES = {
    "native": native_engine,
    "reference": reference,
}


def refused(tmp_path: Path, text: str, engine: Any = native_engine, **constants: int) -> str:
    """The message of the refusal, which has to name the marked line."""
    with pytest.raises(ModelError) as caught:
        search(load(tmp_path, text), engine, Options(workers=1, symmetry=True), **constants)
    assert [caught.value.line] == marked_lines(text), caught.value.message
    return caught.value.message


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ORDERED)
def test_a_loop_that_depends_on_the_order_is_refused(tmp_path: Path, name: str, engine: str) -> None:
    text = model_text(ORDERED[name] + JOIN + CHOOSE)
    for nodes in (2, 3):
        message = refused(tmp_path, text, ENGINES[engine], nodes=nodes)
        assert "in the order of the numbers of Node" in message
        assert "so the model is not symmetric; use symmetry = false" in message
        assert re.search(r"step\(\) .* with n\d and n\d swapped, step\(\)", message)
    search(load(tmp_path, text), nodes=2)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_property_that_depends_on_the_order_is_refused(tmp_path: Path, engine: str) -> None:
    first = "if len(self.some) < 2:\n    return True\nfor n in self.some:\n    return n != self.node  #!\nreturn True"
    text = model_text(JOIN.strip() + "\n\n" + CHOOSE + "\n\n" + property_text(first))
    message = refused(tmp_path, text, ENGINES[engine])
    assert re.search(r"checked is (true|false); with n1 and n2 swapped, it is (true|false)", message)


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


RARE = """\
i: Annotated[int, Between(0, 20)] = 0
j: Annotated[int, Between(0, 20)] = 0
favoured: Node | None = None
leader: Node | None = None

@action
def favour(self, n: Node) -> None:
    require(self.favoured is None)
    self.favoured = n

@action
def count_i(self) -> None:
    require(self.i < 20)
    self.i += 1

@action
def count_j(self) -> None:
    require(self.j < 20)
    self.j += 1

@action
def elect(self) -> None:
    require(self.i == 20 and self.j == 20 and self.leader is None and self.favoured is not None)
    for n in Node:
        self.leader = n
        break  #!

@invariant
def never_the_favoured(self) -> bool:
    return self.leader is None or self.leader != self.favoured

@invariant
def always_the_favoured(self) -> bool:
    return self.leader is None or self.leader == self.favoured
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_favoured_in_a_rare_state_only_is_refused(tmp_path: Path, engine: str) -> None:
    message = refused(tmp_path, model_text(RARE), ENGINES[engine], nodes=3)
    assert "where i = 20, j = 20, favoured = n" in message
    assert search(load(tmp_path, model_text(RARE)), nodes=3).violations


def test_the_first_live_server_is_refused_however_many_there_are(tmp_path: Path) -> None:
    """In the states that stand for orbits the live ones may always stand last, and only those were compared once."""
    text = model_text(
        "live: Set[Node] = Set()\nlead: Node | None = None\n\n"
        + "@action\ndef start_one(self, n: Node) -> None:\n    require(len(self.live) < 2)\n    self.live.add(n)\n\n"
        + action_text("for n in Node:\n    if n in self.live:\n        self.lead = n\n        return  #!")
    )
    for nodes in (2, 3, 4):
        refused(tmp_path, text, nodes=nodes)


def test_a_name_in_a_file_of_invariants_is_refused(tmp_path: Path) -> None:
    text = model_text(JOIN.strip()) + "\n\n@invariant\ndef named(m: M) -> bool:\n    return Node(2) not in m.some  #!\n"
    assert "Node(2) is named here" in refused(tmp_path, text)


def test_a_known_bad_design_needs_a_symmetry_proof_of_its_own(tmp_path: Path) -> None:
    chosen = "@rule\ndef next(self, n: Node) -> Node:\n    return n\n\n"
    base = model_text(chosen + action_text("self.node = self.next(n)", "n: Node"))
    text = base.replace("class M(", "class Good(") + (
        "\n\nclass M(Good):\n    def next(self, n: Node) -> Node:\n        return Node(1)  #!\n"
    )
    module = load(tmp_path, text)
    assert reference.search_states(module.Good(nodes=3), [], Options(symmetry=True)).complete
    refused(tmp_path, text)


def test_z3_proves_symmetries_that_the_source_does_not_show(tmp_path: Path) -> None:
    """All are named, or the order of a loop is undone."""
    text = model_text(
        action_text("require(self.node in (Node(1), Node(2), Node(3)))\nself.x = 1")
        + "\n\n@action\ndef other(self) -> None:\n    for n in Node:\n        if n in self.some:\n"
        "            self.x = 2\n            break\n\n" + JOIN.strip() + "\n\n" + CHOOSE
    )
    options = Options(workers=1, symmetry=True)
    found, plain = search(load(tmp_path, text), options=options, nodes=3), search(load(tmp_path, text), nodes=3)
    states, _, _ = reference_set(load(tmp_path, text).M(nodes=3))
    assert found.complete
    assert found.distinct < plain.distinct == len(states)
    refused(tmp_path, text.replace("(Node(1), Node(2), Node(3)))", "(Node(1), Node(2)))  #!"), nodes=3)


def test_a_property_that_fails_or_is_true_by_the_order_is_refused(tmp_path: Path) -> None:
    """Where one entry makes it true and another makes it fail, the first of the two decides."""
    text = model_text(CHOOSE + "\n\n" + property_text("return any(2 // self.per[n] == 2 for n in Node)  #!"))
    assert re.search(r"checked (is true|fails); with n1 and n2 swapped, it (is true|fails)", refused(tmp_path, text))


def test_without_an_answer_of_z3_a_model_counts_as_asymmetric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "cache"))
    text = model_text(action_text("require(self.node in (Node(1), Node(2)))  #!\nself.x = 1"))
    with monkeypatch.context() as patch:
        patch.setattr(proof, "MAX_EFFORT", 0)
        message = refused(tmp_path, text)
        assert "so the model may not be symmetric" in message
    assert search(load(tmp_path, text), options=Options(workers=1, symmetry=True)).complete


def test_a_proof_is_kept_for_the_same_part_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOODMARK_CACHE", str(tmp_path / "cache"))
    options = Options(symmetry=True)
    text = model_text(action_text("require(self.node in (Node(1), Node(2)))  #!\nself.x = 1"))
    search(load(tmp_path, text), reference, options)
    with monkeypatch.context() as patch:
        asked = "floodmark.checkers.symmetry.obligations.SymmetryProver.doubt"
        patch.setattr(asked, lambda *_: pytest.fail("z3 was asked again"))
        search(load(tmp_path, text), reference, options)
    refused(tmp_path, text, reference, nodes=3)
    refused(tmp_path, text.replace("(Node(1), Node(2))", "(Node(1),)"), reference)


def test_types_of_one_name_are_renamed_separately(tmp_path: Path) -> None:
    text = model_text("ours: Set[Node] = Set()\ntheirs: Set[Place.Node] = Set()\n\n"
                      "@action\ndef join_ours(self, n: Node) -> None:\n    self.ours.add(n)\n\n"
                      "@action\ndef join_theirs(self, n: Place.Node) -> None:\n    self.theirs.add(n)\n")
    other = "class Place:\n    class {}(Identifier, count=2):\n        pass\n\n\n"
    named_alike = text.replace("class Node(", other.format("Node") + "class Node(", 1)
    for engine in (native_engine, reference):
        with pytest.raises(ModelError, match="rename one"):
            search(load(tmp_path, named_alike), engine, Options(symmetry=True), nodes=3)
    text = text.replace("class Node(", other.format("Other") + "class Node(", 1).replace("Place.Node", "Place.Other")
    found = search(load(tmp_path, text), native_engine, Options(workers=1, symmetry=True), nodes=3)
    assert found.distinct == 4 * 3
    assert search(load(tmp_path, text), reference, Options(symmetry=True), nodes=3).digest == found.digest


def test_a_symmetry_with_too_many_renamings_is_refused(tmp_path: Path) -> None:
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
