"""Statements as z3 terms: the effect of an action on a symbolic state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, assert_never

from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, disj, implied, negation, substituted
from floodmark.checkers.symbolic.translate.any_size_loops import Addition, BestElementLoop, additions, selection
from floodmark.checkers.symbolic.translate.expressions import Evaluator
from floodmark.checkers.symbolic.values.components import Relation, UnboundedMap, replaced_in, symbols_in
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
from floodmark.checkers.symbolic.values.value import Values
from floodmark.compiler import ir
from floodmark.language.types import (
    MapType,
    OpenIdentifierType,
    OpenIntType,
    RecordType,
    SeqType,
    SetType,
    Type,
)

MAX_OUTCOMES = 1_000
"""The maximum number of different calls of shared functions in one action or property; each may come to thousands of
terms."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The result of a call of a shared function. ``keep_alive`` holds the terms of the call, whose identity is its
    key."""

    result: Value
    failures: list[tuple[ir.Position, Truth]]
    required: list[Truth]
    after: dict[str, Value]
    keep_alive: Any


@dataclass(slots=True)
class _LoopExits:
    continued: list[Truth] = field(default_factory=list)
    broken: list[Truth] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SymbolicStep:
    """An action taken from a symbolic state.

    ``enabled`` combines its guards, wherever in the body they are; ``failures`` have the locations and conditions of
    errors in the model; ``after`` is the next state if the action is enabled and does not fail.
    """

    action: ir.Action
    enabled: Truth
    failures: list[tuple[ir.Position, Truth]]
    after: dict[str, Value]
    parameters: list[Value]

    @property
    def failed(self) -> Truth:
        return disj(bad for _, bad in self.failures)

    @property
    def succeeds(self) -> Truth:
        return conj((self.enabled, negation(self.failed)))


@dataclass(frozen=True, slots=True)
class PredicateEvaluation:
    """A predicate in a symbolic state: its truth value, and the locations and conditions of failures in evaluating it.
    """

    predicate: ir.Predicate
    truth: Truth
    failures: list[tuple[ir.Position, Truth]]

    @property
    def failed(self) -> Truth:
        return disj(bad for _, bad in self.failures)


class StatementEvaluator(Evaluator):
    """An evaluator that also runs statements."""

    def __init__(
        self, values: Values, variables: dict[str, Type], new: dict[str, Value], old: dict[str, Value] | None = None
    ) -> None:
        super().__init__(values, dict(new), old)
        self.variables = variables
        self._returns: list[list[Truth]] = []
        self._loops: list[_LoopExits] = []
        self._assigned: dict[int, set[int]] = {}
        self._outcomes: dict[tuple[int, object], _Outcome] = {}

    def run(self, body: list[ir.Stmt]) -> None:
        """Runs statements. A Return ends only these, so every path continues after them."""
        before = self.path
        self._returns.append([])
        loops, self._loops = self._loops, []
        self._block(body)
        self._returns.pop()
        self._loops = loops
        self.path = before

    def _call(self, node: ir.Inline) -> None:
        for slot in self._own_slots(node):
            self.locals.pop(slot, None)
        self.run(node.body)

    def _own_slots(self, node: ir.Inline) -> set[int]:
        """The variables that a call assigns: every call starts without values for them."""
        if id(node) not in self._assigned:
            slots = {local.slot for local in assigned(node.body)}
            self._assigned[id(node)] = slots if node.result is None else slots | {node.result.slot}
        return self._assigned[id(node)]

    def _block(self, body: list[ir.Stmt]) -> None:
        for statement in body:
            if self.path is False:
                return
            self._statement(statement)

    def _statement(self, node: ir.Stmt) -> None:
        try:
            self._effect(node)
        except UnsupportedError as error:
            raise error.at(node.at) from None

    def _effect(self, node: ir.Stmt) -> None:
        match node:
            case ir.SetLocal(target=target, value=value):
                self._assign(target.slot, target.type, self.evaluate(value))
            case ir.SetVariable():
                self._store(node)
            case ir.If():
                self._if(node)
            case ir.For():
                self._for(node)
            case ir.Require(condition=condition):
                self.require(self.evaluate(condition))
            case ir.Assert(condition=condition):
                self.fail_unless(self.evaluate(condition), node.at)
            case ir.Return(value=value, into=into):
                if value is not None and into is not None:
                    self._assign(into.slot, into.type, self.evaluate(value))
                self._returns[-1].append(self.path)
                self.path = False
            case ir.Break():
                self._loops[-1].broken.append(self.path)
                self.path = False
            case ir.Continue():
                self._loops[-1].continued.append(self.path)
                self.path = False
            case ir.Do(call=call):
                if isinstance(call, ir.Inline):
                    self._call(call)
                else:
                    self._apply(call)
            case _:
                assert_never(node)

    def _assign(self, slot: int, kind: Type, value: Value) -> None:
        old = self.locals.get(slot)
        self.locals[slot] = value if old is None else self.values.either(kind, self.path, value, old)

    def _if(self, node: ir.If) -> None:
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

    def _for(self, node: ir.For) -> None:
        visited = self.visited(node.domain, node.variable.type)
        unordered = not isinstance(node.domain, ir.Universe | ir.Range) and self.values.is_unordered(node.domain.type)
        if unordered and any(addition.optional for addition in additions(node)):
            visited = self._in_any_order(node.variable.type, visited)
        if isinstance(visited, Relation):
            best = selection(node)
            if best is None:
                self._fold(node, visited)
            else:
                self._select(node, visited, best)
            return
        loop = _LoopExits()
        self._loops.append(loop)
        before, returned = self.path, len(self._returns[-1])
        for there, value in visited:
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

    def _fold(self, node: ir.For, domain: Relation) -> None:
        """A loop over any number of elements, which adds to sets."""
        values, before = self.values, self.path
        item = values.variable(node.variable.type, node.variable.name)
        self.locals[node.variable.slot] = item
        found: list[tuple[ir.Local, Value]] = []
        with self.for_each(item):
            there = domain.holds(item)
            for addition in additions(node):
                taken = there
                for condition, wanted in addition.conditions:
                    self.path = conj((before, taken))
                    true = self.evaluate(condition)
                    taken = conj((taken, true if wanted else negation(true)))
                self.path = conj((before, taken))
                element = _element(addition.target.type)
                source = addition.added.type
                fits, added = values.cast(source, SetType(element), self.evaluate(addition.added))
                self.fail_unless(fits, addition.added.at)
                more = _collected(values, item, taken, added)
                if addition.optional:
                    more = self._some_of(element, more)
                if addition.alone:
                    first = self._first_condition(addition, before)
                    first_round = conj((taken, implied(first, self._is_within(element, added, more))))
                    some = values.of_some(item, first_round)
                    values.axioms.add([more.term], implied(values.of_some(item, taken), some))
                found.append((addition.target, more))
            self.path = before
        for target, more in found:
            old = self.locals[target.slot]
            self._assign(target.slot, target.type, Relation(_either_holds(old, more), None))

    def _select(self, node: ir.For, domain: Relation, loop: BestElementLoop) -> None:
        """A loop over any number of elements that keeps the best.

        If finitely many elements satisfy the conditions, one of them is best. If it is better than the initial number,
        a witness represents the element of the last change. An unconstrained order chooses the witness among equally
        good ones.
        """
        values, before = self.values, self.path
        item = values.variable(node.variable.type, node.variable.name)
        self.locals[node.variable.slot] = item
        for own in loop.own:
            if own.target.slot in self.locals:
                name = own.target.name
                raise UnsupportedError(f"{name} has a value before the loop; give it another name in the loop")
        with self.for_each(item):
            chosen = domain.holds(item)
            self.path = conj((before, chosen))
            for own in loop.own:
                self.locals[own.target.slot] = self.evaluate(own.value)
            for condition in loop.conditions:
                chosen = conj((chosen, self.evaluate(condition)))
                self.path = conj((before, chosen))
            start, number = self.locals[loop.best.slot], self.evaluate(loop.number)
            better = conj((chosen, _compared(values, loop.op, number, start)))
            self.path = conj((before, better))
            found = [(it.target, self.evaluate(it.value)) for it in loop.kept]
            for own in loop.own:
                del self.locals[own.target.slot]
            self.path = before
        kept = next(value for target, value in found if target.slot == loop.best.slot)
        if values.numbers.equal(kept, number) is not True:
            raise UnsupportedError(f"{loop.best.name} has to become the number that it is compared with")
        bound = symbols_in(item)
        lines = [*(as_term(it) for it in (chosen, better)), *_terms_in(values, found)]
        over = [it for it in values.axioms.free(*lines) if not any(it.eq(mine) for mine in bound)]
        witness = [values.axioms.chosen("best", mine.sort(), over) for mine in bound]

        def there(value: Value) -> Value:
            return replaced_in(value, lambda term: substituted(term, bound, witness))

        order = values.numbers.at_most
        most = (there(number), number) if loop.op in ("<", "<=") else (number, there(number))
        values.axioms.add(witness, implied(better, conj((there(better), order(*most)))))
        some = values.of_some(item, better)
        for target, value in found:
            old = self.locals.get(target.slot)
            if old is not None:  # else nothing after the loop reads it, as the loop may have kept none
                self._assign(target.slot, target.type, values.either(target.type, some, there(value), old))

    def _in_any_order(self, element: Type, slots: Relation | list[tuple[Truth, Value]]) -> Relation:
        """Elements in slots as a membership predicate, because the order of the slots is not CPython's."""
        assert not isinstance(slots, Relation)
        same = self.values.equal
        return Relation(lambda item: disj(conj((used, same(element, held, item))) for used, held in slots), None)

    def _first_condition(self, addition: Addition, before: Truth) -> Truth:
        """The conditions of the first addition, before anything has been added."""
        self.path = before
        return conj(
            self.evaluate(condition) if wanted else negation(self.evaluate(condition))
            for condition, wanted in addition.unknown
        )

    def _is_within(self, element: Type, part: Relation, whole: Relation) -> Truth:
        item = self.values.variable(element, "each")
        return self.values.of_every(item, implied(part.holds(item), whole.holds(item)))

    def _some_of(self, element: Type, every: Relation) -> Relation:
        """An unconstrained subset of a set."""
        values, axioms = self.values, self.values.axioms
        item = values.variable(element, "part")
        indices = values.arguments(element, item)
        statement = as_term(every.holds(item))
        over = [it for it in axioms.free(statement) if not any(it.eq(index) for index in indices)]
        sets = values.set_sort(element)
        part = axioms.chosen("part", sets.sort, over)
        axioms.add([part], implied(sets.holds(part, *indices), statement))
        return Relation(lambda known: sets.holds(part, *values.arguments(element, known)), None, part)

    def visit_inline(self, node: ir.Inline) -> Value:
        assert node.result is not None
        self._call(node)
        return self.locals.get(node.result.slot, self.values.default(node.result.type))

    def visit_applied(self, node: ir.Applied) -> Value:
        return self._apply(node)

    def _apply(self, node: ir.Applied) -> Value:
        """A call of a shared function. Calls with the same arguments in the same state share their result.

        The result of a call does not depend on the path to it. The path is added where it matters: to failures and
        requirements, and to assignments.
        """
        values = self.values
        if values.any_size or values.unbounded:
            message = f"{node.function.name} with all that it calls is too large for a proof for every size"
            raise UnsupportedError(message, node.at.file, node.at.line)
        arguments = [self.evaluate(argument) for argument in node.arguments]
        states = [self.state[which] for which in ("new", "old")]
        key = (id(node.function), _identity([arguments, *(list(state.values()) for state in states)]))
        if key not in self._outcomes:
            if len(self._outcomes) >= MAX_OUTCOMES:
                message = f"calls of {node.function.name} are too many for z3: more than {MAX_OUTCOMES}"
                raise UnsupportedError(message, node.at.file, node.at.line)
            self._outcomes[key] = self._outcome_of(node.function, arguments)
        outcome = self._outcomes[key]
        reached = self.reached()
        found = [(at, conj((reached, bad))) for at, bad in outcome.failures]
        self.failures += [(at, bad) for at, bad in found if bad is not False]
        self.required += [implied(self.path, needed) for needed in outcome.required]
        before = self.state["new"]
        for name, after in outcome.after.items():
            before[name] = values.either(self.variables[name], self.path, after, before[name])
        return outcome.result

    def _outcome_of(self, called: ir.SharedFunction, arguments: list[Value]) -> _Outcome:
        """The result of a call that is reached."""
        inner = StatementEvaluator(self.values, self.variables, self.state["new"], self.state["old"])
        inner._outcomes = self._outcomes
        for parameter, value in zip(called.parameters, arguments, strict=True):
            inner.locals[parameter.slot] = value
        inner.run(called.body)
        result: Value = None
        if called.result is not None:
            result = inner.locals.get(called.result.slot, self.values.default(called.result.type))
        after = {name: value for name, value in inner.state["new"].items() if value is not self.state["new"][name]}
        kept = [arguments, list(self.state["new"].values()), list(self.state["old"].values())]
        return _Outcome(result, inner.failures, inner.required, after, kept)

    def _store(self, node: ir.SetVariable) -> None:
        if self._unordered:  # one symbolic element stands for all of them, each of which would change the variable
            raise UnsupportedError(
                "a function that changes a variable is called for each of any number of elements, which is not "
                "supported; change it in a loop or a comprehension of its own"
            )
        kind = self.variables[node.variable]
        value = self.evaluate(node.value)
        old = self.state["new"][node.variable]
        fits, value = self.values.settled(node.value.type, value)
        self.fail_unless(fits, node.at)
        updated = self._updated(kind, old, node.path, value, node.at)
        self.state["new"][node.variable] = self.values.either(kind, self.path, updated, old)

    def _updated(
        self, kind: Type, old: Value, path: list[ir.FieldStep | ir.ItemStep], value: Value, at: ir.Position
    ) -> Value:
        """A container after an assignment inside it."""
        if not path:
            return value
        step, rest = path[0], path[1:]
        match step, kind:
            case ir.FieldStep(name=name), RecordType(_, fields):
                return tuple(
                    self._updated(of, part, rest, value, at) if field == name else part
                    for (field, of), part in zip(fields, old, strict=True)
                )
            case ir.ItemStep(key=key), MapType(OpenIdentifierType() | OpenIntType() as key_type, of):
                return self._entry(key_type, of, old, self.evaluate(key), rest, value, at)
            case ir.ItemStep(key=key), MapType(key_type, of):
                which = self.positions(key_type, self.evaluate(key))
                return self._entries(of, old, which, rest, value, at)
            case ir.ItemStep(key=key), SeqType(of, _):
                which = self.seq_position(kind, old, self.evaluate(key), at)
                return (old[0], self._entries(of, old[1], which, rest, value, at))
        raise AssertionError(step)

    def _entry(
        self,
        keys: Type,
        of: Type,
        old: UnboundedMap,
        key: Value,
        rest: list[ir.FieldStep | ir.ItemStep],
        value: Value,
        at: ir.Position,
    ) -> UnboundedMap:
        """A map over any number of keys with another value for one of them."""
        values, updated = self.values, self._updated(of, old.at(key), rest, value, at)
        return UnboundedMap(lambda known: values.either(of, values.equal(keys, known, key), updated, old.at(known)))

    def _entries(
        self, of: Type, old: Any, which: list[Truth], rest: list[ir.FieldStep | ir.ItemStep], value: Value,
        at: ir.Position,
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


def _compared(values: Values, op: str, a: Value, b: Value) -> Truth:
    match op:
        case "<":
            return values.numbers.less(a, b)
        case "<=":
            return values.numbers.at_most(a, b)
        case ">":
            return values.numbers.less(b, a)
    return values.numbers.at_most(b, a)


def _terms_in(values: Values, found: list[tuple[ir.Local, Value]]) -> list[Any]:
    return [term for target, value in found for term in values.arguments(target.type, value)]


def _element(kind: Type) -> Type:
    assert isinstance(kind, SetType)
    return kind.element


def _collected(values: Values, item: Value, taken: Truth, added: Relation) -> Relation:
    """The elements that all rounds add."""
    return Relation(lambda known: values.of_some(item, conj((taken, added.holds(known)))), None)


def _either_holds(a: Relation, b: Relation) -> Callable[[Value], Truth]:
    return lambda known: disj((a.holds(known), b.holds(known)))


def _identity(value: Any) -> object:
    """A key that two values share only if they are identical: z3 stores each term once."""
    match value:
        case list() | tuple():
            return tuple(map(_identity, value))
        case None | bool() | int():
            return type(value), value
    return ("term", value.ast.value) if hasattr(value, "ast") else ("object", id(value))


def assigned(body: list[ir.Stmt]) -> list[ir.Local]:
    """The local variables that statements assign, except in calls inside expressions."""
    found: list[ir.Local] = []
    for statement in body:
        match statement:
            case ir.SetLocal(target=target):
                found.append(target)
            case ir.If(then=then, otherwise=otherwise):
                found += assigned(then) + assigned(otherwise)
            case ir.For(body=inner):
                found += assigned(inner)
    return found


def fire(
    values: Values, variables: dict[str, Type], action: ir.Action, state: dict[str, Value], parameters: list[Value]
) -> SymbolicStep:
    """An action taken from a symbolic state with symbolic arguments."""
    effects = StatementEvaluator(values, variables, state)
    guards: list[Truth] = []
    for parameter, value in zip(action.parameters, parameters, strict=True):
        effects.locals[parameter.slot] = value
        guards.append(values.well_formed(parameter.type, value))
    for guard in action.guards:
        effects.path = conj(guards)
        guards.append(effects.evaluate(guard))
    effects.path = True
    effects.required.append(conj(guards))
    effects.run(action.body)
    enabled = conj(effects.required)
    return SymbolicStep(action, enabled, effects.failures, effects.state["new"], parameters)


def judge(
    values: Values,
    variables: dict[str, Type],
    predicate: ir.Predicate,
    state: dict[str, Value],
    old: dict[str, Value] | None = None,
) -> PredicateEvaluation:
    """A predicate in a symbolic state, or on a step from ``old`` to it."""
    effects = StatementEvaluator(values, variables, state, old)
    return PredicateEvaluation(predicate, effects.evaluate(predicate.value), effects.failures)


__all__ = ["PredicateEvaluation", "StatementEvaluator", "SymbolicStep", "as_term", "fire", "judge"]
