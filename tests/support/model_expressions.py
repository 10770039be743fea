"""Draws expressions of the modelling language, each of a wanted type, as Python source.

Every choice is drawn from Hypothesis with the simplest first, so what fails shrinks to few and plain expressions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hypothesis import strategies as st

from tests.support.model_types import (
    BagOf,
    Bool,
    Enumeration,
    Int,
    Kind,
    MapOf,
    Maybe,
    Name,
    OneOf,
    SeqOf,
    SetOf,
    Struct,
    alike,
    annotation,
    codes,
    ordered,
)

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[int]], int]

LOOSE = Int(-8, 8)
"""An integer whose bounds the generator does not know."""


@functools.cache
def _integers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


@dataclass(frozen=True)
class Helper:
    """A method (``me``) or a function of the module that the model may call; ``result`` is None when it only acts."""

    name: str
    parameters: tuple[tuple[str, Kind], ...]
    result: Kind | None
    me: bool = True
    acts: bool = False
    defaults: int = 0
    static: bool = False
    signature: tuple[str, ...] = ()
    """The parameters as they are declared."""


@dataclass
class Vocabulary:
    """The declarations of the source outside of the function that is being drawn."""

    enumerations: list[Enumeration] = field(default_factory=list)
    names: list[Name] = field(default_factory=list)
    structs: list[Struct] = field(default_factory=list)
    unions: list[OneOf] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    globals: list[tuple[str, Kind]] = field(default_factory=list)
    variables: dict[str, Kind] = field(default_factory=dict)
    helpers: list[Helper] = field(default_factory=list)


@dataclass(frozen=True)
class Scope:
    """The scope of an expression: the models that it may read, its locals (typed: no plain Python container)."""

    me: tuple[str, ...]
    locals: tuple[tuple[str, Kind, bool], ...] = ()
    acting: bool = False
    loops: int = 0

    def having(self, name: str, kind: Kind, typed: bool = True) -> Scope:
        return replace(self, locals=(*(known for known in self.locals if known[0] != name), (name, kind, typed)))


Step = tuple[str, Kind | str]
Path = tuple[str, tuple[Step, ...], Kind]


class Expressions:
    """Draws expressions."""

    def __init__(self, draw: Draw, words: Vocabulary) -> None:
        self._draw = draw
        self.words = words
        self.fresh_names = 0

    # Choices.

    def number(self, low: int, high: int) -> int:
        return self._draw(_integers(low, high))

    def pick(self, options: Sequence[T]) -> T:
        return options[self.number(0, len(options) - 1)] if len(options) > 1 else options[0]

    def once_in(self, times: int) -> bool:
        """True once in so many times; shrinks to False."""
        return self.number(1, times) == times

    def fresh(self, prefix: str) -> str:
        self.fresh_names += 1
        return f"{prefix}{self.fresh_names}"

    # Values of any type.

    def value(self, scope: Scope, kind: Kind, depth: int, plain: bool = False) -> str:
        """An expression for a ``kind``; ``plain`` allows Python's own sets, lists and dicts."""
        if isinstance(kind, Int):
            return self.fitted(scope, kind, depth)
        options: list[Callable[[], str]] = [lambda: self.literal(scope, kind)]
        paths = self.paths(scope, kind, plain, shallow=depth < 0)
        if paths:
            options += [lambda: self.path(scope, self.pick(paths), depth)] * 2
        if depth == 0 and isinstance(kind, Bool):
            options += [lambda: self._simple_test(scope)] * 2
        if depth > 0:
            options += self._made(scope, kind, depth - 1, plain)
            options.append(lambda: self._choose(scope, kind, depth - 1, plain))
            calls = [h for h in self.words.helpers if h.result == kind and not h.acts and self.callable(scope, h)
                      and (plain or not isinstance(kind, SetOf | SeqOf | MapOf))]
            if calls:
                options.append(lambda: self.call(scope, self.pick(calls), depth - 1))
        return self.pick(options)()

    def _made(self, scope: Scope, kind: Kind, depth: int, plain: bool) -> list[Callable[[], str]]:
        match kind:
            case Bool():
                return [functools.partial(one, scope, depth) for one in self.truths()]
            case Maybe(inner):
                return [lambda: self.value(scope, inner, depth)] * 2
            case Struct():
                return [lambda: self._struct(scope, kind, depth), lambda: self._replace(scope, kind, depth)]
            case OneOf(members=members):
                return [lambda: self.value(scope, self.pick(members), depth)] * 2
            case SetOf():
                return [functools.partial(one, scope, kind, depth, plain) for one in self._sets()]
            case SeqOf():
                return [functools.partial(one, scope, kind, depth, plain) for one in self._sequences()]
            case BagOf():
                return [lambda: self._bag(scope, kind, depth)]
            case MapOf():
                return [lambda: self._map(scope, kind, depth, plain)]
        return []

    def literal(self, scope: Scope, kind: Kind) -> str:
        """A value without anything that could fail."""
        match kind:
            case Bool():
                return self.pick(["False", "True", *(f"{m}.{flag}" for flag in self.words.flags for m in scope.me)])
            case Int(low, high):
                return str(self.number(low, high) if high - low < 100 else self.pick([low, high, (low + high) // 2]))
            case Enumeration(name, members):
                return f"{name}.{self.pick(members)}"
            case Name(name, count):
                return f"{name}({self.number(1, count)})"
            case Maybe(inner):
                return "None" if self.number(0, 1) == 0 else self.literal(scope, inner)
            case Struct(name, fields):
                return f"{name}({', '.join(f'{field}={self.literal(scope, of)}' for field, of in fields)})"
            case OneOf(members=members):
                return self.literal(scope, self.pick(members))
            case SetOf(element, capacity):
                if capacity == 0 or self.number(0, 1) == 0:
                    return self.pick(["Set()", f"Set[{annotation(element)}]()"])
                return f"Set({{{self.literal(scope, element)}}})"
            case BagOf(element, capacity):
                return "Bag()" if capacity == 0 or self.number(0, 1) == 0 else f"Bag([{self.literal(scope, element)}])"
            case SeqOf(element, capacity):
                return "Seq()" if capacity == 0 or self.number(0, 1) == 0 else f"Seq([{self.literal(scope, element)}])"
            case MapOf(key, value):
                text, loops, _ = self.every(scope, key)
                return f"Map({{{text}: {self.literal(scope, value)} {loops}}})"
        raise AssertionError(kind)

    def every(self, scope: Scope, key: Kind) -> tuple[str, str, Scope]:
        """A key of a map, the loops that visit every such key, and the scope within them."""
        match key:
            case Struct(name, fields):
                parts = []
                loops = []
                for field, of in fields:
                    text, loop, scope = self.every(scope, of)
                    parts.append(f"{field}={text}")
                    loops.append(loop)
                return f"{name}({', '.join(parts)})", " ".join(loops), scope
            case Name(name) | Enumeration(name):
                domain = name
            case Bool():
                domain = "(False, True)"
            case Int(low, high):
                domain = f"range({low}, {high + 1})"
            case _:
                raise AssertionError(key)
        variable = self.fresh("k")
        return variable, f"for {variable} in {domain}", scope.having(variable, key)

    # Reading.

    def paths(self, scope: Scope, want: Kind, plain: bool = False, shallow: bool = False) -> list[Path]:
        """The ways from a variable or a local to something like ``want``; ``shallow`` ones only read it."""
        roots: list[tuple[str, Kind]] = []
        for name, kind, typed in scope.locals:
            if typed or plain:
                roots.append((name, kind))
        roots += self.words.globals
        roots += [(f"{me}.{name}", kind) for me in scope.me for name, kind in self.words.variables.items()]
        found: list[Path] = []
        for root, kind in roots:
            ways = self.inside(kind, 0 if shallow else 2)
            found += [(root, steps, of) for steps, of in ways if self._serves(of, want)]
        return found

    def _serves(self, of: Kind, want: Kind) -> bool:
        if isinstance(want, OneOf) and of in want.members:
            return True
        return of == want or (isinstance(of, Int) and isinstance(want, Int))

    def inside(self, kind: Kind, depth: int) -> Iterator[tuple[tuple[Step, ...], Kind]]:
        yield (), kind
        if depth == 0:
            return
        match kind:
            case MapOf(key, value):
                for steps, of in self.inside(value, depth - 1):
                    yield (("key", key), *steps), of
            case Struct(fields=fields):
                for name, inner in fields:
                    for steps, of in self.inside(inner, depth - 1):
                        yield (("field", name), *steps), of
            case OneOf(members=members):
                for name, inner in kind.common:
                    for steps, of in self.inside(inner, depth - 1):
                        yield (("field", name), *steps), of
                for member in members:
                    for steps, of in self.inside(member, depth - 1):
                        yield (("class", member), *steps), of
            case SeqOf(element):
                for steps, of in self.inside(element, depth - 1):
                    yield (("index", element), *steps), of
            case Maybe(inner):
                for steps, of in self.inside(inner, depth - 1):
                    yield (("some", inner), *steps), of

    def path(self, scope: Scope, path: Path, depth: int) -> str:
        """The expression that reads a path."""
        text, steps, _ = path
        for how, what in steps:
            match how, what:
                case "key", Enumeration() | Name() | Struct() as key:
                    text = f"{text}[{self.value(scope, key, min(depth, 1) - 1)}]"
                case "field", str(name):
                    text = f"{text}.{name}"
                case "class", Struct() as kind:
                    if not self.once_in(6):
                        text = f"({text} if isinstance({text}, {kind.name}) else {self.literal(scope, kind)})"
                case "index", kind:
                    assert not isinstance(kind, str)
                    text = self._indexed(scope, text, kind, depth)
                case "some", kind:
                    assert not isinstance(kind, str)
                    if isinstance(kind, Bool):
                        text = f"({text} == True)"
                    elif not self.once_in(6):
                        other = self.literal(scope, kind)
                        way = self.pick(["({0} if {0} is not None else {1})"] * 2 + ["({1} if {0} is None else {0})"])
                        text = way.format(text, other)
        return text

    def _indexed(self, scope: Scope, seq: str, element: Kind, depth: int) -> str:
        index = self.pick(["0", "-1", "1"]) if depth <= 0 else self.integer(scope, depth - 2)
        if self.once_in(6):
            return f"{seq}[{index}]"
        if depth > 0 and self.once_in(3):
            return f"({seq}[({index}) % len({seq})] if len({seq}) != 0 else {self.literal(scope, element)})"
        index = self.pick(["0", "-1"])
        return f"({seq}[{index}] if len({seq}) > 0 else {self.literal(scope, element)})"

    # Calls and choices.

    def callable(self, scope: Scope, helper: Helper) -> bool:
        return (bool(scope.me) or not helper.me) and (scope.acting or not helper.acts)

    def call(self, scope: Scope, helper: Helper, depth: int) -> str:
        """A call of a helper, some arguments by keyword, some left to their defaults."""
        given = []
        last = len(helper.parameters) - (self.number(0, helper.defaults) if helper.defaults else 0)
        keywords = self.once_in(4)
        for position, (name, kind) in enumerate(helper.parameters[:last]):
            text = self.value(scope, kind, depth, plain=not isinstance(kind, SetOf))
            given.append(f"{name}={text}" if keywords and position + 1 == last else text)
        if not helper.me:
            return f"{helper.name}({', '.join(given)})"
        me = self.pick(scope.me)
        if self.once_in(8):
            return f"Generated.{helper.name}({', '.join(given if helper.static else [me, *given])})"
        return f"{me}.{helper.name}({', '.join(given)})"

    def _choose(self, scope: Scope, kind: Kind, depth: int, plain: bool) -> str:
        then, otherwise = self.value(scope, kind, depth, plain), self.value(scope, kind, depth, plain)
        return f"({then} if {self.condition(scope, depth)} else {otherwise})"

    # Integers.

    def fitted(self, scope: Scope, kind: Int, depth: int) -> str:
        """An integer expression that is in range, mostly."""
        within = [path for path in self.paths(scope, kind, shallow=depth < 0)
                  if isinstance(path[2], Int) and kind.low <= path[2].low and path[2].high <= kind.high]
        options: list[Callable[[], str]] = [lambda: self.literal(scope, kind)]
        if within:
            options += [lambda: self.path(scope, self.pick(within), depth)] * 2
        if depth > 0:
            options += [lambda: self._clamped(scope, kind, depth - 1)] * 3
        if depth > 1:
            options.append(lambda: self._choose(scope, kind, depth - 2, False))
        return self.pick(options)()

    def _clamped(self, scope: Scope, kind: Int, depth: int) -> str:
        value = self.integer(scope, depth)
        match self.number(0, 9):
            case 0 | 1 | 2 | 3:
                return f"max({kind.low}, min({kind.high}, {value}))"
            case 9:
                return f"({value})"
        start = f"{kind.low} + " if kind.low else ""
        return f"({start}({value}) % {codes(kind)})"

    def integer(self, scope: Scope, depth: int) -> str:
        """An integer expression of any range."""
        options: list[Callable[[], str]] = [lambda: str(self.number(-2, 3))]
        if scope.me and self.words.numbers:
            options.append(lambda: f"{self.pick(scope.me)}.{self.pick(self.words.numbers)}")
        paths = self.paths(scope, LOOSE, shallow=depth < 0)
        if paths:
            options += [lambda: self.path(scope, self.pick(paths), depth)] * 3
        if depth > 0:
            options += [functools.partial(one, scope, depth - 1) for one in self._numbers()]
            calls = [h for h in self.words.helpers
                     if isinstance(h.result, Int) and not h.acts and self.callable(scope, h)]
            if calls:
                options += [lambda: self.call(scope, self.pick(calls), depth - 1)] * 2
        return self.pick(options)()

    def _numbers(self) -> list[Callable[[Scope, int], str]]:
        return [
            self._sum_of_two, self._divided, self._signed, self._length, self._folded_sum, self._counted,
            self._least, self._least_of_many, self._many_in_bag, self._chosen_number,
        ]

    def _sum_of_two(self, scope: Scope, depth: int) -> str:
        op = self.pick(["+", "-", "*"])
        return f"({self.integer(scope, depth)} {op} {self.integer(scope, depth)})"

    def _divided(self, scope: Scope, depth: int) -> str:
        op = self.pick(["//", "%"])
        by = self.integer(scope, depth) if self.once_in(5) else str(self.pick([2, 3, -2, -3, 1]))
        return f"({self.integer(scope, depth)} {op} {by})"

    def _signed(self, scope: Scope, depth: int) -> str:
        return self.pick(["-({})", "abs({})", "(-{})"]).format(self.integer(scope, depth))

    def _length(self, scope: Scope, depth: int) -> str:
        if self.once_in(6):
            return f"len({self.pick(self.words.names).name})"
        return f"len({self.container(scope, depth)})"

    def _folded_sum(self, scope: Scope, depth: int) -> str:
        name, domain, inner = self.generator(scope, depth, any_order=True)
        body = self.integer(inner, depth) if self.number(0, 1) == 0 else self.truth(inner, depth)
        return f"sum({body} for {name} in {domain})"

    def _counted(self, scope: Scope, depth: int) -> str:
        return f"sum({self.collection_of_numbers(scope, depth)})"

    def _least(self, scope: Scope, depth: int) -> str:
        operands = [self.integer(scope, depth) for _ in range(self.number(2, 3))]
        return f"{self.pick(['min', 'max'])}({', '.join(operands)})"

    def _least_of_many(self, scope: Scope, depth: int) -> str:
        fold = self.pick(["min", "max"])
        default = "" if self.once_in(5) else f", default={self.number(-2, 3)}"
        if self.number(0, 1) == 0:
            return f"{fold}({self.collection_of_numbers(scope, depth)}{default})"
        name, domain, inner = self.generator(scope, depth, any_order=True)
        body = f"{self.integer(inner, depth)} for {name} in {domain}"
        return f"{fold}(({body}){default})" if default else f"{fold}({body})"

    def _many_in_bag(self, scope: Scope, depth: int) -> str:
        bags = [path for kind in self.containers(scope) if isinstance(kind, BagOf) for path in self.paths(scope, kind)]
        if not bags:
            return self._length(scope, depth)
        bag = self.pick(bags)
        assert isinstance(bag[2], BagOf)
        return f"{self.path(scope, bag, 0)}.count({self.value(scope, bag[2].element, depth)})"

    def _chosen_number(self, scope: Scope, depth: int) -> str:
        then, otherwise = self.integer(scope, depth), self.integer(scope, depth)
        return f"({then} if {self.condition(scope, depth)} else {otherwise})"

    def collection_of_numbers(self, scope: Scope, depth: int) -> str:
        """Something whose elements are integers."""
        found = [path for kind in self.containers(scope)
                 if not isinstance(kind, MapOf) and isinstance(kind.element, Int)
                 for path in self.paths(scope, kind, plain=True)]
        values = [path for kind in self.containers(scope) if isinstance(kind, MapOf) and isinstance(kind.value, Int)
                  for path in self.paths(scope, kind)]
        # CPython counts all of a range, so it must not be a long one.
        options: list[Callable[[], str]] = [lambda: f"range(min(9, {self.integer(scope, depth)}))"]
        if found:
            options += [lambda: self.path(scope, self.pick(found), depth)] * 2
        if values:
            options.append(lambda: f"{self.path(scope, self.pick(values), 0)}.values()")
        if depth > 0:
            options.append(lambda: f"[{', '.join(self.integer(scope, depth - 1) for _ in range(self.number(1, 3)))}]")
            options.append(lambda: self._comprehended(scope, "[]", LOOSE, depth - 1))
        return self.pick(options)()

    # Containers and what loops run over.

    def containers(self, scope: Scope) -> list[SetOf | SeqOf | BagOf | MapOf]:
        """The container types that can be read here."""
        kinds = [kind for _, kind, _ in scope.locals] + [kind for _, kind in self.words.globals]
        if scope.me:
            kinds += self.words.variables.values()
        found: list[SetOf | SeqOf | BagOf | MapOf] = []
        for kind in kinds:
            for _, of in self.inside(kind, 2):
                if isinstance(of, SetOf | SeqOf | BagOf | MapOf) and of not in found:
                    found.append(of)
        return found

    def container(self, scope: Scope, depth: int) -> str:
        """Something that has a length and a truth value."""
        known = self.containers(scope)
        if not known:
            return "Set[int]()" if not self.words.names else f"Set({self.pick(self.words.names).name})"
        return self.value(scope, self.pick(known), depth, plain=True)

    def domain(self, scope: Scope, depth: int, any_order: bool = False) -> tuple[str, Kind]:
        """The domain of a loop, and the type of its variable."""
        options: list[Callable[[], tuple[str, Kind]]] = [lambda: (f"range({self.number(0, 3)})", LOOSE)]
        classes: list[Name | Enumeration] = [*self.words.names, *self.words.enumerations]
        if classes:
            options += [lambda: self._class(self.pick(classes))] * 2
        known = [kind for kind in self.containers(scope)
                 if any_order or isinstance(kind, SeqOf | MapOf) or ordered(kind.element)]
        if known:
            options += [lambda: self._elements(scope, self.pick(known), depth, any_order)] * 3
        options.append(lambda: self._range(scope, depth))
        if depth > 0:
            options.append(lambda: self._sorted_domain(scope, depth - 1))
        return self.pick(options)()

    def _class(self, kind: Name | Enumeration) -> tuple[str, Kind]:
        return kind.name, kind

    def _sorted_domain(self, scope: Scope, depth: int) -> tuple[str, Kind]:
        reverse = self.pick(["", ", reverse=True"])
        return f"sorted({self.collection_of_numbers(scope, depth)}{reverse})", LOOSE

    def _elements(self, scope: Scope, kind: SetOf | SeqOf | BagOf | MapOf, depth: int, plain: bool) -> tuple[str, Kind]:
        text = self.value(scope, kind, depth, plain=plain)
        if isinstance(kind, MapOf):
            match self.number(0, 2):
                case 0:
                    return f"{text}.values()", kind.value
                case 1:
                    return f"{text}.keys()", kind.key
            return text, kind.key
        return text, kind.element

    def _range(self, scope: Scope, depth: int) -> tuple[str, Kind]:
        low, high = (f"max(-3, min(3, {self.integer(scope, min(depth, 1) - 1)}))" for _ in range(2))
        step = self.pick(["", "", ", -1", ", 2"])
        return f"range({low}, {high}{step})", LOOSE

    def generator(self, scope: Scope, depth: int, any_order: bool = False) -> tuple[str, str, Scope]:
        """A loop variable, ``domain if ...`` (perhaps with a second loop), and the scope inside."""
        name, text, inner = self.several(scope) if self.once_in(5) else self._one(scope, depth, any_order)
        if self.once_in(3):
            text += f" if {self.condition(inner, depth)}"
        if self.once_in(6):
            other, of = self.domain(inner, 0, any_order)
            second = self.fresh("e")
            inner = inner.having(second, of)
            text += f" for {second} in {other}"
        return name, text, inner

    def _one(self, scope: Scope, depth: int, any_order: bool) -> tuple[str, str, Scope]:
        domain, kind = self.domain(scope, depth, any_order)
        name = self.fresh("e")
        return name, domain, scope.having(name, kind)

    def several(self, scope: Scope) -> tuple[str, str, Scope]:
        """The variables of a loop over pairs, what it runs over, and the scope inside."""
        known = [path for kind in self.containers(scope) for path in self.paths(scope, kind)
                 if isinstance(kind, SeqOf | MapOf) or ordered(kind.element)]
        if not known:
            return self._one(scope, 0, False)
        one = self.pick(known)
        first, second = self.fresh("e"), self.fresh("e")
        if isinstance(one[2], MapOf) and self.number(0, 2):
            inner = scope.having(first, one[2].key).having(second, one[2].value)
            return f"{first}, {second}", f"{self.path(scope, one, 0)}.items()", inner
        kinds, texts = [], []
        for path in [one, self.pick(known)]:
            kind = path[2]
            assert isinstance(kind, SetOf | SeqOf | BagOf | MapOf)
            kinds.append(kind.key if isinstance(kind, MapOf) else kind.element)
            texts.append(self.path(scope, path, 0))
        if self.number(0, 1):
            number = self.pick(["", "", ", 1", ", start=-2"])
            return f"{first}, {second}", f"enumerate({texts[0]}{number})", scope.having(first, LOOSE).having(
                second, kinds[0])
        inner = scope.having(first, kinds[0]).having(second, kinds[1])
        return f"{first}, {second}", f"zip({', '.join(texts)})", inner

    # Truth values.

    def truth(self, scope: Scope, depth: int) -> str:
        return self.value(scope, Bool(), depth)

    def condition(self, scope: Scope, depth: int) -> str:
        """A condition for ``if``, ``not`` and ``require``: a truth value or a container."""
        if depth > 0 and self.once_in(8):
            paths = [path for kind in self.containers(scope) for path in self.paths(scope, kind, plain=True)
                     if not any(how in ("some", "index") for how, _ in path[1])]
            if paths:
                return self.path(scope, self.pick(paths), depth - 1)
        return self.truth(scope, depth)

    def truths(self) -> list[Callable[[Scope, int], str]]:
        return [
            self._not, self._both, self._compared, self._compared, self._equal, self._equal, self._within, self._within,
            self._none, self._of_class, self._subset, self._some_or_all, self._some_or_all, self._implies,
            self._in_range, self._one_of,
        ]

    def _simple_test(self, scope: Scope) -> str:
        """One comparison of something that can be read here."""
        kind = self._anything(scope)
        paths = self.paths(scope, kind, shallow=True)
        if not paths:
            return self.literal(scope, Bool())
        text = self.path(scope, self.pick(paths), -1)
        if isinstance(kind, Int):
            return f"({text} {self.pick(['==', '<', '>=', '!='])} {self.literal(scope, kind)})"
        if isinstance(kind, SetOf | SeqOf | BagOf) and self.number(0, 1):
            return f"(len({text}) {self.pick(['==', '<', '>='])} {self.number(0, 2)})"
        return f"({text} {self.pick(['==', '!='])} {self.literal(scope, kind)})"

    def _not(self, scope: Scope, depth: int) -> str:
        return f"(not {self.condition(scope, depth)})"

    def _both(self, scope: Scope, depth: int) -> str:
        parts = [self.truth(scope, depth) for _ in range(self.number(2, 3))]
        return "(" + self.pick([" and ", " or "]).join(parts) + ")"

    def _compared(self, scope: Scope, depth: int) -> str:
        text = self.integer(scope, depth)
        for _ in range(1 + int(self.once_in(4))):
            text += f" {self.pick(['<', '<=', '>', '>=', '==', '!='])} {self.integer(scope, min(depth, 1))}"
        return f"({text})"

    def _anything(self, scope: Scope) -> Kind:
        """The type of something that can be read here."""
        kinds = [kind for _, kind, _ in scope.locals]
        if scope.me:
            kinds += self.words.variables.values()
        kinds = [of for kind in kinds for _, of in self.inside(kind, 1)]
        kinds = [kind for kind in kinds if not isinstance(kind, MapOf) or isinstance(kind.key, Name | Enumeration)
                 or scope.me]
        return self.pick(kinds) if kinds else Bool()

    def _equal(self, scope: Scope, depth: int) -> str:
        kind = self._anything(scope)
        like = [of for of in self.words.variables.values() if alike(of, kind)]
        other = self.pick([kind, kind, kind, *like])
        op = self.pick(["==", "!="])
        return f"({self.value(scope, kind, depth, plain=True)} {op} {self.value(scope, other, depth, plain=True)})"

    def _within(self, scope: Scope, depth: int) -> str:
        op = self.pick(["in", "not in"])
        known = [kind for kind in self.containers(scope) if not isinstance(kind, MapOf)]
        if not known or self.once_in(8):
            if not self.words.names:
                return self._compared(scope, depth)
            name = self.pick(self.words.names)
            paths = [path for path in self.paths(scope, name) if not any(how == "some" for how, _ in path[1])]
            item = self.path(scope, self.pick(paths), 0) if paths else self.literal(scope, name)
            return f"({item} {op} {name.name})"
        kind = self.pick(known)
        item_kind: Kind = kind.element
        if self.once_in(4):
            item_kind = Maybe(item_kind) if not isinstance(item_kind, Maybe) else item_kind.inner
        item = self.integer(scope, depth) if isinstance(item_kind, Int) else self.value(scope, item_kind, depth)
        return f"({item} {op} {self.value(scope, kind, depth, plain=True)})"

    def _none(self, scope: Scope, depth: int) -> str:
        kinds = [kind for kind in self.words.variables.values() if isinstance(kind, Maybe)]
        kinds += [kind for _, kind, _ in scope.locals if isinstance(kind, Maybe)]
        if not kinds:
            return self._not(scope, depth)
        op = self.pick(["is", "is not", "==", "!="])
        text = self.value(scope, self.pick(kinds), depth)
        return f"({text if op[0] != 'i' or not text.lstrip('-(').isnumeric() else 'None'} {op} None)"

    def _of_class(self, scope: Scope, depth: int) -> str:
        kinds = [kind for kind in self.words.unions if self.paths(scope, kind)]
        if not kinds:
            return self._none(scope, depth)
        kind = self.pick(kinds)
        classes = self.pick([member.name for member in kind.members] + [f"({kind.members[0].name},)", kind.name])
        return f"isinstance({self.value(scope, kind, depth)}, {classes})"

    def _subset(self, scope: Scope, depth: int) -> str:
        kinds = [kind for kind in self.containers(scope) if isinstance(kind, SetOf)]
        if not kinds:
            return self._compared(scope, depth)
        kind = self.pick(kinds)
        left, right = self.value(scope, kind, depth, plain=True), self.value(scope, kind, depth, plain=True)
        op = self.pick(["<=", "<", ">=", ">", "isdisjoint"])
        return f"{left}.isdisjoint({right})" if op == "isdisjoint" else f"({left} {op} {right})"

    def _some_or_all(self, scope: Scope, depth: int) -> str:
        name, domain, inner = self.generator(scope, depth)
        fold = self.pick(["any", "all"])
        body = self.condition(inner, depth)
        text = f"{body} for {name} in {domain}"
        return f"{fold}([{text}])" if self.once_in(9) else f"{fold}({text})"

    def _implies(self, scope: Scope, depth: int) -> str:
        return f"implies({self.condition(scope, depth)}, {self.condition(scope, depth)})"

    def _in_range(self, scope: Scope, depth: int) -> str:
        ends = ", ".join(self.integer(scope, min(depth, 1)) for _ in range(self.number(1, 2)))
        return f"({self.integer(scope, depth)} {self.pick(['in', 'not in'])} range({ends}))"

    def _one_of(self, scope: Scope, depth: int) -> str:
        kind = self._anything(scope)
        brackets = self.pick(["(,)", "[,]"] + (["{,}"] if not isinstance(kind, SetOf | SeqOf | MapOf | BagOf) else []))
        elements = [self.value(scope, kind, depth) for _ in range(self.number(2, 3))]
        return f"({self.value(scope, kind, depth)} in {brackets[0]}{', '.join(elements)}{brackets[2]})"

    # Records, sets, sequences, bags, maps.

    def _struct(self, scope: Scope, kind: Struct, depth: int) -> str:
        fields = [f"{name}={self.value(scope, of, depth, plain=True)}" for name, of in kind.fields]
        return f"{kind.name}({', '.join(fields)})"

    def _replace(self, scope: Scope, kind: Struct, depth: int) -> str:
        changed = [part for part in kind.fields if self.number(0, 1) == 0] or kind.fields[:1]
        fields = [f"{name}={self.value(scope, of, depth, plain=True)}" for name, of in changed]
        return f"{self.value(scope, kind, depth)}.replace({', '.join(fields)})"

    def _sets(self) -> list[Callable[[Scope, SetOf, int, bool], str]]:
        return [self._set_literal, self._set_made, self._set_operation, self._set_operation, self._set_from]

    def _set_literal(self, scope: Scope, kind: SetOf, depth: int, plain: bool) -> str:
        most = 3 if kind.capacity is None else kind.capacity
        if most == 0:
            return "Set()"
        elements = [self.value(scope, kind.element, depth) for _ in range(self.number(1, min(2, most)))]
        text = "{" + ", ".join(elements) + "}"
        return text if plain and self.number(0, 1) == 0 else f"Set({text})"

    def _comprehended(self, scope: Scope, brackets: str, element: Kind, depth: int, any_order: bool = False) -> str:
        name, domain, inner = self.generator(scope, depth, any_order)
        body = self.value(inner, element, depth) if element != LOOSE else self.integer(inner, depth)
        return f"{brackets[0]}{body} for {name} in {domain}{brackets[1]}"

    def _set_made(self, scope: Scope, kind: SetOf, depth: int, plain: bool) -> str:
        if plain and self.number(0, 1) == 0:
            return self._comprehended(scope, "{}", kind.element, depth, any_order=True)
        return "Set" + self._comprehended(scope, "()", kind.element, depth, any_order=True)

    def _set_operation(self, scope: Scope, kind: SetOf, depth: int, plain: bool) -> str:
        left, right = self.value(scope, kind, depth), self.value(scope, kind, depth, plain=True)
        if self.once_in(4):
            left, right = right, left
        return f"({left} {self.pick(['-', '&', '|', '^'])} {right})"

    def _set_from(self, scope: Scope, kind: SetOf, depth: int, plain: bool) -> str:
        make = self.pick(["Set", "set", "frozenset"]) if plain else "Set"
        if isinstance(kind.element, Name | Enumeration) and self.number(0, 1) == 0:
            return f"{make}({kind.element.name})"
        like = [of for of in self.containers(scope) if not isinstance(of, MapOf) and of.element == kind.element]
        if not like:
            return self._set_literal(scope, kind, depth, plain)
        return f"{make}({self.value(scope, self.pick(like), depth)})"

    def _sequences(self) -> list[Callable[[Scope, SeqOf, int, bool], str]]:
        return [
            self._seq_literal, self._slice, self._slice, self._concat, self._seq_made, self._seq_sorted, self._seq_from,
        ]

    def _seq_literal(self, scope: Scope, kind: SeqOf, depth: int, plain: bool) -> str:
        elements = [self.value(scope, kind.element, depth) for _ in range(self.number(0, min(2, kind.capacity)))]
        text = f"[{', '.join(elements)}]"
        return text if plain and self.number(0, 1) == 0 else f"Seq({text})"

    def _slice(self, scope: Scope, kind: SeqOf, depth: int, plain: bool) -> str:
        low, high = (self.pick(["", self.integer(scope, min(depth, 1) - 1)]) for _ in range(2))
        return f"{self.value(scope, kind, depth, plain)}[{low}:{high}]"

    def _concat(self, scope: Scope, kind: SeqOf, depth: int, plain: bool) -> str:
        left, right = self.value(scope, kind, depth), self.value(scope, kind, depth, plain=True)
        text = f"({left} + {right})"
        return text if self.once_in(6) else f"{text}[:{kind.capacity}]"

    def _seq_made(self, scope: Scope, kind: SeqOf, depth: int, plain: bool) -> str:
        if plain and self.number(0, 1) == 0:
            text = self._comprehended(scope, "[]", kind.element, depth)
        else:
            text = "Seq" + self._comprehended(scope, "()", kind.element, depth)
        return text if self.once_in(6) else f"{text}[:{kind.capacity}]"

    def _seq_sorted(self, scope: Scope, kind: SeqOf, depth: int, plain: bool) -> str:
        if not isinstance(kind.element, Int):
            return self._slice(scope, kind, depth, plain)
        text = f"sorted({self._comprehended(scope, '[]', kind.element, depth, any_order=True)}" \
            f"{self.pick(['', ', reverse=True', ', reverse=False'])})"
        text = text if self.once_in(6) else f"{text}[:{kind.capacity}]"
        return text if plain else f"Seq({text})"

    def _seq_from(self, scope: Scope, kind: SeqOf, depth: int, plain: bool) -> str:
        like = [of for of in self.containers(scope) if not isinstance(of, MapOf) and of.element == kind.element
                and (isinstance(of, SeqOf) or ordered(of.element))]
        if not like:
            return self._seq_literal(scope, kind, depth, plain)
        make = self.pick(["Seq", "list", "tuple"]) if plain else "Seq"
        return f"{make}({self.value(scope, self.pick(like), depth)})[:{kind.capacity}]"

    def _bag(self, scope: Scope, kind: BagOf, depth: int) -> str:
        elements = [self.value(scope, kind.element, depth) for _ in range(self.number(0, min(2, kind.capacity)))]
        if elements and self.once_in(3):
            return f"Bag{self._comprehended(scope, '()', kind.element, depth)}"
        return f"Bag([{', '.join(elements)}])"

    def _map(self, scope: Scope, kind: MapOf, depth: int, plain: bool) -> str:
        key, loops, inner = self.every(scope, kind.key)
        text = f"{{{key}: {self.value(inner, kind.value, depth)} {loops}}}"
        return self.pick([text, f"dict({text})", f"Map({text})"]) if plain else f"Map({text})"
