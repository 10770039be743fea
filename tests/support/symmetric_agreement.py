"""Checks symmetry proofs by brute force: every state, renaming, step and property in CPython."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import Property
from floodmark.checkers.reference import search
from floodmark.checkers.search_result import Options, SearchResult, Symmetry
from floodmark.checkers.symmetry.proof import prove_symmetry
from floodmark.compiler.layout import lay_out
from floodmark.compiler.program import read_program
from floodmark.compiler.renaming import Orbits, Renaming, renamed, symmetric_types
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import Model, State, largest_sizes, sized
from floodmark.language.reference import Step, choices, fire, holds, initial_states, successors, within_boundary
from floodmark.language.types import IdentifierType
from floodmark.language.widths import FIRST_WIDTHS, least_widths
from tests.support.engines import Outcome, plain_search


class Nameless(ast.NodeTransformer):
    """Puts a variable in the place of identifiers that methods name, so that a drawn model may well be symmetric."""

    def __init__(self) -> None:
        self.me: str | None = None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        kinds = [kind.id for kind in node.decorator_list if isinstance(kind, ast.Name)]
        if node.args.args and "initial" not in kinds:
            self.me = node.args.args[0].arg
            node.body = [self.visit(part) for part in node.body]
            self.me = None
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(func=ast.Name(id="Node"), args=[ast.Constant()]) if self.me in ("self", "old", "new"):
                return ast.Attribute(ast.Name(self.me or "", ast.Load()), "anyone", ast.Load())
        self.generic_visit(node)
        return node


def nameless(source: str) -> str:
    """A drawn model whose methods name no identifier."""
    tree = Nameless().visit(ast.parse(source))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Generated":
            node.body.insert(0, ast.parse("anyone: Node = Node(1)").body[0])
    return ast.unparse(ast.fix_missing_locations(tree))


def may_rename(
    packed: Model, properties: Sequence[Property], symmetry: Symmetry = True
) -> tuple[IdentifierType, ...]:
    """The types whose identifiers may be renamed; none without a proof."""
    functions = {prop.name: prop.function for prop in properties}
    try:
        return prove_symmetry(packed, functions, read_program(packed, functions), symmetry).kinds
    except ModelError as error:
        if "symmetric" not in error.message:
            raise
        return ()


def wide_enough(model: Model, properties: Sequence[Property], states: Sequence[State]) -> Model:
    """A searched model with room for every step of these states, too: a symmetry proof for narrower containers need not
    apply to wider ones."""
    for state in states:
        _steps(model, properties, state, {})
    return sized(model, least_widths(largest_sizes(model)))


def assert_every_renaming_is_one(
    model: Model, properties: Sequence[Property], orbits: Orbits, states: Sequence[State]
) -> None:
    """Fails unless CPython treats each state as each that renaming makes of it."""
    for state in states:
        for renaming in orbits.renamings():
            other = tuple(renamed(value, renaming) for value in state)
            mine, theirs = _steps(model, properties, state, renaming), _steps(model, properties, other, {})
            assert mine == theirs, f"{renaming} of {state}: {mine - theirs} became {theirs - mine}"
            assert _said(model, properties, state) == _said(model, properties, other), f"{renaming} of {state}"


def _steps(model: Model, properties: Sequence[Property], state: State, renaming: Renaming) -> Counter[object]:
    """The steps of a state, with their successors and the values of properties, after a renaming."""
    found: Counter[object] = Counter()
    for name in type(model).methods("action"):
        try:
            steps = choices(model, state, name)
        except SourceError:
            found[name, "fails"] += 1
            continue
        for step in steps:
            found[_step(model, properties, state, step, renaming)] += 1
    return found


def _step(
    model: Model, properties: Sequence[Property], state: State, step: Step, renaming: Renaming
) -> tuple[object, ...]:
    arguments = tuple((key, renamed(value, renaming)) for key, value in step.arguments.items())
    try:
        after = fire(model, state, step)
    except SourceError:
        return step.action, arguments, "fails"
    if after is None:
        return step.action, "disabled"
    broken = [prop.name for prop in properties if prop.kind == "transition" and not _true(model, prop, state, after)]
    return step.action, arguments, tuple(renamed(value, renaming) for value in after), *broken


def _true(model: Model, prop: Property, *states: State) -> bool:
    """Whether a property is not violated: neither false nor failing."""
    try:
        return holds(model, prop.function, *states)
    except SourceError:
        return False


def _said(model: Model, properties: Sequence[Property], state: State) -> list[object]:
    found: list[object] = []
    for prop in properties:
        if prop.kind == "invariant":
            found.append(_true(model, prop, state))
        elif prop.kind == "reachable":
            try:
                found.append((prop.name, holds(model, prop.function, state)))
            except SourceError:
                found.append((prop.name, "fails"))
    try:
        found.append(within_boundary(model, state))
    except SourceError:
        found.append("the boundary fails")
    return found


def assert_orbits_agree(
    model: Model, properties: Sequence[Property], orbits: Orbits, wanted: Outcome,
    states: set[State], symmetry: Symmetry = True,
) -> None:
    """Fails unless searches of orbits come to the verdict of a search of all states, and to as many orbits."""
    left, count = set(states), 0
    while left:
        left -= orbits.all_of(next(iter(left)))
        count += 1
    depth = _levels_of_orbits(model, orbits) if wanted.verdict == "holds" else 0
    options = Options(workers=1, symmetry=symmetry)
    plain, found = (engine.search_states(model, properties, options) for engine in (search, native))
    for one in (plain, found):
        assert _verdict(one) == wanted.verdict
        if wanted.verdict == "holds":
            assert one.complete
            assert (one.distinct, one.depth, set(one.reached)) == (count, depth, set(wanted.reached))
            assert {name for name, times in one.actions.items() if times} == {
                name for name, times in wanted.actions.items() if times
            }
        elif wanted.verdict == "violated":
            assert min(len(violation.trace) for violation in one.violations) == wanted.shortest
    if wanted.verdict == "holds":
        assert (plain.digest, plain.generated, plain.actions) == (found.digest, found.generated, found.actions)


def _levels_of_orbits(model: Model, orbits: Orbits) -> int:
    """The number of levels of a search of orbits in CPython. If initial states name identifiers, there may be fewer
    levels than in a search of all states: a state that is far from them under one name may be near under another."""
    seen: set[State] = set()
    frontier = [state for _, state in initial_states(model)]
    depth = 0
    while True:
        new = []
        for state in frontier:
            if within_boundary(model, state) and state not in seen:
                seen |= orbits.all_of(state)
                new.append(state)
        if not new:
            return depth
        depth += 1
        frontier = [after for state in new for _, after in successors(model, state)]


def _verdict(found: SearchResult) -> str:
    if not found.violations:
        return "holds"
    return "error" if any(violation.kind == "error" for violation in found.violations) else "violated"


def look(model: Model, properties: Sequence[Property], symmetry: Symmetry = True) -> str:
    """Compares a model with and without symmetry, if it has a symmetry proof; says what there was to compare."""
    if not symmetric_types(model.variable_types.values()):
        return "nothing to rename"
    if not may_rename(sized(model, FIRST_WIDTHS), properties, symmetry):
        return "refused"
    list(initial_states(model))
    wanted, states = plain_search(model, properties)
    some = sorted(states, key=str)[:60]
    packed = wide_enough(model, properties, some)
    kinds = may_rename(packed, properties, symmetry)
    if not kinds:
        return "refused"
    orbits = Orbits(lay_out(packed.variable_types), kinds)
    assert_every_renaming_is_one(model, properties, orbits, some)
    assert_orbits_agree(model, properties, orbits, wanted, states, symmetry)
    return f"symmetric: {wanted.verdict}"
