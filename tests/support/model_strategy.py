"""A Hypothesis strategy that draws whole models of the modelling language as Python source.

A model has types (bounded integers, also wide, negative and constant ones, enums, identifiers, optional values,
records, sets as masks and as slots, bags, maps, sequences), constants, helper methods and functions of the module,
actions with drawn and free parameters, properties of every kind, a boundary, and at times a subclass that overrides
with ``super()``.

What it does not draw:
- ``any`` and ``all`` over a plain Python set, which is refused when the body can fail;
- helpers that change variables and have a result, inside of a larger expression (they stand alone on a right side);
- maps whose values are plain Python sets and that are iterated afterwards;
- sets of sequences and of sets with a capacity as the domain of a loop whose order matters, which is refused;
- constants of the module that are containers, ``len`` of a class, records whose defaults are containers;
- calls as ``Base.method(self)``, keyword-only parameters, names of an enclosing function, docstrings inside of bodies;
- recursion and what else the compiler refuses: tests of the language hold the refusals;
- arithmetic beyond 2**62, which the compiler checks and CPython does not need to;
- symmetry reduction, deadlock checks and budgets.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from tests.support.model_expressions import Draw, Expressions, Helper, Scope, Vocabulary
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
    annotation,
    bits,
    codes,
    hint,
    listed,
    values,
)

WIDEST_VARIABLE = 200
FREE_PARAMETER = 6
MAX_KEYS = 12
DEPTH = 3
ALL = frozenset({"Seq", "Bag", "Set"})
SOME: list[frozenset[str]] = [frozenset(), ALL, frozenset({"Seq"}), frozenset({"Bag", "Set"})]

HEADER = """\
from __future__ import annotations

from enum import Enum
from typing import Annotated

from floodmark import (
    Bag, Between, Capacity, Constant, Identifier, Map, Model, Record, Seq, Set,
    action, boundary, implies, initial, invariant, reachable, require, rule, transition,
)
"""
_STEP = "pass  # one step"


class GeneratedModel:
    """A model as source. ``name`` is the class that is checked, ``growing`` the containers that have no capacity."""

    def __init__(self, text: str, name: str, growing: frozenset[str] = frozenset()) -> None:
        self.text = text
        self.name = name
        self.growing = growing

    def source(self, steps: int | None = None) -> str:
        """The model's file; with ``steps``, of a model that stops after so many actions."""
        if steps is None:
            lines = [line for line in self.text.splitlines() if _STEP not in line]
            return _tidy("\n".join(lines), self.growing)
        text = self.text.replace("# variables", f"steps: Annotated[int, Between(0, {steps})]")
        text = text.replace("# start", "self.steps = 0")
        lines = []
        for line in text.splitlines():
            if _STEP in line:
                indent = line[: len(line) - len(line.lstrip())]
                lines += [f"{indent}require(self.steps < {steps})", f"{indent}self.steps += 1"]
            else:
                lines.append(line)
        return _tidy("\n".join(lines), self.growing)

    def __repr__(self) -> str:
        return "\n" + self.source()


class _Growing(ast.NodeTransformer):
    """Leaves out the capacities of some containers; where all are left out, more is added to them."""

    def __init__(self, growing: frozenset[str]) -> None:
        self.growing = growing

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node.slice:
            case ast.Tuple(elts=[ast.Subscript(value=ast.Name(id=name)) as kind, ast.Call(func=ast.Name("Capacity"))]):
                return kind if name in self.growing else node
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Compare(ast.Call(ast.Name("len")), [ast.Lt()], [ast.Constant(int() as most)]):
                node.comparators = [ast.Constant(most + 2 * (self.growing == ALL))]
        return node


def _tidy(text: str, growing: frozenset[str]) -> str:
    """The source without needless parentheses, and without capacities of what grows."""
    tree = _Growing(growing).visit(ast.parse(text))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and len(node.body) > 1:
            node.body = [part for part in node.body if not isinstance(part, ast.Pass)] or node.body[:1]
    return ast.unparse(tree) + "\n"


class _Writer(Expressions):
    """Draws one model."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw, Vocabulary())
        self.constants: dict[str, int] = {}

    # Types.

    def scalar(self) -> Kind:
        options: list[Callable[[], Kind]] = [lambda: Int(0, 2), Bool, self._integer]
        classes: list[Kind] = [*self.words.enumerations, *self.words.names]
        if classes:
            options += [lambda: self.pick(classes)] * 2
        return self.pick(options)()

    def _integer(self) -> Int:
        match self.number(0, 9):
            case 8 if self.constants:
                name = self.pick(list(self.constants))
                return Int(0, self.constants[name] + 1, f"0, '{name} + 1'")
            case 9:
                return self.pick([Int(0, 10**9), Int(-(2**40), 2**40), Int(0, 100)])
            case 7:
                value = self.number(-1, 2)
                return Int(value, value)
        low = self.number(-3, 1)
        return Int(low, low + self.number(1, 4))

    def kind(self, depth: int, widest: int) -> Kind:
        """A type of at most so many bits."""
        for _ in range(4):
            kind = self._kind(depth)
            if bits(kind) <= widest:
                return kind
        return Bool()

    def _kind(self, depth: int) -> Kind:
        if depth == 0:
            return self.scalar()
        options: list[Callable[[], Kind]] = [self.scalar, self.scalar]
        options += [
            lambda: SetOf(self._element(depth - 1, 70)),
            lambda: SeqOf(self.kind(depth - 1, 40), self.number(1, 3) if not self.once_in(9) else 0),
            lambda: MapOf(*self._entry(depth)),
            lambda: Maybe(self.kind(depth - 1, 40)),
            lambda: BagOf(self.kind(depth - 1, 40), self.number(1, 2)),
            lambda: SetOf(self._element(depth - 1, 24) if not self.once_in(6) else Int(0, 10**9), self.number(1, 2)),
        ]
        if self.words.structs:
            options += [lambda: self.pick(self.words.structs)] * 2
        if self.words.unions:
            options += [lambda: self.pick(self.words.unions)] * 2
        kind = self.pick(options)()
        if isinstance(kind, Maybe) and isinstance(kind.inner, Maybe):
            return kind.inner
        return kind

    def _element(self, depth: int, most: int) -> Kind:
        for _ in range(4):
            kind = self._kind(depth)
            if codes(kind) <= most:
                return kind
        return Bool()

    def _entry(self, depth: int) -> tuple[Kind, Kind]:
        keys: list[Kind] = [*self.words.names, *self.words.enumerations]
        keys += [struct for struct in self.words.structs if listed(struct) and values(struct) <= MAX_KEYS]
        return self.pick(keys), self.kind(depth - 1, 40)

    # Declarations.

    def declarations(self) -> list[str]:
        """Constants, classes and variables; the lines that stand before the model."""
        words, lines = self.words, []
        for number in range(self.number(0, 2)):
            self.constants[f"size{number}"] = self.number(1, 3)
        words.numbers = list(self.constants)
        count, text = self.number(1, 3), ""
        if self.constants and self.once_in(2):
            name = self.pick(list(self.constants))
            count, text = self.constants[name], f"'{name}'"
        words.names.append(Name("Node", count))
        lines += [f"class Node(Identifier, count={text or count}, prefix='n'):", "    pass"]
        if self.number(0, 1):
            members = ("RED", "GREEN", "BLUE")[: self.number(1, 3)]
            words.enumerations.append(Enumeration("Colour", members))
            lines += ["class Colour(Enum):", *[f"    {member} = {i}" for i, member in enumerate(members)]]
        for number in range(self.number(0, 2)):
            known = dict(words.structs[0].fields) if words.structs and self.number(0, 1) else {}
            fields = tuple((f"f{i}", known.get(f"f{i}") or self.kind(1, 12)) for i in range(self.number(1, 3)))
            lines.append(f"class Struct{number}(Record):")
            for position, (name, of) in enumerate(fields):
                default = ""
                if self.once_in(5) and isinstance(of, Bool | Int) and position + 1 == len(fields):
                    default = f" = {self.literal(Scope(()), of)}"
                lines.append(f"    {name}: {annotation(of)}{default}")
            words.structs.append(Struct(f"Struct{number}", fields))
            if known and self.number(0, 2):
                words.unions.append(OneOf("Either", tuple(words.structs)))
                lines.append("Either = Struct0 | Struct1")
        if self.once_in(6):
            lines.append("LIMIT = 2")
            words.globals.append(("LIMIT", Int(2, 2)))
        if self.once_in(6):
            lines += ["SOME = Set({0, 1})", "PAIR = Seq((1, 0))"]
            words.globals += [("SOME", SetOf(Int(0, 1))), ("PAIR", SeqOf(Int(0, 1), 2))]
        for number in range(self.pick([1, 2, 3, 3, 4, 4])):
            words.variables[f"v{number}"] = self.kind(2, WIDEST_VARIABLE)
        return lines

    # Statements.

    def block(self, scope: Scope, depth: int, most: int) -> tuple[list[str], Scope, bool]:
        """Some statements, the scope after them, and whether control goes on."""
        lines: list[str] = []
        for _ in range(self.number(1, most)):
            more, scope, goes_on = self.statement(scope, depth)
            lines += more
            if not goes_on:
                return lines, scope, False
        return lines, scope, True

    def statement(self, scope: Scope, depth: int) -> tuple[list[str], Scope, bool]:
        options: list[Callable[[], list[str]]] = []
        if scope.acting:
            options += [lambda: self._assignment(scope)] * 3
            options += [lambda: self._augmented(scope), lambda: self._mutation(scope), lambda: self._mutation(scope)]
            options += [lambda: self._checked(scope), lambda: self._several(scope)]
            acts = [h for h in self.words.helpers if h.acts]
            if acts:
                options.append(lambda: self._act(scope, self.pick(acts)))
        else:
            options.append(lambda: ["pass"])
        choice = self.number(0, len(options) + (5 if depth > 0 else 1))
        if choice < len(options):
            return options[choice](), scope, True
        match choice - len(options):
            case 0 | 1:
                lines, scope = self._local(scope)
                return lines, scope, True
            case 2 | 3 | 4:
                return self._branch(scope, depth - 1)
        return self._loop(scope, depth - 1), scope, True

    def _targets(self, scope: Scope, wanted: Callable[[Kind], bool]) -> list[tuple[str, Kind, bool]]:
        """Places that can be assigned, with what guards an index."""
        found = []
        for name, kind in self.words.variables.items():
            for steps, of in self.inside(kind, 2):
                if wanted(of) and not any(how in ("some", "class") for how, _ in steps):
                    found.append((f"self.{name}", steps, of))
        places = []
        if not found:
            return []
        root, steps, of = self.pick(found)
        text, risky = root, False
        for how, what in steps:
            if how == "field":
                text = f"{text}.{what}"
            elif how == "key":
                assert not isinstance(what, str)
                text = f"{text}[{self.value(scope, what, 1)}]"
            else:
                text, risky = f"{text}[{self.pick(['0', '-1', self.integer(scope, 0)])}]", True
        places.append((text, of, risky))
        return places

    def _guarded(self, place: str, risky: bool, line: str) -> list[str]:
        """The line, under a guard when an index may be outside."""
        if not risky or self.once_in(6):
            return [line]
        tests = []
        for node in ast.walk(ast.parse(place, mode="eval")):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant | ast.UnaryOp):
                tests.append(f"len({ast.unparse(node.value)}) > 0")
        return [f"if {' and '.join(reversed(tests))}:", f"    {line}"] if tests else [line]

    def _assignment(self, scope: Scope) -> list[str]:
        [(place, kind, risky)] = self._targets(scope, lambda _: True)
        acts = [h for h in self.words.helpers if h.acts and h.result == kind]
        if acts and self.once_in(2):
            return [f"{place} = {self.call(scope, self.pick(acts), 1)}"] if "[" not in place else ["pass"]
        mine = [name for name, of, _ in scope.locals if of == kind and name.startswith("p")]
        if mine and self.number(0, 1):
            return self._guarded(place, risky, f"{place} = {self.pick(mine)}")
        text = self.value(scope, kind, DEPTH, plain=True)
        if text == place:
            text = self.literal(scope, kind)
        return self._guarded(place, risky, f"{place} = {text}")

    def _several(self, scope: Scope) -> list[str]:
        """Two assignments at once, unless one of them is guarded."""
        both = [self._assignment(scope), self._assignment(scope)]
        if any(len(lines) > 1 or lines == ["pass"] for lines in both):
            return [line for lines in both for line in lines]
        (one, first), (other, second) = (lines[0].split(" = ", 1) for lines in both)
        return [f"{one}, {other} = {first}, {second}"]

    def _augmented(self, scope: Scope) -> list[str]:
        places = self._targets(scope, lambda kind: isinstance(kind, Int | SetOf | SeqOf))
        if not places:
            return self._assignment(scope)
        [(place, kind, risky)] = places
        match kind:
            case Int(low, high):
                op, by = self.pick([("+", 1), ("-", 1), ("*", 2), ("//", 2), ("%", 2)])
                line = f"{place} {op}= {by}"
                if not self.once_in(6):
                    line = f"if {low} <= {place} {op} {by} <= {high}: {line}"
                return self._guarded(place, risky, line)
            case SetOf():
                text = self.value(scope, kind, 2, plain=True)
                return self._guarded(place, risky, f"{place} {self.pick(['|=', '-=', '&=', '^='])} {text}")
            case SeqOf(_, capacity):
                text = self.value(scope, kind, 2, plain=True)
                line = f"{place} += {text}"
                if not self.once_in(6):
                    line = f"if len({place}) + len({text}) <= {capacity}: {line}"
                return self._guarded(place, risky, line)
        raise AssertionError(kind)

    def _mutation(self, scope: Scope) -> list[str]:
        places = self._targets(scope, lambda kind: isinstance(kind, SetOf | SeqOf | BagOf))
        if not places:
            return self._assignment(scope)
        [(place, kind, risky)] = places
        assert isinstance(kind, SetOf | SeqOf | BagOf)
        mine = [name for name, of, _ in scope.locals if of == kind.element and name.startswith("p")]
        item = self.pick(mine) if mine and self.number(0, 1) else self.value(scope, kind.element, 2)
        method = "append" if isinstance(kind, SeqOf) else self.pick(["add", "remove", "discard"])
        if isinstance(kind, BagOf) and method == "discard":
            method = "add"
        line = f"{place}.{method}({item})"
        if not self.once_in(8):
            if method == "remove":
                line = f"if {item} in {place}: {line}"
            elif method in ("append", "add") and kind.capacity is not None:
                line = f"if len({place}) < {kind.capacity}: {line}"
        return self._guarded(place, risky, line)

    def _checked(self, scope: Scope) -> list[str]:
        if self.once_in(4):
            message = self.pick(["", ", 'no'", ", f'not {1}'"])
            return [f"assert implies({self.condition(scope, 1)}, {self.condition(scope, 1)}) or "
                    f"{self.truth(scope, 1)}{message}"]
        return [f"require({self.condition(scope, 2)})"]

    def _act(self, scope: Scope, helper: Helper) -> list[str]:
        call = self.call(scope, helper, 1)
        return [call] if helper.result is None else [f"{self.fresh('x')} = {call}"]

    def _local(self, scope: Scope) -> tuple[list[str], Scope]:
        known = [local for local in scope.locals if local[0].startswith("x")]
        plain = self.once_in(3)
        if known and self.number(0, 1):
            name, kind, typed = self.pick(known)
            if isinstance(kind, Int) and self.number(0, 1):
                return [f"{name} += {self.integer(scope, 1)}", f"{name} = {name} % 7"], scope.having(name, Int(0, 6))
            return [f"{name} = {self.value(scope, kind, 2, plain=not typed)}"], scope
        name = self.fresh("x")
        kind = self.pick([*self.words.variables.values(), Bool(), Int(0, 3)])
        if not self.words.variables or not scope.me:
            simple: list[Kind] = [Bool(), Int(0, 3), SetOf(Int(0, 3)), SeqOf(Int(0, 3), 3)]
            kind = self.pick(simple)
        text = self.value(scope, kind, 2, plain=plain)
        declared = f"{name}: {hint(kind)} = {text}" if self.once_in(8) else f"{name} = {text}"
        return [declared], scope.having(name, kind, typed=not plain)

    def _branch(self, scope: Scope, depth: int) -> tuple[list[str], Scope, bool]:
        if self.once_in(12) and scope.me and self.words.flags:
            test, ends = f"{self.pick(scope.me)}.{self.pick(self.words.flags)}", False
        else:
            test, ends = self.condition(scope, 2), True
        if test in ("True", "False") or test.endswith(tuple(self.words.flags) or ("?",)):
            ends = False
        lines = [f"if {test}:"]
        body, then_goes_on = self._arm(scope, depth, ends)
        lines += body
        if self.once_in(5):
            lines.append(f"elif {self.integer(scope, 1)} == {self.integer(scope, 1)}:")
            lines += self._arm(scope, depth, False)[0]
            then_goes_on = True
        else_goes_on = True
        if self.number(0, 1):
            body, else_goes_on = self._arm(scope, depth, ends)
            lines += ["else:", *body]
        return lines, scope, then_goes_on or else_goes_on

    def _arm(self, scope: Scope, depth: int, ends: bool) -> tuple[list[str], bool]:
        """A block of a branch; it may end with break, continue or return."""
        lines, _, goes_on = self.block(scope, depth, 2)
        if goes_on and ends and self.once_in(4):
            ways = ["break", "continue"] * bool(scope.loops)
            if self.leave is not None:
                ways.append("return")
            if ways:
                way = self.pick(ways)
                assert self.leave is not None or way != "return"
                lines.append(self.leave(scope) if way == "return" and self.leave is not None else way)
                goes_on = False
        return _indented(lines), goes_on

    def _loop(self, scope: Scope, depth: int) -> list[str]:
        name, domain, inner = self.several(scope) if self.once_in(5) else self._one(scope, 1, False)
        inner = replace(inner, loops=scope.loops + 1)
        lines, _, goes_on = self.block(inner, depth, 2)
        if goes_on and self.once_in(4):
            lines.append(self.pick(["break", "continue"]))
        return [f"for {name} in {domain}:", *_indented(lines)]

    leave: Callable[[Scope], str] | None = None

    # Functions.

    def helper(self, number: int) -> list[str]:
        """A helper method or a function of the module."""
        me = self.once_in(4) is False
        acts = me and self.once_in(3)
        result: Kind | None = None
        if not acts or self.once_in(3):
            kinds: list[Kind] = [Bool(), Int(-2, 2)]
            result = self.pick([*kinds, *self.words.variables.values()] if me else kinds)
        parameters = tuple((f"p{i}", self.kind(1, 40)) for i in range(self.number(0, 2)))
        static = me and not acts and self.once_in(10) and not isinstance(result, MapOf)
        scope = Scope(("self",) if me and not static else (), acting=acts)
        for name, kind in parameters:
            scope = scope.having(name, kind)
        defaults = 1 if parameters and isinstance(parameters[-1][1], Bool | Int) and self.once_in(4) else 0
        signature = [f"{name}: {hint(kind)}" for name, kind in parameters]
        if defaults:
            signature[-1] += f" = {self.literal(Scope(()), parameters[-1][1])}"
        name = f"h{number}"
        owner = ["self"] if me and not static else []
        kept = self.words.helpers
        if static:
            self.words.helpers = []
        plain = not isinstance(result, SetOf | SeqOf | MapOf)
        self.leave = (lambda s: "return") if result is None else (
            lambda s: f"return {self.value(s, result, 1, plain=plain)}")
        lines, inner, goes_on = self.block(scope, 1, 2)
        if goes_on and result is not None:
            lines.append(f"return {self.value(inner, result, 2, plain=plain)}")
        self.words.helpers = [*kept, Helper(name, parameters, result, me, acts, defaults, static, tuple(signature))]
        decorator = ["@staticmethod"] if static else ["@rule"] if me and self.once_in(4) else []
        gives = "None" if result is None else hint(result)
        return [*decorator, f"def {name}({', '.join([*owner, *signature])}) -> {gives}:", *_indented(lines)]

    def initial_method(self, number: int, given: set[str]) -> list[str]:
        """Sets every variable that the class body does not; from parameters, some of them."""
        parameters: list[tuple[str, Kind]] = []
        lines: list[str] = []
        for name, kind in self.words.variables.items():
            if name in given:
                continue
            plain = kind.inner if isinstance(kind, Maybe) else kind
            if not self.once_in(3) and codes(kind) <= 4 and isinstance(plain, Bool | Int | Enumeration | Name | MapOf):
                parameters.append((f"p{len(parameters)}", kind))
                lines.append(f"self.{name} = {parameters[-1][0]}")
            else:
                lines.append(f"self.{name} = {self.literal(Scope(('self',)), kind)}")
        if parameters and self.once_in(3):
            lines.insert(0, f"require({parameters[0][0]} == {self.literal(Scope(('self',)), parameters[0][1])})")
        signature = ", ".join(["self", *(f"{name}: {annotation(kind)}" for name, kind in parameters)])
        return ["@initial", f"def start{number}({signature}) -> None:", *_indented([*lines, "# start", "pass"])]

    def action_method(self, number: int) -> tuple[list[str], list[tuple[str, Kind]]]:
        scope = Scope(("self",), acting=True)
        parameters: list[tuple[str, Kind]] = []
        guards: list[str] = []
        for _ in range(self.pick([1, 2, 0])):
            name = f"p{len(parameters)}"
            kind, drawn = self._parameter(scope)
            parameters.append((name, kind))
            if drawn:
                guards.append(f"{name} in {drawn}")
            scope = scope.having(name, kind)
            if self.once_in(5):
                guards.append(self._guard(scope))
        if self.once_in(3):
            guards.append(self._guard(scope))
        lines = []
        if guards and self.once_in(3):
            lines = [f"require({guard})" for guard in guards]
        elif guards:
            lines = [f"require({' and '.join(guards)})"]
        lines.append(_STEP)
        self.leave = lambda _: "return"
        body, _, _ = self.block(scope, 2, 4)
        signature = ", ".join(["self", *(f"{name}: {annotation(kind)}" for name, kind in parameters)])
        return ["@action", f"def a{number}({signature}) -> None:", *_indented([*lines, *body])], parameters

    def _guard(self, scope: Scope) -> str:
        first = self.truth(scope, 2)
        return first if self.once_in(3) else f"({first} or {self.truth(scope, 1)})"

    def _mover(self, number: int) -> list[str]:
        """An action that moves one part of the state, so that the others are looked at in more than one state."""
        def free(kind: Kind) -> bool:
            return codes(kind) <= FREE_PARAMETER and isinstance(kind, Bool | Int | Enumeration | Name)

        scope = Scope(("self",), acting=True)
        places = self._targets(scope, lambda kind: free(kind) or (
            isinstance(kind, SetOf | SeqOf | BagOf) and free(kind.element) and kind.capacity != 0))
        if not places:
            return []
        [(place, kind, risky)] = places
        wanted = kind.element if isinstance(kind, SetOf | SeqOf | BagOf) else kind
        match kind:
            case SetOf(_, None):
                line = f"{place} ^= {{p0}}"
            case SeqOf(_, capacity) | BagOf(_, capacity) | SetOf(_, capacity):
                line = f"if len({place}) < {capacity}: {place}.{'append' if isinstance(kind, SeqOf) else 'add'}(p0)"
            case _:
                line = f"{place} = p0"
        body = [_STEP, *self._guarded(place, risky, line)]
        return ["@action", f"def move{number}(self, p0: {annotation(wanted)}) -> None:", *_indented(body)]

    def _parameter(self, scope: Scope) -> tuple[Kind, str]:
        """A parameter's type, and what it is drawn from if anything."""
        sources = [kind for kind in self.containers(scope) if isinstance(kind, SetOf | BagOf)
                   or (isinstance(kind, SeqOf) and isinstance(kind.element, Bool | Int | Enumeration | Name)
                       and codes(kind.element) <= FREE_PARAMETER)]
        if sources and self.once_in(3):
            source = self.pick(sources)
            paths = [path for path in self.paths(scope, source)
                     if not any(how in ("some", "index") for how, _ in path[1])]
            element = source.element
            if isinstance(element, OneOf) and paths and self.number(0, 1):
                return self.pick(element.members), self.path(scope, self.pick(paths), 1)
            if paths and (codes(element) > FREE_PARAMETER or self.number(0, 1)):
                return element, self.path(scope, self.pick(paths), 1)
            if codes(element) <= FREE_PARAMETER and not isinstance(element, SeqOf | BagOf | MapOf | SetOf | Maybe):
                return element, self.value(scope, source, 1)
        leaves = [of for kind in self.words.variables.values() for _, of in self.inside(kind, 2)]
        leaves += [kind.element for kind in leaves if isinstance(kind, SetOf | SeqOf | BagOf)]
        for _ in range(6):
            makers: list[Callable[[], Kind]] = [lambda: self.pick(leaves), self.scalar, lambda: self._kind(1)]
            kind = self.pick(makers)()
            if isinstance(kind, Maybe) and isinstance(kind.inner, Struct | OneOf | SeqOf | BagOf | MapOf | SetOf):
                continue
            if codes(kind) <= FREE_PARAMETER and not isinstance(kind, SeqOf | BagOf | MapOf | SetOf | Struct | OneOf):
                return kind, ""
            if isinstance(kind, SetOf) and kind.capacity is None and bits(kind) <= 2:
                return kind, ""
        return Bool(), ""

    def property_method(self, kind: str, number: int) -> list[str]:
        me = ("old", "new") if kind == "transition" else ("self",)
        scope = Scope(me)
        lines: list[str] = []
        self.leave = None
        if self.once_in(4):
            self.leave = lambda s: f"return {self.truth(s, 1)}"
            lines, scope, _ = self.block(scope, 1, 1) if self.once_in(2) else ([], scope, True)
        premise, conclusion = self.truth(scope, 2), self.truth(scope, 2)
        weak = self.pick([f"implies({premise}, {conclusion})", f"({premise} or {conclusion})", conclusion])
        if kind != "reachable":
            weak = f"({weak} or {self.truth(scope, 1)} or {self.truth(scope, 1)})"
        return [f"@{kind}", f"def {kind}{number}({', '.join(me)}) -> bool:", *_indented([*lines, f"return {weak}"])]

    # The model.

    def model(self) -> GeneratedModel:
        before = self.declarations()
        if self.once_in(3):
            self.words.flags.append("flag")
        body = [f"{name} = Constant({value})" for name, value in self.constants.items()]
        body += [f"{flag} = Constant({self.pick(['False', 'True'])})" for flag in self.words.flags]
        given: set[str] = set()
        for name, kind in self.words.variables.items():
            default = ""
            if self.once_in(8) and isinstance(kind, Bool | Int | Enumeration | Maybe):
                given.add(name)
                default = f" = {'None' if isinstance(kind, Maybe) else self.literal(Scope(()), kind)}"
            body.append(f"{name}: {annotation(kind)}{default}")
        body.append("# variables")
        functions: list[str] = []
        methods: list[str] = []
        for number in range(self.number(0, 3)):
            lines = self.helper(number)
            (methods if self.words.helpers[-1].me else functions).extend(lines)
        for number in range(1 + int(self.once_in(5))):
            methods += self.initial_method(number, given)
        actions = []
        for number in range(self.pick([1, 2, 2, 3])):
            lines, parameters = self.action_method(number)
            actions.append((number, parameters))
            methods += lines
        for number in range(self.pick([0, 1, 2, 3, 3, 4, 4])):
            methods += self._mover(number)
        for what in ("reachable", "invariant", "transition"):
            for number in range(self.number(0, 1)):
                methods += self.property_method(what, number)
        if self.once_in(6):
            methods += ["@boundary", "def near(self) -> bool:", f"    return {self.truth(Scope(('self',)), 2)}"]
        lines = [HEADER, *before, *functions, "class Generated(Model):", *_indented([*body, *methods])]
        name = "Generated"
        if self.once_in(4):
            name = "Overriding"
            lines += self._subclass(actions)
        return GeneratedModel("\n".join(lines), name)

    def _subclass(self, actions: list[tuple[int, list[tuple[str, Kind]]]]) -> list[str]:
        number, parameters = self.pick(actions)
        scope = Scope(("self",), acting=True)
        for name, kind in parameters:
            scope = scope.having(name, kind)
        self.leave = lambda _: "return"
        own, _, goes_on = self.block(scope, 1, 1)
        call = f"super().a{number}({', '.join(name for name, _ in parameters)})"
        body = [call, *own] if not goes_on or self.number(0, 1) == 0 else [*own, call]
        free = all(codes(kind) <= 64 and not isinstance(kind, SeqOf | BagOf | MapOf | SetOf | Struct | OneOf | Maybe)
                   for _, kind in parameters)
        lines = ["class Overriding(Generated):"]
        if free:
            signature = ", ".join(["self", *(f"{name}: {annotation(kind)}" for name, kind in parameters)])
            lines += _indented([f"def a{number}({signature}) -> None:", *_indented(body)])
        rules = [h for h in self.words.helpers if h.me and not h.acts and isinstance(h.result, Bool)]
        if rules:
            helper = self.pick(rules)
            signature = ", ".join(["self", *helper.signature])
            call = f"super().{helper.name}({', '.join(name for name, _ in helper.parameters)})"
            lines += _indented([f"def {helper.name}({signature}) -> bool:", f"    return not {call}"])
        return lines if len(lines) > 1 else [*lines, "    pass"]


def _indented(lines: list[str]) -> list[str]:
    return [textwrap.indent(line, "    ") for line in lines]


@st.composite
def models(draw: Draw, growing: bool = False) -> GeneratedModel:
    """Whole models; with ``growing``, some of them have sets, bags or sequences without a capacity."""
    model = _Writer(draw).model()
    if growing:
        model.growing = SOME[draw(st.integers(0, len(SOME) - 1))]
    return model
