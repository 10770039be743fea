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

from floodmark.compiler.calls import CallLowering
from floodmark.compiler.failures import can_fail, may_refuse
from floodmark.compiler.frame import Frame, LocalTypes, ModelRef, must_not_assign
from floodmark.compiler.guard_order import plan
from floodmark.compiler.ir import (
    BOOL,
    Action,
    And,
    Applied,
    Arithmetic,
    Assert,
    Break,
    Choose,
    Compare,
    Const,
    Convert,
    Do,
    Equal,
    Expr,
    Field,
    FieldStep,
    For,
    Generator,
    If,
    Inline,
    ItemStep,
    Local,
    MapGet,
    Not,
    OpenConstant,
    Or,
    Position,
    Predicate,
    PremiseSite,
    Range,
    RecordOf,
    Reduce,
    Require,
    Return,
    SeqGet,
    SetLocal,
    SetVariable,
    Size,
    Statement,
    StateVar,
    Stmt,
    Universe,
    Which,
    Witness,
    children,
    flat,
    has_effects,
    walk,
)
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
ReadAction = Callable[[Model, str, Callable[..., Any]], Action]


def read_refinement(model: Model, name: str, mapping: Callable[..., Any], read_action: ReadAction) -> Predicate:
    """Reads a mapping as a property of steps. Raises ModelError, with file and line, for an unreadable construct."""
    source = source_of(mapping)
    at = Position(source.file, source.tree.lineno)
    compiler = _Mapping(model, abstract_class(mapping))
    before, after = (compiler.image(source, which) for which in ("old", "new"))
    abstract = compiler.abstract(at)
    steps = _Steps(compiler, abstract, read_action, at)
    return Predicate(name, "transition", steps.judged(before, after, abstract_steps(mapping)), at, steps.premises)


def read_refined_beginning(
    model: Model, name: str, mapping: Callable[..., Any], read_action: ReadAction
) -> Predicate:
    """Reads a mapping as a property of initial states: that they are mapped to initial states of the other model.

    CPython compares these for given constants; z3 does for open ones. Raises ModelError as ``read_refinement`` does,
    and for an initial method that may leave a variable without a value.
    """
    source = source_of(mapping)
    at = Position(source.file, source.tree.lineno)
    compiler = _Mapping(model, abstract_class(mapping))
    image = compiler.image(source, "new")
    steps = _Steps(compiler, compiler.abstract(at), read_action, at)
    return Predicate(name, "invariant", steps.begun(image, read_action), at)


class _Mapping(CallLowering):
    """Reads a mapping, in which a call of the abstract model's class is a record of its variables."""

    def __init__(self, model: Model, cls: type[Model]) -> None:
        super().__init__(mapped_from(model))
        self.guarded = False
        self._cls = cls
        self._made: Model | None = None

    def image(self, source: Source, which: Which) -> Inline:
        """The abstract state to which the mapping leads, in the state before or after a step."""
        at = Position(source.file, source.tree.lineno)
        if len(source.parameters) != 1 or source.tree.args.defaults:
            message = f"{source.tree.name} is decorated as refines, so it takes the model alone"
            raise ModelError(message, at.file, at.line)
        must_not_assign(source, source.parameters, "the model")
        types = LocalTypes()
        while True:
            frame = Frame(source, local_types=types)
            frame.bindings[source.parameters[0]] = ModelRef(which, writable=False)
            types.changed = False
            body, goes_on = self.block(frame, source.body)
            if not types.changed:
                break
        if goes_on or frame.result is None or frame.result.type != self.record(at):
            message = f"{source.tree.name} has to return a {self._cls.__name__} on every path"
            raise ModelError(message, at.file, at.line)
        return Inline(frame.result.type, at, body, frame.result, of_state=which)

    def abstract(self, at: Position) -> Model:
        """The abstract model with the constants that the mapping gives it."""
        if self._made is None:
            raise ModelError(f"the mapping has to return a {self._cls.__name__}(...)", at.file, at.line)
        return self._made

    def record(self, at: Position) -> RecordType:
        """The type of the abstract state."""
        return RecordType(cast(Any, self._cls), tuple(self.abstract(at).variable_types.items()))

    def mapped(self, frame: Frame, node: ast.Call, cls: type[Model]) -> Expr:
        at = frame.at(node)
        if cls is not self._cls:
            raise frame.refuse(node, f"{cls.__name__} is a model, but the mapping returns a {self._cls.__name__}")
        if node.args or any(keyword.arg is None for keyword in node.keywords):
            raise frame.refuse(node, f"name the constants and variables of {cls.__name__}: {cls.__name__}(x=...)")
        given = {str(keyword.arg): self.expression(frame, keyword.value) for keyword in node.keywords}
        if len(given) != len(node.keywords):
            raise frame.refuse(node, f"{cls.__name__} is given a name twice")
        constants: dict[str, int] = {}
        left_open: list[str] = []
        for name in cls.constants().keys() & given.keys():
            value = given.pop(name)
            if isinstance(value, OpenConstant) and value.name == name:
                constants[name] = self.model.constant_values[name]
                left_open.append(name)
            elif isinstance(value, Const):
                constants[name] = value.value
            else:
                message = f"{name} is a constant of {cls.__name__}, so its value has to be known before the model runs"
                if isinstance(value, OpenConstant):
                    message = f"{value.name} is left open, and a constant of another name ({name}) cannot be the same"
                raise frame.refuse(node, message)
        any_size = is_any_size(self.model)
        made = opened(cls(**constants), sorted(left_open), any_size) if left_open or any_size else cls(**constants)
        for kind in (part for each in made.variable_types.values() for part in parts_of(each)):
            if isinstance(kind, IdentifierType) and (ours := self.model.declared_type(kind.cls)) != kind:
                message = f"{cls.__name__} has {_number_of(kind)} {kind.cls.__name__}, and the model {_number_of(ours)}"
                raise frame.refuse(node, f"{message}; give it the constant that counts them")
        if grows(made):
            message = f"{cls.__name__} has a container without a capacity, so nothing can be said to refine it"
            raise frame.refuse(node, f"{message}: give it one")
        if self._made is not None and self._made.constant_values != made.constant_values:
            raise frame.refuse(node, f"the mapping gives {cls.__name__} other constants elsewhere; give it the same")
        self._made = self._made or made
        kinds = made.variable_types
        for name in given:
            if name not in kinds:
                raise frame.refuse(node, f"{cls.__name__} has no constant and no variable {name!r}")
        for name in kinds:
            if name not in given:
                message = f"{cls.__name__}(...) is a state, so it needs every variable; {name} is missing"
                raise frame.refuse(node, message)

        def record(values: dict[str, Expr]) -> Expr:
            fields = {name: self.convert(values[name], kind, f"{cls.__name__}.{name}") for name, kind in kinds.items()}
            return RecordOf(self.record(at), at, fields)

        return self.evaluated(at, given, record)


class _Steps:
    """The steps of the abstract model as conditions over records."""

    def __init__(self, compiler: _Mapping, abstract: Model, read_action: ReadAction, at: Position) -> None:
        self.compiler = compiler
        self.kind = compiler.record(at)
        self.at = at
        self.abstract = abstract
        self.actions = [read_action(abstract, name, it) for name, it in type(abstract).methods("action").items()]
        name = type(abstract).__name__
        self.premises = [
            PremiseSite(it.at, f"no step is the action {it.name} of {name}", (), 0, it.name) for it in self.actions
        ]

    def judged(self, before: Inline, after: Inline, steps: int) -> Expr:
        """Whether a step leaves the mapped state unchanged or is at most ``steps`` steps of the abstract model."""
        at = self.at
        old, new, result = self._state("before"), self._state("after"), self.compiler.fresh(BOOL, "is_step", at)
        body: list[Stmt] = []
        taken: list[list[Expr]] = [[] for _ in self.actions]
        for length in range(1, steps + 1):
            for sequence in itertools.product(range(len(self.actions)), repeat=length):
                leads = self.compiler.fresh(BOOL, "leads", at)
                body.append(SetLocal(at, leads, self._leads(old, [self.actions[place] for place in sequence], new)))
                for place in set(sequence):
                    taken[place].append(leads)
        found: Expr = _any_of(at, [each for some in taken for each in some])
        for place, some in reversed(list(enumerate(taken))):
            found = Witness(BOOL, at, place, found, _any_of(at, some))
        leads_there = self.compiler.fresh(BOOL, "leads_there", at)
        asked = Inline(BOOL, at, [*body, Return(at, found, leads_there)], leads_there, [old, new])
        mapped: list[Stmt] = [
            SetLocal(at, old, before),
            SetLocal(at, new, after),
            Return(at, _any_of(at, [Equal(BOOL, at, old, new), asked]), result),
        ]
        return _any_of(at, [self._unread_changes(before), Inline(BOOL, at, mapped, result, images=[before, after])])

    def begun(self, image: Inline, read_action: ReadAction) -> Expr:
        """Whether a state is mapped to an initial state of the abstract model.

        A variable has its default before an initial method runs. A variable without a default is always assigned, so
        its earlier value does not matter: it may be that of the image.
        """
        at, goal, start = self.at, self._state("goal"), self._state("start")
        defaults = defaults_of(self.abstract)
        fields: dict[str, Expr] = {
            name: Const(of, at, admit(of, defaults[name], name)) if name in defaults else Field(of, at, goal, name)
            for name, of in self.kind.fields
        }
        methods = type(self.abstract).methods("initial")
        begins: list[Expr] = []
        for name, method in methods.items():
            action = read_action(self.abstract, name, method)
            always = {it.variable for it in action.body if isinstance(it, SetVariable) and not it.path}
            for missing in (it for it, _ in self.kind.fields if it not in defaults and it not in always):
                message = f"{name} has to assign {missing} whatever happens: constants are left open here"
                raise ModelError(message, action.at.file, action.at.line)
            begins.append(self._leads(start, [action], goal))
        result = self.compiler.fresh(BOOL, "begins", at)
        body: list[Stmt] = [
            SetLocal(at, goal, image),
            SetLocal(at, start, RecordOf(self.kind, at, fields)),
            Return(at, _any_of(at, begins) if methods else Equal(BOOL, at, start, goal), result),
        ]
        return Inline(BOOL, at, body, result)

    def _unread_changes(self, image: Inline) -> Expr:
        """Whether all variables that the mapping reads are unchanged."""
        read = {part.name: part for part in walk(image) if isinstance(part, StateVar)}
        same: list[Expr] = [
            Equal(BOOL, self.at, *(StateVar(it.type, self.at, name, which) for which in ("old", "new")))
            for name, it in read.items()
        ]
        return And(BOOL, self.at, same) if len(same) > 1 else same[0] if same else Const(BOOL, self.at, True)

    def _leads(self, state: Local, sequence: Sequence[Action], goal: Local) -> Expr:
        """Whether a sequence of actions leads from a state to another. Every choice of parameters is tried."""
        if not sequence:
            return Equal(BOOL, self.at, state, goal)
        action, *later = sequence
        at = action.at
        action, pinned = self._pinned(action, goal, last=not later)
        order = plan(action)
        new = self._state("state")
        rewriter = _Rewriter(self, state)
        first = [rewriter.expression(guard) for guard in order.first]
        loops = [
            Generator(
                rewriter.local(choice.parameter),
                rewriter.domain(choice.domain),
                [rewriter.expression(guard) for guard in choice.guards],
            )
            for choice in order.choices
        ]
        went, leads = self.compiler.fresh(BOOL, "went", at), self.compiler.fresh(BOOL, "leads", at)
        rewriter = rewriter.assigning(new)
        body: list[Stmt] = [
            SetLocal(at, new, state),
            SetLocal(at, went, Const(BOOL, at, True)),
            *_Flat(self.compiler, went).function(rewriter.block(action.body), at),
            If(at, went, [], [Return(at, Const(BOOL, at, False), leads)]),
            Return(at, self._leads(new, later, goal), leads),
        ]
        taken: Expr = Inline(BOOL, at, body, leads)
        if loops:
            # Not "any": no choice is left out, so one that fails is an error regardless of the others.
            no, yes = (Const(IntType(0, 1), at, number) for number in (0, 1))
            some = Reduce(IntType(0, 1), at, "max", loops, Choose(IntType(0, 1), at, taken, yes, no), default=no)
            taken = Compare(BOOL, at, ">", some, no)
        asked = And(BOOL, at, [*first, taken]) if first else taken
        if may_refuse(asked):
            message = "a helper of a model that another refines must not require something and return a value"
            raise ModelError(f"{message}; require it in the action {action.name}", at.file, at.line)
        if not pinned:
            return asked
        result = self.compiler.fresh(BOOL, "leads", at)
        known: list[Stmt] = [SetLocal(at, rewriter.local(parameter), value) for parameter, value in pinned]
        return Inline(BOOL, at, [*known, Return(at, asked, result)], result)

    def _pinned(self, action: Action, goal: Local, last: bool) -> tuple[Action, list[tuple[Local, Expr]]]:
        """An action without its unbounded parameters, and the values that these must have.

        Not every value can be tried. But if the action assigns a parameter to a variable, and nothing else to it, the
        variable has that value in the successor: the parameter is the variable's value in the goal. No other choice
        leads there, and none fails, as this is done only for actions that cannot fail.

        For open identifiers, a quantifier ranges over the remaining choices; elsewhere these are refused.
        """
        left_open = [it for it in action.parameters if is_open(it.type)]
        may_fail = bool(left_open) and _may_fail(action)
        pinned: list[tuple[Local, Expr]] = []
        for parameter in left_open:
            name = _assigned_from(action, parameter)
            if last and name is not None and self.kind.field(name) == parameter.type and not may_fail:
                pinned.append((parameter, Field(parameter.type, action.at, goal, name)))
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

    def _state(self, name: str) -> Local:
        return self.compiler.fresh(self.kind, name, self.at)


def _number_of(kind: Type) -> str:
    """The number of identifiers of a kind, as text."""
    assert isinstance(kind, IdentifierType)
    return str(kind.limit if isinstance(kind, OpenIdentifierType) else kind.count)


def _assigned_from(action: Action, parameter: Local) -> str | None:
    """The variable to which an action always assigns a parameter, and nothing else."""
    names = [it.variable for it in flat(action.body) if isinstance(it, SetVariable)]
    changed = {it.target.slot for it in flat(action.body) if isinstance(it, SetLocal)}
    if parameter.slot in changed or any(isinstance(it, Return | Do) for it in flat(action.body)):
        return None
    for statement in action.body:
        match statement:
            case SetVariable(variable=name, path=path, value=Local(slot=slot)) if slot == parameter.slot and not path:
                return name if names.count(name) == 1 else None
    return None


def _may_fail(action: Action) -> bool:
    """Whether an action may fail: the check covers each expression and each assigned place in its source."""
    statements = list(flat(action.body))
    paths = [step for it in statements if isinstance(it, SetVariable) for step in it.path]
    parts = [*action.guards, *children(Inline(BOOL, action.at, action.body, None))]
    return (
        any(can_fail(part) for part in parts)
        or any(isinstance(it, Assert) for it in statements)
        or any(isinstance(step, ItemStep) and not isinstance(step.container, MapType) for step in paths)
    )


def _any_of(at: Position, operands: list[Expr]) -> Expr:
    if not operands:
        return Const(BOOL, at, False)
    return Or(BOOL, at, operands) if len(operands) > 1 else operands[0]


class _Rewriter:
    """Copies an action of the abstract model into the property: its state is a record in a local variable.

    Its local variables get slots of the property. Shared parts of the graph stay shared.
    """

    def __init__(self, steps: _Steps, state: Local, slots: dict[int, int] | None = None) -> None:
        self._steps = steps
        self._record = state
        self._slots = {} if slots is None else slots
        self._made: dict[int, Expr] = {}

    def assigning(self, state: Local) -> _Rewriter:
        """A rewriter for the same action whose state is in another variable, which the action may assign."""
        return _Rewriter(self._steps, state, self._slots)

    def local(self, node: Local) -> Local:
        if node.slot not in self._slots:
            self._slots[node.slot] = self._steps.compiler.fresh(node.type, node.name, node.at).slot
        return Local(node.type, node.at, self._slots[node.slot], node.name)

    def expression(self, node: Expr) -> Expr:
        known = self._made.get(id(node))
        if known is None:
            known = self._made[id(node)] = self._rewritten(node)
        return known

    def _rewritten(self, node: Expr) -> Expr:
        match node:
            case Local():
                return self.local(node)
            case StateVar():
                return Field(node.type, node.at, self._record, node.name)
            case Applied():
                message = f"{node.function.name} is too large with all that it calls for a model that another refines"
                raise ModelError(message, node.at.file, node.at.line)
            case Inline() if has_effects(node):
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
            case Expr():
                return self.expression(value)
            case SetVariable():
                raise AssertionError("an assignment is rewritten with its block")
            case [Statement(), *_]:
                return self.block(value)
            case list():
                return [self._part(item) for item in value]
            case dict():
                return {name: self._part(item) for name, item in value.items()}
            case Generator() | Range() | Statement() | ItemStep():
                return self._copied(value)
        return value

    def block(self, body: list[Stmt]) -> list[Stmt]:
        found: list[Stmt] = []
        for statement in body:
            if isinstance(statement, SetVariable):
                found += self._assigned(statement)
            elif isinstance(statement, Do) and isinstance(statement.call, Inline):
                call = statement.call
                found.append(Do(statement.at, dataclasses.replace(call, body=self.block(call.body))))
            else:
                found.append(self._copied(statement))
        return found

    def _assigned(self, node: SetVariable) -> list[Stmt]:
        """The assignment of the whole record; the operands of the path are evaluated once, after the value."""
        at, kind = node.at, self._steps.kind
        fresh = self._steps.compiler.fresh
        value = fresh(node.value.type, "value", at)
        before: list[Stmt] = [SetLocal(at, value, self.expression(node.value))]
        current = Field(kind.field(node.variable), at, self._record, node.variable)
        changed = self._updated(current, node.path, value, before, at)
        fields: dict[str, Expr] = {name: Field(of, at, self._record, name) for name, of in kind.fields}
        return [*before, SetLocal(at, self._record, RecordOf(kind, at, {**fields, node.variable: changed}))]

    def _updated(
        self, current: Expr, path: Sequence[FieldStep | ItemStep], value: Expr, before: list[Stmt], at: Position
    ) -> Expr:
        """A copy of a value with the part at the end of a path replaced."""
        if not path:
            return value
        fresh = self._steps.compiler.fresh
        step, rest = path[0], path[1:]
        match step:
            case FieldStep(record=record, name=name):
                fields: dict[str, Expr] = {field: Field(of, at, current, field) for field, of in record.fields}
                fields[name] = self._updated(fields[name], rest, value, before, at)
                return RecordOf(record, at, fields)
            case ItemStep(container=MapType() as container, key=key):
                held = fresh(key.type, "key", at)
                before.append(SetLocal(at, held, self.expression(key)))
                inner = fresh(container.value, "item", at)
                before.append(SetLocal(at, inner, MapGet(container.value, at, current, held)))
                changed = fresh(container.value, "item", at)
                made = self._updated(inner, rest, value, before, at)
                before.append(SetLocal(at, changed, made))
                each = fresh(container.key, "each", at)
                kept = MapGet(container.value, at, current, each)
                body = Choose(container.value, at, Equal(BOOL, at, each, held), changed, kept)
                return Reduce(container, at, "map", [Generator(each, Universe(container.key), [])], body, each)
            case ItemStep(container=SeqType() as container, key=key):
                given, index = self._index(current, container, key, before, at)
                inner = fresh(container.element, "item", at)
                before.append(SetLocal(at, inner, SeqGet(container.element, at, current, given)))  # or it fails
                changed = fresh(container.element, "item", at)
                made = self._updated(inner, rest, value, before, at)
                before.append(SetLocal(at, changed, made))
                each = fresh(IntType(0, max(container.capacity - 1, 0)), "each", at)
                other = SeqGet(container.element, at, current, each)
                body = Choose(container.element, at, Equal(BOOL, at, *_alike(each, index, at)), changed, other)
                length = Size(IntType(0, container.capacity), at, current)
                domain = Range(Const(IntType(0, 0), at, 0), length, 1)
                return Reduce(container, at, "seq", [Generator(each, domain, [])], body)
        raise AssertionError(step)

    def _index(
        self, current: Expr, container: SeqType, key: Expr, before: list[Stmt], at: Position
    ) -> tuple[Local, Local]:
        """An index, and the position in a sequence that it denotes, counted from the end if it is negative."""
        fresh = self._steps.compiler.fresh
        assert isinstance(key.type, IntType)
        given = fresh(key.type, "index", at)
        before.append(SetLocal(at, given, self.expression(key)))
        low, high = min(key.type.low, 0), max(key.type.high, 0) + container.capacity
        kind = IntType(low, high)
        length = Size(IntType(0, container.capacity), at, current)
        negative = Compare(BOOL, at, "<", given, Const(IntType(0, 0), at, 0))
        counted = Arithmetic(kind, at, "+", given, length)
        place = fresh(kind, "place", at)
        before.append(SetLocal(at, place, Choose(kind, at, negative, counted, _widened(given, kind, at))))
        return given, place


def _widened(value: Expr, kind: IntType, at: Position) -> Expr:
    return value if value.type == kind else Convert(kind, at, value)


def _alike(one: Expr, other: Expr, at: Position) -> tuple[Expr, Expr]:
    assert isinstance(one.type, IntType) and isinstance(other.type, IntType)
    kind = IntType(min(one.type.low, other.type.low), max(one.type.high, other.type.high))
    return _widened(one, kind, at), _widened(other, kind, at)


class _Flat:
    """The body of an action without calls for their effects, returns and requirements, which variables record instead.

    ``went`` is whether no requirement was false. A call starts without values for the variables that it assigns, so an
    assignment of the record must not be inside one: it is written in place of the call, with a variable that records
    whether the call has returned.
    """

    def __init__(self, compiler: _Mapping, went: Local) -> None:
        self._compiler = compiler
        self._went = went

    def function(self, body: list[Stmt], at: Position) -> list[Stmt]:
        """The statements of a function."""
        returned = self._compiler.fresh(BOOL, "returned", at)
        return [SetLocal(at, returned, Const(BOOL, at, False)), *self._block(body, returned, in_loop=False)]

    def _block(self, body: list[Stmt], returned: Local, in_loop: bool) -> list[Stmt]:
        found: list[Stmt] = []
        for index, statement in enumerate(body):
            at = statement.at
            found += self._statement(statement, returned, in_loop)
            if isinstance(statement, Return):
                break
            if _may_leave(statement):
                goes_on = And(BOOL, at, [self._went, Not(BOOL, at, returned)])
                if in_loop:
                    found.append(If(at, goes_on, [], [Break(at)]))
                else:
                    found.append(If(at, goes_on, self._block(body[index + 1 :], returned, in_loop), []))
                    break
        return found

    def _statement(self, node: Stmt, returned: Local, in_loop: bool) -> list[Stmt]:
        at = node.at
        leave: list[Stmt] = [Break(at)] if in_loop else []
        match node:
            case Return(value=value, into=into):
                kept: list[Stmt] = [] if value is None or into is None else [SetLocal(at, into, value)]
                return [*kept, SetLocal(at, returned, Const(BOOL, at, True)), *leave]
            case Require(condition=condition):
                return [If(at, condition, [], [SetLocal(at, self._went, Const(BOOL, at, False)), *leave])]
            case If(condition=condition, then=then, otherwise=otherwise):
                branches = (self._block(branch, returned, in_loop) for branch in (then, otherwise))
                return [If(at, condition, *branches)]
            case For(variable=variable, domain=domain, body=inner):
                return [For(at, variable, domain, self._block(inner, returned, in_loop=True))]
            case Do(call=Inline(body=inner)):
                return self.function(inner, at)
        return [node]


def _may_leave(statement: Stmt) -> bool:
    """Whether a statement can return, or end the action. A return inside a call does not end its caller."""
    if isinstance(statement, Do):
        return may_refuse(statement.call)
    return any(
        isinstance(each, Return | Require) or (isinstance(each, Do) and may_refuse(each.call))
        for each in flat([statement])
    )
