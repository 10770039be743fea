"""Tests integers at the ends of their intervals and of a machine word: compiled code is exact or fails."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from floodmark import Between, Model, action, invariant, reachable
from floodmark.checkers.codegen import llvm_ir as llvm
from floodmark.checkers.codegen.bits import I64, const
from floodmark.checkers.codegen.jit import GOOD, UNOPTIMISED, Effort, MachineCode, _compile
from floodmark.checkers.codegen.model_module import COUNTERS, FAILED, _failure, function_in
from floodmark.checkers.codegen.statements import Statements
from floodmark.checkers.native import search as native
from floodmark.checkers.search_result import Options, SearchResult
from floodmark.compiler.ir import Arithmetic, Compare, Expr, walk
from floodmark.compiler.layout import Layout, lay_out
from floodmark.compiler.program import read_program
from floodmark.language.errors import ModelError
from floodmark.language.types import IntType
from tests.support.engines import imported, properties_of
from tests.support.ir_evaluation import Evaluation, Fails

WIDEST = 2**62 - 1
BOUNDS = {
    "wide": (-WIDEST, WIDEST),
    "up": (0, WIDEST),
    "down": (-WIDEST, 0),
    "far": (WIDEST - 3, WIDEST),
    "half": (-(2**31), 2**31),
    "few": (-7, 7),
    "sign": (-1, 1),
    "count": (0, 3),
}
HEAD = """
from typing import Annotated

from floodmark import Between, Model, action


def grown(number: int, times: int) -> int:
    for turn in range(times):
        number = number * 3 + turn
    return number


def first(low: int, high: int) -> int:
    for turn in range(low, high, 1152921504606846976):
        if turn % 3 == 0:
            continue
        if turn > 5:
            return turn
    return low


def last(low: int, high: int) -> int:
    found = high
    for turn in range(high, low, -2305843009213693951):
        found = turn
        if turn < 0:
            break
    return found


class M(Model):
"""


def source(expressions: Sequence[str]) -> str:
    """A model of extreme variables and, for each expression, a function that says whether it is above zero."""
    variables = [f"    {name}: Annotated[int, Between({low}, {high})] = {low}" for name, (low, high) in BOUNDS.items()]
    functions = [
        f"def value{number}(m: M) -> bool:\n    return {expression} > 0\n\n\n"
        f"def plain{number}(m: M) -> int:\n    return {expression}\n"
        for number, expression in enumerate(expressions)
    ]
    step = "    @action\n    def step(self) -> None:\n        self.few = 0\n"
    return "\n\n".join([HEAD + "\n".join([*variables, "", step]), *functions])


STATES = [
    *({name: ends[which] for name, ends in BOUNDS.items()} for which in (0, 1)),
    *(
        {name: min(max(value, low), high) for name, (low, high) in BOUNDS.items()}
        for value in (-(2**61), -(2**31) - 1, -3, -2, -1, 0, 1, 2, 3, 2**31 - 1, 2**61 - 1)
    ),
    {name: ends[index % 2] for index, (name, ends) in enumerate(BOUNDS.items())},
    {name: ends[1 - index % 2] for index, (name, ends) in enumerate(BOUNDS.items())},
    {**{name: low for name, (low, _) in BOUNDS.items()}, "sign": 1, "few": 7, "count": 2},
]

_NUMBERS = [0, 1, 2, 3, -1, -2, -5, 10, 2**31, 2**61, -(2**61), WIDEST, -WIDEST]


@st.composite
def expressions(draw: st.DrawFn, depth: int = 4) -> str:
    """An integer expression over the model's variables, as source."""
    leaves = st.one_of(st.sampled_from([f"m.{name}" for name in BOUNDS]), st.sampled_from(_NUMBERS).map(str))
    if depth == 0:
        leaf: str = draw(leaves)
        return leaf
    inner = expressions(depth=depth - 1)
    binary = st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner)
    order = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    ends = st.builds("range({}, {}, {})".format, inner, inner, st.sampled_from([2**61 - 1, 2**60, -(2**61), -(2**60)]))
    text: str = draw(st.one_of(
        leaves,
        binary, binary, binary,
        st.builds("(-{})".format, inner),
        st.builds("abs({})".format, inner),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner),
        st.builds("({} if {} {} {} else {})".format, inner, inner, order, inner, inner),
        st.builds("sum({} for i in {})".format, st.sampled_from(["i", "i % 5", "i // 3", "-i", "1"]), ends),
        st.builds("{}((i for i in {}), default={})".format, st.sampled_from(["min", "max"]), ends, leaves),
        st.builds("sum({} + i for i in range(m.few, m.few + 3))".format, inner),
        st.builds("grown({}, m.count)".format, inner),
        st.builds("{}({}, {})".format, st.sampled_from(["first", "last"]), inner, inner),
    ))
    return text


def compiled(layout: Layout, nodes: Sequence[Expr], effort: Effort) -> MachineCode:
    """Each expression as a function of its own: (state*, context*) -> value."""
    module = llvm.Module("values")
    for number, node in enumerate(nodes):
        function = function_in(module, f"value{number}", I64, 2)
        code = Statements(function, layout, function.args[1], 0)
        leave = code.routine.block("gave.up")
        code.routine.failed = _failure(code, leave)
        llvm.IRBuilder(leave).ret(const(0))
        pointers = [code.builder.gep(function.args[0], [const(index)]) for index in range(layout.words)]
        code.states.words["new"] = pointers
        code.builder.ret(code.expressions.emit(node))
        code.routine.finish()
    return MachineCode([_compile(module, effort)])


def call(code: MachineCode, number: int, words: tuple[int, ...]) -> int | None:
    """What a compiled expression gives; None when it gives up."""
    state, context = np.array(words, dtype=np.uint64), np.zeros(COUNTERS, dtype=np.uint64)
    found = code.function(f"value{number}", 2)(state.ctypes.data, context.ctypes.data)
    return None if context[FAILED] else ctypes.c_int64(found).value


def agree(texts: Sequence[str], directory: Path, efforts: Sequence[Effort]) -> Iterator[int | None]:
    """The values of expressions in all states, None where compiled code gives up as it should.

    Fails when a value lies outside of a node's interval, or when compiled code finds another value than CPython.
    """
    with imported(source(texts), "M", directory) as cls:
        model = cls()
        module = __import__(cls.__module__)
        functions: dict[str, Callable[..., bool]] = {f"value{n}": vars(module)[f"value{n}"] for n in range(len(texts))}
        nodes = []
        for predicate in read_program(model, functions).predicates:
            assert isinstance(predicate.value, Compare)
            nodes.append(predicate.value.left)
        layout = lay_out(model.variable_types)
        codes = [compiled(layout, nodes, effort) for effort in efforts]
        for values in STATES:
            state = tuple(values[name] for name in model.variable_types)
            words = layout.pack(state)
            for number, node in enumerate(nodes):
                wanted: int | None
                try:
                    wanted = Evaluation(values).value(node)
                    assert wanted == vars(module)[f"plain{number}"](model.at(state))
                except Fails:
                    wanted = None
                for code in codes:
                    assert (call(code, number, words), texts[number], values) == (wanted, texts[number], values)
                yield wanted


CHEAP = settings(
    max_examples=8,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


@given(texts=st.lists(expressions(), min_size=4, max_size=4))
@CHEAP
def test_every_value_is_in_its_interval_and_compiled_as_cpython_has_it(
    texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    for _ in agree(texts, tmp_path_factory.mktemp("extremes"), [UNOPTIMISED]):
        pass


@pytest.mark.slow
@given(texts=st.lists(expressions(depth=5), min_size=8, max_size=8))
@settings(CHEAP, max_examples=200)
def test_many_more_of_them_in_good_code_as_well(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    for _ in agree(texts, tmp_path_factory.mktemp("extremes"), [UNOPTIMISED, GOOD]):
        pass


OPERATIONS = [f"m.{a} {op} m.{b}" for a, op, b in itertools.product(BOUNDS, ["+", "-", "*", "//", "%"], BOUNDS)]


def test_compiled_arithmetic_agrees_at_all_corners_of_intervals(tmp_path: Path) -> None:
    """The corners of all pairs of intervals: an interval that is too narrow by one shows here."""
    found = list(agree([*OPERATIONS, *(f"-m.{name}" for name in BOUNDS), *(f"abs(m.{n})" for n in BOUNDS)],
                       tmp_path, [UNOPTIMISED]))
    assert None in found
    assert max(it for it in found if it is not None) >= 2**62


class Divides(Model):
    """Comes to -2**63 // -1 and to -2**63 % -1, at which processors trap."""

    x: Annotated[int, Between(-WIDEST, 0)] = -WIDEST
    d: Annotated[int, Between(-1, 1)] = -1
    rest: Annotated[int, Between(-1, 1)] = 1

    @action
    def remainder(self) -> None:
        self.rest = (self.x + self.x - 2) % self.d

    @invariant
    def nothing_left(self) -> bool:
        return self.rest >= 0


class Quotient(Divides):
    @action
    def quotient(self) -> None:
        self.rest = 0 if (self.x + self.x - 2) // self.d == 0 else 1


def explored(cls: type[Model]) -> SearchResult:
    return native.search_states(cls(), properties_of(cls), Options(workers=1))


def test_the_least_word_divided_by_minus_one_does_not_trap() -> None:
    assert explored(Divides).distinct == 2
    with pytest.raises(ModelError, match="an integer grows beyond 64 bits here, or in line") as refused:
        explored(Quotient)
    assert refused.value.line == Divides.remainder.__code__.co_firstlineno + 2


STRIDE = 2**61 - 1
TURNS = len(range(0, 2 * WIDEST, STRIDE))


class Strides(Model):
    """Ranges whose last turn is less than a step away from the ends of a word."""

    x: Annotated[int, Between(0, WIDEST)] = WIDEST
    up: Annotated[int, Between(0, 9)] = 0
    down: Annotated[int, Between(0, 9)] = 0

    @action
    def strides(self) -> None:
        count = 0
        for _ in range(0, self.x + self.x, STRIDE):
            count = min(count + 1, 9)
        self.up = count
        self.down = sum(1 for _ in range(0, -self.x - self.x, -STRIDE))

    @reachable
    def as_many_as_in_python(self) -> bool:
        return self.up == TURNS and self.down == TURNS


def test_the_counter_of_a_range_does_not_wrap() -> None:
    found = explored(Strides)
    assert found.complete
    assert list(found.reached) == ["as_many_as_in_python"]


class Below(Model):
    """Differences are as wide as both intervals together, the ends included."""

    a: Annotated[int, Between(0, 3)] = 0
    b: Annotated[int, Between(0, 5)] = 0

    @action
    def turn(self) -> None:
        self.a = 3 - self.a
        self.b = 5 if self.b == 0 else 0

    @reachable
    def lowest(self) -> bool:
        return self.a - self.b == -2


def test_a_difference_has_the_interval_of_its_operands() -> None:
    functions = {prop.name: prop.function for prop in properties_of(Below)}
    (predicate,) = read_program(Below(), functions).predicates
    differences = [part for part in walk(predicate.value) if isinstance(part, Arithmetic) and part.left.type.codes == 4]
    assert [difference.type for difference in differences] == [IntType(-5, 3)]


def test_sorted_and_sets_of_whatever_a_word_holds() -> None:
    """Values that only the code of an intermediate result can hold: their codes keep the order and lose none."""
    found = explored(Words)
    assert (found.complete, set(found.reached)) == (True, {"in_order", "all_there", "none_is_one"})


class Words(Model):
    x: Annotated[int, Between(-WIDEST, WIDEST)] = WIDEST
    n: Annotated[int, Between(0, 1)] = 0

    @action
    def turn(self) -> None:
        self.n = 1 - self.n

    @reachable
    def in_order(self) -> bool:
        numbers = sorted([self.x + self.x, -self.x - self.x - 2, 0, self.x])
        return numbers[0] == -self.x - self.x - 2 and numbers[1] == 0 and numbers[3] == self.x + self.x

    @reachable
    def all_there(self) -> bool:
        least = -self.x - self.x - 2
        most = self.x + self.x + 1
        numbers = {least, most, 0, self.x}
        return len(numbers) == 4 and least in numbers and most in numbers and self.x - 1 not in numbers

    @reachable
    def none_is_one(self) -> bool:
        largest = self.x + self.x + 1 if self.n == 0 else None
        return largest is not None and largest == self.x + self.x + 1
