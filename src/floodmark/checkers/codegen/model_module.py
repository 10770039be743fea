"""The machine code of one model: ``expand`` (all successors of a state), ``check`` (its properties), ``canonical``.

    expand(state*, out*, context*) -> successors   out: their words, one after the other
    check(state*, context*) -> mask                bit i: state predicate i is true
    canonical(states*, count)                      replaces states by the representatives of their orbits
    rename(state*, images*)                        renames its identifiers
    proved_by_z3(state*, out*, context*)                expand by the actions whose symmetry was proved

``context`` is an array of 64-bit words: flags that the engine reads after each call, then the counters. The code is
split into parts, one function each, so that a known-bad design shares with its model all parts in which the two do not
differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I1, I64, Value, const
from floodmark.checkers.codegen.memory import Memory, memory_of
from floodmark.checkers.codegen.permutation import emit_canonical, emit_rename
from floodmark.checkers.codegen.repeats import AGAIN, BEFORE, STAYED, emit_again, may_repeat, often_repeats
from floodmark.checkers.codegen.statements import Statements
from floodmark.checkers.codegen.unchanged import (
    ALL_ONES,
    SHARED,
    STILL,
    TODO,
    clauses_of,
    emit_known,
    emit_masks,
    emit_todo,
)
from floodmark.compiler.failures import can_fail, may_outgrow
from floodmark.compiler.fingerprint import Fingerprints
from floodmark.compiler.guard_order import GuardOrder, plan
from floodmark.compiler.ir import (
    Action,
    Applied,
    Expr,
    Inline,
    Position,
    Predicate,
    PremiseSite,
    Reduce,
    Sorted,
    Universe,
    walk,
    weight,
)
from floodmark.compiler.layout import Layout, lay_out
from floodmark.compiler.program import Program, expressions_of
from floodmark.compiler.renaming import SymmetryProof
from floodmark.language.errors import ModelError
from floodmark.language.types import BagType, SetType

POINTER = I64.as_pointer()

FAILED, BROKEN, CUT, OUTSIDE = range(4)
"""Places in the context: whether the model failed; a mask of broken transition properties; the number of successors
outside the boundary; a mask of state predicates that are true of all of those (initially all ones)."""
SETTLED = 7
"""The place of a mask of state predicates that are no longer asked for: ``check`` evaluates them only if an evaluation
may do more than give their truth."""
COUNTERS = 11
"""The place of the first counter: one for each action, then one for each premise."""
MAX_PREDICATES = 60
EXPORTED = {"expand", "check", "canonical", "rename", "proved_by_z3"}
ACTION = "action."
"""The prefix of the names of the parts that are actions, one part each, in the order of the interface."""


@dataclass(frozen=True, slots=True)
class Interface:
    """The calling interface of a model's machine code."""

    layout: Layout
    actions: tuple[str, ...]
    state_predicates: tuple[str, ...]
    transition_predicates: tuple[str, ...]
    premises: tuple[tuple[str, PremiseSite], ...]
    most_successors: int
    memory_words: int = 0
    """The words behind the counters in which code remembers what it has evaluated."""
    unbounded: Callable[[], tuple[Position, ...]] = tuple
    """Finds where integers may outgrow a register because their bounds are unknown: a failure that CPython does not
    have. To look through a whole program takes as long as to read it, and only the message of such a failure asks."""

    @property
    def context_words(self) -> int:
        return self.first_memory + self.memory_words

    @property
    def first_memory(self) -> int:
        return COUNTERS + len(self.actions) + len(self.premises)

    @property
    def first_premise(self) -> int:
        return COUNTERS + len(self.actions)


@dataclass(frozen=True, slots=True)
class CodePart:
    """One function of a model's machine code. Equal keys mean equal code, whatever the model."""

    name: str
    key: str
    emit: Callable[[ir.Module], None]

    def module(self) -> ir.Module:
        """The function in its own module, in which the functions that it calls are only declared."""
        module = ir.Module(self.name)
        self.emit(module)
        return module


def parts(program: Program, symmetry_proof: SymmetryProof | None) -> tuple[list[CodePart], Interface]:
    """The functions that a program is compiled to; with a symmetry proof, with what renaming needs."""
    plans = [plan(action) for action in program.actions]
    interface = interface_of(program, plans)
    states, transitions = _of_states(program), _of_transitions(program)
    return _ProgramParts(interface, program, states, transitions).all(plans, symmetry_proof), interface


def interface_of(program: Program, plans: Sequence[GuardOrder]) -> Interface:
    """The calling interface of a program's code, whose actions are enumerated as planned."""
    layout = lay_out(program.variables, program.arguments)
    states, transitions = _of_states(program), _of_transitions(program)
    if len(states) > MAX_PREDICATES or len(transitions) > MAX_PREDICATES:
        raise ModelError(f"more than {MAX_PREDICATES} properties of one kind; split them between two specs")
    premises = tuple((p.name, site) for p in [*states, *transitions] for site in p.premises)
    return Interface(
        layout,
        tuple(action.name for action in program.actions),
        tuple(p.name for p in states),
        tuple(p.name for p in transitions),
        premises,
        sum(_most_bindings(p) for p in plans),
        sum(memory_of(p, layout) for p in [*states, *transitions]) + clauses_of(transitions, layout).mask_words,
        partial(_unbounded, program),
    )


def _of_states(program: Program) -> list[Predicate]:
    return [p for p in program.predicates if p.kind != "transition"]


def _of_transitions(program: Program) -> list[Predicate]:
    return [p for p in program.predicates if p.kind == "transition"]


def whole(parts: Sequence[CodePart], name: str, exported: Sequence[str] = ()) -> ir.Module:
    """All parts in one module, where they can be inlined into one another; ``exported`` ones can be called as well."""
    module = ir.Module(name)
    for part in parts:
        part.emit(module)
    for function in module.functions:
        if function.blocks and function.name not in EXPORTED and function.name not in exported:
            function.linkage = "internal"
    return module


def _unbounded(program: Program) -> tuple[Position, ...]:
    nodes = [predicate.value for predicate in [*program.predicates, *program.boundaries]]
    nodes += [part for action in program.actions for part in expressions_of(action)]
    return tuple(dict.fromkeys(part.at for node in nodes for part in walk(node) if may_outgrow(part)))


def _most_bindings(steps: GuardOrder) -> int:
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


def _settles(predicate: Predicate) -> bool:
    """Whether nothing is lost where a predicate is not evaluated because a state of which it is true is known."""
    return predicate.kind == "reachable" and not can_fail(predicate.value)


class _ProgramParts:
    """The parts of one program."""

    def __init__(
        self, interface: Interface, program: Program, states: list[Predicate], transitions: list[Predicate]
    ) -> None:
        self.interface = interface
        self.program = program
        self.states = states
        self.transitions = transitions
        self.words = interface.layout.words
        self.fingerprints = Fingerprints(interface.layout)
        self.clauses = clauses_of(transitions, interface.layout)
        self.first_mask = interface.context_words - self.clauses.mask_words if self.clauses.mask_words else 0
        self.symbols = Symbols()
        self.of_states = [self.symbols.new(predicate.kind, predicate.name) for predicate in states]
        self.of_transitions = [self.symbols.new(predicate.kind, predicate.name) for predicate in transitions]
        self.of_boundaries = [self.symbols.new(predicate.kind, predicate.name) for predicate in program.boundaries]
        self.of_actions = [self.symbols.new(ACTION.rstrip("."), action.name) for action in program.actions]

    def all(self, plans: Sequence[GuardOrder], symmetry_proof: SymmetryProof | None) -> list[CodePart]:
        found = []
        place, memory = self.interface.first_premise, self.interface.first_memory
        predicates = [*self.states, *self.transitions, *self.program.boundaries]
        symbols = [*self.of_states, *self.of_transitions, *self.of_boundaries]
        for predicate, symbol in zip(predicates, symbols, strict=True):
            found.append(self._predicate(predicate, symbol, place, memory))
            place += len(predicate.premises)
            memory += memory_of(predicate, self.interface.layout)
        found += [self._check(), self._within(), self._judge(), self._again()]
        if self.program.boundaries:
            found.append(self._outside())
        for index, (action, steps) in enumerate(zip(self.program.actions, plans, strict=True)):
            found.append(self._action(action, self.of_actions[index], steps, index))
        found.append(self._expand())
        if symmetry_proof is not None:
            layout = self.interface.layout
            kinds = (list(symmetry_proof.kinds),)
            found.append(self._part("canonical", kinds, lambda module: emit_canonical(module, layout, symmetry_proof)))
            found.append(self._part("rename", kinds, lambda module: emit_rename(module, layout, symmetry_proof)))
            found.append(
                self._calling("proved_by_z3", [self.of_actions[place] for place in self._proved_by_z3(symmetry_proof)])
            )
        return found

    def _proved_by_z3(self, symmetry_proof: SymmetryProof) -> list[int]:
        """The actions whose symmetry z3 proved; the parts of a program begin with the actions."""
        return [place for place in symmetry_proof.proved_by_z3 if place < len(self.of_actions)]

    def _part(self, name: str, key: tuple[object, ...], emit: Callable[[ir.Module], None]) -> CodePart:
        return CodePart(name, self.fingerprints.of(name, *key), emit)

    def _pointers(self, code: Statements, base: Value) -> list[Value]:
        return [code.builder.gep(base, [const(index)]) for index in range(self.words)]

    def _predicate(self, predicate: Predicate, symbol: str, first_premise: int, first_memory: int) -> CodePart:
        """One predicate as a function: (state*, context*) or (old*, new*, context*) -> bool."""
        transition = predicate.kind == "transition"
        divided = self.clauses.divided[self.transitions.index(predicate)] if transition else None

        def emit(module: ir.Module) -> None:
            function = function_in(module, symbol, I1, 3 if transition else 2)
            layout = self.interface.layout
            memory = Memory(predicate, layout, first_memory)
            code = Statements(function, layout, function.args[-1], first_premise, memory)
            leave = code.routine.block("gave.up")
            code.routine.failed = _failure(code, leave)
            ir.IRBuilder(leave).ret(const(int(predicate.kind != "boundary"), I1))
            code.states.words["new"] = self._pointers(code, function.args[-2])
            if transition:
                code.states.words["old"] = self._pointers(code, function.args[0])
            if divided is not None:
                todo = code.builder.gep(code.context, [const(TODO)])
                code.expressions.comprehensions.leave_out(divided.reduce, todo, divided.first)
            code.builder.ret(code.expressions.emit(predicate.value))
            code.routine.finish()

        remembers = memory_of(predicate, self.interface.layout) > 0
        places = (first_premise if predicate.premises else 0, *([first_memory] if remembers else []))
        return self._part(symbol, (predicate, *places, -1 if divided is None else divided.first), emit)

    def _check(self) -> CodePart:
        """``check``: bit i of the result is the truth of state predicate i, or 0 if it is settled."""
        names = self.of_states
        settles = [_settles(predicate) for predicate in self.states]

        def emit(module: ir.Module) -> None:
            function = function_in(module, "check", I64, 2)
            builder = ir.IRBuilder(function.append_basic_block("entry"))
            settled = builder.load(builder.gep(function.args[1], [const(SETTLED)]))
            mask = builder.alloca(I64)
            builder.store(const(0), mask)
            for index, (name, may_settle) in enumerate(zip(names, settles, strict=True)):
                with ExitStack() as asked:
                    if may_settle:
                        bit = builder.and_(settled, const(1 << index))
                        asked.enter_context(builder.if_then(builder.icmp_unsigned("==", bit, const(0))))
                    truth = builder.zext(builder.call(function_in(module, name, I1, 2), function.args), I64)
                    builder.store(builder.or_(builder.load(mask), builder.shl(truth, const(index))), mask)
            builder.ret(builder.load(mask))

        return self._part("check", (names, settles), emit)

    def _within(self) -> CodePart:
        """``within``: whether every boundary predicate is true of a state."""
        names = self.of_boundaries

        def emit(module: ir.Module) -> None:
            function = function_in(module, "within", I64, 2)
            builder = ir.IRBuilder(function.append_basic_block("entry"))
            outside = function.append_basic_block("outside")
            for name in names:  # as in CPython, none after a false one is evaluated: it might fail
                onward = function.append_basic_block("within")
                builder.cbranch(builder.call(function_in(module, name, I1, 2), function.args), onward, outside)
                builder.position_at_end(onward)
            builder.ret(const(1))
            ir.IRBuilder(outside).ret(const(0))

        return self._part("within", (names,), emit)

    def _judge(self) -> CodePart:
        """``judge``: (old*, new*, context*) -> 1 for a successor to keep, 0 for one outside the boundary.

        It checks the step, and has what is outside looked at elsewhere: so little is left here that it is inlined where
        a successor is made, and the boundary is tested on values that are still in registers.
        """
        names, clauses = self.of_transitions, self.clauses
        bounded = bool(self.program.boundaries)
        remembers = any(memory_of(predicate, self.interface.layout) for predicate in self.transitions)
        first_mask = self.first_mask

        def emit(module: ir.Module) -> None:
            function = function_in(module, "judge", I64, 3)
            if remembers:  # to look a step up is little, but more than LLVM would inline by itself
                function.attributes.append("inlinehint")
            builder = ir.IRBuilder(function.append_basic_block("entry"))
            state, place, context = function.args
            if clauses.clauses:
                masks = builder.gep(context, [const(first_mask)])
                todo, still = emit_todo(builder, clauses, state, place, context, masks)
            if names:
                broken = builder.gep(context, [const(BROKEN)])
                for index, (name, bits) in enumerate(zip(names, clauses.bits, strict=True)):
                    with ExitStack() as asked:
                        if bits:
                            wanted = builder.and_(todo, const(bits))
                            asked.enter_context(builder.if_then(builder.icmp_unsigned("!=", wanted, const(0))))
                        fine = builder.call(function_in(module, name, I1, 3), [state, place, context])
                        bit = builder.shl(builder.zext(builder.not_(fine), I64), const(index))
                        builder.store(builder.or_(builder.load(broken), bit), broken)
                if clauses.clauses:
                    failed = builder.load(builder.gep(context, [const(FAILED)]))
                    wrong = builder.or_(builder.load(broken), failed)
                    with builder.if_then(builder.icmp_unsigned("==", wrong, const(0))):
                        emit_known(builder, still, context)
            if not bounded:
                builder.ret(const(1))
                return
            inside = builder.call(function_in(module, "within", I64, 2), [place, context])
            with builder.if_then(builder.icmp_unsigned("==", inside, const(0))):
                builder.call(_outside(module), [place, context])
            builder.ret(inside)

        key = (names, bounded, remembers, clauses.bits, repr(clauses.extents), first_mask)
        return self._part("judge", key, emit)

    def _again(self) -> CodePart:
        def emit(module: ir.Module) -> None:
            emit_again(_again(module), function_in(module, "judge", I64, 3), self.words)

        return self._part(AGAIN, (self.words,), emit)

    def _outside(self) -> CodePart:
        """``outside``: counts a successor outside the boundary, and notes which state predicates are true of it."""

        def emit(module: ir.Module) -> None:
            function = _outside(module)
            builder = ir.IRBuilder(function.append_basic_block("entry"))
            place, context = function.args
            cut_place = builder.gep(context, [const(CUT)])
            builder.store(builder.add(builder.load(cut_place), const(1)), cut_place)
            true_of = builder.gep(context, [const(OUTSIDE)])
            mask = builder.call(function_in(module, "check", I64, 2), [place, context])
            builder.store(builder.and_(builder.load(true_of), mask), true_of)
            builder.ret(const(0))

        return self._part("outside", (), emit)

    def _expand(self) -> CodePart:
        return self._calling("expand", self.of_actions)

    def _calling(self, symbol: str, names: Sequence[str]) -> CodePart:
        """The successors by some actions, one action after the other."""
        clauses, first_mask = self.clauses, self.first_mask

        def emit(module: ir.Module) -> None:
            function = function_in(module, symbol, I64, 3)
            builder = ir.IRBuilder(function.append_basic_block("entry"))
            state, out, context = function.args
            count: Value = const(0)
            before = builder.gep(context, [const(BEFORE)])
            builder.store(const(ALL_ONES), builder.gep(context, [const(SHARED)]))
            builder.store(const(clauses.trivial), builder.gep(context, [const(STILL)]))
            if clauses.mask_words:
                emit_masks(builder, clauses, state, builder.gep(context, [const(first_mask)]))
            for name in names:
                place = builder.gep(out, [builder.mul(count, const(self.words))])
                builder.store(count, before)
                added = builder.call(function_in(module, name, I64, 3), [state, place, context])
                count = builder.add(count, added)
            for left in (BEFORE, STAYED, STILL, SHARED, TODO):  # what two expansions leave is compared
                builder.store(const(0), builder.gep(context, [const(left)]))
            builder.ret(count)

        return self._part(symbol, (list(names), clauses.trivial, repr(clauses.extents), first_mask), emit)

    def _action(self, action: Action, symbol: str, steps: GuardOrder, index: int) -> CodePart:
        """(state*, out*, context*) -> the number of successors written to out."""
        return self._part(
            symbol, (action, index), lambda module: self._emit_action(module, action, symbol, steps, index)
        )

    def _emit_action(self, module: ir.Module, action: Action, symbol: str, steps: GuardOrder, index: int) -> None:
        function = function_in(module, symbol, I64, 3)
        state, out, context = function.args
        code = Statements(function, self.interface.layout, context, 0)
        count, fired = code.routine.room(I64, "count"), code.routine.room(I64, "fired")
        code.builder.store(const(0), count)
        code.builder.store(const(0), fired)
        before = [code.routine.room(I64, f"before{number}") for number in range(self.words)]
        words = [code.routine.room(I64, f"word{number}") for number in range(self.words)]
        original = [code.builder.load(pointer) for pointer in self._pointers(code, state)]
        for place, value in zip(before, original, strict=True):
            code.builder.store(value, place)
        code.states.words["new"] = before
        done = code.routine.block("done")
        with ExitStack() as loops:
            try:
                onward = choose(code, steps, loops, done, unrolled=_unrolled_loops(action, steps))
            except ModelError as error:
                raise ModelError(error.message, action.at.file, action.at.line) from None
            code.abandoned = onward
            code.routine.failed = _failure(code, onward)
            for word, value in zip(words, original, strict=True):
                code.builder.store(value, word)
            code.states.words["new"] = words
            code.run(action.body)
            code.builder.store(code.builder.add(code.builder.load(fired), const(1)), fired)
            self._deliver(code, steps, state, out, count, words)
            code.builder.branch(onward)
        if not code.builder.block.is_terminated:
            code.builder.branch(done)
        code.builder.position_at_end(done)
        counter = code.builder.gep(context, [const(COUNTERS + index)])
        total = code.builder.add(code.builder.load(counter), code.builder.load(fired))
        code.builder.store(total, counter)
        code.builder.ret(code.builder.load(count))
        code.routine.finish()

    def _deliver(
        self, code: Statements, steps: GuardOrder, state: Value, out: Value, count: Value, words: list[Value]
    ) -> None:
        """Writes a successor to out, and takes it back if it is not to be kept."""
        builder = code.builder
        number = builder.load(count)
        place = builder.gep(out, [builder.mul(number, const(self.words))])
        values = [builder.load(word) for word in words]
        for index, value in enumerate(values):
            builder.store(value, builder.gep(place, [const(index)]))
        again, new, after = (code.routine.block(name) for name in ("again", "new", "delivered"))
        builder.cbranch(may_repeat(builder, state, place, number, values, often_repeats(steps)), again, new)
        module = code.routine.function.module
        for block, function, more in (
            (again, _again(module), [number]), (new, function_in(module, "judge", I64, 3), []),
        ):
            builder.position_at_end(block)
            added = builder.call(function, [state, place, code.context, *more])
            builder.store(builder.add(number, added), count)
            builder.branch(after)
        builder.position_at_end(after)


_MAX_UNROLLED = 2500
"""Expressions of an action, counted once for each value of its first parameters, up to which there is a copy of its
code for each. What is read and written is then at a known place, as an identifier is mostly the key of a map."""


def _unrolled_loops(action: Action, steps: GuardOrder) -> int:
    """The number of outermost loops that are unrolled."""
    expressions = sum(map(weight, expressions_of(action)))
    for number, choice in enumerate(steps.choices):
        expressions *= choice.parameter.type.codes
        if not isinstance(choice.domain, Universe) or expressions > _MAX_UNROLLED:
            return number
    return len(steps.choices)


CANDIDATES = "candidates"
MAX_CANDIDATES = 64
_LARGEST_ASKED = 40
"""Expressions of a guard that is asked for candidates."""


def candidates_part(program: Program, interface: Interface) -> CodePart:
    """``candidates``: (state*, context*) -> a mask of the actions that may be enabled in a state; the others are not.

    Of each action, the guards that mention no parameter are evaluated, up to the first that can fail or takes a loop.
    None of them can fail, so they are evaluated together, without a branch between them. Code that fills slots asks
    whether there is room nevertheless: without it, every action might be enabled.
    """
    asked = [_asked_first(plan(action)) for action in program.actions[:MAX_CANDIDATES]]

    def emit(module: ir.Module) -> None:
        function = function_in(module, CANDIDATES, I64, 2)
        code = Statements(function, interface.layout, function.args[-1], 0)
        code.states.words["new"] = [
            code.builder.gep(function.args[0], [const(index)]) for index in range(interface.layout.words)
        ]
        code.routine.failed = code.routine.block("failed")
        ir.IRBuilder(code.routine.failed).ret(const(-1))
        mask: Value = const(0)
        for place, guards in enumerate(asked):
            enabled: Value = const(1, I1)
            for guard in guards:
                enabled = code.builder.and_(enabled, code.expressions.emit(guard))
            mask = code.builder.or_(mask, code.builder.shl(code.builder.zext(enabled, I64), const(place)))
        code.builder.ret(mask)
        code.routine.finish()

    return CodePart(CANDIDATES, Fingerprints(interface.layout).of(CANDIDATES, asked), emit)


def _asked_first(steps: GuardOrder) -> list[Expr]:
    asked = []
    for guard in steps.first:
        if can_fail(guard) or weight(guard) > _LARGEST_ASKED:
            break
        if any(isinstance(part, Inline | Applied | Reduce | Sorted) for part in walk(guard)):
            break
        asked.append(guard)
    return asked


class Symbols:
    """The names of the functions for a model's actions and predicates, each given once.

    A symbol has the role and the name, so that a known-bad design finds the code of its model, and a count of earlier
    symbols with both in common, so that two functions never share one. LLVM looks up ASCII names only.
    """

    def __init__(self) -> None:
        self._given: Counter[tuple[str, str]] = Counter()

    def new(self, role: str, name: str) -> str:
        number = self._given[role, name]
        self._given[role, name] += 1
        return f"{role}.{number}.{name.encode('ascii', 'xmlcharrefreplace').decode()}"


def function_in(module: ir.Module, name: str, result: ir.LlvmType, parameters: int) -> ir.Function:
    """The function of that name in a module, declared if it is not there yet."""
    known = module.globals.get(name)
    if known is not None:
        return known
    function = ir.Function(module, ir.FunctionType(result, [POINTER] * parameters), name, "noalias")
    function.attributes.append("nounwind")
    return function


def _outside(module: ir.Module) -> ir.Function:
    """The function ``outside`` in a module. It stays one: with it, ``judge`` would be too large to inline."""
    function = function_in(module, "outside", I64, 2)
    if "noinline" not in function.attributes:
        function.attributes.append("noinline")
    return function


def _again(module: ir.Module) -> ir.Function:
    """The function ``again`` in a module. Actions share it: what it does would make each of them larger."""
    known = module.globals.get(AGAIN)
    if known is not None:
        return known
    function = ir.Function(module, ir.FunctionType(I64, [POINTER, POINTER, POINTER, I64]), AGAIN)
    function.attributes += ["nounwind", "noinline"]
    return function


def _failure(code: Statements, onward: ir.Block) -> ir.Block:
    """A block that records the failure and continues."""
    block = code.routine.block("failed")
    builder = ir.IRBuilder(block)
    builder.store(const(1), builder.gep(code.context, [const(FAILED)]))
    builder.branch(onward)
    return block


def choose(
    code: Statements, steps: GuardOrder, loops: ExitStack, done: ir.Block, records: bool = True, unrolled: int = 0
) -> ir.Block:
    """Opens the loops over the parameters with guards between them; returns the block that tries the next binding.
    ``records`` is whether a guard that fails is recorded as a failure of the model. So many outermost loops are
    ``unrolled``: they have their body once for each value."""
    onward = done
    for depth, guard in enumerate([None, *steps.choices]):
        if guard is not None:
            is_unrolled = depth <= unrolled
            values = code.expressions.comprehensions.over(guard.domain, guard.parameter.type, True, is_unrolled)
            value, onward, _ = loops.enter_context(values)
            code.builder.store(value, code.routine.variable(guard.parameter))
        code.routine.failed = _failure(code, onward) if records else onward
        code.abandoned = onward
        for condition in steps.first if guard is None else guard.guards:
            good = code.routine.block("enabled")
            code.builder.cbranch(code.expressions.emit(condition), good, onward)
            code.builder.position_at_end(good)
    return onward
