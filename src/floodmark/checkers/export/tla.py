"""A model as a TLA+ module and a configuration for TLC."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from floodmark.checkers.export.graph_queries import refuse
from floodmark.checkers.export.names import Names, shown
from floodmark.checkers.export.tla_effects import TlaEffects
from floodmark.checkers.export.tla_scope import TlaContext, TlaScope, let
from floodmark.checkers.export.tla_text import with_definitions
from floodmark.checkers.export.tla_values import RESERVED, TlaTypes, conj, disj, negated, string
from floodmark.compiler import ir
from floodmark.compiler.failures import can_fail
from floodmark.compiler.program import Program
from floodmark.language.model import State
from floodmark.language.reference import MAX_PARAMETER_VALUES
from floodmark.language.types import SetType

MAX_INITIAL = 4096

HELPERS = r"""
\* None, or a value.
None == <<>>
Some(v) == <<v>>

Elements(s) == {s[i] : i \in DOMAIN s}
Flatten(s) == LET RECURSIVE from(_)
                  from(i) == IF i > Len(s) THEN <<>> ELSE s[i] \o from(i + 1)
              IN  from(1)
Sum(f) == LET RECURSIVE over(_)
              over(S) == IF S = {} THEN 0 ELSE LET x == CHOOSE x \in S : TRUE IN f[x] + over(S \ {x})
          IN  over(DOMAIN f)
Least(S) == CHOOSE x \in S : \A y \in S : x <= y
Greatest(S) == CHOOSE x \in S : \A y \in S : x >= y

\* Python's indices begin at 0, and those below count from the end.
Place(s, i) == IF i < 0 THEN Len(s) + i + 1 ELSE i + 1
At(s, i) == s[Place(s, i)]
Clip(i, n) == LET k == IF i < 0 THEN i + n ELSE i IN IF k < 0 THEN 0 ELSE IF k > n THEN n ELSE k
Ordered(s, descending) ==
    LET nth(i) == CHOOSE x \in Elements(s) :
                      /\ Cardinality({j \in DOMAIN s : s[j] < x}) < i
                      /\ i <= Cardinality({j \in DOMAIN s : s[j] <= x})
    IN  [i \in DOMAIN s |-> nth(IF descending THEN Len(s) + 1 - i ELSE i)]

\* Python's // and %, for divisors of either sign.
Quotient(a, b) == IF b > 0 THEN a \div b ELSE (-a) \div (-b)
Rest(a, b) == a - b * Quotient(a, b)

\* A bag is a function from its elements to how often it has each.
Copies(e, b) == IF e \in DOMAIN b THEN b[e] ELSE 0
Size(b) == Sum(b)
Added(b, e) == [x \in DOMAIN b \cup {e} |-> Copies(x, b) + IF x = e THEN 1 ELSE 0]
Removed(b, e) == [x \in DOMAIN b \ (IF b[e] = 1 THEN {e} ELSE {}) |-> b[x] - IF x = e THEN 1 ELSE 0]
BagOf(s) == [x \in Elements(s) |-> Cardinality({i \in DOMAIN s : s[i] = x})]
"""


@dataclass(frozen=True, slots=True)
class TlaModule:
    """The text of a module and of its configuration."""

    name: str
    text: str
    config: str
    reachable: tuple[str, ...]
    """For each reachability property, the invariant whose violation in TLC shows that it is reached."""


def module(program: Program, initial: Iterable[State], constants: dict[str, int], deadlock: bool = False) -> TlaModule:
    """A program with these initial states as a TLA+ module.

    Raises CannotExportError, with file and line, for what TLA+ cannot express in the part that TLC can read.
    """
    return _TlaWriter(program, list(initial), constants, deadlock).module()


class _TlaWriter:
    def __init__(self, program: Program, initial: list[State], constants: dict[str, int], deadlock: bool) -> None:
        self.program = program
        self.initial = initial
        self.constants = constants
        self.deadlock = deadlock
        names = Names(RESERVED)
        self.name = names.fresh(program.name)
        self.variables = {name: names.fresh(name) for name in program.variables}
        parts: list[ir.Action | ir.Predicate] = [*program.actions, *program.predicates, *program.boundaries]
        self.operators = {id(part): names.fresh(part.name) for part in parts}
        self.names = names
        self.types = TlaTypes(names)
        self.extra: list[str] = []
        """Invariants for TLC in addition to those of the model."""
        self.never: list[str] = []
        """The negations of reachability properties."""

    def module(self) -> TlaModule:
        actions = [self._action(action) for action in self.program.actions]
        boundaries = [self._predicate(boundary) for boundary in self.program.boundaries]
        properties = [self._predicate(predicate) for predicate in self.program.predicates]
        kinds = conj(self.types.within(None, kind, self.variables[name], self.names.inner())
                     for name, kind in self.program.variables.items())
        initial = self._initial()
        steps = self._next()
        every = ", ".join([*self.variables.values(), "failure"])
        inside = conj(self.operators[id(boundary)] for boundary in self.program.boundaries)
        lines = [
            f"---- MODULE {self.name} ----",
            f"\\* {self.program.name} with {self._sizes()}. Written by floodmark export.",
            "EXTENDS Integers, Sequences, FiniteSets",
            HELPERS.rstrip(),
            "",
            *self.types.definitions,
            "",
            "\\* failure is the action that left the model's types, or failed an assertion; \"\" where none has.",
            f"VARIABLES {every}",
            f"vars == <<{every}>>",
            "",
            f"TypeOK == {kinds}",
            'NoFailure == failure = ""',
            "",
            initial,
            "",
            *actions,
            steps,
            "",
            "Spec == Init /\\ [][Next]_vars",
            "",
            *boundaries,
            *([f"Boundary == {inside}", ""] if self.program.boundaries else []),
            *properties,
            "====",
            "",
        ]
        return TlaModule(self.name, "\n".join(lines), self._config(), tuple(self.never))

    def _sizes(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.constants.items()) or "no constants"

    def _initial(self) -> str:
        if len(self.initial) > MAX_INITIAL:
            raise refuse(f"more than {MAX_INITIAL} initial states")
        states = []
        for state in self.initial:
            pairs = zip(self.program.variables.items(), state, strict=True)
            parts = [f"{self.variables[name]} = {self.types.literal(kind, value)}" for (name, kind), value in pairs]
            states.append("/\\ " + "\n       /\\ ".join(parts))
        if len(states) == 1:
            chosen = "    " + states[0].replace("\n       ", "\n    ")
        else:
            chosen = "    /\\ " + "\n       ".join(f"\\/ {state.replace(chr(10), chr(10) + '   ')}" for state in states)
        return f'Init ==\n{chosen}\n    /\\ failure = ""'

    def _scope(self, primed: bool = False) -> TlaScope:
        return TlaScope(state={name: f"{text}'" if primed else text for name, text in self.variables.items()})

    def _writer(self, scope: TlaScope) -> TlaEffects:
        context = TlaContext(self.names.inner(), scope)
        return TlaEffects(self.types, context, dict(self.variables), self.program.variables)

    # Actions.

    def _action(self, action: ir.Action) -> str:
        writer = self._writer(self._scope())
        parameters = []
        for parameter in action.parameters:
            name = writer.context.names.fresh(parameter.name)
            writer.context.scope.locals[parameter.slot] = name
            parameters.append(name)
        guards: list[str] = []
        rest = list(action.guards)
        while rest and not can_fail(rest[0]):
            guards.append(writer.expressions.evaluate(rest.pop(0)))
        opening, writer.context.scope.definitions = writer.context.scope.definitions, []
        for guard in rest:
            writer.context.scope.required.append(writer.expressions.evaluate(guard))
        writer.run(action.body)
        called = self.operators[id(action)] + (f"({', '.join(parameters)})" if parameters else "")
        conjuncts = [*guards, self._effect(action, writer)]
        body = "\n".join(f"    /\\ {conjunct}" for conjunct in conjuncts if conjunct != "TRUE")
        if opening:
            body = "    " + with_definitions(opening, textwrap.dedent(body), "    ")
        return f"\\* {shown(action.at)}\n{called} ==\n{body}\n"

    def _effect(self, action: ir.Action, writer: TlaEffects) -> str:
        scope = writer.context.scope
        changed = [name for name in self.variables if scope.state[name] != self.variables[name]]
        kept = [self.variables[name] for name in self.variables if name not in changed]
        parts = [*scope.required, *(f"{self.variables[name]}' = {scope.state[name]}" for name in changed)]
        kept.append("failure")
        parts.append(f"UNCHANGED <<{', '.join(kept)}>>")
        failing = disj(scope.failures)
        if failing == "FALSE" and not scope.definitions:
            return "\n    /\\ ".join(parts)
        text = "\n".join(f"/\\ {part}" for part in parts)
        if failing != "FALSE":
            every = ", ".join(self.variables.values())
            stays = f"/\\ failure' = {string(action.name)}\n     /\\ UNCHANGED <<{every}>>"
            moves = text.replace("\n", "\n     ")
            text = f"IF {failing}\nTHEN {stays}\nELSE {moves}"
        return with_definitions(scope.definitions, text, "       ")

    def _next(self) -> str:
        choices = []
        for action in self.program.actions:
            names = self.names.inner()
            bound: dict[int, str] = {}
            text = ""
            for parameter in action.parameters:
                name = names.fresh(parameter.name)
                text += f"\\E {name} \\in {self._choices(action, parameter, bound)} : "
                bound[parameter.slot] = name
            arguments = f"({', '.join(bound.values())})" if bound else ""
            choices.append(f"    \\/ {text}{self.operators[id(action)]}{arguments}")
        if not choices:
            return "Next == FALSE /\\ UNCHANGED vars"
        return "Next ==\n" + "\n".join(choices)

    def _choices(self, action: ir.Action, parameter: ir.Local, bound: dict[int, str]) -> str:
        """The range of a parameter: the set that a guard draws it from, or its whole type."""
        for guard in action.guards:
            if can_fail(guard):
                break
            match guard:
                case ir.Contains(item=ir.Local(slot=slot), container=ir.Expr(type=SetType(element, _)) as found) if (
                    slot == parameter.slot and element == parameter.type and ir.locals_in(found) <= set(bound)
                ):
                    writer = self._writer(self._scope())
                    writer.context.scope.locals.update(bound)
                    return let(writer.context.scope, writer.expressions.operand(found))
        if parameter.type.codes > MAX_PARAMETER_VALUES:
            reason = f"{parameter.name} has {parameter.type.codes} possible values; draw it from a set of the state"
            raise refuse(reason, action.at)
        return self.types.universe(parameter.type)

    # Properties.

    def _predicate(self, predicate: ir.Predicate) -> str:
        name = self.operators[id(predicate)]
        value, possible = self._judged(predicate, predicate.kind == "transition")
        lines = [f"\\* {shown(predicate.at)}"]
        match predicate.kind:
            case "transition":
                lines.append(f"{name} == [][{conj([possible, value])}]_vars")
                lines.extend(self._of_idle_steps(predicate, name))
            case "reachable":
                lines.append(f"{name} == {conj([possible, value])}")
                inside = "Boundary => " if self.program.boundaries else ""
                never = self.names.fresh(f"Never_{name}")
                lines.append(f"{never} == {inside}~{name}")
                self.never.append(never)
            case _:
                lines.append(f"{name} == {conj([possible, value])}")
        if predicate.kind in ("reachable", "boundary") and possible != "TRUE":
            self._extra(f"Defined_{name}", possible, lines)
        return "\n".join(lines) + "\n"

    def _extra(self, name: str, text: str, lines: list[str]) -> None:
        name = self.names.fresh(name)
        lines.append(f"{name} == {text}")
        self.extra.append(name)

    def _of_idle_steps(self, predicate: ir.Predicate, name: str) -> list[str]:
        """A step that changes nothing has to satisfy a transition property, too; ``[][P]_vars`` would allow any."""
        value, possible = self._judged(predicate, False)
        both = conj([possible, value])
        if both == "TRUE":
            return []
        lines: list[str] = []
        self._extra(f"Idle_{name}", f"({both}) \\/ ~ENABLED (Next /\\ UNCHANGED vars)", lines)
        return lines

    def _judged(self, predicate: ir.Predicate, primed: bool) -> tuple[str, str]:
        """The value of a predicate, and the condition under which it has one."""
        scope = self._scope(primed)
        writer = self._writer(scope)
        value = writer.expressions.evaluate(predicate.value)
        possible = negated(disj(scope.failures))
        if possible != "TRUE":
            possible = let(scope, possible)
        return let(scope, value), possible

    def _config(self) -> str:
        invariants = [self.operators[id(p)] for p in self.program.predicates if p.kind == "invariant"]
        steps = [self.operators[id(p)] for p in self.program.predicates if p.kind == "transition"]
        lines = ["SPECIFICATION Spec", f"CHECK_DEADLOCK {'TRUE' if self.deadlock else 'FALSE'}"]
        lines += [f"INVARIANT {name}" for name in ["TypeOK", "NoFailure", *invariants, *self.extra]]
        lines += [f"PROPERTY {name}" for name in steps]
        if self.program.boundaries:
            lines.append("\\* States outside are checked, but neither counted nor continued from.")
            lines.append("CONSTRAINT Boundary")
        if self.never:
            lines.append("\\* Each of these is violated when the model can do what its name says:")
            lines += [f"\\* INVARIANT {name}" for name in self.never]
        return "\n".join(lines) + "\n"
