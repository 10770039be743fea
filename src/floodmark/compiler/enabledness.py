"""Lowers ``enabled(self.action)``: some choice of the parameters satisfies all guards of the action.

The guards are those of the source, in CPython's order of evaluation (``floodmark.language.enabledness``). An action
with a later ``require``, or with one in a function that it calls for its effects, is refused: whether it is enabled
then depends on its previous statements.
"""

from __future__ import annotations

import ast

from floodmark.compiler.compile_cache import member, own_source, parameters_of
from floodmark.compiler.failures import can_fail, may_refuse
from floodmark.compiler.frame import Frame, ModelRef
from floodmark.compiler.ir import BOOL, Const, Domain, Expr, Generator, Inline, Local, Reduce, Universe
from floodmark.compiler.lowering import LoweringPart, no_order
from floodmark.compiler.sizes import in_code_order
from floodmark.language.enabledness import Levels, levels_of, too_many_values
from floodmark.language.reference import MAX_PARAMETER_VALUES, parameter_types
from floodmark.language.source import Source, leading_guards, source_of
from floodmark.language.types import BagType, SeqType, SetType, Type, growing


class EnablednessLowering(LoweringPart):
    """The part of the compiler for tests of enabledness."""

    def enabledness(self, frame: Frame, node: ast.Call) -> Expr:
        at = frame.at(node)
        if self.nodes.guarded:
            raise frame.refuse(node, "enabled belongs in a property; an action has its own guards")
        if not self.lowering.may_ask_actions:
            raise frame.refuse(node, "a property of runs cannot ask enabled where the model has bounds")
        base, name = self._asked_action(frame, node)
        method = type(self.model).methods("action")[name]
        self.inputs.rests_on(member, name)
        self.inputs.rests_on(own_source, method)
        self.inputs.rests_on(parameters_of, method)
        source, kinds = source_of(method), parameter_types(self.model, method)
        levels = levels_of(source, kinds)
        inner = Frame(source)
        inner.bindings[source.parameters[0]] = ModelRef(base.which, writable=False)
        conditions = [[self.lowering.condition(inner, guard) for guard in levels.guards[0]]]
        loops: list[Generator] = []
        for level, (parameter, kind) in enumerate(kinds.items()):
            variable, domain = self._choice(inner, levels, level, parameter, kind)
            inner.bind(variable)
            conditions.append([self.lowering.condition(inner, guard) for guard in levels.guards[level + 1]])
            loops.append(Generator(variable, domain, conditions[-1]))
        self._must_require_first(frame, node, source, [loop.variable for loop in loops])
        for loop in loops:
            self._must_have_order(frame, node, loop, conditions)
        if loops:
            loops[-1].conditions = []
            asked = self.nodes.all_of(at, conditions[-1]) if conditions[-1] else Const(BOOL, at, True)
            conditions[0].append(Reduce(BOOL, at, "any", loops, asked))
        return self.nodes.all_of(at, conditions[0]) if conditions[0] else Const(BOOL, at, True)

    def _asked_action(self, frame: Frame, node: ast.Call) -> tuple[ModelRef, str]:
        match node:
            case ast.Call(args=[ast.Attribute(value=owner, attr=name)], keywords=[]):
                base = self.lowering.binding(frame, owner)
                if isinstance(base, ModelRef) and name in type(self.model).methods("action"):
                    return base, name
        raise frame.refuse(node, "enabled takes an action of the model: enabled(self.sends)")

    def _choice(
        self, inner: Frame, levels: Levels, level: int, parameter: str, kind: Type
    ) -> tuple[Local, Domain]:
        """A parameter as a variable, and its domain: the set from which a guard draws it, else all values of its type.
        """
        at = inner.at(inner.source.tree)
        drawn = levels.domain(level)
        if drawn is not None:
            container = self.nodes.unwrapped(self.lowering.expression(inner, drawn))
            if isinstance(container.type, SetType | SeqType | BagType):
                of = container.type.element
                if of == kind or any(growing(kind)):
                    return self.nodes.element(container, of, parameter, at), container
        if any(growing(kind)) or kind.codes > MAX_PARAMETER_VALUES:
            raise too_many_values(parameter, inner.source)
        return self.nodes.fresh(kind, parameter, at), Universe(kind)

    def _must_have_order(
        self, frame: Frame, node: ast.Call, loop: Generator, conditions: list[list[Expr]]
    ) -> None:
        """Refuses a set without an order if the order in which its elements are tried matters."""
        domain = loop.domain
        if not isinstance(domain, Expr) or isinstance(domain.type, SeqType):
            return
        assert isinstance(domain.type, SetType | BagType)
        has_order = isinstance(domain.type, BagType) or self.nodes.has_order(domain)
        ordered = in_code_order(domain.type.element) and has_order
        if not ordered and any(can_fail(it) for part in conditions for it in part):
            instead = "let the container be a Set or a Bag whose elements have an order"
            raise no_order(frame, node, domain.type, "a guard can fail, and ", instead)

    def _must_require_first(self, frame: Frame, node: ast.Call, source: Source, parameters: list[Local]) -> None:
        """Refuses an action with a ``require`` after its leading guards."""
        reader = self.lowering.of_actions()

        def bind(inner: Frame) -> None:
            inner.bindings[source.parameters[0]] = ModelRef("new", writable=True)
            for parameter in parameters:
                inner.bind(reader.nodes.fresh(parameter.type, parameter.name, parameter.at))

        _, body, _ = reader.function_body(source, bind, is_action=True)
        _, count = leading_guards(source)
        if may_refuse(Inline(BOOL, frame.at(node), body[count:], None)):
            message = f"enabled cannot ask {source.tree.name}, which requires something after its first lines"
            raise frame.refuse(node, f"{message}; let all of its guards stand at the beginning")
