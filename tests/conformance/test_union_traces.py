"""Traces say of which class a record of a union is, and are read with and without that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from floodmark.checkers.command_line.cli import command
from floodmark.checkers.conformance.adapter import Adapter
from floodmark.checkers.conformance.external_values import value_of
from floodmark.checkers.conformance.lockstep import replay
from floodmark.checkers.reference import search
from floodmark.checkers.value_text import plain
from floodmark.conformance import observable
from floodmark.language.errors import SourceError
from floodmark.language.values import running
from tests.support import union_models
from tests.support.union_models import Box, No, Told, Yes

MODEL = Path(union_models.__file__)
TRACE = [
    {"action": "start", "arguments": {}},
    {"action": "answers", "arguments": {"term": 1, "agrees": False}},
    {"action": "hears", "arguments": {"answer": {"class": "No", "term": 1}}},
]


def test_each_value_comes_back_from_json() -> None:
    model = Told()
    states = search.reachable_states(model)
    assert len(states) > 20
    for state in states:
        for (name, kind), item in zip(model.variable_types.items(), state, strict=True):
            with running(model):
                assert value_of(kind, json.loads(json.dumps(plain(item, kind))), name) == item


def test_the_class_is_said_where_it_is_needed() -> None:
    kinds = Told().variable_types
    assert plain(Yes(term=0), kinds["last"]) == {"class": "Yes", "term": 0}
    assert plain(Box(held=No(term=1)), kinds["box"]) == {"held": {"class": "No", "term": 1}}
    assert plain(Yes(term=0), Told().declared_type(Yes)) == {"term": 0}
    assert plain(Yes(term=0)) == {"term": 0}


@pytest.fixture
def counterexample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    (tmp_path / "told.toml").write_text(f'model = "{MODEL}:Told"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(command, ["check", "told.toml", "--json", "found.json"], standalone_mode=False)
    assert ran.return_value == 1, ran.output
    ran = CliRunner().invoke(command, ["report", "found.json", "--as", "itf", "--into", "traces"])
    assert ran.exit_code == 0, ran.output
    found: dict[str, Any] = json.loads(Path("found.json").read_text(encoding="utf-8"))
    return found


def without_classes(value: Any) -> Any:
    """What was written before classes were."""
    match value:
        case dict():
            return {key: without_classes(item) for key, item in value.items() if key != "class"}
        case list():
            return [without_classes(item) for item in value]
    return value


def conforms(trace: list[Any]) -> str:
    Path("run.jsonl").write_text("\n".join(map(json.dumps, trace)), encoding="utf-8")
    return CliRunner().invoke(command, ["conform", "told.toml", "--trace", "run.jsonl"]).output


def test_a_counterexample_is_a_run_and_with_another_class_it_is_none(counterexample: dict[str, Any]) -> None:
    trace = counterexample["results"][0]["trace"]
    assert trace[-1]["arguments"] == {"answer": {"class": "No", "term": 1}}
    assert conforms(trace).endswith("1 trace: 1 accepted\n")
    trace[-1]["arguments"]["answer"]["class"] = "Yes"
    assert "1 rejected" in conforms(trace)
    (file,) = Path("traces").iterdir()
    states = json.loads(file.read_text(encoding="utf-8"))["states"]
    assert states[-1]["#meta"]["arguments"] == {"answer": {"tag": "No", "value": {"term": 1}}}
    assert states[-1]["box"] == {"held": {"tag": "No", "value": {"term": 1}}}


class Observed(Adapter):
    def __init__(self, start: Told) -> None:
        self.heard: list[Any] = []

    def answers(self, term: int, agrees: bool) -> None:
        pass

    def hears(self, answer: Yes | No) -> None:
        self.heard.append(answer)

    @observable
    def last(self) -> Any:
        return self.heard[-1] if self.heard else None


class Confuses(Observed):
    def hears(self, answer: Yes | No) -> None:
        self.heard.append(Yes(term=answer.term))


def test_a_trace_is_taken_with_the_class_that_it_names() -> None:
    replay(Told(), Observed, TRACE)
    with pytest.raises(AssertionError, match="the model has No"):
        replay(Told(), Confuses, TRACE)
    wrong = [*TRACE[:2], {"action": "hears", "arguments": {"answer": {"class": "Yes", "term": 1}}}]
    with pytest.raises(SourceError, match="is not enabled"):
        replay(Told(), Observed, wrong)


def test_a_trace_that_names_no_class_is_still_taken() -> None:
    replay(Told(), Observed, without_classes(TRACE))
