"""Tests ITF: the states of a trace can be read back from the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from floodmark.checkers.reference import search
from floodmark.checkers.report.itf import expression, file_name, itf
from floodmark.checkers.verdict.check import CheckSettings
from floodmark.language.types import (
    BagType,
    BoolType,
    EnumType,
    IdentifierType,
    IntType,
    MapType,
    OptionalType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from floodmark.language.values import Bag, Map, Seq, Set, running
from tests.support.outcomes import check, inside
from tests.support.union_models import No, Told, Yes

ROOT = Path(__file__).parents[2]


def value(kind: Type, written: Any) -> Any:
    """What an expression of the format means for a type, by ADR-015."""
    match kind:
        case BoolType():
            assert isinstance(written, bool)
            return written
        case IntType():
            assert type(written) is int
            return written
        case EnumType(cls):
            return cls[written]
        case IdentifierType(cls, _):
            assert written.startswith(cls.prefix)
            return cls(int(written.removeprefix(cls.prefix)))
        case OptionalType(inner):
            return None if written == "None" else value(inner, written)
        case UnionType(members=members):
            assert set(written) == {"tag", "value"}
            return value({str(member): member for member in members}[written["tag"]], written["value"])
        case RecordType(cls, fields):
            assert set(written) == {name for name, _ in fields}
            return cls(**{name: value(inner, written[name]) for name, inner in fields})
        case SetType(element, _):
            assert set(written) == {"#set"}
            return Set(value(element, item) for item in written["#set"])
        case MapType(key, of):
            assert set(written) == {"#map"}
            return Map({value(key, it): value(of, item) for it, item in written["#map"]})
        case SeqType(element, _):
            return Seq(value(element, item) for item in written)
        case BagType(element, _):
            return Bag(value(element, item) for item in written)
    raise AssertionError(kind)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "variant"),
    [
        ("specs/alter_isr/core.toml", "IgnoresPendingExpand"),
        ("specs/alter_isr/failover.toml@three_replicas", "AcceptsAnyPartitionEpoch"),
        ("specs/kraft/late_messages.toml@two_epochs", "CountsLateVotes"),
        ("specs/zk_controller/core.toml", "WritesAfterReplacement"),
        ("specs/examples/two_phase_commit.toml", "CommitsOnMajority"),
    ],
)
def test_states_are_the_same_after_itf(spec: str, variant: str) -> None:
    with inside(ROOT):
        results = check(Path(spec), CheckSettings(workers=1, only_variant=variant))
    result = next(it for it in results if it.violation is not None)
    model, violation = result.subject, result.violation
    assert model is not None
    assert violation is not None
    trace = json.loads(itf(result))
    kinds = model.variable_types
    assert trace["vars"] == list(kinds)
    assert [state["#meta"]["index"] for state in trace["states"]] == list(range(len(violation.trace)))
    with running(model):
        for written, entry in zip(trace["states"], violation.trace, strict=True):
            assert tuple(value(kind, written[name]) for name, kind in kinds.items()) == entry.state
            assert written["#meta"]["action"] == entry.step.action
            assert set(written["#meta"]["arguments"]) == set(entry.step.arguments)


def test_a_record_of_a_union_comes_back_with_its_class() -> None:
    model = Told()
    for state in search.reachable_states(model):
        for kind, item in zip(model.variable_types.values(), state, strict=True):
            with running(model):
                assert value(kind, json.loads(json.dumps(expression(item, kind)))) == item
    assert expression(Yes(term=1), model.declared_type(Yes | No)) == {"tag": "Yes", "value": {"term": 1}}
    assert expression(Yes(term=1), model.declared_type(Yes)) == {"term": 1}


def test_integers_that_json_would_round_are_big() -> None:
    assert expression(2**53 - 1) == 2**53 - 1
    assert expression(-(2**53)) == {"#bigint": "-9007199254740992"}
    assert expression((1, True)) == {"#tup": [1, True]}


def test_each_counterexample_has_a_file_of_its_own() -> None:
    with inside(ROOT):
        results = check(Path("specs/examples/two_phase_commit.toml"))
    assert [file_name(result) for result in results] == [
        "examples-two_phase_commit-TwoPhaseCommit.itf.json",
        "examples-two_phase_commit-CommitsOnMajority.itf.json",
        "examples-two_phase_commit-AbortsAfterPrepared.itf.json",
    ]
