"""Random edits of random models, and an oracle of behaviours that only knows graphs of plain values."""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Any

from floodmark.checkers.project.modules import Project
from floodmark.language.model import Model, State
from floodmark.language.reference import initial_states, successors, within_boundary
from floodmark.language.values import Bag, Identifier, Map, Record, Seq, Set
from tests.support.refinements import EFFECTS, GUARDS, VARIABLES

_HEAD = """
from enum import Enum
from itertools import pairwise
from typing import Annotated
from floodmark import *

class Peer(Identifier, count=2, prefix="p"):
    '''A peer.'''

class Vote(Record):
    epoch: Annotated[int, Between(0, 2)]
    to: Peer | None = None

class Role(Enum):
    FOLLOWER = "f"
    LEADER = "l"

class Spec(Model):
    top = Constant(2)
"""
_MEMBERS = '    FOLLOWER = "f"\n    LEADER = "l"'
_MORE = {
    "role": "role: Role = Role.FOLLOWER",
    "roles": "roles: Map[Peer, Role]",
}
_MORE_GUARDS = {"role": ["self.role == Role.LEADER", "self.role != Role.LEADER"],
                "roles": ["self.roles[p] == Role.LEADER", "all(self.roles[q] == Role.FOLLOWER for q in Peer)"]}
_MORE_EFFECTS = {"role": ["self.role = Role.LEADER", "self.role = Role.FOLLOWER"],
                 "roles": ["self.roles[p] = Role.LEADER", "self.roles[p] = Role.FOLLOWER"]}
_ALL = {**VARIABLES, **_MORE}
_GUARDS, _EFFECTS = {**GUARDS, **_MORE_GUARDS}, {**EFFECTS, **_MORE_EFFECTS}


def loaded(text: str, folder: Path) -> Model:
    """The model of a text, in a project of its own."""
    (folder / "specs").mkdir(parents=True)
    file = folder / "versions.py"
    file.write_text(text)
    cls = Project.of(file).load(file).Spec
    model: Model = cls()
    return model


@dataclass
class Draft:
    """A model under edit: declarations by variable, the lines of the initial method and of each action."""

    variables: dict[str, str]
    start: list[str]
    actions: dict[str, list[str]]
    boundary: str = ""
    head: str = _HEAD

    def copy(self) -> Draft:
        actions = {name: list(lines) for name, lines in self.actions.items()}
        return Draft(dict(self.variables), list(self.start), actions, self.boundary, self.head)

    def text(self) -> str:
        lines = [f"    {each}" for each in self.variables.values()]
        lines += _method("initial", "start", self.start)
        for name, body in self.actions.items():
            lines += _method("action", name, body)
        if any("self.bump()" in line for body in self.actions.values() for line in body):
            lines += ["    def bump(self) -> None:", "        if self.n == 0:", "            self.n = 1",
                      "            return", "        self.n -= 1", "        require(self.n < 1)", "        self.n += 2"]
        if self.boundary:
            lines += ["    @boundary", "    def small(self) -> bool:", f"        return {self.boundary}"]
        return self.head + "\n".join(lines) + "\n"


def _method(mark: str, name: str, body: list[str]) -> list[str]:
    inside = "\n".join(body or ["pass"]).split("\n")
    drawn = ", drawn: Vote" if any("drawn" in line for line in inside) else ""
    return [f"    @{mark}", f"    def {name}(self, p: Peer{drawn}) -> None:", *(f"        {line}" for line in inside)]


class EditDraw:
    """Draws a model, and a few edits as people make them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def pair(self) -> tuple[str, str]:
        """The sources of the two versions."""
        old = self.draft()
        new = old.copy()
        for _ in range(self.chance.choice([0, 1, 1, 1, 2, 2, 3])):
            self.edited(new)
        pair = old.text(), new.text()
        return pair if self.chance.random() < 0.5 else (pair[1], pair[0])

    def draft(self) -> Draft:
        chance = self.chance
        names = chance.sample(sorted(_ALL), chance.randint(1, 3))
        if "n" not in names and chance.random() < 0.8:
            names.insert(0, "n")
        start = []
        if "end" in names:
            start.append("self.end = Map({q: 0 for q in Peer})")
        if "roles" in names:
            start.append("self.roles = Map({q: Role.FOLLOWER for q in Peer})")
        if "vote" in names:
            start.append("self.vote = Vote(epoch=0, to=p)")
        draft = Draft({name: _ALL[name] for name in names}, start, {})
        for place in range(chance.randint(2, 4)):
            draft.actions[f"act{place}"] = self.action(names)
        draft.boundary = self.guard(names, "q").replace("p", "p") if chance.random() < 0.25 else ""
        if re.search(r"\bp\b", draft.boundary):
            draft.boundary = ""
        return draft

    def action(self, names: list[str]) -> list[str]:
        chance = self.chance
        guards = [f"require({self.guard(names)})" for _ in range(chance.choice([0, 0, 1, 1, 2]))]
        if "bag" in names and chance.random() < 0.4:
            guards.insert(0, "require(drawn in self.bag)")
        effects = [self.effect(names) for _ in range(chance.randint(1, 2))]
        if "n" in names and chance.random() < 0.4:
            effects.append("self.n = (self.n + 1) % (self.top + 1)")
        return [*guards, *effects]

    def guard(self, names: list[str], _: str = "") -> str:
        return self.filled(self.chance.choice(_GUARDS[self.chance.choice(names)]))

    def effect(self, names: list[str]) -> str:
        return self.filled(self.chance.choice(_EFFECTS[self.chance.choice(names)]))

    def filled(self, text: str) -> str:
        return text.replace("{k}", str(self.chance.randint(0, 2))).replace("{b}", self.chance.choice(["True", "False"]))

    def edited(self, draft: Draft) -> None:
        """Makes one edit."""
        chance, names = self.chance, [name for name in draft.variables if name in _ALL]
        if not names:
            return
        lines = draft.actions[chance.choice(list(draft.actions))]
        what = chance.choice(["guard", "guard", "drop", "effect", "effect", "variable", "hidden", "hidden", "removed",
                              "renamed", "wider", "start", "boundary", "constant", "action", "gone", "called",
                              "members", "moved"])
        if what == "guard":
            lines.insert(0, f"require({self.guard(names)})")
        elif what == "drop" and len(lines) > 1:
            del lines[chance.randrange(len(lines))]
        elif what == "effect":
            lines.append(self.effect(names))
        elif what == "variable":
            draft.variables["extra"] = 'extra: Annotated[int, Between(0, 2)] = 0'
            for each in draft.actions.values():
                if chance.random() < 0.7:
                    each.append(chance.choice(["self.extra = min(2, self.extra + 1)", "self.extra = 0"]))
        elif what == "hidden":
            draft.variables["extra"] = 'extra: Annotated[int, Between(0, 2)] = 0'
            lines.append(chance.choice(["self.extra = min(2, self.extra + 1)", "self.extra = 2 - self.extra"]))
            other = draft.actions[chance.choice(list(draft.actions))]
            other.insert(0, chance.choice(["require(self.extra < 2)", "require(self.extra == 0)"]))
        elif what == "removed" and len(draft.variables) > 1:
            name = chance.choice(names)
            self._remove(draft, name)
        elif what == "renamed":
            name = chance.choice(names)
            self._rename(draft, rf"self\.{name}\b", f"self.{name}_now")
            draft.variables = {f"{key}_now" if key == name else key: text.replace(f"{name}:", f"{name}_now:", 1)
                               if key == name else text for key, text in draft.variables.items()}
        elif what == "wider":
            for name in names:
                draft.variables[name] = draft.variables[name].replace('Between(0, "top")', "Between(-1, 4)")
        elif what == "start":
            draft.start.append(self.effect([name for name in names if name not in ("log",)] or ["n"])
                               if "n" in names else "pass")
        elif what == "boundary":
            text = self.guard(names)
            draft.boundary = "" if re.search(r"\bp\b", text) else text
        elif what == "constant":
            draft.head = draft.head.replace("top = Constant(2)", "top = Constant(1)")
        elif what == "action":
            draft.actions["another"] = self.action(names)
        elif what == "gone" and len(draft.actions) > 1:
            del draft.actions[chance.choice(list(draft.actions))]
        elif what == "called":
            name = chance.choice(list(draft.actions))
            draft.actions = {("called" if key == name else key): body for key, body in draft.actions.items()}
        elif what == "members":
            draft.head = draft.head.replace(_MEMBERS, "\n".join(reversed(_MEMBERS.split("\n"))))
        elif what == "moved":
            draft.variables = dict(reversed(draft.variables.items()))

    def _remove(self, draft: Draft, name: str) -> None:
        del draft.variables[name]
        for action in draft.actions:
            kept = [line for line in draft.actions[action] if f"self.{name}" not in line]
            draft.actions[action] = [line for line in kept if name != "n" or "bump" not in line]
        draft.start = [line for line in draft.start if f"self.{name}" not in line]
        if f"self.{name}" in draft.boundary:
            draft.boundary = ""

    def _rename(self, draft: Draft, pattern: str, name: str) -> None:
        for action in draft.actions:
            draft.actions[action] = [re.sub(pattern, name, line) for line in draft.actions[action]]
        draft.start = [re.sub(pattern, name, line) for line in draft.start]
        draft.boundary = re.sub(pattern, name, draft.boundary)


# The oracle.

Look = tuple[Any, ...]


class TooLarge(Exception):  # noqa: N818 - it is no error
    """The graph is too large to be enumerated in CPython."""


def plain(value: Any) -> Any:
    """A value of a model in Python's own values: names of classes, fields and members count, codes do not."""
    match value:
        case bool():
            return f"bool {value}"
        case Enum():
            return f"{type(value).__name__}.{value.name}"
        case Identifier():
            return f"{type(value).__name__} {value.number}"
        case Record():
            return tuple(sorted((name, str(plain(item))) for name, item in value._values.items()))
        case Map():
            return tuple(sorted((str(plain(key)), str(plain(item))) for key, item in value.items()))
        case Set():
            return ("set", *sorted(str(plain(item)) for item in value))
        case Bag():
            return ("bag", *sorted(str(plain(item)) for item in value))
        case Seq():
            return ("seq", *(str(plain(item)) for item in value))
    return value


@dataclass
class PlainGraph:
    """A model's runs: initial states, and the steps from each state within the boundary."""

    model: Model
    initial: list[State]
    after: dict[State, list[State]]

    @classmethod
    def of(cls, model: Model, most: int = 3000) -> PlainGraph:
        initial = list(dict.fromkeys(state for _, state in initial_states(model)))
        after: dict[State, list[State]] = {}
        waiting = list(initial)
        while waiting:
            state = waiting.pop()
            if state in after:
                continue
            inside = within_boundary(model, state)
            after[state] = list(dict.fromkeys(then for _, then in successors(model, state))) if inside else []
            waiting += after[state]
            if len(after) > most:
                raise TooLarge
        return cls(model, initial, after)

    def looks(self, names: Iterable[str]) -> dict[State, Look]:
        place = {name: index for index, name in enumerate(self.model.variable_types)}
        wanted = [place[name] for name in names]
        return {state: tuple(plain(state[index]) for index in wanted) for state in self.after}


def shortest_escape(mine: PlainGraph, names: list[str], other: PlainGraph, its_names: list[str]) -> int | None:
    """The fewest states of a run of ``mine`` whose shared values are those of no run of ``other``."""
    looks, its = mine.looks(names), other.looks(its_names)

    def closed(states: Iterable[State]) -> frozenset[State]:
        reached, waiting = set(states), list(states)
        while waiting:
            state = waiting.pop()
            more = [then for then in other.after[state] if its[then] == its[state] and then not in reached]
            reached.update(more)
            waiting += more
        return frozenset(reached)

    queue: deque[tuple[State, frozenset[State], int]] = deque()
    known = set()
    for state in mine.initial:
        may_be = closed([each for each in other.initial if its[each] == looks[state]])
        if not may_be:
            return 1
        queue.append((state, may_be, 1))
    while queue:
        state, may_be, length = queue.popleft()
        if (state, may_be) in known:
            continue
        known.add((state, may_be))
        if len(known) > 20_000:
            raise TooLarge
        for then in mine.after[state]:
            onward = may_be
            if looks[then] != looks[state]:
                onward = closed([its_then for each in may_be for its_then in other.after[each]
                                 if its[its_then] == looks[then]])
            if not onward:
                return length + 1
            queue.append((then, onward, length + 1))
    return None


def is_escape(trace: list[Look], other: PlainGraph, its_names: list[str]) -> bool:
    """Whether a sequence of shared values is that of no run of ``other``, and all but its last value are."""
    its = other.looks(its_names)

    def follows(values: list[Look]) -> bool:
        may_be = {each for each in other.initial if its[each] == values[0]}
        for before, value in pairwise(values):
            waiting = list(may_be)
            while waiting:
                state = waiting.pop()
                more = [then for then in other.after[state] if its[then] == its[state] and then not in may_be]
                may_be.update(more)
                waiting += more
            if value != before:
                may_be = {then for each in may_be for then in other.after[each] if its[then] == value}
        return bool(may_be)

    return not follows(trace) and (len(trace) == 1 or follows(trace[:-1]))
