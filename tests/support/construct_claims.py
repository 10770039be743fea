"""Compares what claims mean to z3 with what they mean to CPython, in given cases.

The values and bodies of ``tests/support/constructs.py`` become claims about parameters of the variables' names and
types, with a number of identifiers that the file gives, with any number of them, and with integers that have no bounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from textwrap import indent
from typing import Any

import z3

from floodmark.checkers.project.claim import Claim
from floodmark.checkers.symbolic.methods.claims import _lower, _NoState, _parameters
from floodmark.checkers.symbolic.terms.booleans import as_term, conj, disj
from floodmark.checkers.symbolic.translate.evaluation import EvaluationContext
from floodmark.checkers.symbolic.translate.statements import StatementEvaluator
from floodmark.checkers.symbolic.values.types import UnsupportedError
from floodmark.checkers.symbolic.values.value import Values
from floodmark.claims import Expectation
from floodmark.language.errors import ActionDisabled, SourceError
from floodmark.language.model import Model, State
from floodmark.language.source import source_of
from floodmark.language.types import Type
from floodmark.language.values import running
from tests.support import constructs as table

Answer = bool | str | None
FAILS = "fails"
TYPES = {
    "n": "Num", "k": "Small", "on": "bool", "maybe": "Small | None", "colour": "Colour", "node": "Node",
    "some": "Set[Node]", "nums": "Annotated[Set[Num], Capacity(3)]", "log": "Annotated[Seq[Num], Capacity(3)]",
    "lots": "Annotated[Bag[Small], Capacity(2)]", "per": "Map[Node, Small]", "sets": "Map[Node, Set[Small]]",
    "pair": "Pair", "message": "Told | Asked | None",
}  # fmt: skip
OPEN_TYPES = TYPES | {"n": "int", "k": "int", "log": "Annotated[Seq[int], Capacity(3)]", "per": "Map[Node, int]"}
HELPERS = '''def needs(number: int) -> int:
    require(number > 0)
    return number


def spoilt(n: int) -> int:
    assert n > 0
    return 1


def always() -> bool:
    return True


def given(xs):
    return xs


def passes(s):
    return s


def doubled(x: int) -> int:
    return 2 * x


def with_default(x: int = FIVE, *, y: tuple[int, ...] = (1, 2)) -> int:
    return x + len(y)


def of_two_kinds(on: bool):
    return 1 if on else None
'''
_CALLS = {"spoilt()": "spoilt(n)", "of_two_kinds()": "of_two_kinds(on)"}
_FREE = ("needs(", "always(", "given(", "passes(", "doubled(", "with_default(")


def without_model(text: str) -> str | None:
    """A value or a body with parameters for the variables of the model; None if it needs the model."""
    for call, other in _CALLS.items():
        text = text.replace(f"self.{call}", other)
    for call in _FREE:
        text = text.replace(f"self.{call}", call)
    text = re.sub(r"self\.(\w+)\b(?!\()", lambda found: found[1] if found[1] in TYPES else found[0], text)
    return None if re.search(r"\bself\b|Variables", text) else text


def claims_source(texts: Mapping[str, str], bodies: Mapping[str, str], types: Mapping[str, str]) -> str:
    """A module with a claim for each truth value and each body."""
    takes = ", ".join(f"{name}: {kind}" for name, kind in types.items())
    lines = [table.HEAD.replace('count="nodes"', "count=2"), HELPERS]
    for name, text in texts.items():
        lines.append(f"def {name}({takes}) -> bool:\n    return {text}\n")
    for name, body in bodies.items():
        helper = f"def help_{name}({', '.join(types)}) -> int:\n{indent(body, '    ')}\n"
        lines.append(f"{helper}\n\ndef {name}({takes}) -> bool:\n    return help_{name}({', '.join(types)}) > 1\n")
    return "\n\n".join(lines)


def claim_of(function: Callable[..., bool]) -> Claim:
    source = source_of(function)
    return Claim(function.__name__, function, Expectation(True, ""), source.file, source.tree.lineno)


def by_cpython(function: Callable[..., bool], case: Mapping[str, Any]) -> Answer:
    """The value of a claim in a case; None if its premises exclude the case."""
    with running(_NoState()):
        try:
            return function(**case)
        except ActionDisabled:
            return None
        except (SourceError, AssertionError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
            return FAILS


def refused_or_unlike(
    functions: Iterable[Callable[..., bool]], cases: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str, bool]]:
    """The claims that are refused, and why; and those that mean something else to z3, for which the last is true."""
    for function in functions:
        claim, model = claim_of(function), _NoState()
        try:
            kinds = _parameters(model, claim)
            said = _by_terms(model, claim, kinds, cases)
        except (SourceError, UnsupportedError) as error:
            yield claim.name, error.message, False
            continue
        for case, of_z3 in zip(cases, said, strict=True):
            real = by_cpython(function, case)
            if real != of_z3:
                yield claim.name, f"in {case} z3 says {of_z3}, CPython {real}", True
                break


def _by_terms(
    model: Model, claim: Claim, kinds: Mapping[str, Type], cases: Sequence[Mapping[str, Any]]
) -> list[Answer]:
    parameters, body, result = _lower(model, claim, dict(kinds))
    values = Values(integers=any(str(kind) == "int" or "int" in str(kind) for kind in kinds.values()))
    arguments = {name: values.fresh(kind, name) for name, kind in kinds.items()}
    context = EvaluationContext(values, {})
    for local in parameters:
        context.locals[local.slot] = arguments[local.name]
    StatementEvaluator(context, {}).run(body)
    wanted = [as_term(it) for it in (conj(context.required), context.locals[result.slot])]
    wanted.append(as_term(disj(bad for _, bad in context.failures)))
    leaves = {
        name: [leaf.term for leaf in values.components.leaves(kind, arguments[name], name)]
        for name, kind in kinds.items()
    }
    found: list[Answer] = []
    for case in cases:
        pairs = []
        for name, kind in kinds.items():
            known = [leaf.term for leaf in values.components.leaves(kind, values.constant(kind, case[name]), name)]
            pairs += [(old, _of_sort(new, old.sort())) for old, new in zip(leaves[name], known, strict=True)]
        allowed, true, failed = (z3.simplify(z3.substitute(term, *pairs)) for term in wanted)
        assert all(z3.is_true(it) or z3.is_false(it) for it in (allowed, true, failed))
        if z3.is_true(failed):
            found.append(FAILS)
        else:
            found.append(z3.is_true(true) if z3.is_true(allowed) else None)
    return found


def _of_sort(term: Any, sort: Any) -> Any:
    if isinstance(term, bool):
        return z3.BoolVal(term)
    if isinstance(term, int):
        return z3.IntVal(term) if sort == z3.IntSort() else z3.BitVecVal(term, sort.size())
    return term


def cases_of(states: Sequence[State], variables: Sequence[str]) -> list[dict[str, Any]]:
    """States as cases of the parameters."""
    return [{name: value for name, value in zip(variables, state, strict=True) if name in TYPES} for state in states]
