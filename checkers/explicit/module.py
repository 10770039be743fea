"""The machine code of one model: ``expand`` (all successors of a state), ``check`` (its properties), ``permute``.

    expand(state*, out*, context*) -> successors   out: their words, one after the other
    check(state*, context*) -> mask                bit i: state predicate i is true
    canonical(state*)                              replaces a state by the smallest of its symmetric ones

``context`` is an array of 64-bit words: flags that the engine looks at after each call, then the counters.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from llvmlite import ir

from checkers.explicit.bits import I1, I64, Value, const
from checkers.explicit.effects import Effects
from checkers.explicit.guards import Plan, plan
from checkers.explicit.permutation import emit_canonical, refuse_named
from model.compiler.ir import BOOL, INT, Action, Arithmetic, Inline, Position, Predicate, Reduce, Universe, walk
from model.compiler.layout import Layout, lay_out
from model.compiler.program import Program
from model.language.errors import ModelError
from model.language.types import BagType, SetType

POINTER = I64.as_pointer()

FAILED, BROKEN, CUT, OUTSIDE = range(4)
"""Places in the context: the model failed; transition properties broken (mask); successors outside of the boundary;
state predicates that are true of all of those (mask, all ones at the start)."""
COUNTERS = 8
"""The place of the first counter: one for each action, then one for each premise."""
MOST_PREDICATES = 60


@dataclass(frozen=True, slots=True)
class Interface:
    """How the engine talks to the machine code of a model."""

    layout: Layout
    actions: tuple[str, ...]
    state_predicates: tuple[str, ...]
    transition_predicates: tuple[str, ...]
    premises: tuple[tuple[str, str, int], ...]
    most_successors: int
    unbounded: Position | None = None
    """Where integers may outgrow a register, for want of known bounds: a failure that CPython does not know."""

    @property
    def context_words(self) -> int:
        return COUNTERS + len(self.actions) + len(self.premises)

    @property
    def first_premise(self) -> int:
        return COUNTERS + len(self.actions)


def build_module(program: Program, symmetry: bool) -> tuple[ir.Module, Interface]:
    """The LLVM module of a program. With ``symmetry`` it has ``canonical``, too."""
    layout = lay_out(program.variables)
    if symmetry:
        refuse_named(program, layout)
    states = [p for p in program.predicates if p.kind != "transition"]
    transitions = [p for p in program.predicates if p.kind == "transition"]
    if len(states) > MOST_PREDICATES or len(transitions) > MOST_PREDICATES:
        raise ModelError(f"more than {MOST_PREDICATES} properties of one kind; check them in two specs")
    premises = tuple((p.name, at.file, at.line) for p in [*states, *transitions] for at in p.premises)
    plans = [plan(action) for action in program.actions]
    most = sum(_most_bindings(p) for p in plans)
    interface = Interface(
        layout,
        tuple(action.name for action in program.actions),
        tuple(p.name for p in states),
        tuple(p.name for p in transitions),
        premises,
        most,
        _first_unbounded(program),
    )
    module = ir.Module(program.name)
    builder = _Builder(module, interface, program, states, transitions)
    builder.check()
    builder.within()
    builder.expand(plans)
    if symmetry:
        emit_canonical(module, layout)
    return module, interface


def _first_unbounded(program: Program) -> Position | None:
    nodes = [p.value for p in [*program.predicates, *program.boundaries]]
    for action in program.actions:
        nodes += [*action.guards, Inline(BOOL, action.at, action.body, None)]
    wide = (part for node in nodes for part in walk(node) if isinstance(part, Arithmetic | Reduce) and part.type == INT)
    return next((part.at for part in wide), None)


def _most_bindings(steps: Plan) -> int:
    total = 1
    for choice in steps.choices:
        match choice.domain:
            case Universe(kind):
                total *= kind.codes
            case other:
                kind = other.type  # type: ignore[union-attr]
                assert isinstance(kind, SetType | BagType)
                total *= kind.element.codes if kind.capacity is None else kind.capacity
    return total


class _Builder:
    """Builds the functions of one module."""

    def __init__(
        self,
        module: ir.Module,
        interface: Interface,
        program: Program,
        states: list[Predicate],
        transitions: list[Predicate],
    ) -> None:
        self.module = module
        self.interface = interface
        self.program = program
        self.states = states
        self.transitions = transitions
        self.words = interface.layout.words
        self.first_premise_of: dict[str, int] = {}
        place = interface.first_premise
        for predicate in [*states, *transitions]:
            self.first_premise_of[predicate.name] = place
            place += len(predicate.premises)

    def _function(self, name: str, result: ir.Type, parameters: int, internal: bool) -> ir.Function:
        function = ir.Function(self.module, ir.FunctionType(result, [POINTER] * parameters), name)
        for argument in function.args:
            argument.add_attribute("noalias")
        function.attributes.add("nounwind")
        if internal:
            function.linkage = "internal"
        return function

    def _pointers(self, emitter: Effects, base: Value) -> list[Value]:
        return [emitter.builder.gep(base, [const(index)]) for index in range(self.words)]

    def _failure(self, emitter: Effects, onward: ir.Block) -> ir.Block:
        """A block that notes the failure and goes on."""
        block = emitter.block("failed")
        builder = ir.IRBuilder(block)
        builder.store(const(1), builder.gep(emitter.context, [const(FAILED)]))
        builder.branch(onward)
        return block

    def _predicate(self, predicate: Predicate) -> ir.Function:
        """One predicate as a function of its own: (state*, context*) or (old*, new*, context*) -> bool."""
        transition = predicate.kind == "transition"
        function = self._function(f"property.{predicate.name}", I1, 3 if transition else 2, internal=True)
        first = self.first_premise_of.get(predicate.name, 0)
        emitter = Effects(function, self.interface.layout, function.args[-1], first)
        leave = emitter.block("gave.up")
        emitter.failed = self._failure(emitter, leave)
        ir.IRBuilder(leave).ret(const(int(predicate.kind != "boundary"), I1))
        emitter.bind_words("new", self._pointers(emitter, function.args[-2]))
        if transition:
            emitter.bind_words("old", self._pointers(emitter, function.args[0]))
        emitter.builder.ret(emitter.emit(predicate.value))
        emitter.finish()
        return function

    def check(self) -> None:
        """``check``: bit i of the result is the truth of state predicate i."""
        predicates = [self._predicate(predicate) for predicate in self.states]
        function = self._function("check", I64, 2, internal=False)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        mask: Value = const(0)
        for index, predicate in enumerate(predicates):
            bit = builder.zext(builder.call(predicate, function.args), I64)
            mask = builder.or_(mask, builder.shl(bit, const(index)))
        builder.ret(mask)

    def within(self) -> None:
        """``within``: whether every boundary predicate is true of a state."""
        boundaries = [self._predicate(predicate) for predicate in self.program.boundaries]
        function = self._function("within", I64, 2, internal=False)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        inside: Value = const(1)
        for boundary in boundaries:
            inside = builder.and_(inside, builder.zext(builder.call(boundary, function.args), I64))
        builder.ret(inside)

    def expand(self, plans: list[Plan]) -> None:
        transitions = [self._predicate(predicate) for predicate in self.transitions]
        actions = [
            self._action(action, steps, index, transitions)
            for index, (action, steps) in enumerate(zip(self.program.actions, plans, strict=True))
        ]
        function = self._function("expand", I64, 3, internal=False)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        state, out, context = function.args
        count: Value = const(0)
        for action in actions:
            place = builder.gep(out, [builder.mul(count, const(self.words))])
            count = builder.add(count, builder.call(action, [state, place, context]))
        builder.ret(count)

    def _action(self, action: Action, steps: Plan, index: int, transitions: list[ir.Function]) -> ir.Function:
        """(state*, out*, context*) -> how many successors were written to out."""
        function = self._function(f"action.{action.name}", I64, 3, internal=True)
        state, out, context = function.args
        emitter = Effects(function, self.interface.layout, context, 0)
        count, fired = emitter.room(I64, "count"), emitter.room(I64, "fired")
        emitter.builder.store(const(0), count)
        emitter.builder.store(const(0), fired)
        before = [emitter.room(I64, f"before{number}") for number in range(self.words)]
        words = [emitter.room(I64, f"word{number}") for number in range(self.words)]
        original = [emitter.builder.load(pointer) for pointer in self._pointers(emitter, state)]
        for place, value in zip(before, original, strict=True):
            emitter.builder.store(value, place)
        emitter.bind_words("new", before)
        done = emitter.block("done")
        with ExitStack() as loops:
            try:
                onward = self._choose(emitter, steps, loops, done)
            except ModelError as error:
                raise ModelError(error.message, action.at.file, action.at.line) from None
            emitter.abandoned = onward
            emitter.failed = self._failure(emitter, onward)
            for word, value in zip(words, original, strict=True):
                emitter.builder.store(value, word)
            emitter.bind_words("new", words)
            emitter.run(action.body)
            emitter.builder.store(emitter.builder.add(emitter.builder.load(fired), const(1)), fired)
            self._deliver(emitter, state, out, count, words, transitions)
            emitter.builder.branch(onward)
        if not emitter.builder.block.is_terminated:
            emitter.builder.branch(done)
        emitter.builder.position_at_end(done)
        counter = emitter.builder.gep(context, [const(COUNTERS + index)])
        total = emitter.builder.add(emitter.builder.load(counter), emitter.builder.load(fired))
        emitter.builder.store(total, counter)
        emitter.builder.ret(emitter.builder.load(count))
        emitter.finish()
        return function

    def _choose(self, emitter: Effects, steps: Plan, loops: ExitStack, done: ir.Block) -> ir.Block:
        """Opens the loops over the parameters, guards between them; returns where the next binding is tried."""
        onward = done
        for guard in [None, *steps.choices]:
            if guard is not None:
                value, onward, _ = loops.enter_context(emitter.over(guard.domain, guard.parameter.type, distinct=True))
                emitter.builder.store(value, emitter.variable(guard.parameter))
            emitter.failed = self._failure(emitter, onward)
            emitter.abandoned = onward
            for condition in steps.first if guard is None else guard.guards:
                good = emitter.block("enabled")
                emitter.builder.cbranch(emitter.emit(condition), good, onward)
                emitter.builder.position_at_end(good)
        return onward

    def _deliver(
        self,
        emitter: Effects,
        state: Value,
        out: Value,
        count: Value,
        words: list[Value],
        transitions: list[ir.Function],
    ) -> None:
        """Writes a successor out, checks the step, and takes it back when it lies outside of the boundary."""
        builder = emitter.builder
        number = builder.load(count)
        place = builder.gep(out, [builder.mul(number, const(self.words))])
        for index, word in enumerate(words):
            builder.store(builder.load(word), builder.gep(place, [const(index)]))
        context = emitter.context
        for index, transition in enumerate(transitions):
            fine = builder.call(transition, [state, place, context])
            broken = builder.gep(context, [const(BROKEN)])
            bit = builder.shl(builder.zext(builder.not_(fine), I64), const(index))
            builder.store(builder.or_(builder.load(broken), bit), broken)
        if not self.program.boundaries:
            builder.store(builder.add(number, const(1)), count)
            return
        inside = builder.call(self.module.get_global("within"), [place, context])
        builder.store(builder.add(number, inside), count)
        outside = builder.icmp_unsigned("==", inside, const(0))
        with builder.if_then(outside):
            cut_place = builder.gep(context, [const(CUT)])
            builder.store(builder.add(builder.load(cut_place), const(1)), cut_place)
            true_of = builder.gep(context, [const(OUTSIDE)])
            mask = builder.call(self.module.get_global("check"), [place, context])
            builder.store(builder.and_(builder.load(true_of), mask), true_of)
