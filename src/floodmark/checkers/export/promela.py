"""A model as a Promela process, for Spin.

The one process chooses an action with its arguments, and takes it. Both happen in one ``atomic``, so a state of the
model is one state that Spin stores. In a breadth-first search Spin does not keep the order of levels inside ``atomic``;
``-DSHORTEST`` leaves it out, so that every step becomes two of Spin's.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from floodmark.checkers.export.graph_queries import refuse
from floodmark.checkers.export.names import Names, shown
from floodmark.checkers.export.promela_effects import PromelaEffects
from floodmark.checkers.export.promela_memory import PromelaMemory
from floodmark.checkers.export.promela_text import Text
from floodmark.checkers.export.promela_values import CellAddress, Slots, Value, cell_type, cells, literal, load, members
from floodmark.compiler import ir
from floodmark.compiler.failures import can_fail
from floodmark.compiler.program import Program
from floodmark.language.model import State
from floodmark.language.reference import MAX_PARAMETER_VALUES
from floodmark.language.types import BagType, SetType, Type

MAX_INITIAL = 4096
MAX_CHOICES = 65_536
"""The most actions with their arguments; each is a line."""

MAX_STATEMENTS = 1900
"""Spin allows 2,048 in one d_step; this counts separators, of which there are more."""

_WORDS = """
    active assert atomic bit bool break byte c_code c_decl c_expr c_state c_track chan d_step d_proctype do dstep
    else empty enabled end eval false fi for full get_priority goto hidden if in init inline int len local ltl mtype
    nempty never nfull notrace np_ nr_pr od of pc_value pid print printf printm priority proctype provided return
    run select set_priority short show skip stdin timeout trace true typedef undef unless unsigned value weak xr xs
    _ _last _nr_pr _pid _priority accept progress always eventually until weakuntil release next action argument
    started model STEP TEMPORARY auto case char const continue default double enum extern float long register signed
    sizeof static struct switch union void volatile while now main
"""
RESERVED = frozenset(_WORDS.split())


@dataclass(frozen=True, slots=True)
class Process:
    """The text of a Promela model."""

    name: str
    text: str
    steps: int
    """The number of Spin's steps for one step of the model, with SHORTEST."""
    flags: tuple[str, ...]
    """The variables that an assertion names when a property is false; any other assertion is a model error."""
    reachable: tuple[str, ...]
    """For each reachability property, the macro with which Spin looks for it: reached if Spin finds a violation."""


def process(program: Program, initial: Iterable[State], constants: dict[str, int], inside: Iterable[bool],
            deadlock: bool = False) -> Process:
    """A program as a Promela model; ``inside`` says of each initial state whether it is within the boundary.

    Raises CannotExportError, with file and line, for what Promela cannot express.
    """
    return _PromelaWriter(program, list(initial), constants, list(inside), deadlock).process()


class _PromelaWriter:
    def __init__(self, program: Program, initial: list[State], constants: dict[str, int], inside: list[bool],
                 deadlock: bool) -> None:
        self.program = program
        self.initial = initial
        self.constants = constants
        self.deadlock = deadlock
        if len(initial) > MAX_INITIAL:
            raise refuse(f"more than {MAX_INITIAL} initial states")
        if not all(inside):
            raise refuse("an initial state outside of the boundary", program.boundaries[0].at)
        self.names = Names(RESERVED)
        self.variables = {name: self.names.fresh(name) for name in program.variables}
        self.flags = {predicate.name: self.names.fresh(predicate.name) for predicate in program.predicates}
        self.reach = {p.name: self.names.fresh(f"REACH_{p.name}") for p in program.predicates if p.kind == "reachable"}
        self.old = {name: self.names.fresh(f"old_{name}") for name in program.variables}
        self.places = {name: self._place_of(name, self.variables[name]) for name in program.variables}
        self.old_places = {name: self._place_of(name, self.old[name]) for name in program.variables}
        self.state: dict[str, dict[str, Value]] = {
            "new": {name: load(kind, self.places[name]) for name, kind in program.variables.items()},
            "old": {name: load(kind, self.old_places[name]) for name, kind in program.variables.items()},
        }
        self.text = Text(self.names)
        self.arguments = max([0, *(sum(cells(p.type) for p in action.parameters) for action in program.actions)])
        steps = any(predicate.kind == "transition" for predicate in program.predicates)
        self.keeps_old = steps or bool(program.boundaries)

    def _place_of(self, name: str, stored: str) -> CellAddress:
        return CellAddress(stored, None if cells(self.program.variables[name]) == 1 else "0")

    def process(self) -> Process:
        with self.text.indented(), self.text.indented(), self.text.aside() as choices:
            self._initial()
            numbered = enumerate(self.program.actions, 1)
            split = {action.name: self._choices(number, action) for number, action in numbered}
        undone = any(late for _, late in split.values())
        self.keeps_old = self.keeps_old or undone
        if self.deadlock and undone:
            raise refuse("deadlocks of an action that finds out only in its body whether it is enabled")
        first = {name: count for name, (count, _) in split.items()}
        with self.text.indented(), self.text.indented(), self.text.aside() as bodies:
            if self.keeps_old:
                self.text.emit("d_step {")
                self._copy(self.places, self.old_places)
                self.text.emit("skip };")
            self._bodies(first)
        with self.text.indented(), self.text.indented(), self.text.indented():
            parts = self._parts()
        steps = 2 + self.keeps_old + len(parts)
        name = self.program.name
        sizes = ", ".join(f"{constant} = {value}" for constant, value in self.constants.items()) or "no constants"
        macros = "\n".join(f"      or with spin -D{macro}" for macro in self.reach.values())
        lines = [
            f"/* {name} with {sizes}. Written by floodmark export.",
            "",
            "   spin -o1 -o2 -o3 -a; gcc -O2 -DSAFETY -DNOREDUCE -DVECTORSZ=65536 -o pan pan.c; ./pan -m10000000"
            + ("" if self.deadlock else " -E"),
            "      searches all states. Spin stores one more than the model has: the one before the initial state.",
            "   spin -DSHORTEST ..., gcc -DBFS ...",
            f"      finds a shortest counterexample: one step of the model is {steps} of Spin, so an assertion at",
            f"      depth d ends a trace of d / {steps} + 1 states, rounded down.",
            *([macros, "      finds a way to where a reachability property is true: the assertion is violated there."]
              if macros else []),
            "*/",
            "",
            "#ifdef SHORTEST",
            "#define STEP",
            "#define TEMPORARY",
            "#else",
            "#define STEP atomic",
            "#define TEMPORARY hidden",
            "#endif",
            "",
            *self._declarations(),
            "",
            "active proctype model() {",
            "  do",
            "  :: STEP {",
            "    if",
            *choices,
            "    fi;",
            *bodies,
            *(line for part in parts for line in ("    d_step {", *part, "      skip", "    };")),
            "  }",
            "  od",
            "}",
            "",
        ]
        return Process(name, "\n".join(lines), steps, tuple(self.flags.values()), tuple(self.reach.values()))

    def _declarations(self) -> list[str]:
        lines = []
        for name, kind in self.program.variables.items():
            if cells(kind):
                lines.append(f"{_declared(cell_type(kind), self.variables[name], cells(kind))}  /* {kind} */")
        lines.append("")
        lines += [f"bit {flag} = 1;" for flag in self.flags.values()]
        lines += ["bit started;", "byte action;" if len(self.program.actions) < 256 else "short action;"]
        if self.arguments:
            lines.append(_declared("int", "argument", self.arguments + 1))
        lines.append("")
        if self.keeps_old:
            lines += [f"TEMPORARY {_declared(cell_type(kind).replace('bit', 'byte'), self.old[name], cells(kind))}"
                      for name, kind in self.program.variables.items() if cells(kind)]
        used = self.text.temporaries.items()
        lines += [f"TEMPORARY {_declared('int', name, count)}" for name, count in used if count]
        return lines

    def _writer(self, disabled: str = "disabled") -> PromelaEffects:
        return PromelaEffects(self.text, self.state, self.program.variables, self.places, disabled)

    # Choices.

    def _initial(self) -> None:
        for state in self.initial:
            with self.text.aside() as lines:
                for (name, kind), value in zip(self.program.variables.items(), state, strict=True):
                    with self.text.statement():
                        self._constant_cells(kind, self.places[name], literal(kind, value))
            self.text.emit(f":: d_step {{ !started -> started = 1; {' '.join(line.strip() for line in lines)} skip }}")

    def _constant_cells(self, kind: Type, place: CellAddress, value: Value) -> None:
        """Writes the cells of a constant that are not 0."""
        with self.text.aside() as lines:
            PromelaMemory(self.text, unrolled=cells(kind)).write(kind, place, value)
        for line in lines:
            if not line.rstrip(";").endswith("= 0"):
                self.text.emit(line.strip())

    def _parameters(self, action: ir.Action) -> list[CellAddress]:
        places, offset = [], 0
        for parameter in action.parameters:
            places.append(CellAddress("argument", str(offset)))
            offset += cells(parameter.type)
        return places

    def _choices(self, number: int, action: ir.Action) -> tuple[int, bool]:
        """Writes a line for each choice of arguments.

        Returns how many guards are evaluated before an action is chosen, and whether there are others.
        """
        places = self._parameters(action)
        first = 0
        for guard in action.guards:
            if any(_draws(guard, parameter) for parameter in action.parameters):
                first += 1
                continue
            with self.text.aside() as lines:
                writer = self._writer()
                for parameter, place in zip(action.parameters, places, strict=True):
                    writer.expressions.locals[parameter.slot] = load(parameter.type, place)
                if not can_fail(guard):
                    writer.expressions.number(guard)
            if lines or can_fail(guard):
                break
            first += 1
        candidates = [self._candidates(action, parameter, first) for parameter in action.parameters]
        total = 1
        for found in candidates:
            total *= len(found)
        if total > MAX_CHOICES:
            reason = f"{action.name} with its {total} choices of arguments, each of which would be a line"
            raise refuse(reason, action.at)
        for arguments in itertools.product(*candidates):
            self._choice(number, action, places, arguments, first)
        return first, first < len(action.guards) or _requires(action.body)

    def _choice(self, number: int, action: ir.Action, places: list[CellAddress],
                arguments: tuple[tuple[str, Value, bool], ...], first: int) -> None:
        with self.text.aside() as lines, self.text.statement():
            writer = self._writer()
            for parameter, (_, value, _) in zip(action.parameters, arguments, strict=True):
                writer.expressions.locals[parameter.slot] = value
            guards = ["started", *(used for used, _, _ in arguments)]
            guards += [
                writer.expressions.number(guard)
                for guard in action.guards[:first]
                if not any(_draws(guard, parameter) for parameter in action.parameters)
            ]
            if lines:
                raise refuse("a guard that cannot be evaluated before the action is chosen", action.at)
            for parameter, place, (_, value, fixed) in zip(action.parameters, places, arguments, strict=True):
                if fixed:
                    self._constant_cells(parameter.type, place, value)
                else:
                    writer.memory.write(parameter.type, place, value)
        guards = [guard for guard in guards if guard != "1"]
        if "0" in guards:
            return
        self.text.emit(f":: d_step {{ {' && '.join(guards)} -> action = {number}; "
                       f"{' '.join(line.strip() for line in lines)} skip }}")

    def _candidates(self, action: ir.Action, parameter: ir.Local, first: int) -> list[tuple[str, Value, bool]]:
        """Each value that a parameter may have, with its condition and whether it is a constant."""
        for guard in action.guards[:first]:
            if _draws(guard, parameter):
                assert isinstance(guard, ir.Contains)
                kind, value = guard.container.type, self._writer().expressions.evaluate(guard.container)
                assert isinstance(kind, SetType | BagType) and isinstance(value, Slots) and kind.capacity is not None
                return [(*value.at(str(index)), False) for index in range(kind.capacity)]
        if parameter.type.size > MAX_PARAMETER_VALUES:
            reason = f"{parameter.name} has {parameter.type.size} possible values; draw it from a set of the state"
            raise refuse(reason, action.at)
        return [("1", literal(parameter.type, value), True) for value in members(parameter.type)]

    # Statements.

    def _bodies(self, first: dict[str, int]) -> None:
        """Takes the chosen action; undoes its changes when a guard is false."""
        text = self.text
        text.emit("if")
        text.emit(":: d_step { action == 0 -> skip }")
        for number, action in enumerate(self.program.actions, 1):
            disabled = text.label("disabled")
            before = len(text.lines)
            text.emit(f":: d_step {{ action == {number} ->  /* {action.name}, {shown(action.at)} */")
            with text.indented(), text.statement():
                writer = self._writer(disabled)
                for parameter, place in zip(action.parameters, self._parameters(action), strict=True):
                    writer.expressions.locals[parameter.slot] = load(parameter.type, place)
                for guard in action.guards[first[action.name]:]:
                    with text.statement():
                        writer.require(guard)
                writer.run(action.body)
                if any(f"goto {disabled} " in line for line in text.lines[before:]):
                    done = text.label("done")
                    text.emit(f"goto {done};")
                    text.emit(f"{disabled}:")
                    self._copy(self.old_places, self.places)
                    text.emit("action = 0;")
                    text.emit(f"{done}: skip;")
                text.emit("skip }")
            _must_be_short(text.lines[before:], action.name, action.at)
        text.emit("fi;")

    def _parts(self) -> list[list[str]]:
        """The evaluations after an action, in as many d_steps as Spin needs."""
        parts: list[list[str]] = []
        size = 0
        for unit in self._units():
            if not parts or size + _statements(unit) > MAX_STATEMENTS:
                parts.append([])
                size = 0
            parts[-1].extend(unit)
            size += _statements(unit)
        return parts

    def _units(self) -> list[list[str]]:
        units = []
        for kind in ("transition", "invariant"):
            units += [self._judged(predicate) for predicate in self.program.predicates if predicate.kind == kind]
        inside = "1"
        if self.program.boundaries:
            inside = self.text.temporary("inside", 1).cell("0")
            with self.text.aside() as lines:
                self._look_inside(inside)
            units.append(lines)
        units += [self._reached(p, inside) for p in self.program.predicates if p.kind == "reachable"]
        with self.text.aside() as lines:
            if inside != "1":
                with self.text.when(f"!{inside}"):
                    self._copy(self.old_places, self.places)
            self._reset()
        return [*units, lines]

    def _copy(self, source: dict[str, CellAddress], target: dict[str, CellAddress]) -> None:
        for name, kind in self.program.variables.items():
            self._each_cell(cells(kind), lambda index, name=name: f"{target[name].cell(index)} = "
                            f"{source[name].cell(index)};")

    def _each_cell(self, count: int, line: object) -> None:
        assert callable(line)
        with self.text.statement():
            if count <= 8:
                for index in range(count):
                    self.text.emit(line(str(index)))
                return
            with self.text.loop("0", str(count)) as index_name:
                self.text.emit(line(index_name))

    def _judged(self, predicate: ir.Predicate) -> list[str]:
        text = self.text
        with text.aside() as lines, text.statement():
            text.emit(f"/* {predicate.name}, {shown(predicate.at)} */")
            if predicate.kind == "transition":
                text.emit("if :: action != 0 ->")
            holds = self._writer().expressions.number(predicate.value)
            flag = self.flags[predicate.name]
            text.emit(f"{flag} = {holds}; assert({flag});")
            if predicate.kind == "transition":
                text.emit("skip :: else fi;")
        _must_be_short(lines, predicate.name, predicate.at)
        return lines

    def _look_inside(self, result: str) -> None:
        text = self.text
        text.emit(f"{result} = 1;")
        for boundary in self.program.boundaries:
            text.emit(f"/* {boundary.name}, {shown(boundary.at)} */")
            with text.statement(), text.when(result):
                holds = self._writer().expressions.number(boundary.value)
                text.emit(f"{result} = {holds};")

    def _reached(self, predicate: ir.Predicate, inside: str) -> list[str]:
        text = self.text
        with text.aside() as lines, text.statement():
            text.emit(f"/* {predicate.name}, {shown(predicate.at)} */")
            text.lines.append(f"#ifdef {self.reach[predicate.name]}")
            holds = self._writer().expressions.number(predicate.value)
            flag = self.flags[predicate.name]
            text.emit(f"{flag} = !({holds} && {inside}); assert({flag});")
            text.lines.append("#endif")
        _must_be_short(lines, predicate.name, predicate.at)
        return lines

    def _reset(self) -> None:
        """Clears everything that is not part of a state of the model."""
        text = self.text
        text.emit("action = 0;")
        if self.arguments:
            self._each_cell(self.arguments, lambda index: f"argument[{index}] = 0;")
        if self.keeps_old:
            for name, kind in self.program.variables.items():
                self._each_cell(cells(kind), lambda index, name=name: f"{self.old_places[name].cell(index)} = 0;")
        for name, count in list(text.temporaries.items()):
            if count > 1:
                self._each_cell(count, lambda index, name=name: f"{name}[{index}] = 0;")
        for name, count in text.temporaries.items():  # the counters of the loops above among them
            if count == 1:
                text.emit(f"{name} = 0;")


def _statements(lines: list[str]) -> int:
    return sum(line.count(";") + line.count("->") + line.count("::") for line in lines)


def _must_be_short(lines: list[str], name: str, at: ir.Position) -> None:
    if _statements(lines) > MAX_STATEMENTS:
        raise refuse(f"{name}, which is more statements than Spin takes as one step (about 2,000)", at)


def _draws(guard: ir.Expr, parameter: ir.Local) -> bool:
    """Whether a guard draws a parameter from the slots of a state variable, so that these are all its choices."""
    match guard:
        case ir.Contains(item=ir.Local(slot=slot), container=ir.StateVar(type=SetType() | BagType() as kind)):
            return slot == parameter.slot and kind.capacity is not None and kind.element == parameter.type
    return False


def _requires(body: list[ir.Stmt]) -> bool:
    """Whether statements have a guard, including in calls."""
    for statement in ir.flat(body):
        if isinstance(statement, ir.Require):
            return True
        for name in statement.__slots__:
            value = getattr(statement, name)
            parts = ir.walk(value) if isinstance(value, ir.Expr) else ()
            if any(isinstance(part, ir.Inline) and _requires(part.body) for part in parts):
                return True
    return False


def _declared(of: str, name: str, count: int) -> str:
    return f"{of} {name};" if count == 1 else f"{of} {name}[{count}];"
