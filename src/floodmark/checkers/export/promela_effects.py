"""Statements as Promela: an action changes variables in place and is undone if it turns out not to be enabled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from floodmark.checkers.export.graph_queries import assigned, refuse, results
from floodmark.checkers.export.promela_expressions import PromelaExpressions
from floodmark.checkers.export.promela_text import Text
from floodmark.checkers.export.promela_values import CellAddress, Value, cells, code, load, plus
from floodmark.compiler import ir
from floodmark.language.types import MapType, RecordType, SeqType, Type


@dataclass(slots=True)
class _LoopLabels:
    """The labels after a loop and at the end of its current iteration."""

    broken: str
    continued: str


class PromelaEffects:
    """Writes statements. ``disabled`` is the label to go to when a guard is false."""

    def __init__(
        self,
        text: Text,
        state: dict[str, dict[str, Value]],
        variables: dict[str, Type],
        places: dict[str, CellAddress],
        disabled: str = "",
    ) -> None:
        self.text = text
        self.expressions = PromelaExpressions(text, state, self.run)
        self.memory = self.expressions.memory
        self.variables = variables
        self.places = places
        self.disabled = disabled
        self._cells: dict[int, CellAddress] = {}
        self._returns: list[str] = []
        self._loops: list[_LoopLabels] = []

    def run(self, body: list[ir.Stmt]) -> None:
        """Writes statements; a Return jumps to their end."""
        for local in [*assigned(body), *results(body)]:
            self._cells[local.slot] = self.text.temporary(local.name, cells(local.type))
            self.expressions.locals[local.slot] = load(local.type, self._cells[local.slot])
        self._returns.append(self.text.label("returned"))
        loops, self._loops = self._loops, []
        before = len(self.text.lines)
        self._block(body)
        self._loops = loops
        label = self._returns.pop()
        if any(f"goto {label};" in line for line in self.text.lines[before:]):
            self.text.emit(f"{label}: skip;")

    def _block(self, body: list[ir.Stmt]) -> None:
        for statement in body:
            with self.text.statement():
                self._statement(statement)

    def _statement(self, node: ir.Stmt) -> None:
        match node:
            case ir.SetLocal(target=target, value=value):
                self._assign(target, value)
            case ir.SetVariable():
                self._store(node)
            case ir.If():
                self._if(node)
            case ir.For():
                self._for(node)
            case ir.Require(condition=condition):
                self.require(condition)
            case ir.Assert(condition=condition):
                self.memory.fail_unless(self.expressions.number(condition))
            case ir.Return(value=value, into=into):
                if value is not None and into is not None:
                    self._assign(into, value)
                self.text.emit(f"goto {self._returns[-1]};")
            case ir.Break():
                self.text.emit(f"goto {self._loops[-1].broken};")
            case ir.Continue():
                self.text.emit(f"goto {self._loops[-1].continued};")
            case ir.Do(call=call):
                call.accept(self.expressions)
            case _:
                assert_never(node)

    def require(self, condition: ir.Expr) -> None:
        holds = self.expressions.number(condition)
        if holds != "1":
            self.text.emit(f"if :: {holds} :: else -> goto {self.disabled} fi;")

    def _assign(self, target: ir.Local, value: ir.Expr) -> None:
        found = self.expressions.evaluate(value)
        if _mentions(value, lambda part: isinstance(part, ir.Local) and part.slot == target.slot):
            found = self.memory.kept(target.type, found)
        self.memory.write(target.type, self._cells[target.slot], found)

    def _if(self, node: ir.If) -> None:
        self.text.emit(f"if :: {self.expressions.number(node.condition)} ->")
        for position, body in enumerate((node.then, node.otherwise)):
            if position == 1:
                if not body:
                    self.text.emit(":: else fi;")
                    return
                self.text.emit(":: else ->")
            with self.text.indented():
                self._block(body)
                self.text.emit("skip")
        self.text.emit("fi;")

    def _for(self, node: ir.For) -> None:
        loop = _LoopLabels(self.text.label("broken"), self.text.label("continued"))
        before = len(self.text.lines)
        with self.expressions.comprehensions.each(node.variable, node.domain, True):
            self._loops.append(loop)
            self._block(node.body)
            self._loops.pop()
            if any(f"goto {loop.continued};" in line for line in self.text.lines[before:]):
                self.text.emit(f"{loop.continued}: skip;")
            else:
                self.text.emit("skip;")
        if any(f"goto {loop.broken};" in line for line in self.text.lines[before:]):
            self.text.emit(f"{loop.broken}: skip;")

    # Assignments to the state.

    def _store(self, node: ir.SetVariable) -> None:
        found = self.expressions.evaluate(node.value)
        kind, place = self._target(self.variables[node.variable], self.places[node.variable], node.path)
        if _mentions(node.value, lambda part: isinstance(part, ir.StateVar) and part.name == node.variable):
            found = self.memory.kept(kind, found)
        self.memory.write(kind, place, found)

    def _target(
        self, kind: Type, place: CellAddress, path: list[ir.FieldStep | ir.ItemStep]
    ) -> tuple[Type, CellAddress]:
        """The place that an assignment changes."""
        for step in path:
            match step, kind:
                case ir.FieldStep(name=name), RecordType(_, fields):
                    offset = 0
                    for field, of in fields:
                        if field == name:
                            place, kind = place.at(str(offset)), of
                            break
                        offset += cells(of)
                case ir.ItemStep(key=key), MapType(key_type, of):
                    index = self.memory.index_of(code(key_type, self.expressions.evaluate(key)), "key")
                    place, kind = place.at(_times(index, cells(of))), of
                case ir.ItemStep(key=key), SeqType(of, _):
                    index = self.expressions.index(place.cell("0"), key)
                    place, kind = place.at(plus(_times(index, cells(of)), "1")), of
                case _:
                    raise refuse(f"an assignment inside of {kind}")
        return kind, place


def _times(index: str, step: int) -> str:
    if index.isdigit():
        return str(int(index) * step)
    return index if step == 1 else f"({index}) * {step}"


def _mentions(node: ir.Expr, test: Callable[[ir.Expr], bool]) -> bool:
    return any(test(part) for part in ir.walk(node))

