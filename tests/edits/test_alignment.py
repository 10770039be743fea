"""What two versions of a model call otherwise."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest

from floodmark import Model
from floodmark.checkers.edits.alignment import align


class Was(Enum):
    ON = 1
    OFF = 2


class Before(Model):
    first: Was
    second: Was


def renamed(first: str, second: str) -> Model:
    """The model whose variables have classes of these names."""
    classes: dict[str, Any] = {name: Enum(name, ["ON", "OFF"]) for name in {first, second}}
    annotations = {"first": classes[first], "second": classes[second]}
    made: type[Model] = type("After", (Model,), {"__annotations__": annotations, "__module__": __name__})
    return made()


@pytest.mark.parametrize(("first", "second", "same"), [("Now", "Now", [True, True]), ("Now", "Then", [True, False])])
def test_a_class_has_one_new_name_in_all_variables(first: str, second: str, same: list[bool]) -> None:
    found = align(Before(), renamed(first, second))
    assert [variable.same_codes for variable in found.shared] == same
    assert found.renames.told == [("class", "Was", "Now")]
    assert found.in_new_names(["Was.ON"]) == ["Now.ON"]
