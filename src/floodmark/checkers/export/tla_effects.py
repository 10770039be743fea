"""Statements as TLA+: the effect of an action on the state, as a series of definitions of values.

A variable that is assigned under a condition becomes ``IF condition THEN new ELSE old``. A loop is an operator that
calls itself with the rest of what it iterates over and a record of what it has changed so far; ``ended`` says why it
stops.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from floodmark.checkers.export.graph_queries import assigned, refuse, results, stores
from floodmark.checkers.export.names import Names
from floodmark.checkers.export.tla_expressions import TlaExpressions
from floodmark.checkers.export.tla_scope import TlaContext, let
from floodmark.checkers.export.tla_values import RESERVED, TlaTypes, bracketed, chosen, conj, disj, negated
from floodmark.compiler import ir
from floodmark.language.types import MapType, RecordType, SeqType, Type

RUNNING, RETURNED, BROKEN, DISABLED, FAILED = '""', '"return"', '"break"', '"disabled"', '"failure"'


@dataclass(slots=True)
class _Exits:
    """The conditions, besides the path at the start, under which control left a call or an iteration of a loop."""

    start: int
    paths: list[str] = field(default_factory=list)


class TlaEffects:
    """Writes statements. ``old`` names the variables before the action."""

    def __init__(self, types: TlaTypes, context: TlaContext, old: dict[str, str], variables: dict[str, Type]) -> None:
        self.types = types
        self.context = context
        self.expressions = TlaExpressions(types, context, old, self.run)
        self.variables = variables
        self._returns: list[_Exits] = []
        self._breaks: list[_Exits] = []
        self._continues: list[_Exits] = []

    def run(self, body: list[ir.Stmt]) -> None:
        """Runs statements; a Return goes to their end, so every path continues after them."""
        before = self.context.scope.path
        self._returns.append(_Exits(len(before)))
        self._block(body)
        self._returns.pop()
        self.context.scope.path = before

    def _block(self, body: list[ir.Stmt]) -> None:
        for statement in body:
            if "FALSE" in self.context.scope.path:
                return
            self._statement(statement)

    def _statement(self, node: ir.Stmt) -> None:
        match node:
            case ir.SetLocal(target=target, value=value):
                self._assign(target, self.expressions.evaluate(value))
            case ir.SetVariable():
                self._store(node)
            case ir.If():
                self._if(node)
            case ir.For():
                self._for(node)
            case ir.Require(condition=condition):
                holds = self.expressions.evaluate(condition)
                path = conj(self.context.scope.path)
                self.context.scope.required.append(holds if path == "TRUE" else disj([negated(path), holds]))
            case ir.Assert(condition=condition):
                self.context.fail_unless(self.expressions.evaluate(condition))
            case ir.Return(value=value, into=into):
                if value is not None and into is not None:
                    self._assign(into, self.expressions.evaluate(value))
                self._leave(self._returns[-1])
            case ir.Break():
                self._leave(self._breaks[-1])
            case ir.Continue():
                self._leave(self._continues[-1])
            case ir.Do(call=call):
                call.accept(self.expressions)
            case _:
                assert_never(node)

    def _leave(self, exits: _Exits) -> None:
        exits.paths.append(conj(self.context.scope.path[exits.start :]))
        self.context.scope.path = [*self.context.scope.path, "FALSE"]

    def _assign(self, target: ir.Local, value: str) -> None:
        old = self.context.scope.locals.get(target.slot)
        born = self.context.scope.born.get(target.slot, 0)
        here = conj(self.context.scope.path[born:])
        text = value if old is None else chosen(here, value, old)
        self.context.scope.locals[target.slot] = self.context.named(target.name, text)

    def _if(self, node: ir.If) -> None:
        condition = self.context.named("case", self.expressions.evaluate(node.condition))
        before = self.context.scope.path
        ends = []
        for taken, body in ((condition, node.then), (negated(condition), node.otherwise)):
            self.context.scope.path = [*before, taken]
            self._block(body)
            ends.append(self.context.scope.path[len(before) :])
        if ends == [[condition], [negated(condition)]]:
            self.context.scope.path = before
            return
        self.context.scope.path = [*before, self.context.named("goes_on", disj(conj(end) for end in ends))]

    # Loops.

    def _for(self, node: ir.For) -> None:
        outer = self.context.scope
        sequence = self.expressions.sequence(node.domain, node.at)
        carried = self._carried(node)
        stored = sorted(stores(node.body), key=list(self.variables).index)
        loop, so_far, rest = (self.context.names.fresh(name) for name in ("loop", "so_far", "rest"))
        names = Fields()
        begins: dict[str, str] = {"ended": RUNNING}
        scope = outer.inner()
        for local in carried:
            name = names.local(local)
            begins[name] = outer.locals.get(local.slot) or self.types.default(local.type)
            scope.locals[local.slot] = f"{so_far}.{name}"
            scope.born[local.slot] = 0
        for variable in stored:
            name = names.variable(variable)
            begins[name] = outer.state[variable]
            scope.state[variable] = f"{so_far}.{name}"
        item = self.context.names.fresh(node.variable.name)
        scope.locals[node.variable.slot] = item
        returned, broken, continued = _Exits(0), _Exits(0), _Exits(0)
        with self.context.within(scope):
            self._returns.append(returned)
            self._breaks.append(broken)
            self._continues.append(continued)
            self._block(node.body)
            self._returns.pop()
            self._breaks.pop()
            self._continues.pop()
        after = {names.local(local): scope.locals[local.slot] for local in carried}
        after |= {names.variable(variable): scope.state[variable] for variable in stored}
        ended = chosen(disj(returned.paths), RETURNED, chosen(disj(broken.paths), BROKEN, RUNNING))
        turn = _record({"ended": ended, **after})
        turn = chosen(negated(conj(scope.required)), f"[{so_far} EXCEPT !.ended = {DISABLED}]", turn)
        turn = chosen(disj(scope.failures), f"[{so_far} EXCEPT !.ended = {FAILED}]", turn)
        turn = let(scope, f"{loop}({turn}, Tail({rest}))")
        again = (
            f"RECURSIVE {loop}(_, _) {loop}({so_far}, {rest}) == IF {rest} = <<>> \\/ {so_far}.ended # {RUNNING} "
            f"THEN {so_far} ELSE LET {item} == Head({rest}) IN {turn}"
        )
        self.context.scope.definitions.append((loop, again))
        out = self.context.define("out", f"{loop}({_record(begins)}, {sequence})")
        self.context.fail_unless(f"{out}.ended # {FAILED}" if scope.failures else "TRUE")
        if scope.required:
            self.context.scope.required.append(disj([negated(conj(outer.path)), f"{out}.ended # {DISABLED}"]))
        for local in carried:
            self._assign(local, f"{out}.{names.local(local)}")
        for variable in stored:
            outer.state[variable] = self._stored(variable, f"{out}.{names.variable(variable)}")
        if returned.paths:
            self._leave_if(f"{out}.ended = {RETURNED}")

    def _leave_if(self, condition: str) -> None:
        before = self.context.scope.path
        self.context.scope.path = [*before, condition]
        self._leave(self._returns[-1])
        self.context.scope.path = [*before, negated(condition)]

    def _carried(self, node: ir.For) -> list[ir.Local]:
        """The locals that have a value after the loop: those known before that it assigns, and results of returns."""
        found: dict[int, ir.Local] = {}
        for local in assigned(node.body):
            if local.slot in self.context.scope.locals:
                found[local.slot] = local
        for local in results(node.body):
            found[local.slot] = local
        return list(found.values())

    # Assignments to the state.

    def _store(self, node: ir.SetVariable) -> None:
        value = self.expressions.evaluate(node.value)
        text = value
        if node.path:
            old = self.context.scope.state[node.variable]
            text = self._updated(self.variables[node.variable], old, node.path, value)
        self.context.scope.state[node.variable] = self._stored(node.variable, text)

    def _stored(self, variable: str, value: str) -> str:
        text = chosen(conj(self.context.scope.path), value, self.context.scope.state[variable])
        return self.context.define(f"new_{variable}", text)

    def _updated(self, kind: Type, old: str, path: list[ir.FieldStep | ir.ItemStep], value: str) -> str:
        """``[old EXCEPT !... = value]``."""
        steps, here = "", bracketed(old)
        for step in path:
            match step, kind:
                case ir.FieldStep(name=name), RecordType():
                    steps += f".{self.types.field(kind, name)}"
                    here += f".{self.types.field(kind, name)}"
                    kind = kind.field(name)
                case ir.ItemStep(key=key), MapType(_, of):
                    text = self.expressions.evaluate(key)
                    steps += f"[{text}]"
                    here += f"[{text}]"
                    kind = of
                case ir.ItemStep(key=key), SeqType(of, _):
                    index = self.context.named("index", self.expressions.evaluate(key))
                    self.expressions.inside(here, index)
                    place = f"[Place({here}, {index})]"
                    steps += place
                    here += place
                    kind = of
                case _:
                    raise refuse(f"an assignment inside of {kind}")
        return f"[{old} EXCEPT !{steps} = {value}]"


class Fields:
    """The names of the variables that a loop carries: unique in its record."""

    def __init__(self) -> None:
        self._names: dict[int | str, str] = {}
        self._distinct = Names([*RESERVED, "ended"])

    def local(self, local: ir.Local) -> str:
        return self._name(local.slot, local.name)

    def variable(self, name: str) -> str:
        return self._name(name, f"new_{name}")

    def _name(self, of: int | str, name: str) -> str:
        if of not in self._names:
            self._names[of] = self._distinct.fresh(name)
        return self._names[of]


def _record(fields: dict[str, str]) -> str:
    return "[" + ", ".join(f"{name} |-> {text}" for name, text in fields.items()) + "]"
