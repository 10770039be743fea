"""Tests that a map keyed by records has an entry for each value of its key, in every engine."""

from __future__ import annotations

from typing import Annotated

import pytest

from floodmark import Between, Capacity, Map, Model, Seq, Set, action
from floodmark.checkers.native.search import search_states
from floodmark.checkers.project.properties import collect
from floodmark.checkers.reference import search
from floodmark.checkers.search_result import Options
from floodmark.compiler.layout import decode, encode
from floodmark.compiler.program import read_program
from floodmark.language.annotations import resolve
from floodmark.language.errors import ModelError
from floodmark.language.universe import universe
from floodmark.language.values import order_key
from tests.support.agreement import assert_agrees
from tests.support.engines import on_spark
from tests.support.record_keys import MODELS, Ballot, Circle, Seat, Seats, Server
from tests.support.symbolic_agreement import assert_steps_agree

Flag = Annotated[int, Between(0, 2)]


class Plain(Model):
    """The constants that the types below are resolved with."""


@pytest.mark.parametrize("cls", [
    pytest.param(cls, id=cls.__name__, marks=[pytest.mark.slow] if cls is Seats else []) for cls in MODELS
])
def test_compiled_code_reaches_what_cpython_reaches(cls: type[Model]) -> None:
    found = assert_agrees(cls)
    assert not found.violations and all(times > 0 for times in found.actions.values()), found.actions


@pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)
def test_terms_mean_what_cpython_means(cls: type[Model]) -> None:
    assert_steps_agree(cls(), count=6)


@pytest.mark.slow
@pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)
def test_spark_finds_what_cpython_finds(cls: type[Model]) -> None:
    properties = list(collect(cls, []).values())
    ours, theirs = on_spark(cls(), properties), search.search_states(cls(), properties, Options())
    assert (ours.distinct, ours.generated, ours.digest) == (theirs.distinct, theirs.generated, theirs.digest)


@pytest.mark.slow
def test_renaming_carries_the_entries_along() -> None:
    properties = list(collect(Seats, []).values())
    engines = (search_states, search.search_states)
    ours, theirs = (engine(Seats(), properties, Options(symmetry=True)) for engine in engines)
    assert (ours.distinct, ours.generated, ours.digest) == (theirs.distinct, theirs.generated, theirs.digest)
    assert ours.distinct < search_states(Seats(), properties, Options()).distinct / 3


def test_a_map_takes_no_room_for_codes_of_no_value() -> None:
    kind = resolve(Map[Seat, Flag], {"servers": 3})
    assert (kind.key.codes, kind.key.size, kind.bits) == (8, 6, 12)  # type: ignore[attr-defined]


@pytest.mark.parametrize("key", [Seat, Ballot, Circle, Circle | None, Set[Flag], Map[bool, Flag]], ids=str)
def test_the_values_of_a_key_are_counted_and_in_the_order_of_their_codes(key: object) -> None:
    kind = resolve(key, {"servers": 3})
    values = list(universe(kind))
    assert len(values) == kind.size < kind.codes or key == Set[Flag]
    assert values == sorted(values, key=order_key)
    codes = [encode(kind, value) for value in values]
    assert codes == sorted(codes) and [decode(kind, code) for code in codes] == values


@pytest.mark.parametrize("kind", [
    Annotated[Set[Flag], Capacity(2)], Annotated[Seq[Flag], Capacity(2)], Set[Seat], Seat | None, Map[Flag, bool],
    Annotated[Set[bool], Capacity(5)],
], ids=str)
def test_a_type_knows_how_many_values_it_has(kind: object) -> None:
    resolved = resolve(kind, {"servers": 3})
    assert resolved.size == len(list(universe(resolved)))


def test_keys_with_a_capacity_are_refused() -> None:
    with pytest.raises(ModelError, match=r"a map has an entry for every Seq\[0..2\], so this cannot contain a Seq"):
        resolve(Map[Annotated[Seq[Flag], Capacity(2)], bool], {})


def test_every_field_has_its_loop_in_order() -> None:
    class Skips(Seats):
        @action
        def lowers_the_others(self, seat: Seat) -> None:
            self.counts = Map({Seat(server=server, epoch=epoch): 0 for epoch in range(1, 2) for server in Server})

    class Swaps(Seats):
        @action
        def lowers_the_others(self, seat: Seat) -> None:
            self.counts = Map({Seat(server=server, epoch=epoch): 0 for server in Server for epoch in range(2)})

    class Repeats(Seats):
        @action
        def lowers_the_others(self, seat: Seat) -> None:
            self.counts = Map({Seat(server=Server(1), epoch=epoch): 0 for epoch in range(2)})

    wanted = r"a map has a value for every key: \{Seat\(...\): ... for ... in ...\} with a loop for each field, in the"
    for cls in (Skips, Swaps, Repeats):
        with pytest.raises(ModelError, match=wanted):
            read_program(cls(), {})
