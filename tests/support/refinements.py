"""Random pairs of models of which one may refine the other, and an oracle that only knows graphs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.reference import initial_states, successors, within_boundary
from floodmark.language.values import running

Edge = tuple[State, State]

_HEAD = '''
from typing import Annotated
from floodmark import *

class Peer(Identifier, count=2, prefix="p"):
    """A peer."""

class Vote(Record):
    epoch: Annotated[int, Between(0, 2)]
    to: Peer | None = None

class Spec(Model):
    top = Constant(2)
{variables}
{initial}
{actions}

class Impl(Model):
    top = Constant(2)
{variables}
    extra: Annotated[int, Between(0, 2)] = 0
{impl_initial}
{impl_actions}
    @boundary
    def small(self) -> bool:
        return {boundary}
    @refines(steps={steps})
    def as_spec(self) -> Spec:
{mapping}
'''
VARIABLES = {
    "n": 'n: Annotated[int, Between(0, "top")] = 0',
    "flag": "flag: bool = False",
    "who": "who: Peer | None = None",
    "isr": "isr: Set[Peer] = Set()",
    "log": 'log: Annotated[Seq[Annotated[int, Between(0, "top")]], Capacity(3)] = Seq()',
    "end": 'end: Map[Peer, Annotated[int, Between(0, "top")]]',
    "vote": "vote: Vote",
    "bag": "bag: Annotated[Set[Vote], Capacity(2)] = Set()",
}
GUARDS = {
    "n": ["self.n < 2", "self.n > 0", "self.n == {k}"],
    "flag": ["self.flag", "not self.flag"],
    "who": ["self.who is None", "self.who is not None", "self.who == p"],
    "isr": ["p in self.isr", "p not in self.isr", "len(self.isr) < 2"],
    "log": ["len(self.log) < 3", "len(self.log) > 0", "len(self.log) > 0 and self.log[0] < 2"],
    "end": ["self.end[p] < 2", "any(self.end[q] > 0 for q in Peer)"],
    "vote": ["self.vote.epoch < 2", "self.vote.to is None", "self.vote.to != p"],
    "bag": ["len(self.bag) < 2", "all(v.epoch > 0 for v in self.bag)"],
}
EFFECTS = {
    "n": ["self.n = {k}", "self.n += 1", "self.n = max(0, self.n - 1)", "self.bump()",
          "if self.n > 1:\n    return", "for q in Peer:\n    if q == p:\n        return\n    self.n = {k}"],
    "flag": ["self.flag = not self.flag", "self.flag = {b}", "if self.flag:\n    self.flag = False"],
    "who": ["self.who = p", "self.who = None"],
    "isr": ["self.isr.add(p)", "self.isr.discard(p)", "self.isr = Set()",
            "for q in Peer:\n    if q != p:\n        self.isr.add(q)"],
    "log": ["self.log.append({k})", "self.log = self.log[:1]", "self.log[-1] = {k}", "self.log[0] = {k}",
            "self.log[-2] = {k}", "self.log[1] = {k}",
            "self.log = Seq()"],
    "end": ["self.end[p] = {k}", "self.end[p] += 1", "for q in Peer:\n    self.end[q] = {k}"],
    "vote": ["self.vote.epoch = {k}", "self.vote.to = p", "self.vote = Vote(epoch={k}, to=p)",
             "self.vote.epoch += 1"],
    "bag": ["self.bag.add(Vote(epoch={k}, to=p))", "self.bag = Set()", "self.bag.discard(Vote(epoch={k}, to=p))"],
}
_MAPPED = {
    "n": ["self.n"] * 6 + ["min(self.n, 1)", "self.top - self.n"],
    "flag": ["self.flag"] * 6 + ["not self.flag", "self.n > 0"],
    "who": ["self.who"] * 6 + ["None"],
    "isr": ["self.isr"] * 6 + ["Set(q for q in Peer if q not in self.isr)"],
    "log": ["self.log"] * 6 + ["self.log[:1]"],
    "end": ["self.end"] * 6 + ["Map({q: min(1, self.end[q]) for q in Peer})"],
    "vote": ["self.vote"] * 6 + ["self.vote.replace(to=None)"],
    "bag": ["self.bag"] * 6 + ["Set(v for v in self.bag if v.epoch > 0)"],
}


def drawn_pair(seed: int) -> str:
    """The source of a model ``Impl`` with a mapping to a model ``Spec``."""
    return _Draw(random.Random(seed)).text()


class _Draw:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.names = sorted(chance.sample(sorted(VARIABLES), chance.randint(1, 3)))
        if "n" not in self.names and chance.random() < 0.7:
            self.names.insert(0, "n")

    def text(self) -> str:
        chance = self.chance
        actions = [self.action(place) for place in range(chance.randint(1, 3))]
        ours = [self.changed(lines) for lines in actions]
        extra = [["require(self.extra < 2)", "self.extra += 1"]] if chance.random() < 0.5 else []
        if chance.random() < 0.3 and len(ours) > 1:
            ours.append([*ours[0], *[line for line in ours[1] if not line.startswith("require")]])
        start, our_start = (self.start() for _ in range(2))
        if chance.random() < 0.8:
            our_start = start
        return _HEAD.format(
            variables=_indented([VARIABLES[name] for name in self.names]),
            initial=_method("initial", "start", *start),
            impl_initial=_method("initial", "start", *our_start),
            actions=_methods(actions) + _helper(actions),
            impl_actions=_methods([*ours, *extra]) + _helper(ours),
            boundary="True" if chance.random() < 0.7 else "self.extra < 2",
            steps=chance.choice([1, 1, 1, 2]),
            mapping=self.mapping(),
        )

    def start(self) -> tuple[str, list[str]]:
        lines = []
        if "end" in self.names:
            lines.append("self.end = Map({q: 0 for q in Peer})")
        if "vote" in self.names:
            lines.append("self.vote = Vote(epoch=0, to=p)")
        if self.chance.random() < 0.3 and "n" in self.names:
            lines.append(f"self.n = {self.chance.randint(0, 1)}")
        return "p: Peer", lines or ["pass"]

    def action(self, place: int) -> list[str]:
        chance = self.chance
        guards = [f"require({self.filled(chance.choice(GUARDS[chance.choice(self.names)]))})"
                  for _ in range(chance.randint(0, 2))]
        if "bag" in self.names and chance.random() < 0.4:
            guards.insert(0, "require(drawn in self.bag)")
        effects = [self.filled(chance.choice(EFFECTS[chance.choice(self.names)])) for _ in range(chance.randint(1, 2))]
        if chance.random() < 0.2:
            effects.insert(chance.randint(0, 1), f"require({self.filled(chance.choice(GUARDS[self.names[0]]))})")
        return [*guards, *effects]

    def changed(self, lines: list[str]) -> list[str]:
        chance = self.chance
        kept = list(lines)
        what = chance.random()
        if what < 0.12 and len(kept) > 1:
            del kept[chance.randrange(len(kept))]
        elif what < 0.24:
            kept.append(self.filled(chance.choice(EFFECTS[chance.choice(self.names)])))
        elif what < 0.36:
            kept.insert(0, f"require({self.filled(chance.choice(GUARDS[chance.choice(self.names)]))})")
        return kept

    def filled(self, text: str) -> str:
        return text.replace("{k}", str(self.chance.randint(0, 2))).replace("{b}", self.chance.choice(["True", "False"]))

    def mapping(self) -> str:
        given = ", ".join(f"{name}={self.chance.choice(_MAPPED[name])}" for name in self.names)
        plain = ", ".join(f"{name}=self.{name}" for name in self.names)
        if "n" not in self.names:
            given = given.replace("self.n > 0", "False")
        if self.chance.random() < 0.2:
            lines = ["if self.extra > 0:", f"    return Spec(top=self.top, {given})"]
            given = plain
        else:
            lines = []
        return _indented([*lines, f"return Spec(top=self.top, {given})"], 8)


def _method(mark: str, name: str, parameter: str, lines: list[str]) -> str:
    inside = "\n".join(lines).split("\n")
    return _indented([f"@{mark}", f"def {name}(self, {parameter}) -> None:", *(f"    {line}" for line in inside)])


def _methods(actions: list[list[str]]) -> str:
    found = []
    for place, lines in enumerate(actions):
        parameter = "p: Peer"
        if any("drawn" in line for line in lines):
            parameter += ", drawn: Vote"
        found.append(_method("action", f"act{place}", parameter, lines))
    return "\n".join(found) + "\n"


def _helper(actions: list[list[str]]) -> str:
    """The helper that actions call, if any does: it requires something between two assignments, and returns early."""
    if not any("self.bump()" in line for lines in actions for line in lines):
        return ""
    lines = ["if self.n == 0:", "    self.n = 1", "    return", "self.n -= 1", "require(self.n < 1)", "self.n += 2"]
    return _indented(["def bump(self) -> None:", *(f"    {line}" for line in lines)]) + "\n"


def _indented(lines: list[str], by: int = 4) -> str:
    return "\n".join(" " * by + line for line in lines)


class Fails(Exception):  # noqa: N818 - it is no error
    """Some step or mapped state cannot be computed, so graphs say nothing of this pair."""


def oracle(model: Model, mapping: Callable[[Any], Model], steps: int, most: int) -> tuple[bool, int | None, set[str]]:
    """Whether the graph of a model, mapped, is within the graph of the other; the states of a shortest counterexample;
    and the actions of the other model that some step that changes it takes. Raises Fails."""
    try:
        return _oracle(model, mapping, steps, most)
    except SourceError:
        raise Fails from None


def _oracle(model: Model, mapping: Callable[[Any], Model], steps: int, most: int) -> tuple[bool, int | None, set[str]]:
    def mapped(state: State) -> tuple[Model, State]:
        with running(model):
            other = mapping(model.at(state))
            return type(other)(**other.constant_values), other.snapshot()

    first = [state for _, state in initial_states(model)]
    begin = {state for state in first if within_boundary(model, state)}
    edges: list[tuple[int, State, State]] = []
    depth = {state: 1 for state in begin}
    frontier = list(begin)
    while frontier:
        later = []
        for old in frontier:
            for _, new in successors(model, old):
                edges.append((depth[old] + 1, old, new))
                if new not in depth and within_boundary(model, new):
                    depth[new] = depth[old] + 1
                    later.append(new)
        frontier = later
        if len(depth) > most:
            raise Fails
    wrong = []
    for state in first:
        other, image = mapped(state)
        if image not in [it for _, it in initial_states(other)]:
            wrong.append(1)
    taken: set[str] = set()
    graphs: dict[State, list[list[tuple[str, State]]]] = {}
    for length, old, new in edges:
        other, before = mapped(old)
        after = mapped(new)[1]
        if before == after:
            continue
        paths = graphs.get(before)
        if paths is None:
            paths = graphs[before] = list(_paths(other, before, steps))
        leading = [path for path in paths if path[-1][1] == after]
        taken |= {name for path in leading for name, _ in path}
        if not leading:
            wrong.append(length)
    return not wrong, min(wrong, default=None), taken


def _paths(model: Model, state: State, steps: int) -> Iterator[list[tuple[str, State]]]:
    """Every run of one step to ``steps`` steps."""
    for step, after in list(successors(model, state)):
        yield [(step.action, after)]
        if steps > 1:
            for path in _paths(model, after, steps - 1):
                yield [(step.action, after), *path]
