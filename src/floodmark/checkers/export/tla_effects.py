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
from floodmark.checkers.export.tla_expressions import TlaExpressions, let
from floodmark.checkers.export.tla_values import RESERVED, bracketed, chosen, conj, disj, negated
from floodmark.compiler import ir
from floodmark.language.types import MapType, RecordType, SeqType, Type

RUNNING, RETURNED, BROKEN, DISABLED, FAILED = '""', '"return"', '"break"', '"disabled"', '"failure"'


@dataclass(slots=True)
class _Exits:
    """The conditions, besides the path at the start, under which control left a call or an iteration of a loop."""

    start: int
    paths: list[str] = field(default_factory=list)


class TlaEffects(TlaExpressions):
    """Writes statements."""

    variables: dict[str, Type]
    _returns: list[_Exits]
    _breaks: list[_Exits]
    _continues: list[_Exits]

    def start(self, variables: dict[str, Type]) -> None:
        self.variables = variables
        self._returns, self._breaks, self._continues = [], [], []

    def run(self, body: list[ir.Stmt]) -> None:
        """Runs statements; a Return goes to their end, so every path continues after them."""
        before = self.scope.path
        self._returns.append(_Exits(len(before)))
        self._block(body)
        self._returns.pop()
        self.scope.path = before

    def visit_inline(self, node: ir.Inline) -> str:
        for local in [*assigned(node.body), *([node.result] if node.result is not None else [])]:
            self.scope.locals.pop(local.slot, None)
            self.scope.born[local.slot] = len(self.scope.path)
        self.run(node.body)
        if node.result is None:
            return "None"
        return self.scope.locals.get(node.result.slot) or self.types.default(node.result.type)

    def visit_applied(self, node: ir.Applied) -> str:
        message = f"{node.function.name} with all that it calls is too large to be written out for each call"
        raise refuse(message, node.at)

    def _block(self, body: list[ir.Stmt]) -> None:
        for statement in body:
            if "FALSE" in self.scope.path:
                return
            self._statement(statement)

    def _statement(self, node: ir.Stmt) -> None:
        match node:
            case ir.SetLocal(target=target, value=value):
                self._assign(target, self.evaluate(value))
            case ir.SetVariable():
                self._store(node)
            case ir.If():
                self._if(node)
            case ir.For():
                self._for(node)
            case ir.Require(condition=condition):
                holds = self.evaluate(condition)
                path = conj(self.scope.path)
                self.scope.required.append(holds if path == "TRUE" else disj([negated(path), holds]))
            case ir.Assert(condition=condition):
                self.fail_unless(self.evaluate(condition))
            case ir.Return(value=value, into=into):
                if value is not None and into is not None:
                    self._assign(into, self.evaluate(value))
                self._leave(self._returns[-1])
            case ir.Break():
                self._leave(self._breaks[-1])
            case ir.Continue():
                self._leave(self._continues[-1])
            case ir.Do(call=call):
                call.accept(self)
            case _:
                assert_never(node)

    def _leave(self, exits: _Exits) -> None:
        exits.paths.append(conj(self.scope.path[exits.start :]))
        self.scope.path = [*self.scope.path, "FALSE"]

    def _assign(self, target: ir.Local, value: str) -> None:
        old = self.scope.locals.get(target.slot)
        born = self.scope.born.get(target.slot, 0)
        here = conj(self.scope.path[born:])
        text = value if old is None else chosen(here, value, old)
        self.scope.locals[target.slot] = self.named(target.name, text)

    def _if(self, node: ir.If) -> None:
        condition = self.named("case", self.evaluate(node.condition))
        before = self.scope.path
        ends = []
        for taken, body in ((condition, node.then), (negated(condition), node.otherwise)):
            self.scope.path = [*before, taken]
            self._block(body)
            ends.append(self.scope.path[len(before) :])
        if ends == [[condition], [negated(condition)]]:
            self.scope.path = before
            return
        self.scope.path = [*before, self.named("goes_on", disj(conj(end) for end in ends))]

    # Loops.

    def _for(self, node: ir.For) -> None:
        outer = self.scope
        sequence = self.sequence(node.domain, node.at)
        carried = self._carried(node)
        stored = sorted(stores(node.body), key=list(self.variables).index)
        loop, so_far, rest = (self.names.fresh(name) for name in ("loop", "so_far", "rest"))
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
        item = self.names.fresh(node.variable.name)
        scope.locals[node.variable.slot] = item
        returned, broken, continued = _Exits(0), _Exits(0), _Exits(0)
        with self.within(scope):
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
        self.scope.definitions.append((loop, again))
        out = self.define("out", f"{loop}({_record(begins)}, {sequence})")
        self.fail_unless(f"{out}.ended # {FAILED}" if scope.failures else "TRUE")
        if scope.required:
            self.scope.required.append(disj([negated(conj(outer.path)), f"{out}.ended # {DISABLED}"]))
        for local in carried:
            self._assign(local, f"{out}.{names.local(local)}")
        for variable in stored:
            outer.state[variable] = self._stored(variable, f"{out}.{names.variable(variable)}")
        if returned.paths:
            self._leave_if(f"{out}.ended = {RETURNED}")

    def _leave_if(self, condition: str) -> None:
        before = self.scope.path
        self.scope.path = [*before, condition]
        self._leave(self._returns[-1])
        self.scope.path = [*before, negated(condition)]

    def _carried(self, node: ir.For) -> list[ir.Local]:
        """The locals that have a value after the loop: those known before that it assigns, and results of returns."""
        found: dict[int, ir.Local] = {}
        for local in assigned(node.body):
            if local.slot in self.scope.locals:
                found[local.slot] = local
        for local in results(node.body):
            found[local.slot] = local
        return list(found.values())

    # Assignments to the state.

    def _store(self, node: ir.SetVariable) -> None:
        value = self.evaluate(node.value)
        text = value
        if node.path:
            old = self.scope.state[node.variable]
            text = self._updated(self.variables[node.variable], old, node.path, value)
        self.scope.state[node.variable] = self._stored(node.variable, text)

    def _stored(self, variable: str, value: str) -> str:
        text = chosen(conj(self.scope.path), value, self.scope.state[variable])
        return self.define(f"new_{variable}", text)

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
                    text = self.evaluate(key)
                    steps += f"[{text}]"
                    here += f"[{text}]"
                    kind = of
                case ir.ItemStep(key=key), SeqType(of, _):
                    index = self.named("index", self.evaluate(key))
                    self.inside(here, index)
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
        self._given = Names([*RESERVED, "ended"])

    def local(self, local: ir.Local) -> str:
        return self._name(local.slot, local.name)

    def variable(self, name: str) -> str:
        return self._name(name, f"new_{name}")

    def _name(self, of: int | str, wanted: str) -> str:
        if of not in self._names:
            self._names[of] = self._given.fresh(wanted)
        return self._names[of]


def _record(fields: dict[str, str]) -> str:
    return "[" + ", ".join(f"{name} |-> {text}" for name, text in fields.items()) + "]"
