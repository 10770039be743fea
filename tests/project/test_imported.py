"""What is told of imported modules is what a look at all of them tells, whatever was imported or removed between."""

from __future__ import annotations

import random
from types import ModuleType, SimpleNamespace

import pytest

from floodmark.checkers.project import imported
from floodmark.checkers.project.imported import ModuleTable

NAMES = [f"{first}{last}" for first in ("a", "b", "ab") for last in ("", ".a", ".b.c")]
PLACES = ("/x/a.py", "/x/b.py")


def module(name: str, place: str | None) -> ModuleType:
    made = ModuleType(name)
    if place is not None:
        made.__file__ = place
    return made


@pytest.mark.parametrize("seed", range(20))
def test_a_question_is_answered_as_by_a_look_at_all_modules(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    modules: dict[str, ModuleType] = {}
    monkeypatch.setattr(imported, "sys", SimpleNamespace(modules=modules))
    told = ModuleTable()
    for _ in range(60):
        for _ in range(draw.randrange(4)):
            name = draw.choice(NAMES)
            if name not in modules or draw.random() < 0.3:
                modules[name] = module(name, draw.choice([None, *PLACES]))
            elif "__file__" not in vars(modules[name]):
                modules[name].__file__ = draw.choice(PLACES)
            else:
                del modules[name]
        for place in draw.sample(PLACES, draw.randrange(3)):
            assert dict(told.at(place)) == {
                name: each for name, each in modules.items() if vars(each).get("__file__") == place
            }
        if draw.random() < 0.5:
            assert told.firsts() == {name.partition(".")[0] for name in modules}
            assert told.beginning_with({"a", "c"}) == [name for name in modules if name.partition(".")[0] == "a"]
            assert told.beginning_with(()) == []
