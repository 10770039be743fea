"""Small random models in which a bound is mentioned wherever one can be: guards, effects, helpers, types, boundaries,
initial states, goals, and the keys of a map.

A bound is no part of a protocol, so what a run proves at one bound it proves at a larger one.
"""

from __future__ import annotations

import random

_HEADER = """\
from typing import Annotated
from floodmark import (Between, Constant, Map, Model, Seq, Set, Capacity, action, always_eventually, boundary,
    eventually, eventually_always, fair, initial, leads_to, recoverable, require)

Count = Annotated[int, Between(0, "most + 1")]


class Walk(Model):
    most = Constant(2, bound=True)
    x: Count = 0
    y: Annotated[int, Between(0, 2)] = 0
    flag: bool = False
    held: Set[Count] = Set()
    marks: Map[Annotated[int, Between(0, "most")], bool]

    @initial
    def start(self) -> None:
        self.marks = Map({place: False for place in range(self.most + 1)})
        self.y = FIRST

    def room(self) -> bool:
        return self.x < self.most

    def full(self) -> bool:
        return not self.room()

    def grown(self) -> int:
        return min(self.x + 1, self.most)
"""

GUARDS = (
    "self.x < self.most", "self.room()", "self.x + self.y < self.most", "self.flag or self.room()", "self.full()",
    "self.x == self.most", "self.y < 2", "self.flag", "not self.flag", "self.x > 0", "self.y == 1", "self.x != self.y",
    "self.y < min(2, self.most)", "self.x == 2", "len(self.held) == 0", "not self.flag or self.x < self.most",
    "len(self.marks) < 6", "self.most < 5", "self.marks[1]", "any(self.marks.values())",
    "all(self.marks[place] for place in range(self.most))", "self.x <= min(self.most, 2)",
)  # fmt: skip
EFFECTS = (
    "self.flag = not self.flag", "self.y = (self.y + 1) % 3", "self.y = 0", "self.x = 0", "self.x = self.grown()",
    "self.x = min(self.x + 1, self.most)", "self.flag = self.room()", "self.y = 2 if self.x == self.most else self.y",
    "self.x = max(self.x - 1, 0)", "self.held = Set({self.y})", "self.held = Set()", "self.flag = self.x > 1",
    "self.marks[self.y] = self.flag", "self.flag = len(self.marks) < 6", "self.flag = self.marks[self.y]",
    "self.y = len(self.marks) % 3", "self.flag = not any(place > 5 for place in self.marks)",
    "self.marks = Map({place: place == self.y for place in range(self.most + 1)})",
    "self.y = sum(1 for marked in self.marks.values() if marked) % 3", "self.flag = max(self.y, self.most) > 2",
)  # fmt: skip
GUARDED_EFFECTS = ("self.x += 1", "self.held.add(self.x + 1)")
"""Effects that stay within their types behind a guard."""
GOALS = ("self.flag", "not self.flag", "self.y == 2", "self.x == 0", "self.x == 1", "self.y != 1", "len(self.held) > 0",
    "len(self.marks) > 5", "any(self.marks.values())", "self.x < self.most", "self.marks[2]")  # fmt: skip
FIRST = ("0", "0", "0", "min(self.most, 2)", "self.most // 4", "1 if self.most < 5 else 0", "len(self.marks) // 5")


def random_source(chance: random.Random) -> str:
    """A model as text."""
    lines = [_HEADER.rstrip().replace("FIRST", chance.choice(FIRST))]
    if chance.random() < 0.2:
        lines += ["", "    @boundary", "    def near(self) -> bool:", "        return self.x + self.y < self.most + 2"]
    for number in range(chance.randint(1, 4)):
        lines += ["", *_action(chance, number)]
    for kind in ("eventually", "always_eventually", "eventually_always", "recoverable"):
        lines += ["", f"    @{kind}", f"    def {kind}_goal(self) -> bool:", f"        return {chance.choice(GOALS)}"]
    premise, goal = chance.sample(GOALS, 2)
    lines += ["", "    @leads_to", "    def premise_leads_to_goal(self) -> tuple[bool, bool]:"]
    return "\n".join([*lines, f"        return {premise}, {goal}"]) + "\n"


def _action(chance: random.Random, number: int) -> list[str]:
    lines = []
    drawn, free = (chance.random() < each for each in (0.2, 0.2))
    parameter = ", taken: Count" if drawn or free else ""
    if chance.random() < 0.75:
        given = [*(["strong=True"] if chance.random() < 0.4 else [])]
        given += ['each="taken"'] if parameter and chance.random() < 0.4 else []
        lines.append(f"    @fair({', '.join(given)})" if given else "    @fair")
    lines += ["    @action", f"    def act_{number}(self{parameter}) -> None:"]
    body = ["        require(taken in self.held)"] if drawn else []
    body += ["        require(taken > self.x and taken <= self.most)"] if free and not drawn else []
    body += [f"        require({guard})" for guard in chance.sample(GUARDS, chance.randint(0, 2))]
    if chance.random() < 0.25:
        body += ["        further = self.x + 1", "        require(further <= self.most)"]
    effects = chance.sample(EFFECTS, chance.randint(1, 2))
    if any("self.x < self.most" in line or ("self.room()" in line and " or " not in line) for line in body):
        effects = [*effects, chance.choice(GUARDED_EFFECTS)] if not any("self.x =" in it for it in effects) else effects
    if free and not drawn:
        effects = ["self.x = taken"]
    return [*lines, *body, *(f"        {effect}" for effect in effects)]
