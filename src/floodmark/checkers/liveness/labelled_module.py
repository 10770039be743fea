"""The machine code that computes the edges of a state: each successor with the label of its fairness.

    expand(state*, rows*, context*) -> rows     the words of a successor, its label shifted by 32 bits (and STEERED),
                                                and whether the step leads beyond the bounds
    check(state*, context*) -> mask             bit i: condition i is true

It consists of the same parts as the code of the search. A successor outside the boundary is not left out but marked, so
no look-up is needed to learn that the search did not store it. Each action that a bound affects occurs a second time
after all actions, without the guards that mention the bound: a row of this version means that the action may be enabled
beyond the bounds; its state is not examined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I64, Value, code_of, const, resize
from floodmark.checkers.codegen.model_module import CodePart, Interface, _ProgramParts, function_in, interface_of
from floodmark.checkers.codegen.statements import Statements
from floodmark.checkers.liveness.assumptions import Assumptions
from floodmark.checkers.liveness.loops import LABEL_SHIFT, STEERED
from floodmark.compiler.conditions import read_condition
from floodmark.compiler.fair_choices import read_choices
from floodmark.compiler.guard_order import GuardOrder, plan
from floodmark.compiler.ir import Action, Expr, Field, Local
from floodmark.compiler.program import Program, read_action, read_predicate
from floodmark.language.bounding import UnboundedAction
from floodmark.language.conditions import Condition
from floodmark.language.model import Model
from floodmark.language.types import RecordType

MORE = 2
"""The words of a row after those of the state."""
_BEYOND = ".beyond"
"""The suffix of the second version of an action; names of actions have no dot."""


def labelled_parts(
    model: Model, conditions: Sequence[Condition], assumptions: Assumptions, beyond: dict[str, UnboundedAction]
) -> tuple[list[CodePart], Interface]:
    """The functions of the code."""
    methods = type(model).methods("action")
    fair = assumptions.by_action
    choosing_actions = {name: read_choices(model, name, fair[name].methods if name in fair else ()) for name in methods}
    actions = [choosing.action for choosing in choosing_actions.values()]
    for name, action in beyond.items():
        if action.ruled_out_by:
            with action.forgotten():
                without = read_action(model, name, methods[name])
            actions.append(replace(without, name=name + _BEYOND))
    predicates = [read_condition(model, condition) for condition in conditions]
    boundaries = type(model).methods("boundary").items()
    outer = [read_predicate(model, name, function, "boundary") for name, function in boundaries]
    program = Program(type(model).__name__, model.variable_types, actions, predicates, outer)
    plans = [plan(action) for action in actions]
    interface = interface_of(program, plans)
    steered = {name for name, action in beyond.items() if action.steered_by}
    chosen = {name: choosing.chosen for name, choosing in choosing_actions.items()}
    made = _LabelledParts(interface, program, assumptions, steered, chosen)
    return made.all(plans, None), interface


class _LabelledParts(_ProgramParts):
    """The parts of one program with labels."""

    def __init__(
        self,
        interface: Interface,
        program: Program,
        assumptions: Assumptions,
        steered: set[str],
        chosen: dict[str, tuple[Local, ...]],
    ) -> None:
        super().__init__(interface, program, list(program.predicates), [])
        self.assumptions = assumptions
        self.steered = steered
        self.chosen = chosen
        self._emitting: Action | None = None

    def _action(self, action: Action, symbol: str, steps: GuardOrder, index: int) -> CodePart:
        name = action.name.removesuffix(_BEYOND)
        assumption = self.assumptions.by_action.get(name)
        label = None if assumption is None else (assumption.first, [each.name for each in assumption.each])
        bounded = bool(self.of_boundaries)
        key = (action, index, "labelled", label, name in self.steered, bounded)
        return self._part(symbol, key, lambda module: self._emit_labelled(module, action, symbol, steps, index))

    def _emit_labelled(self, module: ir.Module, action: Action, symbol: str, steps: GuardOrder, index: int) -> None:
        self._emitting = action
        self._emit_action(module, action, symbol, steps, index)

    def _expand(self) -> CodePart:
        names = self.of_actions

        def emit(module: ir.Module) -> None:
            function = function_in(module, "expand", I64, 3)
            builder = ir.IRBuilder(function.append_basic_block("entry"))
            state, rows, context = function.args
            count: Value = const(0)
            for name in names:
                row = builder.gep(rows, [builder.mul(count, const(self.words + MORE))])
                added = builder.call(function_in(module, name, I64, 3), [state, row, context])
                count = builder.add(count, added)
            builder.ret(count)

        return self._part("expand", (names, "labelled"), emit)

    def _deliver(
        self, code: Statements, steps: GuardOrder, state: Value, out: Value, count: Value, words: list[Value]
    ) -> None:
        """Writes a row: no successor is checked against properties, and none is removed."""
        assert self._emitting is not None
        action = self._emitting
        name = action.name.removesuffix(_BEYOND)
        builder = code.builder
        number = builder.load(count)
        row = builder.gep(out, [builder.mul(number, const(len(words) + MORE))])
        values = [*(builder.load(word) for word in words), self._label(code, action, name)]
        for index, value in enumerate([*values, const(int(name != action.name))]):
            builder.store(value, builder.gep(row, [const(index)]))
        if name == action.name and self.of_boundaries:
            within = builder.call(function_in(code.routine.function.module, "within", I64, 2), [row, code.context])
            builder.store(builder.xor(within, const(1)), builder.gep(row, [const(len(words) + 1)]))
        builder.store(builder.add(number, const(1)), count)

    def _label(self, code: Statements, action: Action, name: str) -> Value:
        """The label of the current step, at its position in an edge."""
        builder = code.builder
        assumption = self.assumptions.by_action.get(name)
        label: Value = const(0)
        if assumption is not None:
            values = dict(zip(assumption.methods, self.chosen[name], strict=True))
            for each in assumption.each:
                chosen = _of_arguments(action, each.name) if each.takes is None else values[each.name]
                encoded = code_of(builder, chosen.type, code.expressions.emit(chosen))
                label = builder.or_(builder.shl(label, const(each.kind.bits)), resize(builder, encoded, I64))
            label = builder.add(label, const(assumption.first))
        edge = builder.shl(label, const(LABEL_SHIFT))
        return builder.or_(edge, const(STEERED)) if name in self.steered else edge


def _of_arguments(action: Action, path: str) -> Expr:
    """A parameter of an action, or a field of one."""
    name, *fields = path.split(".")
    chosen: Expr = next(parameter for parameter in action.parameters if parameter.name == name)
    for field in fields:
        assert isinstance(chosen.type, RecordType)
        chosen = Field(dict(chosen.type.fields)[field], chosen.at, chosen, field)
    return chosen
