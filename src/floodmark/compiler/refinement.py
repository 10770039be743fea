"""A step of a model as a step of the model that it refines, as an expression over the states before and after.

The abstract state is a record with a field for each variable of the abstract model. A mapping (``@refines``) is read
like any function, as an expression of that record. An action of the abstract model is read like any action, and its
graph is then rewritten: reading a variable becomes reading a field of a local record, and assigning one becomes
assigning the record. A back end therefore needs no notion of refinement: it sees a property of steps.

The mapped states are not computed if no variable that the mapping reads has changed: the step is a stutter then.
Otherwise every action is tried, also after one that leads there, as CPython does (``reference.takes``). A failing
action is therefore an error in any case, and an action of the abstract model that no step takes is found (a premise of
the property that is never met). Compiled code caches the latest steps and pairs of mapped states for which some action
was found: few of a model's steps differ in the variables that the mapping reads.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from floodmark.compiler import ir
from floodmark.compiler.failures import can_fail, may_refuse
from floodmark.compiler.frame import Frame, ModelRef, must_not_assign
from floodmark.compiler.guard_order import plan
from floodmark.compiler.model_compiler import ModelCompiler
from floodmark.compiler.node_builder import NodeBuilder
from floodmark.language.errors import ModelError
from floodmark.language.members import abstract_steps
from floodmark.language.model import Model, defaults_of, grows, is_any_size, mapped_from, opened
from floodmark.language.reference import abstract_class
from floodmark.language.source import Source, source_of
from floodmark.language.types import (
    IdentifierType,
    IntType,
    MapType,
    OpenIdentifierType,
    RecordType,
    SeqType,
    Type,
    is_open,
    parts_of,
)
from floodmark.language.values import admit

T = TypeVar("T")
ReadAction = Callable[[Model, str, Callable[..., Any]], ir.Action]


def read_refinement(model: Model, name: str, mapping: Callable[..., Any], read_action: ReadAction) -> ir.Predicate:
    """Reads a mapping as a property of steps. Raises ModelError, with file and line, for an unreadable construct."""
    source = source_of(mapping)
    at = ir.Position(source.file, source.tree.lineno)
    reader = _MappingReader(model, abstract_class(mapping))
    before, after = (reader.image(source, which) for which in ("old", "new"))
    abstract = reader.abstract(at)
    steps = _Steps(reader, abstract, read_action, at)
    condition = steps.step_condition(before, after, abstract_steps(mapping))
    return ir.Predicate(name, "transition", condition, at, steps.premises)


def read_refined_beginning(
    model: Model, name: str, mapping: Callable[..., Any], read_action: ReadAction
) -> ir.Predicate:
    """Reads a mapping as a property of initial states: that they are mapped to initial states of the other model.

    CPython compares these for given constants; z3 does for open ones. Raises ModelError as ``read_refinement`` does,
    and for an initial method that may leave a variable without a value.
    """
    source = source_of(mapping)
    at = ir.Position(source.file, source.tree.lineno)
    reader = _MappingReader(model, abstract_class(mapping))
    image = reader.image(source, "new")
    steps = _Steps(reader, reader.abstract(at), read_action, at)
    return ir.Predicate(name, "invariant", steps.initial_condition(image, read_action), at)


class _MappingReader:
    """Reads a mapping, in which a call of the abstract model's class is a record of its variables."""

    def __init__(self, model: Model, cls: type[Model]) -> None:
        self._compiler = ModelCompiler(mapped_from(model), guarded=False, read_state=self._state)
        self.nodes = self._compiler.nodes
        self._cls = cls
        self._abstract: Model | None = None

    def image(self, source: Source, which: ir.Which) -> ir.Inline:
        """The abstract state to which the mapping leads, in the state before or after a step."""
        at = ir.Position(source.file, source.tree.lineno)
        if len(source.parameters) != 1 or source.tree.args.defaults:
            message = f"{source.tree.name} is decorated as refines, so it takes the model alone"
            raise ModelError(message, at.file, at.line)
        must_not_assign(source, source.parameters, "the model")

        def bind(frame: Frame) -> None:
            frame.bindings[source.parameters[0]] = ModelRef(which, writable=False)

        frame, body, goes_on = self._compiler.function_body(source, bind)
        if goes_on or frame.result is None or frame.result.type != self.record(at):
            message = f"{source.tree.name} has to return a {self._cls.__name__} on every path"
            raise ModelError(message, at.file, at.line)
        return ir.Inline(frame.result.type, at, body, frame.result, of_state=which)

    def abstract(self, at: ir.Position) -> Model:
        """The abstract model with the constants that the mapping gives it."""
        if self._abstract is None:
            raise ModelError(f"the mapping has to return a {self._cls.__name__}(...)", at.file, at.line)
        return self._abstract

    def record(self, at: ir.Position) -> RecordType:
        """The type of the abstract state."""
        return RecordType(cast(Any, self._cls), tuple(self.abstract(at).variable_types.items()))

    def _state(self, frame: Frame, node: ast.Call, cls: type[Model]) -> ir.Expr:
        at, model = frame.at(node), self._compiler.model
        if cls is not self._cls:
            raise frame.refuse(node, f"{cls.__name__} is a model, but the mapping returns a {self._cls.__name__}")
        if node.args or any(keyword.arg is None for keyword in node.keywords):
            raise frame.refuse(node, f"name the constants and variables of {cls.__name__}: {cls.__name__}(x=...)")
        given = {str(keyword.arg): self._compiler.expression(frame, keyword.value) for keyword in node.keywords}
        if len(given) != len(node.keywords):
            raise frame.refuse(node, f"{cls.__name__} is given a name twice")
        constants: dict[str, int] = {}
        left_open: list[str] = []
        for name in cls.constants().keys() & given.keys():
            value = given.pop(name)
            if isinstance(value, ir.OpenConstant) and value.name == name:
                constants[name] = model.constant_values[name]
                left_open.append(name)
            elif isinstance(value, ir.Const):
                constants[name] = value.value
            else:
                message = f"{name} is a constant of {cls.__name__}, so its value has to be known before the model runs"
                if isinstance(value, ir.OpenConstant):
                    message = f"{value.name} is left open, and a constant of another name ({name}) cannot be the same"
                raise frame.refuse(node, message)
        any_size = is_any_size(model)
        made = opened(cls(**constants), sorted(left_open), any_size) if left_open or any_size else cls(**constants)
        for kind in (part for each in made.variable_types.values() for part in parts_of(each)):
            if isinstance(kind, IdentifierType) and (ours := model.declared_type(kind.cls)) != kind:
                message = f"{cls.__name__} has {_number_of(kind)} {kind.cls.__name__}, and the model {_number_of(ours)}"
                raise frame.refuse(node, f"{message}; give it the constant that counts them")
        if grows(made):
            message = f"{cls.__name__} has a container without a capacity, so nothing can be said to refine it"
            raise frame.refuse(node, f"{message}: give it one")
        if self._abstract is not None and self._abstract.constant_values != made.constant_values:
            raise frame.refuse(node, f"the mapping gives {cls.__name__} other constants elsewhere; give it the same")
        self._abstract = self._abstract or made
        kinds = made.variable_types
        for name in given:
            if name not in kinds:
                raise frame.refuse(node, f"{cls.__name__} has no constant and no variable {name!r}")
        for name in kinds:
            if name not in given:
                message = f"{cls.__name__}(...) is a state, so it needs every variable; {name} is missing"
                raise frame.refuse(node, message)

        def record(values: dict[str, ir.Expr]) -> ir.Expr:
            convert = self.nodes.convert
            fields = {name: convert(values[name], kind, f"{cls.__name__}.{name}") for name, kind in kinds.items()}
            return ir.RecordOf(self.record(at), at, fields)

        return self.nodes.evaluated(at, given, record)


class _Steps:
    """The steps of the abstract model as conditions over records."""

    def __init__(self, reader: _MappingReader, abstract: Model, read_action: ReadAction, at: ir.Position) -> None:
        self.nodes = reader.nodes
        self.kind = reader.record(at)
        self.at = at
        self.abstract = abstract
        self.actions = [read_action(abstract, name, it) for name, it in type(abstract).methods("action").items()]
        name = type(abstract).__name__
        self.premises = [
            ir.PremiseSite(it.at, f"no step is the action {it.name} of {name}", (), 0, it.name) for it in self.actions
        ]

    def step_condition(self, before: ir.Inline, after: ir.Inline, steps: int) -> ir.Expr:
        """Whether a step leaves the mapped state unchanged or is at most ``steps`` steps of the abstract model."""
        at = self.at
        old, new, result = self._state("before"), self._state("after"), self.nodes.fresh(ir.BOOL, "is_step", at)
        body: list[ir.Stmt] = []
        taken: list[list[ir.Expr]] = [[] for _ in self.actions]
        for length in range(1, steps + 1):
            for sequence in itertools.product(range(len(self.actions)), repeat=length):
                leads = self.nodes.fresh(ir.BOOL, "leads", at)
                body.append(ir.SetLocal(at, leads, self._leads(old, [self.actions[place] for place in sequence], new)))
                for place in set(sequence):
                    taken[place].append(leads)
        found: ir.Expr = _any_of(at, [each for some in taken for each in some])
        for place, some in reversed(list(enumerate(taken))):
            found = ir.Witness(ir.BOOL, at, place, found, _any_of(at, some))
        leads_there = self.nodes.fresh(ir.BOOL, "leads_there", at)
        asked = ir.Inline(ir.BOOL, at, [*body, ir.Return(at, found, leads_there)], leads_there, [old, new])
        mapped: list[ir.Stmt] = [
            ir.SetLocal(at, old, before),
            ir.SetLocal(at, new, after),
            ir.Return(at, _any_of(at, [ir.Equal(ir.BOOL, at, old, new), asked]), result),
        ]
        image = ir.Inline(ir.BOOL, at, mapped, result, images=[before, after])
        return _any_of(at, [self._unread_changes(before), image])

    def initial_condition(self, image: ir.Inline, read_action: ReadAction) -> ir.Expr:
        """Whether a state is mapped to an initial state of the abstract model.

        A variable has its default before an initial method runs. A variable without a default is always assigned, so
        its earlier value does not matter: it may be that of the image.
        """
        at, goal, start = self.at, self._state("goal"), self._state("start")
        defaults = defaults_of(self.abstract)
        fields: dict[str, ir.Expr] = {
            name: ir.Field(of, at, goal, name)
            if name not in defaults
            else ir.Const(of, at, admit(of, defaults[name], name))
            for name, of in self.kind.fields
        }
        methods = type(self.abstract).methods("initial")
        begins: list[ir.Expr] = []
        for name, method in methods.items():
            action = read_action(self.abstract, name, method)
            always = {it.variable for it in action.body if isinstance(it, ir.SetVariable) and not it.path}
            for missing in (it for it, _ in self.kind.fields if it not in defaults and it not in always):
                message = f"{name} has to assign {missing} whatever happens: constants are left open here"
                raise ModelError(message, action.at.file, action.at.line)
            begins.append(self._leads(start, [action], goal))
        result = self.nodes.fresh(ir.BOOL, "begins", at)
        body: list[ir.Stmt] = [
            ir.SetLocal(at, goal, image),
            ir.SetLocal(at, start, ir.RecordOf(self.kind, at, fields)),
            ir.Return(at, _any_of(at, begins) if methods else ir.Equal(ir.BOOL, at, start, goal), result),
        ]
        return ir.Inline(ir.BOOL, at, body, result)

    def _unread_changes(self, image: ir.Inline) -> ir.Expr:
        """Whether all variables that the mapping reads are unchanged."""
        at = self.at
        read = {part.name: part for part in ir.walk(image) if isinstance(part, ir.StateVar)}
        same: list[ir.Expr] = [
            ir.Equal(ir.BOOL, at, *(ir.StateVar(it.type, at, name, which) for which in ("old", "new")))
            for name, it in read.items()
        ]
        return ir.And(ir.BOOL, at, same) if len(same) > 1 else same[0] if same else ir.Const(ir.BOOL, at, True)

    def _leads(self, state: ir.Local, sequence: Sequence[ir.Action], goal: ir.Local) -> ir.Expr:
        """Whether a sequence of actions leads from a state to another. Every choice of parameters is tried."""
        if not sequence:
            return ir.Equal(ir.BOOL, self.at, state, goal)
        action, *later = sequence
        at = action.at
        action, pinned = self._pinned(action, goal, last=not later)
        order = plan(action)
        new = self._state("state")
        rewriter = _Rewriter(self, state)
        first = [rewriter.expression(guard) for guard in order.first]
        loops = [
            ir.Generator(
                rewriter.local(choice.parameter),
                rewriter.domain(choice.domain),
                [rewriter.expression(guard) for guard in choice.guards],
            )
            for choice in order.choices
        ]
        went, leads = self.nodes.fresh(ir.BOOL, "went", at), self.nodes.fresh(ir.BOOL, "leads", at)
        rewriter = rewriter.assigning(new)
        body: list[ir.Stmt] = [
            ir.SetLocal(at, new, state),
            ir.SetLocal(at, went, ir.Const(ir.BOOL, at, True)),
            *_FlattenedBody(self.nodes, went).function(rewriter.block(action.body), at),
            ir.If(at, went, [], [ir.Return(at, ir.Const(ir.BOOL, at, False), leads)]),
            ir.Return(at, self._leads(new, later, goal), leads),
        ]
        taken: ir.Expr = ir.Inline(ir.BOOL, at, body, leads)
        if loops:
            # Not "any": no choice is left out, so one that fails is an error regardless of the others.
            no, yes = (ir.Const(IntType(0, 1), at, number) for number in (0, 1))
            some = ir.Reduce(IntType(0, 1), at, "max", loops, ir.Choose(IntType(0, 1), at, taken, yes, no), default=no)
            taken = ir.Compare(ir.BOOL, at, ">", some, no)
        asked = ir.And(ir.BOOL, at, [*first, taken]) if first else taken
        if may_refuse(asked):
            message = "a helper of a model that another refines must not require something and return a value"
            raise ModelError(f"{message}; require it in the action {action.name}", at.file, at.line)
        if not pinned:
            return asked
        result = self.nodes.fresh(ir.BOOL, "leads", at)
        known: list[ir.Stmt] = [ir.SetLocal(at, rewriter.local(parameter), value) for parameter, value in pinned]
        return ir.Inline(ir.BOOL, at, [*known, ir.Return(at, asked, result)], result)

    def _pinned(
        self, action: ir.Action, goal: ir.Local, last: bool
    ) -> tuple[ir.Action, list[tuple[ir.Local, ir.Expr]]]:
        """An action without its unbounded parameters, and the values that these must have.

        Not every value can be tried. But if the action assigns a parameter to a variable, and nothing else to it, the
        variable has that value in the successor: the parameter is the variable's value in the goal. No other choice
        leads there, and none fails, as this is done only for actions that cannot fail.

        For open identifiers, a quantifier ranges over the remaining choices; elsewhere these are refused.
        """
        left_open = [it for it in action.parameters if is_open(it.type)]
        may_fail = bool(left_open) and _may_fail(action)
        pinned: list[tuple[ir.Local, ir.Expr]] = []
        for parameter in left_open:
            name = _assigned_from(action, parameter)
            if last and name is not None and self.kind.field(name) == parameter.type and not may_fail:
                pinned.append((parameter, ir.Field(parameter.type, action.at, goal, name)))
            elif not is_any_size(self.abstract):
                message = f"the constants that bound the parameter {parameter.name} of {action.name} are left open, so"
                message += " the action has to assign it to a variable of its type, and nothing else to that"
                if name is not None and may_fail:
                    message = f"{action.name} may fail, which cannot be ruled out for every choice of {parameter.name}"
                    message += " where constants are left open"
                raise ModelError(message, action.at.file, action.at.line)
        known = {it.slot for it, _ in pinned}
        kept = [it for it in action.parameters if it.slot not in known]
        return (dataclasses.replace(action, parameters=kept) if pinned else action), pinned

    def _state(self, name: str) -> ir.Local:
        return self.nodes.fresh(self.kind, name, self.at)


def _number_of(kind: Type) -> str:
    """The number of identifiers of a kind, as text."""
    assert isinstance(kind, IdentifierType)
    return str(kind.limit if isinstance(kind, OpenIdentifierType) else kind.count)


def _assigned_from(action: ir.Action, parameter: ir.Local) -> str | None:
    """The variable to which an action always assigns a parameter, and nothing else."""
    names = [it.variable for it in ir.flat(action.body) if isinstance(it, ir.SetVariable)]
    changed = {it.target.slot for it in ir.flat(action.body) if isinstance(it, ir.SetLocal)}
    if parameter.slot in changed or any(isinstance(it, ir.Return | ir.Do) for it in ir.flat(action.body)):
        return None
    for statement in action.body:
        match statement:
            case ir.SetVariable(variable=name, path=path, value=ir.Local(slot=parameter.slot)) if not path:
                return name if names.count(name) == 1 else None
    return None


def _may_fail(action: ir.Action) -> bool:
    """Whether an action may fail: the check covers each expression and each assigned place in its source."""
    statements = list(ir.flat(action.body))
    paths = [step for it in statements if isinstance(it, ir.SetVariable) for step in it.path]
    parts = [*action.guards, *ir.children(ir.Inline(ir.BOOL, action.at, action.body, None))]
    return (
        any(can_fail(part) for part in parts)
        or any(isinstance(it, ir.Assert) for it in statements)
        or any(isinstance(step, ir.ItemStep) and not isinstance(step.container, MapType) for step in paths)
    )


def _any_of(at: ir.Position, operands: list[ir.Expr]) -> ir.Expr:
    if not operands:
        return ir.Const(ir.BOOL, at, False)
    return ir.Or(ir.BOOL, at, operands) if len(operands) > 1 else operands[0]


class _Rewriter:
    """Copies an action of the abstract model into the property: its state is a record in a local variable.

    Its local variables get slots of the property. Shared parts of the graph stay shared.
    """

    def __init__(self, steps: _Steps, state: ir.Local, slots: dict[int, int] | None = None) -> None:
        self._steps = steps
        self._record = state
        self._slots = {} if slots is None else slots
        self._made: dict[int, ir.Expr] = {}

    def assigning(self, state: ir.Local) -> _Rewriter:
        """A rewriter for the same action whose state is in another variable, which the action may assign."""
        return _Rewriter(self._steps, state, self._slots)

    def local(self, node: ir.Local) -> ir.Local:
        if node.slot not in self._slots:
            self._slots[node.slot] = self._steps.nodes.fresh(node.type, node.name, node.at).slot
        return ir.Local(node.type, node.at, self._slots[node.slot], node.name)

    def expression(self, node: ir.Expr) -> ir.Expr:
        known = self._made.get(id(node))
        if known is None:
            known = self._made[id(node)] = self._rewritten(node)
        return known

    def _rewritten(self, node: ir.Expr) -> ir.Expr:
        match node:
            case ir.Local():
                return self.local(node)
            case ir.StateVar():
                return ir.Field(node.type, node.at, self._record, node.name)
            case ir.Applied():
                message = f"{node.function.name} is too large with all that it calls for a model that another refines"
                raise ModelError(message, node.at.file, node.at.line)
            case ir.Inline() if ir.has_effects(node):
                message = "a helper of a model that another refines must not change something and return a value"
                raise ModelError(f"{message}; let the action change it", node.at.file, node.at.line)
        return self._copied(node)

    def domain(self, node: Any) -> Any:
        return self._part(node)

    def _copied(self, node: T) -> T:
        """A node with its parts rewritten."""
        parts = {it.name: self._part(getattr(node, it.name)) for it in dataclasses.fields(cast(Any, node))}
        made: T = dataclasses.replace(cast(Any, node), **parts)
        return made

    def _part(self, value: Any) -> Any:
        match value:
            case ir.Expr():
                return self.expression(value)
            case ir.SetVariable():
                raise AssertionError("an assignment is rewritten with its block")
            case [ir.Statement(), *_]:
                return self.block(value)
            case list():
                return [self._part(item) for item in value]
            case dict():
                return {name: self._part(item) for name, item in value.items()}
            case ir.Generator() | ir.Range() | ir.Statement() | ir.ItemStep():
                return self._copied(value)
        return value

    def block(self, body: list[ir.Stmt]) -> list[ir.Stmt]:
        found: list[ir.Stmt] = []
        for statement in body:
            if isinstance(statement, ir.SetVariable):
                found += self._assigned(statement)
            elif isinstance(statement, ir.Do) and isinstance(statement.call, ir.Inline):
                call = statement.call
                found.append(ir.Do(statement.at, dataclasses.replace(call, body=self.block(call.body))))
            else:
                found.append(self._copied(statement))
        return found

    def _assigned(self, node: ir.SetVariable) -> list[ir.Stmt]:
        """The assignment of the whole record; the operands of the path are evaluated once, after the value."""
        at, kind = node.at, self._steps.kind
        fresh = self._steps.nodes.fresh
        value = fresh(node.value.type, "value", at)
        before: list[ir.Stmt] = [ir.SetLocal(at, value, self.expression(node.value))]
        current = ir.Field(kind.field(node.variable), at, self._record, node.variable)
        changed = self._updated(current, node.path, value, before, at)
        fields: dict[str, ir.Expr] = {name: ir.Field(of, at, self._record, name) for name, of in kind.fields}
        return [*before, ir.SetLocal(at, self._record, ir.RecordOf(kind, at, {**fields, node.variable: changed}))]

    def _updated(
        self, current: ir.Expr, path: Sequence[ir.FieldStep | ir.ItemStep], value: ir.Expr, before: list[ir.Stmt],
        at: ir.Position,
    ) -> ir.Expr:
        """A copy of a value with the part at the end of a path replaced."""
        if not path:
            return value
        fresh = self._steps.nodes.fresh
        step, rest = path[0], path[1:]
        match step:
            case ir.FieldStep(record=record, name=name):
                fields: dict[str, ir.Expr] = {field: ir.Field(of, at, current, field) for field, of in record.fields}
                fields[name] = self._updated(fields[name], rest, value, before, at)
                return ir.RecordOf(record, at, fields)
            case ir.ItemStep(container=MapType() as container, key=key):
                held = fresh(key.type, "key", at)
                before.append(ir.SetLocal(at, held, self.expression(key)))
                inner = fresh(container.value, "item", at)
                before.append(ir.SetLocal(at, inner, ir.MapGet(container.value, at, current, held)))
                changed = fresh(container.value, "item", at)
                made = self._updated(inner, rest, value, before, at)
                before.append(ir.SetLocal(at, changed, made))
                each = fresh(container.key, "each", at)
                kept = ir.MapGet(container.value, at, current, each)
                body = ir.Choose(container.value, at, ir.Equal(ir.BOOL, at, each, held), changed, kept)
                return ir.Reduce(container, at, "map", [ir.Generator(each, ir.Universe(container.key), [])], body, each)
            case ir.ItemStep(container=SeqType() as container, key=key):
                given, index = self._index(current, container, key, before, at)
                inner = fresh(container.element, "item", at)
                before.append(ir.SetLocal(at, inner, ir.SeqGet(container.element, at, current, given)))  # or it fails
                changed = fresh(container.element, "item", at)
                made = self._updated(inner, rest, value, before, at)
                before.append(ir.SetLocal(at, changed, made))
                each = fresh(IntType(0, max(container.capacity - 1, 0)), "each", at)
                other = ir.SeqGet(container.element, at, current, each)
                body = ir.Choose(container.element, at, ir.Equal(ir.BOOL, at, *_alike(each, index, at)), changed, other)
                length = ir.Size(IntType(0, container.capacity), at, current)
                domain = ir.Range(ir.Const(IntType(0, 0), at, 0), length, 1)
                return ir.Reduce(container, at, "seq", [ir.Generator(each, domain, [])], body)
        raise AssertionError(step)

    def _index(
        self, current: ir.Expr, container: SeqType, key: ir.Expr, before: list[ir.Stmt], at: ir.Position
    ) -> tuple[ir.Local, ir.Local]:
        """An index, and the position in a sequence that it denotes, counted from the end if it is negative."""
        fresh = self._steps.nodes.fresh
        assert isinstance(key.type, IntType)
        given = fresh(key.type, "index", at)
        before.append(ir.SetLocal(at, given, self.expression(key)))
        low, high = min(key.type.low, 0), max(key.type.high, 0) + container.capacity
        kind = IntType(low, high)
        length = ir.Size(IntType(0, container.capacity), at, current)
        negative = ir.Compare(ir.BOOL, at, "<", given, ir.Const(IntType(0, 0), at, 0))
        counted = ir.Arithmetic(kind, at, "+", given, length)
        place = fresh(kind, "place", at)
        before.append(ir.SetLocal(at, place, ir.Choose(kind, at, negative, counted, _widened(given, kind, at))))
        return given, place


def _widened(value: ir.Expr, kind: IntType, at: ir.Position) -> ir.Expr:
    return value if value.type == kind else ir.Convert(kind, at, value)


def _alike(one: ir.Expr, other: ir.Expr, at: ir.Position) -> tuple[ir.Expr, ir.Expr]:
    assert isinstance(one.type, IntType) and isinstance(other.type, IntType)
    kind = IntType(min(one.type.low, other.type.low), max(one.type.high, other.type.high))
    return _widened(one, kind, at), _widened(other, kind, at)


class _FlattenedBody:
    """The body of an action without calls for their effects, returns and requirements, which variables record instead.

    ``went`` is whether no requirement was false. A call starts without values for the variables that it assigns, so an
    assignment of the record must not be inside one: it is written in place of the call, with a variable that records
    whether the call has returned.
    """

    def __init__(self, nodes: NodeBuilder, went: ir.Local) -> None:
        self._nodes = nodes
        self._went = went

    def function(self, body: list[ir.Stmt], at: ir.Position) -> list[ir.Stmt]:
        """The statements of a function."""
        returned = self._nodes.fresh(ir.BOOL, "returned", at)
        return [ir.SetLocal(at, returned, ir.Const(ir.BOOL, at, False)), *self._block(body, returned, in_loop=False)]

    def _block(self, body: list[ir.Stmt], returned: ir.Local, in_loop: bool) -> list[ir.Stmt]:
        found: list[ir.Stmt] = []
        for index, statement in enumerate(body):
            at = statement.at
            found += self._statement(statement, returned, in_loop)
            if isinstance(statement, ir.Return):
                break
            if _may_leave(statement):
                goes_on = ir.And(ir.BOOL, at, [self._went, ir.Not(ir.BOOL, at, returned)])
                if in_loop:
                    found.append(ir.If(at, goes_on, [], [ir.Break(at)]))
                else:
                    found.append(ir.If(at, goes_on, self._block(body[index + 1 :], returned, in_loop), []))
                    break
        return found

    def _statement(self, node: ir.Stmt, returned: ir.Local, in_loop: bool) -> list[ir.Stmt]:
        at = node.at
        leave: list[ir.Stmt] = [ir.Break(at)] if in_loop else []
        match node:
            case ir.Return(value=value, into=into):
                kept: list[ir.Stmt] = [] if value is None or into is None else [ir.SetLocal(at, into, value)]
                return [*kept, ir.SetLocal(at, returned, ir.Const(ir.BOOL, at, True)), *leave]
            case ir.Require(condition=condition):
                return [ir.If(at, condition, [], [ir.SetLocal(at, self._went, ir.Const(ir.BOOL, at, False)), *leave])]
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                branches = (self._block(branch, returned, in_loop) for branch in (then, otherwise))
                return [ir.If(at, condition, *branches)]
            case ir.For(variable=variable, domain=domain, body=inner):
                return [ir.For(at, variable, domain, self._block(inner, returned, in_loop=True))]
            case ir.Do(call=ir.Inline(body=inner)):
                return self.function(inner, at)
        return [node]


def _may_leave(statement: ir.Stmt) -> bool:
    """Whether a statement can return, or end the action. A return inside a call does not end its caller."""
    if isinstance(statement, ir.Do):
        return may_refuse(statement.call)
    return any(
        isinstance(each, ir.Return | ir.Require) or (isinstance(each, ir.Do) and may_refuse(each.call))
        for each in ir.flat([statement])
    )
