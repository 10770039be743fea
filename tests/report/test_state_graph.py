"""Tests state graphs: they have as many nodes and edges as the search counts, and contain the counterexample."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx

from floodmark.checkers.report.state_graph import WHOLE, check_to_draw, dot, graphml, state_graph
from floodmark.checkers.value_text import show_step
from floodmark.checkers.verdict.check import CheckSettings
from floodmark.checkers.verdict.result import CheckResult
from tests.support.outcomes import check, inside, tank

ROOT = Path(__file__).parents[2]


@cache
def two_phase_commit() -> list[CheckResult]:
    with inside(ROOT):
        return check(Path("specs/examples/two_phase_commit.toml"))


@cache
def core() -> CheckResult:
    with inside(ROOT):
        (result,) = check(
            Path("specs/alter_isr/core.toml"), CheckSettings(workers=1, only_variant="AcceptsAnyPartitionEpoch")
        )
        return result


def read_back(result: CheckResult) -> Any:
    """The graph as another program reads it."""
    text = graphml(state_graph(result))
    return networkx.read_graphml(io.BytesIO(text.encode()), node_type=int, force_multigraph=True)


def test_a_small_graph_is_whole() -> None:
    result = two_phase_commit()[0]
    assert result.search_result is not None
    graph = read_back(result)
    assert graph.graph["whole"]
    assert graph.number_of_nodes() == result.search_result.distinct == 288
    assert graph.number_of_edges() == result.search_result.generated - 1
    levels = networkx.single_source_shortest_path_length(graph, 0)
    assert {node: facts["level"] for node, facts in graph.nodes(data=True)} == levels
    assert max(levels.values()) + 1 == result.search_result.depth


def path_of(graph: Any) -> list[int]:
    steps = {facts["trace"]: node for node, facts in graph.nodes(data=True) if "trace" in facts}
    return [steps[number] for number in sorted(steps)]


def test_the_counterexample_is_a_path_whose_edges_are_its_steps() -> None:
    for result in (two_phase_commit()[1], core()):
        assert result.violation is not None
        graph = read_back(result)
        path = path_of(graph)
        assert len(path) == len(result.violation.trace)
        for (start, end), entry in zip(pairwise(path), result.violation.trace[1:], strict=True):
            marked = [facts["label"] for facts in graph.get_edge_data(start, end).values() if "trace" in facts]
            assert marked == [show_step(entry.step)]


def test_of_a_large_graph_the_neighbourhood_is_drawn() -> None:
    result = core()
    assert result.violation is not None
    graph = read_back(result)
    assert not graph.graph["whole"]
    assert len(result.violation.trace) < graph.number_of_nodes() <= WHOLE
    near = set(path_of(graph))
    assert all(near & {node, *graph.predecessors(node)} for node in graph)


def test_dot_has_the_same_nodes_and_edges() -> None:
    graph = state_graph(two_phase_commit()[1])
    text = dot(graph)
    string = r'"(?:[^"\\]|\\.)*"'
    nodes = re.findall(rf"^  (\d+) \[label={string}(, penwidth=3, color=firebrick)?\];$", text, re.MULTILINE)
    edges = re.findall(rf"^  (\d+) -> (\d+) \[label={string}(?:, penwidth=3, color=firebrick)?\];$", text, re.MULTILINE)
    assert [int(node) for node, _ in nodes] == list(graph)
    assert [(int(start), int(end)) for start, end in edges] == list(graph.edges())
    assert sum(bool(bold) for _, bold in nodes) == len(path_of(graph))
    assert len(text.splitlines()) == len(nodes) + len(edges) + 4


def test_quotes_and_lines_stay_inside_of_a_label() -> None:
    graph: networkx.MultiDiGraph[int] = networkx.MultiDiGraph(title='a "b"\\c', whole=True)
    graph.add_node(0, **{"state.x": '"\n\\'})
    assert '  label="a \\"b\\"\\\\c";' in dot(graph).splitlines()
    assert '  0 [label="x: \\"\\l\\\\\\l"];' in dot(graph).splitlines()


def test_the_unexpected_counterexample_is_drawn(tmp_path: Path) -> None:
    with inside(tmp_path):
        results = check(tank(tmp_path) / "specs/tank.toml")
    assert check_to_draw(results) is results[0]
    assert check_to_draw([*two_phase_commit(), results[0]]) is results[0]
    assert check_to_draw(two_phase_commit()) is two_phase_commit()[1]
    assert check_to_draw(two_phase_commit()[:1]) is two_phase_commit()[0]
    assert check_to_draw([]) is None
    missed = replace(two_phase_commit()[0], expected=False)  # unexpected, and without a counterexample
    assert check_to_draw([missed, two_phase_commit()[1]]) is two_phase_commit()[1]
