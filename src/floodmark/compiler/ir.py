"""The expression graph: the meaning of a model's Python source, typed and free of Python.

Every expression has a finite type and the line that it came from. Statements are the few that an action needs. A back
end (native code, z3 terms) translates these nodes and nothing else.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, assert_never, cast

from floodmark.language.types import BoolType, IntType, RecordType, Type

if TYPE_CHECKING:
    from abc import ABC

    from floodmark.compiler.visitor import Visitor
else:
    ABC = object  # the type checker alone has to know: ``isinstance`` takes several times as long of an ABC

T = TypeVar("T")

UNBOUNDED = 1 << 62
"""The limit of intervals: a result that reaches it, on either side of zero, has the type ``INT``."""
BOOL = BoolType()
INT = IntType(-(1 << 63), (1 << 63) - 1)
"""Any integer that fits a machine word; compiled code checks this at run time."""


@dataclass(frozen=True, slots=True)
class NoneType(Type):
    """The type of ``None`` alone."""

    @property
    def codes(self) -> int:
        return 1

    def __str__(self) -> str:
        return "None"


@dataclass(frozen=True, slots=True)
class NothingType(Type):
    """The element type of an empty literal, which is a subtype of every type."""

    @property
    def codes(self) -> int:
        return 0

    @property
    def bits(self) -> int:
        return 0

    def __str__(self) -> str:
        return "nothing"


@dataclass(frozen=True, slots=True)
class Position:
    """A line (from 1) of a file, and the column, which distinguishes nodes and is no part of the identity."""

    file: str
    line: int
    column: int = field(default=0, compare=False)


Which = Literal["new", "old"]
"""The state that a variable is read from: the current one, or for a transition property the one before the step."""


@dataclass(slots=True, eq=False)
class Expr(ABC):
    """An expression: its finite type, and the line that it came from."""

    type: Type
    at: Position

    @abstractmethod
    def accept(self, visitor: Visitor[T]) -> T:
        """The result of the visitor's method for this class."""


@dataclass(slots=True, eq=False)
class Const(Expr):
    """A value of the language that is known when the model is read."""

    value: Any

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_const(self)


@dataclass(slots=True, eq=False)
class OpenConstant(Expr):
    """A constant of the model that may be any natural number; it occurs only in a proof for all of them."""

    name: str

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_open_constant(self)


@dataclass(slots=True, eq=False)
class Local(Expr):
    """A local variable, a parameter or a loop variable; ``slot`` is unique within an action or a property."""

    slot: int
    name: str

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_local(self)


@dataclass(slots=True, eq=False)
class StateVar(Expr):
    """A variable of the model."""

    name: str
    which: Which

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_state_var(self)


@dataclass(slots=True, eq=False)
class Field(Expr):
    """A field of a record."""

    record: Expr
    name: str

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_field(self)


@dataclass(slots=True, eq=False)
class MapGet(Expr):
    """``map[key]``; a key that the map lacks is a model error."""

    map: Expr
    key: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_map_get(self)


@dataclass(slots=True, eq=False)
class SeqGet(Expr):
    """``seq[index]`` with Python's negative indices; an index outside the sequence is a model error."""

    seq: Expr
    index: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_seq_get(self)


@dataclass(slots=True, eq=False)
class SeqSlice(Expr):
    """``seq[low:high]`` with Python's clipping; None is an open end."""

    seq: Expr
    low: Expr | None
    high: Expr | None

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_seq_slice(self)


@dataclass(slots=True, eq=False)
class SeqConcat(Expr):
    """``left + right`` of two sequences."""

    left: Expr
    right: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_seq_concat(self)


@dataclass(slots=True, eq=False)
class SeqOf(Expr):
    """A sequence of given elements."""

    elements: list[Expr]

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_seq_of(self)


@dataclass(slots=True, eq=False)
class RecordOf(Expr):
    """A record, with every field in order of declaration."""

    fields: dict[str, Expr]

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_record_of(self)


@dataclass(slots=True, eq=False)
class SetOf(Expr):
    """A set of given elements; ``typed`` if it is a ``Set``, whose iteration order is fixed in CPython."""

    elements: list[Expr]
    typed: bool = False

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_set_of(self)


@dataclass(slots=True, eq=False)
class SetBinary(Expr):
    """``| & - ^`` of two sets of the same type."""

    op: Literal["|", "&", "-", "^"]
    left: Expr
    right: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_set_binary(self)


@dataclass(slots=True, eq=False)
class Subset(Expr):
    """``left <= right`` of two sets, or ``left < right`` if ``strict``."""

    left: Expr
    right: Expr
    strict: bool

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_subset(self)


@dataclass(slots=True, eq=False)
class BagChange(Expr):
    """A bag with one more occurrence, or a bag or set with one fewer (a model error if there is none)."""

    bag: Expr
    item: Expr
    remove: bool

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_bag_change(self)


@dataclass(slots=True, eq=False)
class Contains(Expr):
    """``item in container``."""

    item: Expr
    container: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_contains(self)


@dataclass(slots=True, eq=False)
class Size(Expr):
    """``len(container)``."""

    container: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_size(self)


@dataclass(slots=True, eq=False)
class Count(Expr):
    """The number of occurrences of an element in a bag."""

    item: Expr
    bag: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_count(self)


@dataclass(slots=True, eq=False)
class Arithmetic(Expr):
    """An operation on two integers; dividing by zero is a model error, as is a result of more than 64 bits."""

    op: Literal["+", "-", "*", "//", "%"]
    left: Expr
    right: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_arithmetic(self)


@dataclass(slots=True, eq=False)
class Compare(Expr):
    """``< <= > >=`` of integers."""

    op: Literal["<", "<=", ">", ">="]
    left: Expr
    right: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_compare(self)


@dataclass(slots=True, eq=False)
class Equal(Expr):
    """Equality of two values of one type."""

    left: Expr
    right: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_equal(self)


@dataclass(slots=True, eq=False)
class Not(Expr):
    """``not operand``."""

    operand: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_not(self)


@dataclass(slots=True, eq=False)
class And(Expr):
    """``a and b and ...``: nothing after a false operand is evaluated. ``places`` are the positions of the operands in
    the source; empty if the source has another construct."""

    operands: list[Expr]
    places: list[Position] = field(default_factory=list)

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_and(self)


@dataclass(slots=True, eq=False)
class Or(Expr):
    """``a or b or ...``: nothing after a true operand is evaluated. ``places`` are the positions of the operands in the
    source; empty if the source has another construct."""

    operands: list[Expr]
    places: list[Position] = field(default_factory=list)

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_or(self)


@dataclass(slots=True, eq=False)
class Implies(Expr):
    """Both sides are evaluated, as CPython does when it calls ``implies``."""

    premise: Expr
    conclusion: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_implies(self)


@dataclass(slots=True, eq=False)
class Choose(Expr):
    """``then if condition else otherwise``; only one branch is evaluated. ``places`` has its position in the source, if
    any."""

    condition: Expr
    then: Expr
    otherwise: Expr
    places: list[Position] = field(default_factory=list)

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_choose(self)


@dataclass(slots=True, eq=False)
class Convert(Expr):
    """The same value in another type; a value that the type does not hold is a model error."""

    operand: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_convert(self)


@dataclass(slots=True, eq=False)
class IsNone(Expr):
    """Whether an optional value is None."""

    operand: Expr

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_is_none(self)


@dataclass(slots=True, eq=False)
class Extremum(Expr):
    """``min(a, b, ...)`` or ``max(a, b, ...)``."""

    largest: bool
    operands: list[Expr]

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_extremum(self)


@dataclass(slots=True, eq=False)
class Sorted(Expr):
    """``sorted(seq)`` of integers."""

    seq: Expr
    reverse: bool

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_sorted(self)


@dataclass(slots=True, eq=False)
class Witness(Expr):
    """The conclusion of a property: evaluating it shows that the premise numbered ``index`` was met.

    With a ``condition``, which is evaluated first and may fail, only if that is true.
    """

    index: int
    operand: Expr
    condition: Expr | None = None

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_witness(self)


@dataclass(slots=True, eq=False)
class Marked(Expr):
    """The operand. Evaluating it sets the mark ``reached``; a truth value also sets the mark of that value.

    Marks are numbers; None is no mark. A ``counted`` mark counts every time, the others wait until the step or the
    property is complete. Only the code that counts coverage has such nodes.
    """

    operand: Expr
    reached: int | None = None
    true: int | None = None
    false: int | None = None
    counted: bool = False

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_marked(self)


@dataclass(frozen=True, slots=True)
class Universe:
    """Every value of a type, as the domain of a loop."""

    type: Type


@dataclass(slots=True, eq=False)
class Range:
    """``range(low, high, step)`` with a constant step, as the domain of a loop."""

    low: Expr
    high: Expr
    step: int


Domain = Universe | Range | Expr


@dataclass(slots=True, eq=False)
class Generator:
    """``for variable in domain if conditions`` of a comprehension. ``places`` are the positions of the conditions."""

    variable: Local
    domain: Domain
    conditions: list[Expr]
    places: list[Position] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Reduce(Expr):
    """A comprehension with the operation on its elements.

    ``min`` and ``max`` of nothing are ``default``, or a model error without one. ``map`` has a ``key`` besides
    ``body``; ``seq`` keeps the order of its domains; a ``set`` is ``typed`` as in SetOf.
    """

    kind: Literal["any", "all", "sum", "min", "max", "set", "seq", "map"]
    generators: list[Generator]
    body: Expr
    key: Expr | None = None
    default: Expr | None = None
    typed: bool = False

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_reduce(self)


@dataclass(slots=True, eq=False)
class Inline(Expr):
    """A call: statements that leave the result in a variable. A call made only for its effects has no result.

    With ``remembered``, the result is a truth value that depends on these variables alone, and once it is true it need
    not be evaluated again for the same values: its only effect is to meet premises.

    With ``of_state``, the result depends on the state before or after a step alone, and need not be evaluated again
    while all that it reads is unchanged: it has no effect.

    With ``images``, the same call in the states before and after a step, the result depends on their results alone, and
    is true if these are equal. Once it is true it need not be evaluated again for the same results: its only effect is
    to meet premises.
    """

    body: list[Stmt]
    result: Local | None
    remembered: list[Local] = field(default_factory=list)
    of_state: Which | None = None
    images: list[Inline] = field(default_factory=list)

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_inline(self)


@dataclass(slots=True, eq=False)
class SharedFunction:
    """A function of the model that several calls share, because a copy for each of them would be too much code.

    Its variables, including ``parameters``, are its own, and every call starts without values for them. A function
    called only for its effects has no result.
    """

    name: str
    at: Position
    parameters: list[Local]
    body: list[Stmt]
    result: Local | None


@dataclass(slots=True, eq=False)
class Applied(Expr):
    """A call of a shared function. The arguments, of the types of its parameters, are evaluated first, in order."""

    function: SharedFunction
    arguments: list[Expr]

    def accept(self, visitor: Visitor[T]) -> T:
        return visitor.visit_applied(self)


@dataclass(slots=True, eq=False)
class Statement:
    """A statement, and the line that it came from."""

    at: Position


@dataclass(slots=True, eq=False)
class SetLocal(Statement):
    """An assignment to a local variable."""

    target: Local
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class FieldStep:
    """One step into a record on the way to the assigned part."""

    record: RecordType
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class ItemStep:
    """One step into a map or a sequence."""

    container: Type
    key: Expr


@dataclass(slots=True, eq=False)
class SetVariable(Statement):
    """An assignment to a state variable or to a part of one."""

    variable: str
    path: list[FieldStep | ItemStep]
    value: Expr


@dataclass(slots=True, eq=False)
class If(Statement):
    """``if condition: ... else: ...``."""

    condition: Expr
    then: list[Stmt]
    otherwise: list[Stmt]


@dataclass(slots=True, eq=False)
class For(Statement):
    """A loop over a domain; Break and Continue belong to the innermost one."""

    variable: Local
    domain: Domain
    body: list[Stmt]


@dataclass(slots=True, eq=False)
class Require(Statement):
    """A guard after the leading ones: if it is false, the action is not enabled."""

    condition: Expr


@dataclass(slots=True, eq=False)
class Assert(Statement):
    """``assert condition``: a model error if it is false."""

    condition: Expr


@dataclass(slots=True, eq=False)
class Return(Statement):
    """Leaves the innermost Inline."""

    value: Expr | None
    into: Local | None


@dataclass(slots=True, eq=False)
class Break(Statement):
    """Leaves the innermost loop."""


@dataclass(slots=True, eq=False)
class Continue(Statement):
    """Goes on with the next round of the innermost loop."""


@dataclass(slots=True, eq=False)
class Do(Statement):
    """A call for its effects."""

    call: Inline | Applied


@dataclass(slots=True)
class Action:
    """An action: a choice of parameters, the guards that open it (conjunct by conjunct), its effect. ``places`` are the
    positions of the guards."""

    name: str
    parameters: list[Local]
    guards: list[Expr]
    body: list[Stmt]
    at: Position
    places: list[Position] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PremiseSite:
    """A premise of a property: its line, the report's text if it is never met, and its position in the source.

    ``steps`` are the spans of the calls of helpers around it, the outermost first, and then its own; ``part`` is 0 for
    the premise that the test of an ``if ... else`` is false, and 1 for the one that it is true. A refinement has one
    for each ``action`` of the refined model: that some step takes it.
    """

    at: Position
    text: str
    steps: tuple[tuple[int, int, int, int], ...]
    part: int
    action: str = ""

    def name(self, prop: str) -> str:
        """Its name in specs and reports, as a premise of this property."""
        return f"{prop}.{self.action}" if self.action else prop


@dataclass(slots=True)
class Predicate:
    """A property or a boundary. ``premises`` are those that its Witness nodes number."""

    name: str
    kind: str
    value: Expr
    at: Position
    premises: list[PremiseSite] = field(default_factory=list)


AnyExpr = (
    Const
    | OpenConstant
    | Local
    | StateVar
    | Field
    | MapGet
    | SeqGet
    | SeqSlice
    | SeqConcat
    | SeqOf
    | RecordOf
    | SetOf
    | SetBinary
    | Subset
    | BagChange
    | Contains
    | Size
    | Count
    | Arithmetic
    | Compare
    | Equal
    | Not
    | And
    | Or
    | Implies
    | Choose
    | Convert
    | IsNone
    | Extremum
    | Sorted
    | Witness
    | Marked
    | Reduce
    | Inline
    | Applied
)
"""Every class of expressions, for a ``match`` that the type checker keeps complete."""
Stmt = SetLocal | SetVariable | If | For | Require | Assert | Return | Break | Continue | Do
"""Every class of statements."""


def closed(node: Expr) -> AnyExpr:
    """An expression with its exact type: one of the classes above."""
    return cast(AnyExpr, node)


def children(node: Expr) -> list[Expr]:
    """The expressions directly inside an expression, including those of its domains and of inlined statements."""
    found: list[Expr] = []
    for name in node.__slots__:
        _collect(getattr(node, name), found)
    return found


def _collect(value: Any, found: list[Expr]) -> None:
    match value:
        case Expr():
            found.append(value)
        case list() | tuple():
            for item in value:
                _collect(item, found)
        case dict():
            for item in value.values():
                _collect(item, found)
        case Generator():
            _collect(value.variable, found)
            _collect(value.domain, found)
            _collect(value.conditions, found)
        case Range():
            _collect(value.low, found)
            _collect(value.high, found)
        case Statement() | ItemStep():
            for name in value.__slots__:
                _collect(getattr(value, name), found)
        case SharedFunction():
            _collect(value.body, found)


def walk(node: Expr) -> list[Expr]:
    """An expression and everything inside it, each once even where several expressions share it."""
    found: dict[int, Expr] = {}
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if id(part) not in found:
            found[id(part)] = part
            waiting += reversed(children(part))
    return list(found.values())


def flat(body: list[Stmt]) -> Iterator[Stmt]:
    """Statements with those inside them, except those of calls."""
    for statement in body:
        yield statement
        match statement:
            case If(then=then, otherwise=otherwise):
                yield from flat(then)
                yield from flat(otherwise)
            case For(body=inner):
                yield from flat(inner)
            case SetLocal() | SetVariable() | Require() | Assert() | Return() | Break() | Continue() | Do():
                pass
            case _:
                assert_never(statement)


def called_bodies(node: Expr) -> Iterator[list[Stmt]]:
    """The statements of each call in an expression, separately for nested calls."""
    for part in walk(node):
        match part:
            case Inline(body=body) | Applied(function=SharedFunction(body=body)):
                yield body


def weight(node: Expr) -> int:
    """The number of expressions in an expression, where a shared one counts once for each of its places.

    A shared function is not counted with its calls.
    """
    known: dict[int, int] = {}
    inside: dict[int, list[Expr]] = {}
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if id(part) in known:
            continue
        if id(part) in inside:  # all that is inside is known by now
            known[id(part)] = 1 + sum([known[id(child)] for child in inside[id(part)]])
            continue
        found = part.arguments if isinstance(part, Applied) else children(part)
        if found:
            inside[id(part)] = found
            waiting.append(part)
            waiting += found
        else:
            known[id(part)] = 1
    return known[id(node)]


def has_effects(node: Expr) -> bool:
    """Whether evaluating an expression changes the state, through a method that it calls."""
    return any(_changes(body) for body in called_bodies(node))


def _changes(body: list[Stmt]) -> bool:
    """Whether statements assign a state variable; calls inside their expressions are checked separately."""
    for statement in flat(body):
        match statement:
            case SetVariable():
                return True
            case Do(call=Inline(body=inner)) if _changes(inner):
                return True
            case Do(call=Applied() as call) if has_effects(call):
                return True
    return False


def locals_in(node: Expr) -> set[int]:
    """The slots that an expression mentions."""
    return {part.slot for part in walk(node) if isinstance(part, Local)}
