"""Decides claims: whether a statement is true for all sets and all numbers, and if not, its smallest counterexample."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, get_args, get_origin

import z3

from floodmark.checkers.project.claim import Claim
from floodmark.checkers.symbolic.methods.smtlib import ObligationRecorder, status_of
from floodmark.checkers.symbolic.records.fresh_context import in_fresh_context
from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, disj, negation
from floodmark.checkers.symbolic.terms.smt_text import SmtNames
from floodmark.checkers.symbolic.translate.evaluation import EvaluationContext
from floodmark.checkers.symbolic.translate.statements import StatementEvaluator
from floodmark.checkers.symbolic.values.types import Value
from floodmark.checkers.symbolic.values.value import Values
from floodmark.compiler.frame import Frame
from floodmark.compiler.ir import INT, Local, Position, Stmt
from floodmark.compiler.model_compiler import ModelCompiler
from floodmark.language.annotations import resolve
from floodmark.language.errors import ActionDisabled, ModelError, SourceError
from floodmark.language.model import Model, opened
from floodmark.language.reference import _located
from floodmark.language.source import source_of
from floodmark.language.types import (
    BoolType,
    Capacity,
    IdentifierType,
    IntType,
    MapType,
    OpenIdentifierType,
    OptionalType,
    SeqType,
    SetType,
    Type,
    parts_of,
    uncounted,
)
from floodmark.language.values import Map, Seq, running

ClaimAnswer = Literal["holds", "fails", "undetermined"]


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The answer to a claim. ``witness`` is the smallest case in which it is false, with the values that it
    computes; with ``any_size`` the claim holds for any number of identifiers."""

    claim: Claim
    answer: ClaimAnswer
    witness: dict[str, Any] = field(default_factory=dict)
    computed: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    seconds: float = 0.0
    any_size: bool = False

    @property
    def expected(self) -> bool:
        return self.answer == ("holds" if self.claim.expectation.holds else "fails")


class _NoState(Model):
    """Claims have no state."""


def ask(claim: Claim, seconds: float | None = None, record: ObligationRecorder | None = None) -> ClaimResult:
    """Decides a claim with z3 and confirms a witness in CPython. ``record`` receives the queries."""
    started = time.perf_counter()
    return replace(_ask(claim, seconds, record), seconds=time.perf_counter() - started)


def _ask(claim: Claim, seconds: float | None, record: ObligationRecorder | None) -> ClaimResult:
    answered = _ask_for_a_number(claim, seconds, record)
    if answered.answer == "holds":
        return replace(answered, any_size=_holds_for_any_number(claim, seconds, record))
    return answered


def _holds_for_any_number(claim: Claim, seconds: float | None, record: ObligationRecorder | None) -> bool:
    """Whether a claim is known to hold for any number of identifiers, not only for the number in its file."""
    model = opened(_NoState(), [], any_size=True)
    kinds = {name: uncounted(kind) for name, kind in _parameters(model, claim).items()}
    parts = (part for kind in kinds.values() for part in parts_of(kind))
    counted = {part.cls: part for part in parts if isinstance(part, OpenIdentifierType)}
    if not counted:
        return False
    values = Values([name for kind in counted.values() for name, _ in kind.limit.times], any_size=True)
    try:
        false = _false(values, model, claim, kinds)
    except ModelError:
        return False
    every = [values.types.individuals(kind) for kind in counted.values()]
    some = as_term(conj(it.limit >= 1 for it in every))
    known = as_term(conj((some, *(it.strict_law() for it in every if it.are_counted))))
    found = in_fresh_context(SmtNames(), as_term(false), [known, some], values.axioms, seconds)
    proved = bool(found.answer == z3.unsat)
    if proved and record is not None:
        about = values.axioms.about([known, as_term(false)])
        terms = [*(axiom.term for axiom in about), known, as_term(false)]
        record("any-size", "a case of any size in which the claim is false", terms, "unsat")
    return proved


def _false(values: Values, model: Model, claim: Claim, kinds: dict[str, Type]) -> Truth:
    """The condition that the arguments form a case in which the claim is false or fails."""
    parameters, body, result = _lower(model, claim, kinds)
    context = EvaluationContext(values, {})
    for local in parameters:
        context.locals[local.slot] = values.fresh(kinds[local.name], local.name)
    context.required = [conj(values.well_formed(kinds[it.name], context.locals[it.slot]) for it in parameters)]
    StatementEvaluator(context, {}).run(body)
    failed = disj(bad for _, bad in context.failures)
    return disj((conj((*context.required, negation(context.locals[result.slot]))), failed))


def _ask_for_a_number(claim: Claim, seconds: float | None, record: ObligationRecorder | None) -> ClaimResult:
    model = _NoState()
    kinds = _parameters(model, claim)
    parameters, body, result = _lower(model, claim, kinds)
    unbounded = any(_has_int(kind) for kind in kinds.values())
    values = Values(integers=unbounded)
    arguments = {name: values.fresh(kind, name) for name, kind in kinds.items()}
    context = EvaluationContext(values, {})
    for local in parameters:
        context.locals[local.slot] = arguments[local.name]
    allowed = conj(values.well_formed(kind, arguments[name]) for name, kind in kinds.items())
    context.required = [allowed]
    StatementEvaluator(context, {}).run(body)
    premise = conj(context.required)
    failed = disj(bad for _, bad in context.failures)
    false = disj((conj((premise, negation(context.locals[result.slot]))), failed))
    solver = z3.Solver() if unbounded else z3.SolverFor("QF_FD")
    if seconds is not None:
        solver.set("timeout", max(1, int(seconds * 1000)))
    satisfiable = solver.check(as_term(premise))
    if satisfiable == z3.unsat:
        raise ModelError(f"no case satisfies the premises of {claim.name}", claim.file, claim.line)
    unknown = f"of the premises, {solver.reason_unknown()}" if satisfiable == z3.unknown else ""
    solver.add(as_term(false))
    answer = solver.check()
    if record is not None:
        record("premises", "a case that satisfies the premises", (premise,), status_of(satisfiable))
        record("claim", "a case in which the claim is false", (false,), status_of(answer))
    if answer == z3.unsat:
        return ClaimResult(claim, "undetermined", reason=unknown) if unknown else ClaimResult(claim, "holds")
    if answer == z3.unknown:
        return ClaimResult(claim, "undetermined", reason=solver.reason_unknown())
    smallest = _smallest(values, kinds, arguments, solver)
    witness = {name: values.decode(kind, arguments[name], smallest) for name, kind in kinds.items()}
    return ClaimResult(claim, "fails", witness, _confirm(model, claim, witness))


def _parameters(model: Model, claim: Claim) -> dict[str, Type]:
    source = source_of(claim.function)
    kinds = {}
    for argument in source.tree.args.args:
        annotation = claim.function.__annotations__.get(argument.arg)
        if annotation is None:
            raise ModelError(f"the parameter {argument.arg} needs a type", source.file, argument.lineno)
        if isinstance(annotation, str):
            annotation = eval(annotation, claim.function.__globals__)
        try:
            kinds[argument.arg] = _type(annotation, model)
        except ModelError as error:
            raise ModelError(f"parameter {argument.arg}: {error.message}", source.file, argument.lineno) from None
    return kinds


def _type(annotation: Any, model: Model) -> Type:
    """The type of a parameter; ``int`` and containers of it are unbounded."""
    if annotation is int:
        return INT
    origin, inner = get_origin(annotation), annotation
    notes: tuple[Any, ...] = ()
    if origin is Annotated:
        inner, *rest = get_args(annotation)
        notes, origin = tuple(rest), get_origin(inner)
    if origin is Seq and get_args(inner)[0] is int:
        limits = [note.limit for note in notes if isinstance(note, Capacity)]
        if limits and isinstance(limits[0], int):
            return SeqType(INT, limits[0])
    if origin is Map and get_args(inner)[1] is int:
        return MapType(resolve(get_args(inner)[0], {}), INT)
    return resolve(annotation, {})


def _has_int(kind: Type) -> bool:
    match kind:
        case IntType():
            return kind == INT
        case SeqType(element, _):
            return _has_int(element)
        case MapType(_, value):
            return _has_int(value)
    return False


def _lower(model: Model, claim: Claim, kinds: dict[str, Type]) -> tuple[list[Local], list[Stmt], Local]:
    """The graph of a claim: its parameters, its statements, and the variable that holds its result."""
    source = source_of(claim.function)
    compiler = ModelCompiler(model)
    at = Position(source.file, source.tree.lineno)
    parameters = [compiler.nodes.fresh(kind, name, at) for name, kind in kinds.items()]

    def bind(frame: Frame) -> None:
        for parameter in parameters:
            frame.bind(parameter)

    frame, body, goes_on = compiler.function_body(source, bind)
    if goes_on or frame.result is None or not isinstance(frame.result.type, BoolType):
        raise ModelError(f"{claim.name} must return True or False on every path", at.file, at.line)
    return parameters, body, frame.result


def _smallest(values: Values, kinds: dict[str, Type], arguments: dict[str, Value], solver: Any) -> Any:
    """A z3 model in which the parameters are as small as possible: few elements first, then small numbers and names."""
    sizes = [_size(values, kind, arguments[name]) for name, kind in kinds.items()]
    names = [_weight(values, kind, arguments[name]) for name, kind in kinds.items()]
    model = solver.model()
    for measures in (sizes, *([name] for name in names)):
        numbers = values.numbers
        total = numbers.total(measures)
        while not isinstance(total, int):
            best = numbers.value(total, model)
            solver.push()
            solver.add(as_term(numbers.less(total, best)))
            if solver.check() != z3.sat:
                solver.pop()
                solver.add(as_term(numbers.at_most(total, best)))
                break
            model = solver.model()
            solver.pop()
    return model


def _size(values: Values, kind: Type, value: Value) -> Any:
    """The size of a case: elements of containers and absolute values of numbers."""
    numbers = values.numbers
    match kind:
        case IntType():
            return numbers.either(numbers.less(value, 0), numbers.minus(0, value), value)
        case SetType():
            return values.containers.size(kind, value)
        case SeqType(element, _):
            items = value[1] if isinstance(element, IntType) else ()
            return numbers.plus(value[0], numbers.total(_size(values, element, item) for item in items))
        case MapType(_, of) if isinstance(of, IntType):
            return numbers.total(_size(values, of, item) for item in value)
    return 0


def _weight(values: Values, kind: Type, value: Value) -> Any:
    """A tie-breaker: names with small numbers come first."""
    numbers = values.numbers
    match kind:
        case SetType(IdentifierType(), None):
            return numbers.total(numbers.either(there, index + 1, 0) for index, there in enumerate(value))
        case IdentifierType():
            return _number(values, kind, value)
        case OptionalType(inner) if isinstance(inner, IdentifierType):
            return numbers.either(value[0], numbers.plus(1, _number(values, inner, value[1])), 0)
        case SeqType(IdentifierType() as element, capacity):
            steps = [numbers.times(capacity - at, _number(values, element, item)) for at, item in enumerate(value[1])]
            inside = [numbers.less(at, value[0]) for at in range(capacity)]
            return numbers.total(numbers.either(there, step, 0) for there, step in zip(inside, steps, strict=True))
    return 0


def _number(values: Values, kind: Type, value: Value) -> Any:
    """The number of an identifier, from 0, as one of the claim's integers."""
    number: Any = 0
    for index, known in enumerate(values.lifted(kind)):
        number = values.numbers.either(values.equal(kind, value, known), index, number)
    return number


def _confirm(model: Model, claim: Claim, witness: dict[str, Any]) -> dict[str, Any]:
    """Runs the claim in CPython, where it must be false, too. Returns the values that it computes on the way."""
    computed: dict[str, Any] = {}

    def watch(frame: Any, event: str, _: Any) -> None:
        if event == "return" and frame.f_code is claim.function.__code__:
            computed.update(frame.f_locals)

    before = sys.getprofile()
    try:
        with _located(), running(model):
            sys.setprofile(watch)
            try:
                true = claim.function(**witness)
            finally:
                sys.setprofile(before)
    except ActionDisabled:
        raise RuntimeError(f"{claim.name}: CPython does not allow the witness {witness}") from None
    except SourceError as error:
        raise ModelError(f"{error.message}, with {witness}", claim.file, claim.line) from None
    if true:
        raise RuntimeError(f"{claim.name}: z3 says false where CPython says true, for {witness}")
    return {name: value for name, value in computed.items() if name not in witness}
