"""Why z3 may find no end: cycles of quantifier alternations among sorts, with the lines that make them."""

from __future__ import annotations

import z3

from floodmark.checkers.project.spec import read
from floodmark.checkers.symbolic.any_size.unbounded_constants import any_size_constants
from floodmark.checkers.symbolic.tactics.alternation_cycles import Edge, cycle_lines, cycles, edges_of
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.verdict.check import Check, CheckSettings
from tests.support.any_size_protocols import SPECS, all_properties, check_of

A, B = z3.DeclareSort("A"), z3.DeclareSort("B")
HAS = z3.Function("1:has", A, B, z3.BoolSort())
OWNER = z3.Function("2:owner", B, A)
ONE, OTHER = z3.Const("one", A), z3.Const("other", B)


def pairs(statement: z3.BoolRef) -> set[tuple[str, str]]:
    return {(edge.start, edge.end) for edge in edges_of(statement, "here")}


def test_what_exists_for_each_depends_on_it() -> None:
    assert pairs(z3.ForAll([ONE], z3.Exists([OTHER], HAS(ONE, OTHER)))) == {("A", "B")}
    assert pairs(z3.Not(z3.Exists([ONE], z3.ForAll([OTHER], HAS(ONE, OTHER))))) == {("A", "B")}
    assert pairs(z3.Exists([OTHER], z3.ForAll([ONE], HAS(ONE, OTHER)))) == set()
    assert pairs(z3.ForAll([ONE, OTHER], HAS(ONE, OTHER))) == set()


def test_both_sides_of_an_equivalence_are_looked_at() -> None:
    said = z3.ForAll([ONE], HAS(ONE, z3.Const("it", B)) == z3.ForAll([OTHER], HAS(ONE, OTHER)))
    assert pairs(said) == {("A", "B")}


def test_a_function_of_everything_is_an_edge_and_a_function_of_a_constant_is_none() -> None:
    it = z3.Const("it", B)
    assert pairs(z3.ForAll([OTHER], HAS(OWNER(OTHER), it))) == {("B", "A")}
    assert pairs(z3.ForAll([ONE], z3.Implies(HAS(ONE, it), HAS(OWNER(it), it)))) == set()


def test_every_part_of_a_statement_is_looked_at_with_its_own_sign() -> None:
    it, first = z3.Const("it", B), z3.Const("first", A)
    assert pairs(z3.ForAll([ONE], z3.And(HAS(ONE, it), z3.Exists([OTHER], HAS(ONE, OTHER))))) == {("A", "B")}
    assert pairs(z3.ForAll([ONE], z3.Or(HAS(ONE, it), z3.ForAll([OTHER], HAS(ONE, OTHER))))) == set()
    chosen = z3.If(z3.Exists([OTHER], HAS(ONE, OTHER)), ONE, first)
    assert ("A", "B") in pairs(z3.ForAll([ONE], HAS(chosen, it)))


def test_the_shortest_cycles_are_found_and_none_where_sorts_are_stratified() -> None:
    edges = [Edge(start, end, "by", "here") for start, end in ("AB", "BC", "CA", "BA", "CD")]
    assert cycles(edges) == [["A", "B"], ["A", "B", "C"]]
    assert cycles([Edge(start, end, "by", "here") for start, end in ("AB", "BC", "AC")]) == []


def test_two_phase_commit_has_no_cycle() -> None:
    model, properties = all_properties(check_of("specs/examples/two_phase_commit.toml"))
    system = system_of(model, properties, any_size_constants(model)[0], any_size=True)
    assert cycle_lines(system, properties, "manager_prepares", "consistent") == []


def test_a_majority_of_each_leader_is_a_cycle_with_the_lines_of_lemmas_and_laws() -> None:
    spec = read(SPECS / "kraft" / "quorum.toml")
    (proving,) = (it for it in spec.prove if it.any_size)
    model, properties = all_properties(Check(spec, None, CheckSettings(constants=dict(proving.constants))))
    chosen = [it for it in properties if it.name in ("the_election_is_over", "only_candidates_hold_votes")]
    system = system_of(model, chosen, any_size_constants(model)[0], any_size=True)
    lines = cycle_lines(system, chosen, "election_timeout", "only_candidates_hold_votes")
    assert "instantiation may not terminate: Replica -> Set[Replica] -> Replica" in lines
    assert any("the_election_is_over (invariants/kraft/quorum_lemmas.py:" in line for line in lines)
    assert any("in a law about the size of Set[Replica]" in line for line in lines)
