"""What two versions of a model call otherwise."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import pytest

from floodmark import Between, Model, Record
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
    assert found.renames.changed == [("class", "Was", "Now")]
    assert found.in_new_names(["Was.ON"]) == ["Now.ON"]


class Sent(Record):
    epoch: Annotated[int, Between(0, 3)]


class Kept(Model):
    message: Sent


def test_records_are_alike_only_if_their_fields_are() -> None:
    class Sent(Record):
        epoch: Annotated[int, Between(0, 2)]

    made: type[Model] = type("Kept", (Model,), {"__annotations__": {"message": Sent}, "__module__": __name__})
    (variable,) = align(Kept(), made()).shared
    assert not variable.same_codes
