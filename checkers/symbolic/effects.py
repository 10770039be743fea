"""Statements as z3 terms: how an action changes a symbolic state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from floodmark.checkers.symbolic.expressions import Evaluator
from floodmark.checkers.symbolic.terms import Truth, as_term, conj, disj, implied, negation
from floodmark.checkers.symbolic.value_types import UnsupportedError, Value
from floodmark.checkers.symbolic.values import Values
from floodmark.compiler.ir import (
    Action,
    Assert,
    Break,
    Continue,
    Do,
    FieldStep,
    For,
    If,
    Inline,
    ItemStep,
    Local,
    Position,
    Predicate,
    Require,
    Return,
    SetLocal,
    Stmt,
    Store,
)
from floodmark.language.types import MapType, RecordType, SeqType, Type


@dataclass(slots=True)
class _Loop:
    continued: list[Truth] = field(default_factory=list)
    broken: list[Truth] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Fired:
    """An action taken from a symbolic state.

    ``enabled`` combines its guards, wherever in the body they are; ``failures`` say where and when the model leaves its
    declared types; ``after`` is the next state if the action is enabled and does not fail.
    """

    action: Action
    enabled: Truth
    failures: list[tuple[Position, Truth]]
    after: dict[str, Value]
    parameters: list[Value]

    @property
    def failed(self) -> Truth:
        return disj(bad for _, bad in self.failures)

    @property
    def succeeds(self) -> Truth:
        return conj((self.enabled, negation(self.failed)))


@dataclass(frozen=True, slots=True)
class Judged:
    """A predicate in a symbolic state: whether it is true, and where and when evaluating it fails."""

    predicate: Predicate
    truth: Truth
    failures: list[tuple[Position, Truth]]

    @property
    def failed(self) -> Truth:
        return disj(bad for _, bad in self.failures)


class Effects(Evaluator):
    """An evaluator that also runs statements."""

    def __init__(
        self, values: Values, variables: dict[str, Type], new: dict[str, Value], old: dict[str, Value] | None = None
    ) -> None:
        super().__init__(values, dict(new), old)
        self.variables = variables
        self.required: list[Truth] = []
        self._returns: list[list[Truth]] = []
        self._loops: list[_Loop] = []
        self._assigned: dict[int, set[int]] = {}

    def reached(self) -> Truth:
        return conj((self.path, *self.required))

    def run(self, body: list[Stmt]) -> None:
        """Runs statements. A Return ends only these, so every path continues after them."""
        before = self.path
        self._returns.append([])
        loops, self._loops = self._loops, []
        self._block(body)
        self._returns.pop()
        self._loops = loops
        self.path = before

    def _call(self, node: Inline) -> None:
        for slot in self._own_slots(node):
            self.locals.pop(slot, None)
        self.run(node.body)

    def _own_slots(self, node: Inline) -> set[int]:
        """The variables that a call assigns: every call starts without values for them."""
        if id(node) not in self._assigned:
            slots = {local.slot for local in assigned(node.body)}
            self._assigned[id(node)] = slots if node.result is None else slots | {node.result.slot}
        return self._assigned[id(node)]

    def _block(self, body: list[Stmt]) -> None:
        for statement in body:
            if self.path is False:
                return
            self._statement(statement)

    def _statement(self, node: Stmt) -> None:
        try:
            self._effect(node)
        except UnsupportedError as error:
            raise error.at(node.at) from None

    def _effect(self, node: Stmt) -> None:
        match node:
            case SetLocal(target=target, value=value):
                self._assign(target.slot, target.type, self.evaluate(value))
            case Store():
                self._store(node)
            case If():
                self._if(node)
            case For():
                self._for(node)
            case Require(condition=condition):
                self.required.append(implied(self.path, self.evaluate(condition)))
            case Assert(condition=condition):
                self.fail_unless(self.evaluate(condition), node.at)
            case Return(value=value, into=into):
                if value is not None and into is not None:
                    self._assign(into.slot, into.type, self.evaluate(value))
                self._returns[-1].append(self.path)
                self.path = False
            case Break():
                self._loops[-1].broken.append(self.path)
                self.path = False
            case Continue():
                self._loops[-1].continued.append(self.path)
                self.path = False
            case Do(call=call):
                self._call(call)

    def _assign(self, slot: int, kind: Type, value: Value) -> None:
        old = self.locals.get(slot)
        self.locals[slot] = value if old is None else self.values.either(kind, self.path, value, old)

    def _if(self, node: If) -> None:
        condition = self.evaluate(node.condition)
        if isinstance(condition, bool):
            self._block(node.then if condition else node.otherwise)
            return
        before = self.path
        ends = []
        whole = True
        for chosen, body in ((condition, node.then), (negation(condition), node.otherwise)):
            self.path = entered = conj((before, chosen))
            self._block(body)
            whole = whole and self.path is entered
            ends.append(self.path)
        self.path = before if whole else disj(ends)

    def _for(self, node: For) -> None:
        loop = _Loop()
        self._loops.append(loop)
        before, returned = self.path, len(self._returns[-1])
        for there, value in self.iteration(node.domain, node.variable.type):
            if self.path is False:
                break
            self.locals[node.variable.slot] = value
            start = self.path
            self.path = conj((start, there))
            self._block(node.body)
            if not loop.broken and len(self._returns[-1]) == returned:
                self.path = start
            else:
                self.path = disj((self.path, conj((start, negation(there))), *loop.continued))
            loop.continued.clear()
        self._loops.pop()
        whole = len(self._returns[-1]) == returned
        self.path = before if whole else disj((self.path, *loop.broken))

    def _inline(self, node: Inline) -> Value:
        assert node.result is not None
        self._call(node)
        return self.locals.get(node.result.slot, self.values.default(node.result.type))

    def _store(self, node: Store) -> None:
        kind = self.variables[node.variable]
        value = self.evaluate(node.value)
        old = self.state["new"][node.variable]
        fits, value = self.values.settled(node.value.type, value)
        self.fail_unless(fits, node.at)
        updated = self._updated(kind, old, node.path, value, node.at)
        self.state["new"][node.variable] = self.values.either(kind, self.path, updated, old)

    def _updated(
        self, kind: Type, old: Value, path: list[FieldStep | ItemStep], value: Value, at: Position
    ) -> Value:
        """A container after an assignment inside it."""
        if not path:
            return value
        step, rest = path[0], path[1:]
        match step, kind:
            case FieldStep(name=name), RecordType(_, fields):
                return tuple(
                    self._updated(of, part, rest, value, at) if field == name else part
                    for (field, of), part in zip(fields, old, strict=True)
                )
            case ItemStep(key=key), MapType(key_type, of):
                which = self.positions(key_type, self.evaluate(key))
                return self._entries(of, old, which, rest, value, at)
            case ItemStep(key=key), SeqType(of, _):
                which = self.seq_position(kind, old, self.evaluate(key), at)
                return (old[0], self._entries(of, old[1], which, rest, value, at))
        raise AssertionError(step)

    def _entries(
        self, of: Type, old: Any, which: list[Truth], rest: list[FieldStep | ItemStep], value: Value, at: Position
    ) -> Value:
        before = self.path
        found = []
        for part, here in zip(old, which, strict=True):
            if here is False:
                found.append(part)
                continue
            self.path = conj((before, here))  # an inner index can fail only on the path through this one
            found.append(self.values.either(of, here, self._updated(of, part, rest, value, at), part))
        self.path = before
        return tuple(found)


def assigned(body: list[Stmt]) -> list[Local]:
    """The local variables that statements assign, except in calls inside expressions."""
    found: list[Local] = []
    for statement in body:
        match statement:
            case SetLocal(target=target):
                found.append(target)
            case If(then=then, otherwise=otherwise):
                found += assigned(then) + assigned(otherwise)
            case For(body=inner):
                found += assigned(inner)
    return found


def fire(
    values: Values, variables: dict[str, Type], action: Action, state: dict[str, Value], parameters: list[Value]
) -> Fired:
    """An action taken from a symbolic state with symbolic arguments."""
    effects = Effects(values, variables, state)
    guards: list[Truth] = []
    for parameter, value in zip(action.parameters, parameters, strict=True):
        effects.locals[parameter.slot] = value
        guards.append(values.well_formed(parameter.type, value))
    for guard in action.guards:
        effects.path = conj(guards)
        guards.append(effects.evaluate(guard))
    guarded = conj(guards)
    effects.path = True
    effects.required = [guarded]
    effects.run(action.body)
    enabled = conj(effects.required)
    return Fired(action, enabled, effects.failures, effects.state["new"], parameters)


def judge(
    values: Values,
    variables: dict[str, Type],
    predicate: Predicate,
    state: dict[str, Value],
    old: dict[str, Value] | None = None,
) -> Judged:
    """A predicate in a symbolic state, or on a step from ``old`` to it."""
    effects = Effects(values, variables, state, old)
    return Judged(predicate, effects.evaluate(predicate.value), effects.failures)


__all__ = ["Effects", "Fired", "Judged", "as_term", "fire", "judge"]
