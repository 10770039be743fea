"""Runs an exported Promela model without Spin: as much of the language as the export writes, and no more.

Its meaning is C's where Spin hands an expression to C: division rounds toward zero, and ``(c -> a : b)`` evaluates one
of two. What Spin does not notice is an error here: a value that its variable has no room for, an index outside of an
array, and a state in which nothing of an ``if`` is true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from floodmark.checkers.export.promela import Process
from tests.support.foreign import ERROR, Verdict

Memory = dict[str, Any]
_TOKEN = re.compile(r"\w+|::|->|&&|\|\||==|!=|<=|>=|<<|>>|\S")
_ROOM = {"bit": (0, 1), "byte": (0, 255), "short": (-(2**15), 2**15 - 1), "int": (-(2**31), 2**31 - 1)}
_LEVELS = [("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
           ("*", "/", "%")]
_IN_PYTHON = {"||": "or", "&&": "and"}


class UnmetError(Exception):
    """An assertion is false; the argument is its text."""


@dataclass(frozen=True)
class _Jump:
    """Goes on at a label; where it has a condition, only if that is false."""

    target: str
    unless: str | None = None


@dataclass
class _Code:
    """Statements of Python and jumps, one after the other, and the labels before them."""

    steps: list[str | _Jump] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)

    def label(self, name: str) -> None:
        assert name not in self.labels
        self.labels[name] = len(self.steps)

    def compiled(self) -> _Blocks:
        """Blocks that only a jump ends, and into whose middle none leads."""
        begins = {0, *self.labels.values(), *(at + 1 for at, step in enumerate(self.steps) if isinstance(step, _Jump))}
        first = {begin: number for number, begin in enumerate(sorted(begins))}
        blocks: _Blocks = []
        for begin, end in pairwise([*first, len(self.steps) + 1]):
            steps = self.steps[begin:end]
            last = next((step for step in steps if isinstance(step, _Jump)), None)
            code = compile("\n".join(step for step in steps if isinstance(step, str)), "promela", "exec")
            if last is None:
                blocks.append((code, None, 0))
            else:
                blocks.append((code, compile(last.unless or "0", "promela", "eval"), first[self.labels[last.target]]))
        return blocks


_Blocks = list[tuple[Any, Any, int]]
"""The statement of a block; a condition that leads to the next block if it is true; the block for a false condition."""


def _run(blocks: _Blocks, memory: Memory) -> None:
    at = 0
    while at < len(blocks):
        code, unless, other = blocks[at]
        exec(code, memory)
        at = at + 1 if unless is None or eval(unless, memory) else other


class _Parser:
    """Reads tokens into instructions."""

    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.findall(re.sub(r"/\*.*?\*/", "", text, flags=re.S))
        self.at = 0
        self.names = 0
        self.breaks: list[str] = []

    def peek(self, offset: int = 0) -> str:
        return self.tokens[self.at + offset] if self.at + offset < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.peek()
        assert token and wanted in (None, token), (wanted, self.tokens[self.at - 5 : self.at + 5])
        self.at += 1
        return token

    def new(self, wanted: str) -> str:
        self.names += 1
        return f"{wanted} {self.names}"

    # Expressions, as text of Python.

    def expression(self, level: int = 0) -> str:
        if level == len(_LEVELS):
            return self._unary()
        left = self.expression(level + 1)
        while self.peek() in _LEVELS[level]:
            operator = self.take()
            right = self.expression(level + 1)
            if operator in ("/", "%"):
                left = f"{'_quotient' if operator == '/' else '_rest'}({left}, {right})"
            else:
                left = f"({left} {_IN_PYTHON.get(operator, operator)} {right})"
        return left

    def _unary(self) -> str:
        token = self.take()
        if token == "!":
            return f"(not {self._unary()})"
        if token == "-":
            return f"(-{self._unary()})"
        if token == "(":
            found = self.expression()
            if self.peek() == "->":
                self.take()
                then = self.expression()
                self.take(":")
                found = f"({then} if {found} else {self.expression()})"
            self.take(")")
            return found
        assert token.isalnum() or "_" in token, token
        return self._place(token)

    def _place(self, name: str) -> str:
        if self.peek() != "[":
            return name
        self.take()
        index = self.expression()
        self.take("]")
        return f"{name}[_within({index}, {name})]"

    # Statements.

    def block(self, code: _Code) -> None:
        self.take("{")
        self.statements(code, ("}",))
        self.take("}")

    def statements(self, code: _Code, ends: Sequence[str]) -> None:
        while True:
            while self.peek() == ";":
                self.take()
            if self.peek() in ends:
                return
            self.statement(code)

    def statement(self, code: _Code) -> None:
        token = self.peek()
        if token in ("if", "do"):
            self._choice(code)
        elif token == "d_step":
            self.take()
            self.block(code)
        elif token == "skip":
            self.take()
        elif token == "goto":
            self.take()
            code.steps.append(_Jump(self.take()))
        elif token == "break":
            self.take()
            code.steps.append(_Jump(self.breaks[-1]))
        elif token == "assert":
            self.take()
            beginning = self.at
            asked = self.expression()
            said = "".join(self.tokens[beginning : self.at])
            code.steps.append(f"_check({asked}, {said!r})")
        elif self.peek(1) == ":":
            code.label(self.take())
            self.take()
        else:
            self._assignment(code)

    def _assignment(self, code: _Code) -> None:
        name = self.take()
        place = self._place(name)
        if self.peek() == "->":
            raise AssertionError(f"{place} is a condition")
        self.take("=")
        code.steps.append(f"{place} = _fitting({self.expression()}, {name!r})")

    def _choice(self, code: _Code) -> None:
        """An ``if`` or a ``do``, whose alternatives exclude each other."""
        repeated = self.take() == "do"
        begin, end = self.new("begin"), self.new("end")
        code.label(begin)
        self.breaks += [end] if repeated else []
        while self.peek() == "::":
            self.take()
            other = self.new("other")
            braces = self.peek() == "d_step"
            if braces:
                self.take()
                self.take("{")
            if self.peek() == "else":
                self.take()
            else:
                code.steps.append(_Jump(other, self.expression()))
            if self.peek() == "->":
                self.take()
            self.statements(code, ("}",) if braces else ("::", "fi", "od"))
            if braces:
                self.take("}")
            code.steps.append(_Jump(begin if repeated else end))
            code.label(other)
        self.take("od" if repeated else "fi")
        code.steps.append("_check(0, 'something is true')")
        code.label(end)
        if repeated:
            self.breaks.pop()


class Promela:
    """A model: its variables, the choices of a step with their guards, and what follows a choice."""

    def __init__(self, text: str, macros: Sequence[str] = ()) -> None:
        head, _, body = _chosen(text, macros).partition("active proctype model()")
        self.memory: Memory = {"_quotient": _quotient, "_rest": _rest, "_within": _within, "_check": _check,
                               "_fitting": self._fitting}
        self.rooms: dict[str, tuple[int, int]] = {}
        self.kept: list[str] = []
        declared = r"^(?:(TEMPORARY) )?(bit|byte|short|int) (\w+)(?:\[(\d+)\])?(?: = (\d+))?;"
        for hidden, kind, name, size, value in re.findall(declared, head, re.M):
            self.rooms[name] = _ROOM[kind]
            self.memory[name] = [0] * int(size) if size else int(value or 0)
            self.kept += [] if hidden else [name]
        parser = _Parser(body)
        for token in ("{", "do", "::", "STEP", "{", "if"):
            parser.take(token)
        self.choices: list[tuple[Any, _Blocks]] = []
        while parser.peek() == "::":
            for token in ("::", "d_step", "{"):
                parser.take(token)
            guard, chosen = parser.expression(), _Code()
            parser.take("->")
            parser.statements(chosen, ("}",))
            parser.take("}")
            self.choices.append((compile(guard, guard, "eval"), chosen.compiled()))
        parser.take("fi")
        rest = _Code()
        parser.statements(rest, ("}",))
        self.rest = rest.compiled()

    def _fitting(self, value: int, name: str) -> int:
        low, high = self.rooms[name]
        assert low <= value <= high, f"{name} has no room for {value}"
        return int(value)

    def state(self) -> tuple[Any, ...]:
        return tuple(_frozen(self.memory[name]) for name in self.kept)

    def successors(self, state: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        for guard, chosen in self.choices:
            for name, value in zip(self.kept, state, strict=True):
                self.memory[name] = list(value) if isinstance(value, tuple) else value
            if eval(guard, self.memory):
                _run(chosen, self.memory)
                _run(self.rest, self.memory)
                yield self.state()


def ask(process: Process, macros: Sequence[str] = (), most: int = 10**6) -> Verdict:
    """The result of a breadth-first search of at most ``most`` levels; ``started`` is false in the state before the
    initial ones."""
    model = Promela(process.text, macros)
    frontier = [model.state()]
    seen = set(frontier)
    for length in range(1, most + 1):
        found = []
        for state in frontier:
            try:
                for after in model.successors(state):
                    if after not in seen:
                        seen.add(after)
                        found.append(after)
            except UnmetError as unmet:
                flag = str(unmet).strip("()")
                return Verdict(None, flag if flag in process.flags else ERROR, length)
        if not found:
            break
        frontier = found
    return Verdict(distinct=len(seen) - 1)


def _chosen(text: str, macros: Sequence[str]) -> str:
    """The text with its ``#ifdef REACH_...`` parts of these macros alone."""
    def part(found: re.Match[str]) -> str:
        return found[2] if found[1] in macros else ""

    return re.sub(r"^#ifdef (REACH_\w+)\n(.*?)^#endif\n", part, text, flags=re.M | re.S)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _rest(a: int, b: int) -> int:
    return a - _quotient(a, b) * b


def _within(index: int, array: list[int]) -> int:
    assert 0 <= index < len(array), f"{index} is no index of an array of {len(array)}"
    return int(index)


def _check(truth: int, said: str) -> None:
    if not truth:
        raise UnmetError(said)
