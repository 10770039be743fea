"""What an edit is called: of a whole spec, and of an action."""

from __future__ import annotations

from typing import Any

import pytest

from floodmark.checkers.edits.difference import ActionChange
from floodmark.checkers.edits.spec_changes import SettingChange
from floodmark.checkers.edits.spec_edit import SpecEdit
from floodmark.checkers.edits.text import action_text, sentences
from floodmark.checkers.project.arguments import spec_path
from floodmark.checkers.project.spec import read

SPEC = read(spec_path("examples/two_phase_commit"))
VERSIONS: Any = (None, None)
FEWER = SettingChange("brokers", "3", "2", True, "fewer brokers")
MORE = SettingChange("brokers", "2", "3")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (SpecEdit("it", None, SPEC), "a new spec; there is nothing to compare it with"),
        (SpecEdit("it", SPEC, None), "the spec is gone"),
        (SpecEdit("it", SPEC, SPEC, unchanged=True), "nothing that it rests on has changed"),
        (SpecEdit("it", SPEC, SPEC, error="it cannot be read"), "undetermined"),
    ],
    ids=["added", "gone", "unchanged", "undetermined"],
)
def test_a_spec_that_cannot_be_compared_says_why(edit: SpecEdit, said: str) -> None:
    assert sentences(edit, VERSIONS) == [said]
    assert edit.is_same == edit.unchanged
    assert edit.is_undetermined == bool(edit.error)


def test_everything_that_makes_a_check_say_less_is_told() -> None:
    assert SpecEdit("it", SPEC, None).emptier == ["the spec is gone: nothing of it is checked any more"]
    fewer = "brokers was 3 and is 2: fewer brokers"
    assert SpecEdit("it", SPEC, SPEC, settings=[MORE, FEWER, MORE, FEWER]).emptier == [fewer, fewer]
    assert SpecEdit("it", SPEC, SPEC).is_same and not SpecEdit("it", SPEC, SPEC, settings=[MORE]).is_same


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (ActionChange(None, "go", 2, 0, 5), "new; allows more in 2 of 5 common states"),
        (ActionChange("go", None, 0, 3, 5), "gone; allows less in 3 of 5 common states"),
        (ActionChange(None, "go", 2, 3, 5), "new; allows more in 2 of 5 common states"),
        (ActionChange("went", "go"), "was called went"),
        (ActionChange("go", "go", 2, 3, 5), "leads elsewhere: to more in 2 and to less in 3 of 5 common states"),
        (ActionChange("go", "go", 2, 0, 1), "weaker: allows more in 2 of 1 common state"),
        (ActionChange("go", "go", 0, 3, 5), "stronger: allows less in 3 of 5 common states"),
        (ActionChange("go", "go", gone=True), "never fires now"),
    ],
    ids=["new", "gone", "new with less", "renamed", "both", "more", "less", "idle"],
)
def test_an_action_is_told_by_where_it_leads(change: ActionChange, said: str) -> None:
    assert action_text(change) == said
