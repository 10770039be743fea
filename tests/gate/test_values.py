"""Tests hashes of objects: each part of what an object reaches counts, and what is known is not refused."""

from __future__ import annotations

from typing import Any

import pytest

import floodmark
from floodmark import Map, Record, Set
from floodmark.checkers.gate.values import NotCacheable, ValueHasher


def hashed(root: Any) -> str:
    return ValueHasher().digest([root])[0]


def made(text: str, **names: Any) -> dict[str, Any]:
    """The names that a text defines, as a class or a function of no file."""
    names["__name__"] = __name__
    exec(compile(text, "<made>", "exec"), names)
    return names


def test_what_is_in_a_slot_counts() -> None:
    slots = made("class Slots:\n    __slots__ = ('limit', 'other')\n    def __init__(self, limit):\n"
                 "        self.limit = limit\n")["Slots"]
    assert hashed(slots(5)) == hashed(slots(5)) != hashed(slots(3))
    other = slots(5)
    other.other = 3
    assert hashed(other) != hashed(slots(5))


@pytest.mark.parametrize("module", ["floodmark.language", "no.module.of.this.name"])
def test_a_class_that_says_it_is_another_modules_counts_with_all_that_it_has(module: str) -> None:
    def limited(limit: int) -> type:
        cls: type = made(f"class Limited:\n    limit = {limit}\n")["Limited"]
        cls.__module__ = module
        return cls

    assert hashed(limited(5)) == hashed(limited(5)) != hashed(limited(3))


def test_sets_of_sets_count_whatever_their_order_is() -> None:
    some = [frozenset({"a", "b"}), frozenset({"c", frozenset({"d", "e"})}), frozenset()]
    assert hashed({*some}) == hashed({*reversed(some)})
    assert len({hashed({*some}), hashed({*some[1:]}), hashed({*some[:2], frozenset({"c"})})}) == 3
    assert hashed({frozenset({1, 2}), 3}) != hashed({frozenset({1}), frozenset({2}), 3})


class Move(Record):
    before: bool | None
    after: bool


def test_sets_of_records_count_whatever_their_order_is() -> None:
    some = [Move(before=None, after=True), Move(before=True, after=False), Move(before=False, after=False)]
    assert hashed(Set(some)) == hashed(Set([*reversed(some)]))
    other = Set([*some[:2], Move(before=False, after=True)])
    assert len({hashed(Set(some)), hashed(Set(some[1:])), hashed(other)}) == 3
    assert hashed(Set({Map({True: 1, False: 2})})) != hashed(Set({Map({True: 2, False: 1})}))


def test_a_file_that_uses_floodmark_as_a_whole_is_told_to_import_names() -> None:
    with pytest.raises(NotCacheable, match="from floodmark import Model"):
        hashed(floodmark)


READS = "def limit():\n    return {0}\n"


@pytest.mark.parametrize("name", ["open", "vars", "hash", "id"])
def test_a_name_of_the_file_is_what_counts_where_a_builtin_function_is_called_so(name: str) -> None:
    first, same, other = (made(READS.format(name), **{name: limit})["limit"] for limit in (5, 5, 3))
    assert hashed(first) == hashed(same) != hashed(other)
    with pytest.raises(NotCacheable, match=f"uses {name}"):
        hashed(made(READS.format(name))["limit"])


def test_a_hash_that_a_file_defines_counts_where_a_class_is_hashed_with_it() -> None:
    text = "def __hash__(self):\n    return hash(self)\n"
    builtin, first, other = (made(text, **names)["__hash__"] for names in ({}, {"hash": 5}, {"hash": 3}))
    assert len({hashed(builtin), hashed(first), hashed(other)}) == 3
