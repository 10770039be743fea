"""Tests that recorded runs get the same verdict as from a brute-force search over all runs, with true explanations."""

from __future__ import annotations

import itertools
import json
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from floodmark import Between, Identifier, Map, action, initial
from floodmark.checkers.command_line.cli import command
from floodmark.checkers.conformance.behaviour import TraceResult, judge
from floodmark.checkers.conformance.external_values import pattern, value_of
from floodmark.checkers.conformance.rejection import reasons
from floodmark.checkers.conformance.trace_file import Trace, parse
from floodmark.checkers.search_result import Limits
from floodmark.checkers.spark.session import session
from floodmark.checkers.value_text import plain
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language import Model, SourceError, State, reference
from floodmark.language.reference import Step
from model.alter_isr.core import AlterIsr
from tests.support.projects import tank_project

ROOT = Path(__file__).parents[2]
Entry = dict[str, Any]


def entry(model: Model, step: Step, state: State) -> Entry:
    return {
        "action": step.action,
        "arguments": {name: plain(value) for name, value in step.arguments.items()},
        "state": {name: plain(value) for name, value in zip(model.variable_types, state, strict=True)},
    }


def trace(model: Model, entries: list[Entry]) -> Trace:
    return parse("\n".join(json.dumps(line) for line in entries), model, "trace.jsonl")


@cache
def small_model() -> Model:
    return AlterIsr(brokers=3, max_offset=1, max_partition_epoch=1, in_flight=1, max_leader_epoch=1)


@cache
def steps_from(state: State) -> tuple[tuple[Step, State], ...]:
    return tuple(reference.successors(small_model(), state))


@st.composite
def walks(draw: st.DrawFn, longest: int = 6) -> list[tuple[Step, State]]:
    walk = [next(reference.initial_states(small_model()))]
    for _ in range(draw(st.integers(0, longest))):
        ways = steps_from(walk[-1][1])
        if not ways:
            break
        walk.append(draw(st.sampled_from(ways)))
    return walk


@st.composite
def partial_logs(draw: st.DrawFn) -> list[Entry]:
    """A walk of which a log shows some actions and some variables, never nothing at all."""
    lines: list[Entry] = []
    for step, state in draw(walks()):
        whole = entry(small_model(), step, state)
        names = draw(st.sets(st.sampled_from(sorted(whole["state"])), max_size=3))
        line: Entry = {"state": {name: whole["state"][name] for name in names}}
        if draw(st.booleans()):
            line |= {"action": whole["action"]}
            if draw(st.booleans()):
                line |= {"arguments": whole["arguments"]}
        lines.append(line)
    return lines


@settings(max_examples=12)
@given(walks())
def test_a_walk_is_a_behaviour(walk: list[tuple[Step, State]]) -> None:
    model = small_model()
    result = judge(model, trace(model, [entry(model, *taken) for taken in walk]))
    assert result.verdict == "accepted"
    assert [at.state for at in result.run] == [state for _, state in walk]


@settings(max_examples=8)
@given(partial_logs())
def test_what_a_log_leaves_out_does_not_matter(lines: list[Entry]) -> None:
    model = small_model()
    result = judge(model, trace(model, lines))
    assert result.verdict == "accepted"
    assert is_a_run(result, lines)


@settings(max_examples=8)
@given(walks(), st.data())
def test_unseen_steps_are_found(walk: list[tuple[Step, State]], data: st.DataObject) -> None:
    model = small_model()
    kept = sorted(data.draw(st.sets(st.sampled_from(range(len(walk))), min_size=1)) | {0})
    if max((b - a for a, b in itertools.pairwise(kept)), default=1) > 3:
        return
    lines = [entry(model, *walk[index]) for index in kept]
    assert judge(model, trace(model, lines), hidden=2).verdict == "accepted"


def is_a_run(result: TraceResult, lines: list[Entry]) -> bool:
    """Whether the run that is shown is one, and shows what the lines say."""
    model = small_model()
    states = [at.state for at in result.run]
    pairs = zip(states, result.run[1:], strict=False)
    linked = all((at.step, at.state) in steps_from(before) for before, at in pairs)
    seen = dict(zip(result.seen, result.run, strict=True))
    return linked and all(shows(model, line, seen[index].step, seen[index].state) for index, line in enumerate(lines))


def shows(model: Model, line: Entry, step: Step, state: State) -> bool:
    """The oracle's own comparison, of JSON with JSON."""
    whole = entry(model, step, state)
    return (
        line.get("action", whole["action"]) == whole["action"]
        and all(whole["arguments"].get(name) == value for name, value in line.get("arguments", {}).items())
        and all(whole["state"][name] == value for name, value in line.get("state", {}).items())
    )


def longest_fitting(lines: list[Entry]) -> int:
    """How many lines some run fits, by following every run on its own."""
    model = small_model()
    best = 0
    runs = [start for start in reference.initial_states(model) if shows(model, lines[0], *start)]
    for index in range(len(lines)):
        if index:
            runs = [way for _, state in runs for way in steps_from(state) if shows(model, lines[index], *way)]
            runs = list({str(way): way for way in runs}.values())
        if not runs:
            break
        best = index + 1
    return best


@pytest.mark.slow
@settings(max_examples=25)
@given(partial_logs(), st.data())
def test_a_changed_log_is_judged_as_brute_force_does(lines: list[Entry], data: st.DataObject) -> None:
    model = small_model()
    others = data.draw(partial_logs())
    at = data.draw(st.integers(0, len(lines) - 1))
    other = data.draw(st.sampled_from(others))
    if at == 0 and other.get("action", "start") != "start":
        return
    changed = [*lines[:at], other, *lines[at + 1 :]]
    result = judge(model, trace(model, changed))
    assert result.matched == longest_fitting(changed)
    assert result.verdict == ("accepted" if result.matched == len(changed) else "rejected")
    if result.verdict == "accepted":
        assert is_a_run(result, changed)
    else:
        assert all(reason.unlike != 0 for reason in reasons(model, result))


def test_values_are_the_same_after_json() -> None:
    model = small_model()
    state = next(reference.initial_states(model))[1]
    for _ in range(6):
        for (name, kind), value in zip(model.variable_types.items(), state, strict=True):
            assert value_of(kind, json.loads(json.dumps(plain(value))), name) == value
            assert pattern(kind, plain(value), name)(value)
        state = steps_from(state)[-1][1]


# The command.


def conform(*arguments: str) -> tuple[int, str]:
    run = CliRunner().invoke(command, ["conform", *arguments], standalone_mode=False)
    if run.exception is not None:
        raise run.exception
    return int(run.return_value), run.output


def written(folder: Path, name: str, lines: list[Any]) -> str:
    path = folder / name
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return str(path)


@pytest.fixture(scope="module")
def counterexample(tmp_path_factory: pytest.TempPathFactory) -> list[Entry]:
    """What ``check --json`` writes of a known-bad design."""
    file = tmp_path_factory.mktemp("found") / "results.json"
    arguments = ["check", str(ROOT / "specs/alter_isr/core.toml"), "--only-variant", "AssumesProposedIsr"]
    CliRunner().invoke(command, [*arguments, "--json", str(file)], standalone_mode=False)
    entries: list[Entry] = json.loads(file.read_text())["results"][0]["trace"]
    return entries


def test_a_counterexample_is_a_run_of_the_flawed_design_alone(counterexample: list[Entry], tmp_path: Path) -> None:
    spec, file = str(ROOT / "specs/alter_isr/core.toml"), written(tmp_path, "found.jsonl", counterexample)
    code, said = conform(spec, "--trace", file, "--only-variant", "AssumesProposedIsr")
    assert (code, "accepted" in said) == (ExitCode.AS_EXPECTED, True)
    code, said = conform(spec, "--trace", file)
    assert code == ExitCode.NOT_AS_EXPECTED
    assert f"found.jsonl:{len(counterexample)}: no run of AlterIsr fits this line; one fits the 3 lines before" in said
    assert "it requires self.replicated_offset() > self.high_watermark, that is 0 > 0" in said
    guard = next(
        number for number, line in enumerate((ROOT / "model/alter_isr/core.py").read_text().splitlines(), 1)
        if "self.replicated_offset() > self.high_watermark" in line
    )
    assert f"model/alter_isr/core.py:{guard})" in said


def test_results_of_the_checker_are_traces(tmp_path: Path, counterexample: list[Entry]) -> None:
    results = [{"variant": "AssumesProposedIsr", "model": "m", "trace": counterexample}, {"variant": None, "trace": []}]
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"results": results}))
    code, said = conform(str(ROOT / "specs/alter_isr/core.toml"), "--trace", str(file))
    assert code == ExitCode.NOT_AS_EXPECTED
    assert "results.json (AssumesProposedIsr):4: no run of AlterIsr fits" in said
    both = [{"name": name, "variant": "AssumesProposedIsr", "trace": counterexample} for name in ("core@a", "core@b")]
    file.write_text(json.dumps({"results": both}))
    code, said = conform(str(ROOT / "specs/alter_isr/core.toml"), "--trace", str(file))
    assert "2 traces: 2 rejected" in said
    assert all(f"results.json ({it['name']} AssumesProposedIsr):4: no run" in said for it in both)
    file.write_text("{}")
    with pytest.raises(SourceError, match="is not the output of check --json"):
        conform(str(ROOT / "specs/alter_isr/core.toml"), "--trace", str(file))


@pytest.mark.parametrize(("bad", "said"), [
    ("{", "this is not JSON"),
    ("[1]", "a line is an object"),
    ('{"acton": "fill"}', "did you mean 'action'"),
    ('{"action": "fil"}', "did you mean 'fill'"),
    ('{"state": {"levle": 1}}', "did you mean 'level'"),
    ('{"state": {"level": 9}}', "level is 9, outside of 0..3"),
    ('{"state": {"level": "1"}}', "which is not a value of 0..3"),
    ('{"state": 1}', "state must be an object"),
    ('{"action": "fill", "arguments": {"by": 1}}', "takes no argument 'by'"),
    ('{"arguments": {"by": 1}}', "arguments need an action"),
    ('{"action": "fill", "skip": -1}', "skip must be"),
    ('{"action": "fill", "step": false}', "a line without a step shows a state alone"),
    ('{"skip": 1, "step": false}', "a line without a step shows a state alone"),
    ("{}", "says nothing"),
])
def test_a_malformed_line_is_reported_by_number(tmp_path: Path, bad: str, said: str) -> None:
    spec = tank_project(tmp_path) / "specs" / "tank.toml"
    file = written(tmp_path, "t.jsonl", [{"state": {"level": 0}}, "", bad])
    code, output = conform(str(spec), "--trace", file)
    assert code == ExitCode.USER_ERROR
    assert "t.jsonl:3: " in output
    assert said in output


def test_a_folder_of_traces_and_every_exit_code(tmp_path: Path) -> None:
    spec = str(tank_project(tmp_path) / "specs" / "tank.toml")
    folder = tmp_path / "traces"
    folder.mkdir()
    good = [{"action": "start"}, {"action": "fill"}, {"state": {"level": 2}}]
    for number in range(6):
        written(folder, f"good{number}.jsonl", good)
    assert conform(spec, "--trace", str(folder), "--workers", "2")[0] == ExitCode.AS_EXPECTED
    written(folder, "bad.jsonl", [{"action": "start"}, {"action": "drain"}])
    report = tmp_path / "report.json"
    code, said = conform(spec, "--trace", str(folder), "--json", str(report))
    assert code == ExitCode.NOT_AS_EXPECTED
    assert "it requires self.level > 0, that is 0 > 0" in said
    assert "7 traces: 6 accepted, 1 rejected" in said
    verdicts = {Path(it["file"]).name: it["verdict"] for it in json.loads(report.read_text())["traces"]}
    assert verdicts.pop("bad.jsonl") == "rejected"
    assert set(verdicts.values()) == {"accepted"}
    assert conform(spec, "--trace", str(folder / "good0.jsonl"), "--max-states", "1")[0] == ExitCode.UNDETERMINED
    (tmp_path / "empty").mkdir()
    assert conform(spec, "--trace", str(tmp_path / "empty"))[0] == ExitCode.NOTHING_CHECKED
    with pytest.raises(SourceError, match="no such file"):
        conform(spec, "--trace", str(tmp_path / "nowhere"))


def test_hidden_steps_may_be_allowed_for_one_line_or_for_all(tmp_path: Path) -> None:
    spec = str(tank_project(tmp_path) / "specs" / "tank.toml")
    looks = written(tmp_path, "looks.jsonl", [{"state": {"level": level}} for level in (0, 0, 3)])
    assert conform(spec, "--trace", looks)[0] == ExitCode.NOT_AS_EXPECTED
    assert conform(spec, "--trace", looks, "--hidden", "2")[0] == ExitCode.NOT_AS_EXPECTED
    assert conform(spec, "--trace", looks, "--hidden", "3")[0] == ExitCode.AS_EXPECTED
    once = written(tmp_path, "once.jsonl", [{"action": "start"}, {"action": "drain", "skip": 2, "state": {"level": 1}}])
    assert conform(spec, "--trace", once)[0] == ExitCode.AS_EXPECTED
    late = written(tmp_path, "late.jsonl", [{"state": {"level": 3}}])
    assert conform(spec, "--trace", late)[0] == ExitCode.NOT_AS_EXPECTED
    assert conform(spec, "--trace", late, "--hidden", "3")[0] == ExitCode.AS_EXPECTED
    none = written(tmp_path, "none.jsonl", [{"action": "start"}, {"action": "drain", "skip": 0}])
    assert conform(spec, "--trace", none, "--hidden", "3")[0] == ExitCode.NOT_AS_EXPECTED


def test_a_line_may_show_the_state_before_its_step_and_the_state_alone_and_name_another_line(tmp_path: Path) -> None:
    spec = str(tank_project(tmp_path) / "specs" / "tank.toml")
    lines = [
        {"action": "start", "line": 10},
        {"action": "fill", "before": {"level": 0}, "line": 20},
        {"state": {"level": 1}, "step": False, "line": 20},
        {"action": "fill", "before": {"level": 1}, "line": 30},
    ]
    report = tmp_path / "report.json"
    assert conform(spec, "--trace", written(tmp_path, "good.jsonl", lines), "--json", str(report))[0] == 0
    (judged,) = json.loads(report.read_text())["traces"]
    assert [(at["action"], at["line"]) for at in judged["run"]] == [("start", 10), ("fill", 20), ("fill", 30)]
    lines[-1]["before"] = {"level": 0}
    code, said = conform(spec, "--trace", written(tmp_path, "bad.jsonl", lines))
    assert (code, "bad.jsonl:30: no run" in said) == (ExitCode.NOT_AS_EXPECTED, True)


def test_an_initial_step_is_no_later_step(tmp_path: Path) -> None:
    spec = str(tank_project(tmp_path) / "specs" / "tank.toml")
    report = tmp_path / "report.json"
    again = written(tmp_path, "again.jsonl", [{"action": "start"}, {"action": "fill"}, {"action": "start"}])
    assert conform(spec, "--trace", again, "--json", str(report))[0] == ExitCode.NOT_AS_EXPECTED
    (judged,) = json.loads(report.read_text())["traces"]
    (reason,) = judged["reasons"]
    assert (reason["step"], reason["action"]) == ("start()", "start")
    assert reason["text"] == "begins a run, so only the first line can be about it"


def test_an_argument_that_an_action_does_not_take_is_refused_wherever_it_stands() -> None:
    model = small_model()
    whole = next(entry(model, *taken) for taken in steps_from(next(reference.initial_states(model))[1])
                 if taken[0].arguments)
    whole["arguments"] |= {"nonsense": 1}
    with pytest.raises(SourceError, match="takes no argument 'nonsense'"):
        trace(model, [{"action": "start"}, whole])


def test_a_limit_never_accepts() -> None:
    model = small_model()
    lines = trace(model, [{"action": "start"}, {"state": {"high_watermark": 1}, "skip": 9}])
    assert judge(model, lines, limits=Limits(states=2)).verdict == "undetermined"
    assert judge(model, lines, limits=Limits(seconds=0)).verdict == "undetermined"


@pytest.mark.slow
def test_spark_judges_as_one_process_does(tmp_path: Path) -> None:
    spec = str(tank_project(tmp_path) / "specs" / "tank.toml")
    for number in range(5):
        last = {"action": "drain" if number % 2 else "fill"}
        written(tmp_path, f"t{number}.jsonl", [{"action": "start"}, last])
    kept = str(tmp_path / "kept")
    alone, spark = (
        conform(spec, "--trace", str(tmp_path), *options)
        for options in (["--workers", "1"], ["--engine", "spark", "--spark", f"keep_results={kept}"])
    )
    assert alone == spark
    rows = session().read.parquet(kept)
    assert rows.groupBy("verdict").count().orderBy("verdict").collect() == [("accepted", 3), ("rejected", 2)]


class Half(Model):
    """Two choices of the initial step lead to each state, and all nodes print alike."""

    class Node(Identifier, count=2, prefix="n"):
        def __repr__(self) -> str:
            return "node"

    x: Annotated[int, Between(0, 1)]
    up: Map[Node, bool]

    @initial
    def start(self, k: Annotated[int, Between(0, 3)]) -> None:
        self.x = k // 2
        self.up = Map({node: False for node in Half.Node})

    @action
    def starts(self, node: Node) -> None:
        self.up[node] = True


@pytest.mark.parametrize("k", range(4))
def test_every_initial_step_to_a_state_is_accepted(k: int) -> None:
    line: Entry = {"action": "start", "arguments": {"k": k}}
    assert judge(Half(), trace(Half(), [line])).verdict == "accepted"
    assert judge(Half(), trace(Half(), [{**line, "state": {"x": k // 2}}])).verdict == "accepted"
    assert judge(Half(), trace(Half(), [{**line, "state": {"x": 1 - k // 2}}])).verdict == "rejected"


def test_identifiers_that_print_alike_are_known_by_their_numbers() -> None:
    model = Half()
    begun = entry(model, *next(reference.initial_states(model)))
    first, second = (entry(model, step, after) for step, after in reference.successors(
        model, next(reference.initial_states(model))[1]))
    assert first["state"]["up"] == {"n1": True, "n2": False}
    assert judge(model, trace(model, [begun, first])).verdict == "accepted"
    assert judge(model, trace(model, [begun, {**first, "state": second["state"]}])).verdict == "rejected"
    with pytest.raises(SourceError, match="available: n1, n2"):
        trace(model, [begun, {"state": {"up": {"node": True}}}])


@pytest.mark.parametrize("text", ['{"state": {"x": 1, "x": 0}}', '{"state": {"x": 1}, "state": {"x": 0}}'])
def test_a_name_that_an_object_has_twice_is_refused(text: str) -> None:
    """Python's parser keeps the last value alone, and a run that contradicts the first one would be accepted."""
    with pytest.raises(SourceError, match=r"an object has '(x|state)' twice"):
        parse(text, Half(), "trace.jsonl")
