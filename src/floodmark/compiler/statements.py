"""Lowers Python statements, and inlines the functions that they call."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from functools import cache
from typing import Any, TypeGuard

from floodmark.compiler import ir
from floodmark.compiler.compile_cache import own_source
from floodmark.compiler.constructs import refused_syntax
from floodmark.compiler.frame import Binding, Frame, LocalTypes, ModelRef, StaticObject
from floodmark.compiler.lowering import Lowering, LoweringPart, must_be_pure, no_order
from floodmark.compiler.pairs import ProductLoopLowering
from floodmark.compiler.plain_containers import SETS, UNHASHABLE
from floodmark.compiler.unions import common_fields, no_field
from floodmark.language.errors import ModelError
from floodmark.language.plurals import counted
from floodmark.language.source import Source, names_assigned, source_of
from floodmark.language.types import BagType, MapType, RecordType, SeqType, SetType, Type
from floodmark.language.values import Bag, Seq, Set, require

MAX_CALL_DEPTH = 40
MAX_COPY = 4_000
"""The maximum number of expressions in a function's body of which each call has a copy."""
MAX_CALLS = 20_000
"""The maximum number of calls that are read for one action or property, nested ones included."""

Path = list[ir.FieldStep | ir.ItemStep]


class StatementLowering(LoweringPart):
    """The statement half of the compiler."""

    def __init__(self, lowering: Lowering, loops: ProductLoopLowering) -> None:
        super().__init__(lowering)
        self._loops = loops
        self._calls = self._depth = 0
        """The number of calls read so far, and of those around the current code."""
        self._shared_functions: dict[tuple[object, ...], ir.SharedFunction] = {}
        self._named: list[object] = []

    def function_body(
        self, source: Source, bind: Callable[[Frame], None], is_action: bool = False
    ) -> tuple[Frame, list[ir.Stmt], bool]:
        """The frame of a function, its statements, and whether control can reach their end.

        ``bind`` says what the parameters mean in a frame. The source is read until that changes nothing more of what is
        known of the local variables.
        """
        types = LocalTypes()
        while True:
            frame = Frame(source, local_types=types, is_action=is_action)
            bind(frame)
            types.changed = False
            body, goes_on = self.block(frame, source.body)
            if not types.changed:
                return frame, body, goes_on

    def block(self, frame: Frame, body: list[ast.stmt]) -> tuple[list[ir.Stmt], bool]:
        """The statements of a block, and whether control can reach its end."""
        lowered: list[ir.Stmt] = []
        for position, statement in enumerate(body):
            goes_on = self._statement(frame, statement, lowered)
            if not goes_on:
                if position + 1 < len(body) and _leaves(statement):
                    raise frame.refuse(body[position + 1], "this line is never reached")
                return lowered, False
        return lowered, True

    def _statement(self, frame: Frame, node: ast.stmt, out: list[ir.Stmt]) -> bool:
        at = frame.at(node)
        if (text := refused_syntax(node)) is not None:
            raise frame.refuse(node, text)
        match node:
            case ast.Pass():
                return True
            case ast.Expr(value=ast.Constant(value=str())):
                return True
            case ast.Expr(value=ast.Call() as call):
                self._effect(frame, call, out)
                return True
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                self._assign_several(frame, node, targets, value, out)
                return True
            case ast.Assign(targets=[target], value=value):
                self._assign(frame, target, self._right_side(frame, target, value), out)
                return True
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._assign(frame, target, self._right_side(frame, target, value), out)
                return True
            case ast.AugAssign(target=target, op=op, value=value):
                left = _as_load(target)
                self._pure_place(frame, left)
                combined = ast.copy_location(ast.BinOp(left=left, op=op, right=value), node)
                result = self.lowering.expression(frame, combined)
                self._not_in_place(frame, node, result)
                self._assign(frame, target, result, out)
                return True
            case ast.If():
                return self._branch(frame, node, out)
            case ast.For():
                return self._loop(frame, node, out)
            case ast.Return(value=value):
                self._return(frame, node, value, out)
                return False
            case ast.Break():
                out.append(ir.Break(at))
                return False
            case ast.Continue():
                out.append(ir.Continue(at))
                return False
            case ast.Assert(test=test, msg=message):
                self._refuse_message(frame, message)
                out.append(ir.Assert(at, self.lowering.condition(frame, test)))
                return True
            case ast.Assign():
                raise frame.refuse(node, "assign one variable at a time")
            case ast.AnnAssign():
                raise frame.refuse(node, "a variable without a value is not part of the language; assign one")
            case ast.Expr(value=value):
                if (text := refused_syntax(value)) is None or isinstance(value, ast.Constant):
                    text = "a value alone on a line does nothing; assign it, require(...) or assert it"
                raise frame.refuse(node, text)
        raise AssertionError(node)

    def _refuse_message(self, frame: Frame, message: ast.expr | None) -> None:
        """Refuses the message of an assertion unless it is a text with values in it that call nothing: CPython
        evaluates it if the condition is false, and a ``require`` in it would end the action without an error."""
        match message:
            case None | ast.Constant():
                return
            case ast.JoinedStr(values=parts):
                for part in parts:
                    if isinstance(part, ast.FormattedValue):
                        if any(isinstance(each, ast.Call) for each in ast.walk(part)):
                            raise frame.refuse(message, "the message of an assertion calls nothing")
                        self.lowering.expression(frame, part.value)
                        self._refuse_message(frame, part.format_spec)
            case _:
                raise frame.refuse(message, "the message of an assertion is a text in quotes")

    def _not_in_place(self, frame: Frame, node: ast.AugAssign, result: ir.Expr) -> None:
        """Refuses ``x |= {e}`` if CPython would change a plain container for all its aliases, and an assignment whose
        right side changes the place that CPython has determined before."""
        text, op = ast.unparse(node.target), ast.unparse(node).removeprefix(ast.unparse(node.target)).split("=")[0]
        if isinstance(node.target, ast.Name):
            held = self.lowering.expression(frame, _as_load(node.target))
            is_plain_set = isinstance(result.type, SetType) and self.nodes.plain.of(held) & SETS
            if isinstance(result.type, SeqType) or is_plain_set:
                what = "list" if isinstance(result.type, SeqType) else "set"
                message = f"{op.strip()}= changes a plain {what} for all names that it has"
                raise frame.refuse(node, f"{message}; write {text} = {text}{op} ...")
        elif any(isinstance(part, ast.Subscript) for part in ast.walk(node.target)):
            must_be_pure(frame, node.value, result)

    def _right_side(self, frame: Frame, target: ast.expr, value: ast.expr) -> ir.Expr:
        return self.lowering.expression(frame, value)

    # Effects: require, mutations, calls.

    def _effect(self, frame: Frame, call: ast.Call, out: list[ir.Stmt]) -> None:
        at = frame.at(call)
        if isinstance(call.func, ast.Name):
            bound = self.lowering.binding(frame, call.func)
            if isinstance(bound, StaticObject) and bound.value is require:
                if len(call.args) != 1 or call.keywords:
                    raise frame.refuse(call, "require takes one condition")
                if not self.nodes.guarded:
                    raise frame.refuse(call, "require guards an action; a property returns a bool instead")
                out.append(ir.Require(at, self.lowering.condition(frame, call.args[0])))
                return
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("add", "discard", "remove", "append"):
            owner = self.lowering.binding(frame, call.func.value)
            if isinstance(owner, StaticObject) and isinstance(owner.value, list | set | dict | Seq | Set | Bag):
                raise frame.refuse(call, self._no_place(frame, call.func.value))
            if isinstance(owner, ir.Expr):
                self._mutate(frame, call, call.func, out)
                return
        value = self.lowering.call(frame, call)
        if not isinstance(value, ir.Inline | ir.Applied):
            raise frame.refuse(call, "this call has no effect; assign its value")
        out.append(ir.Do(at, value))

    def _mutate(self, frame: Frame, call: ast.Call, method: ast.Attribute, out: list[ir.Stmt]) -> None:
        if len(call.args) != 1 or call.keywords:
            raise frame.refuse(call, f"{method.attr} takes one element")
        self._pure_place(frame, _as_load(method.value))
        variable, path, kind = self._place(frame, method.value)
        current = self.lowering.expression(frame, _as_load(method.value))
        item = self.lowering.expression(frame, call.args[0])
        must_be_pure(frame, call.args[0], item)
        changed = self._mutated(frame, call, method.attr, current, item)
        value = self.nodes.convert(changed, kind, ast.unparse(method.value))
        out.append(ir.SetVariable(frame.at(call), variable, path, value))

    def _pure_place(self, frame: Frame, node: ast.expr) -> None:
        """Refuses a place that is both read and assigned if evaluating its path changes the state."""
        if not isinstance(node, ast.Name):
            must_be_pure(frame, node, self.lowering.binding(frame, node))

    # Assignments.

    def _assign(self, frame: Frame, target: ast.expr, value: ir.Expr, out: list[ir.Stmt]) -> None:
        at = frame.at(target)
        if isinstance(target, ast.Name):
            out.append(self._assign_local(frame, target, value))
            return
        if isinstance(target, ast.List):
            raise frame.refuse(target, "assign one variable at a time, or some in a row: a, b = b, a")
        variable, path, kind = self._place(frame, target)
        out.append(ir.SetVariable(at, variable, path, self.nodes.convert(value, kind, ast.unparse(target))))

    def _assign_several(
        self, frame: Frame, node: ast.Assign, targets: list[ast.expr], value: ast.expr, out: list[ir.Stmt]
    ) -> None:
        """``a, b = b, a``: first the right side is evaluated, from left to right, and then each target's path."""
        values = value.elts if isinstance(value, ast.Tuple) else []
        if len(values) != len(targets) or any(isinstance(it, ast.Tuple | ast.List | ast.Starred) for it in targets):
            message = "write as many values on the right side as variables on the left: a, b = b, a"
            raise frame.refuse(node, f"{message}; those of a sequence are s[0], s[1]")
        held: list[ir.Expr] = []
        for each in values:
            given = self.lowering.expression(frame, each)
            if not isinstance(given, ir.Const):
                variable = self.nodes.holding(given, "value", given.at)
                out.append(ir.SetLocal(given.at, variable, given))
                given = variable
            held.append(given)
        for target, given in zip(targets, held, strict=True):
            self._assign(frame, target, given, out)

    def _assign_local(self, frame: Frame, target: ast.Name, value: ir.Expr) -> ir.Stmt:
        at = frame.at(target)
        if isinstance(value.type, ir.NoneType) and target.id not in frame.local_types.types:
            frame.local_types.types[target.id] = ir.NoneType()
        kind = frame.local_types.admit(target.id, value.type, at)
        if target.id not in frame.slots:
            frame.slots[target.id] = self.nodes.new_slot()
        variable = ir.Local(kind, at, frame.slots[target.id], target.id)
        frame.bindings[target.id] = variable
        frame.definite.add(target.id)
        self.nodes.plain.hold(variable, value)
        frame.local_types.hold(target.id, self.nodes.plain.of(variable))
        return ir.SetLocal(at, variable, self.nodes.convert(value, kind, target.id))

    def _place(self, frame: Frame, node: ast.expr) -> tuple[str, Path, Type]:
        """The state variable, the path into it and the type of the assigned value."""
        match node:
            case ast.Attribute(value=base, attr=name):
                owner = self.lowering.binding(frame, base)
                if isinstance(owner, ModelRef):
                    if name not in self.model.variable_types:
                        raise frame.refuse(node, self.model.no_variable(name))
                    if not owner.writable:
                        raise frame.refuse(node, "a property must not change the state")
                    return name, [], self.model.variable_types[name]
                variable, path, kind = self._place(frame, base)
                if isinstance(kind, RecordType):
                    fields = common_fields(kind)
                    if name not in fields:
                        raise frame.refuse(node, no_field(kind, name))
                    return variable, [*path, ir.FieldStep(kind, name)], fields[name]
                raise frame.refuse(node, f"{kind} has no field {name!r}")
            case ast.Subscript(value=base, slice=index):
                variable, path, kind = self._place(frame, base)
                match kind:
                    case MapType(key, value):
                        return variable, [*path, ir.ItemStep(kind, self._key(frame, index, key))], value
                    case SeqType() if isinstance(index, ast.Slice):
                        raise frame.refuse(node, "assign the whole sequence: self.log = self.log[:n] + ...")
                    case SeqType(element, _):
                        at_index = self.nodes.integer(frame, index, self.lowering.expression(frame, index))
                        return variable, [*path, ir.ItemStep(kind, at_index)], element
                raise frame.refuse(node, f"{kind} cannot be indexed")
        raise frame.refuse(node, self._no_place(frame, node))

    def _no_place(self, frame: Frame, node: ast.expr) -> str:
        """The error, and the replacement, for an in-place change of a value that is no variable of the model."""
        text = ast.unparse(node)
        message = f"{text} is not a variable of the model, so it cannot be changed in place"
        bound = self.lowering.binding(frame, node) if isinstance(node, ast.Name) else None
        kind = bound.type if isinstance(bound, ir.Expr) else None
        copied = _only_value(frame.source.tree, text)
        either = ";"
        if copied is not None and self._is_of_the_model(frame, copied):
            either = f"; it is a copy of {ast.unparse(copied)}: change that, or"
        match kind:
            case SetType():
                return f"{message}{either} write {text} = {text} | {{e}}"
            case SeqType():
                return f"{message}{either} write {text} = {text} + [e]"
            case BagType():
                return f"{message}; change the variable itself, as in self.network.add(e), or return the new element"
            case RecordType():
                return f"{message}{either} write {text} = {text}.replace(field=...)"
            case MapType(key, _):
                return f"{message}{either} write {text} = Map({{k: ... for k in {key}}})"
        if isinstance(bound, StaticObject):
            return f"{message}, which changes nothing else; declare a variable in the class"
        return message

    def _is_of_the_model(self, frame: Frame, node: ast.expr) -> bool:
        """Whether an expression is a variable of the model that may be assigned, or a part of one."""
        root = node
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        bound = self.lowering.binding(frame, root) if root is not node and isinstance(root, ast.Name) else None
        return isinstance(bound, ModelRef) and bound.writable

    def _key(self, frame: Frame, node: ast.expr, kind: Type) -> ir.Expr:
        return self.nodes.convert(self.lowering.expression(frame, node), kind, "the key")

    # Control.

    def _branch(self, frame: Frame, node: ast.If, out: list[ir.Stmt]) -> bool:
        condition = self.lowering.condition(frame, node.test)
        if isinstance(condition, ir.Const):
            body, goes_on = self.block(frame, node.body if condition.value else node.orelse)
            out.extend(body)
            return goes_on
        before = set(frame.definite)
        then, then_goes_on = self.block(frame, node.body)
        after_then = frame.definite if then_goes_on else None
        frame.definite = set(before)
        otherwise, else_goes_on = self.block(frame, node.orelse)
        after_else = frame.definite if else_goes_on else None
        if after_then is not None and after_else is not None:
            frame.definite = after_then & after_else
        else:
            frame.definite = after_then or after_else or before
        out.append(ir.If(frame.at(node), condition, then, otherwise))
        return then_goes_on or else_goes_on

    def _loop(self, frame: Frame, node: ast.For, out: list[ir.Stmt]) -> bool:
        """A loop runs over a hidden variable, from which those of the source get their values in each round."""
        if node.orelse:
            message = "for ... else is not part of the language; set a flag before break, and test it after the loop"
            raise frame.refuse(node, message)
        if isinstance(node.target, ast.Name):
            domain, of, canonical = self.lowering.domain(frame, node.iter)
            if not canonical:
                raise no_order(frame, node.iter, of)
            hidden = self.nodes.element(domain, of, node.target.id, frame.at(node.target))
            targets: list[ast.expr] = [node.target]
            parts: list[ir.Expr] = [hidden]
            never = isinstance(of, ir.NothingType)  # an empty literal: no element to show what the body would do to one
        else:
            found = self._loops.several(frame, node.target, node.iter, hold=True)
            assert isinstance(node.target, ast.Tuple | ast.List)
            out += found.setup
            domain, never = found.domain, found.empty
            hidden = self.nodes.fresh(found.kind, "index", frame.at(node.target))
            targets, parts = node.target.elts, found.parts(hidden)
        before, bound = set(frame.definite), frozenset(frame.bindings)
        assigned = {it.id for it in names_assigned(node.body)}
        for name in assigned & frame.slots.keys():  # a round begins with what another one left
            self.nodes.plain.may_be(frame.slots[name], frame.local_types.at_the_beginning_of_a_round(name))
        body: list[ir.Stmt] = []
        inner: set[str] = set()
        for target, part in zip(targets, parts, strict=True):
            assert isinstance(target, ast.Name)
            if never:
                continue
            if not _ends_with_its_round(frame, target.id, assigned):
                body.append(self._assign_local(frame, target, part))
                continue
            inner.add(target.id)
            frame.definite.add(target.id)
            if part is hidden:
                frame.bindings[target.id] = hidden
            else:
                variable = self.nodes.holding(part, target.id, part.at)
                frame.bindings[target.id] = variable
                body.append(ir.SetLocal(part.at, variable, part))
        if not never:
            body += self.block(frame, node.body)[0]
        frame.definite = before
        for name in inner - bound:
            del frame.bindings[name]
        out.append(ir.For(frame.at(node), hidden, domain, body))
        return True

    def _return(self, frame: Frame, node: ast.Return, value: ast.expr | None, out: list[ir.Stmt]) -> None:
        at = frame.at(node)
        if value is None:
            if frame.returns_value:
                raise frame.refuse(node, "this function returns a value elsewhere; return one here too")
            frame.returns_nothing = True
            out.append(ir.Return(at, None, None))
            return
        if frame.is_action:
            raise frame.refuse(node, "an action returns nothing; it changes the model's variables")
        if frame.returns_nothing:
            raise frame.refuse(node, "this function returns nothing elsewhere; return a value there too")
        result = self.lowering.expression(frame, value)
        kind = frame.local_types.admit("return", result.type, at)
        if frame.result is None:
            frame.result = self.nodes.fresh(kind, "return", at)
        frame.result.type = kind
        frame.returns_value = True
        self.nodes.plain.hold(frame.result, result)
        converted = self.nodes.convert(result, kind, "the result")
        out.append(self.lowering.as_written(ir.Return(at, converted, frame.result), node))

    # Calls of the model's own functions.

    def inline(self, frame: Frame, node: ast.Call, function: Callable[..., Any], first: Binding | None) -> ir.Expr:
        """The body of ``function`` in place of a call to it; ``first`` is the value of ``self`` there.

        A large body is not copied for each call: calls share it (``Applied``). Otherwise functions that call each other
        twice, level over level, would double in size with each level.
        """
        source = source_of(function)
        self.inputs.rests_on(own_source, function)
        if self._depth >= MAX_CALL_DEPTH:
            raise frame.refuse(node, f"{function.__name__} calls itself; recursion is not part of the language")
        self._calls += 1
        if self._calls > MAX_CALLS:
            message = f"more than {MAX_CALLS:,} calls had to be read on the way to this one of {function.__name__}"
            raise frame.refuse(node, f"{message}; assign the result of a call to a variable and use that several times")
        arguments = self._arguments(frame, node, source.tree, first, function)
        key = self._known_as(function, arguments)
        shared = self._shared_functions.get(key)
        if shared is None:
            before = self.lowering.steps
            outer, self.lowering.path = self.lowering.path, (*self.lowering.path, node)
            try:
                copied = self._copied(frame.at(node), source, arguments)
            finally:
                self.lowering.path = outer
            if self.lowering.steps - before <= MAX_COPY // 4 or ir.weight(copied) <= MAX_COPY:
                return copied
            shared = self._shared_functions[key] = self._shared(source, arguments)
        values = [value for value in arguments.values() if _is_passed(value)]
        kind = ir.NoneType() if shared.result is None else shared.result.type
        return ir.Applied(kind, frame.at(node), shared, values)

    def _known_as(self, function: Callable[..., Any], arguments: dict[str, Binding]) -> tuple[object, ...]:
        """The inputs of a call's body: calls with equal inputs may share one.

        The graph of a function depends on the arguments that are known at compile time, and for the others on their
        types and on whether their sets have an order.
        """
        key: list[object] = [function]
        for name, value in arguments.items():
            key.append(name)
            match value:
                case ir.Const(type=kind, value=known):
                    key += ["constant", kind, type(known), known]
                case ir.Expr(type=kind):
                    key += ["value", kind, self.nodes.plain.of(value)]
                case StaticObject(value=known):
                    self._named.append(known)  # so that no other object gets its identity
                    key += ["object", id(known)]
                case ModelRef(which=which, writable=writable):
                    key += ["model", which, writable]
        return tuple(key)

    def _shared(self, source: Source, arguments: dict[str, Binding]) -> ir.SharedFunction:
        """A function whose parameters are variables of their own."""
        bound: dict[str, Binding] = dict(arguments)
        parameters = []
        for name, value in arguments.items():
            if _is_passed(value):
                parameter = self.nodes.holding(value, name, value.at)
                parameters.append(parameter)
                bound[name] = parameter
        inner, body = self._read(source, bound)
        at = ir.Position(source.file, source.tree.lineno)
        return ir.SharedFunction(source.tree.name, at, parameters, body, inner.result)

    def _copied(self, at: ir.Position, source: Source, arguments: dict[str, Binding]) -> ir.Expr:
        """The body of a function for one call."""
        inner, body = self._read(source, arguments)
        match body:
            case [ir.Return(value=ir.Expr() as value)]:
                return value
        kind = inner.result.type if inner.result is not None else ir.NoneType()
        return ir.Inline(kind, at, body, inner.result)

    def _read(self, source: Source, arguments: dict[str, Binding]) -> tuple[Frame, list[ir.Stmt]]:
        """The statements of a function with these arguments."""
        assigned = {it.id for it in names_assigned(source.body)}
        prologue: list[ir.Stmt] = []

        def bind(inner: Frame) -> None:
            prologue[:] = self._bind(inner, arguments, assigned)

        self._depth += 1
        try:
            inner, body, goes_on = self.function_body(source, bind)
        finally:
            self._depth -= 1
        if goes_on and inner.returns_value:
            raise ModelError(
                f"{source.tree.name} does not return a value on every path", source.file, source.tree.lineno
            )
        return inner, [*prologue, *body]

    def _arguments(
        self, frame: Frame, node: ast.Call, tree: ast.FunctionDef, first: Binding | None, function: Callable[..., Any]
    ) -> dict[str, Binding]:
        parameters = tree.args
        if parameters.vararg or parameters.kwarg or parameters.posonlyargs:
            text = f"{tree.name} has * or ** or / among its parameters, which is not part of the language"
            raise frame.refuse(node, text)
        names = [argument.arg for argument in parameters.args]
        bound: dict[str, Binding] = {}
        if first is not None:
            bound[names[0]] = first
        positional = names[len(bound) :]
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise frame.refuse(node, f"list the arguments of {tree.name}; * is not part of the language")
        if len(node.args) > len(positional):
            takes = counted(len(positional), "argument")
            raise frame.refuse(node, f"{tree.name} takes {takes}, {len(node.args)} given")
        for name, argument in zip(positional, node.args, strict=False):
            bound[name] = self.lowering.binding(frame, argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                raise frame.refuse(node, f"name the arguments of {tree.name}; ** is not part of the language")
            if keyword.arg not in names + [a.arg for a in parameters.kwonlyargs]:
                raise frame.refuse(node, f"{tree.name} has no parameter {keyword.arg!r}")
            if keyword.arg in bound:
                raise frame.refuse(node, f"{tree.name} is given {keyword.arg!r} twice")
            bound[keyword.arg] = self.lowering.binding(frame, keyword.value)
        defaults = function.__defaults__ or ()
        for name, default in zip(names[len(names) - len(defaults) :], defaults, strict=True):
            if name not in bound:
                bound[name] = StaticObject(default)
        for name, default in (function.__kwdefaults__ or {}).items():
            if name not in bound:
                bound[name] = StaticObject(default)
        missing = [name for name in names + [a.arg for a in parameters.kwonlyargs] if name not in bound]
        if missing:
            raise frame.refuse(node, f"{tree.name} needs the argument {missing[0]!r}")
        return bound

    def _bind(self, inner: Frame, arguments: dict[str, Binding], assigned: set[str]) -> list[ir.Stmt]:
        """Binds parameters: constants and variables that are never reassigned are used as they are, the rest is
        copied."""
        prologue: list[ir.Stmt] = []
        for name, value in arguments.items():
            inner.definite.add(name)
            if isinstance(value, StaticObject):
                value = self.nodes.constant(value.value, inner.at(inner.source.tree)) or value
            if (not isinstance(value, ir.Expr) or isinstance(value, ir.Const | ir.Local)) and name not in assigned:
                inner.bindings[name] = value
                continue
            if not isinstance(value, ir.Expr):
                raise ModelError(
                    f"{name} is assigned in {inner.source.tree.name} but is not a value",
                    inner.source.file,
                    inner.source.tree.lineno,
                )
            kind = inner.local_types.admit(name, value.type, value.at)
            inner.slots[name] = self.nodes.new_slot()
            variable = ir.Local(kind, value.at, inner.slots[name], name)
            inner.bindings[name] = variable
            self.nodes.plain.hold(variable, value)
            prologue.append(ir.SetLocal(value.at, variable, self.nodes.convert(value, kind, name)))
        return prologue

    def _mutated(self, frame: Frame, node: ast.Call, method: str, current: ir.Expr, item: ir.Expr) -> ir.Expr:
        at = frame.at(node)
        match current.type, method:
            case SetType(), _ if self.nodes.plain.of(item) & UNHASHABLE:
                self.nodes.hashable(frame, node, item)
            case SetType(element, capacity), "add" | "discard":
                if method == "add":
                    item = self.nodes.convert(item, element, "the element")
                single = self.nodes.set_of(at, item.type, [item], slotted=capacity is not None)
                return self.nodes.set_binary(at, "|" if method == "add" else "-", current, single)
            case SetType(element, _), "remove":
                return ir.BagChange(current.type, at, current, self.nodes.convert(item, element, "the element"), True)
            case BagType(element, _), "add" | "remove":
                return ir.BagChange(
                    current.type, at, current, self.nodes.convert(item, element, "the element"), method == "remove"
                )
            case SeqType(element, capacity), "append":
                one = ir.SeqOf(SeqType(element, 1), at, [self.nodes.convert(item, element, "the element")])
                return ir.SeqConcat(SeqType(element, capacity + 1), at, current, one)
        raise frame.refuse(node, f"{current.type} has no method {method!r}")


def _is_passed(value: Binding) -> TypeGuard[ir.Expr]:
    """Whether a shared function receives an argument at run time; all others are known at compile time."""
    return isinstance(value, ir.Expr) and not isinstance(value, ir.Const)


def _only_value(tree: ast.FunctionDef, name: str) -> ast.expr | None:
    """The value that a local name is given, if it is given one only."""
    given = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
    if sum(isinstance(node.ctx, ast.Store) for node in given) == 1:
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and node.targets[0] in given:
                return node.value
    return None


def _leaves(node: ast.stmt) -> bool:
    """Whether control never continues after a statement, for any constants."""
    if isinstance(node, ast.If):
        return bool(node.orelse) and _leaves(node.body[-1]) and _leaves(node.orelse[-1])
    return isinstance(node, ast.Return | ast.Break | ast.Continue)


def _ends_with_its_round(frame: Frame, name: str, assigned: set[str]) -> bool:
    """Whether the value that a loop gives to a name may be dropped at the end of the round, because it is never read
    later.

    In Python the name keeps the value, as a local variable does. But a name without a value before the loop is not read
    until it is assigned again: as the loop may have no round, the name may have no value after it either. This does not
    hold if the body assigns the name, or if the name has a value before: its variable takes the new one.
    """
    if name not in frame.source.names_read:
        return True
    return name not in frame.definite and name not in assigned


@cache
def _as_load(target: ast.expr) -> ast.expr:
    """The expression that reads what ``target`` assigns."""
    made = copy.deepcopy(target)
    if isinstance(made, ast.Name | ast.Attribute | ast.Subscript):
        made.ctx = ast.Load()
    return made
