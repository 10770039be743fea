"""Tests of the text of TLA+: what statements, loops and parts that may fail become.

TLC is not needed: a text is right if somebody who reads it and the model says so.
"""

from __future__ import annotations

from typing import Annotated

from floodmark import Capacity, Constant, Map, Model, Seq, Set, action, initial, invariant, require
from floodmark.checkers.export.tla_values import conj, disj, negated
from tests.commands.test_export import as_tla
from tests.support.export_models import Bags, Cut, Low, Server, Small


def defined(cls: type[Model], name: str) -> list[str]:
    """The lines of a definition in the module of a model, without the first."""
    _, found, rest = as_tla(cls).text.partition(f"\n{name} ==")
    assert found, name
    return [line.strip() for line in rest.partition("\n\n")[0].splitlines() if line.strip()]


class Counts(Model):
    """Conditions, and a loop that carries two local variables and two of the state."""

    servers = Constant(2)
    told: Set[Server] = Set()
    odd: Small = 0
    even: Small = 0

    @action
    def counts(self, by: Low) -> None:
        self.odd = self.counted(by)
        if by == 2:
            self.told = Set()

    def counted(self, by: Low) -> int:
        here = 0
        there = 0
        for server in Server:
            if server in self.told:
                here = min(3, here + by)
                self.even = here
            else:
                there = min(3, there + by)
                self.odd = there
        return max(here, there)


def test_a_loop_carries_each_variable_that_it_assigns_and_a_condition_its_two_branches() -> None:
    loop, out, *rest = defined(Counts, "counts(by)")
    _, turn = loop.split(" THEN so_far ELSE ")
    assert turn == (
        "LET server == Head(rest) IN "
        "LET here == IF server \\in told THEN Least({3, so_far.here + by}) ELSE so_far.here "
        "there == IF ~(server \\in told) THEN Least({3, so_far.there + by}) ELSE so_far.there IN "
        'loop([ended |-> "", here |-> here, there |-> there, '
        "new_odd |-> (IF ~(server \\in told) THEN there ELSE so_far.new_odd), "
        "new_even |-> (IF server \\in told THEN here ELSE so_far.new_even)], Tail(rest))"
    )
    begins = 'ended |-> "", here |-> 0, there |-> 0, new_odd |-> odd, new_even |-> even'
    assert out == f"out == loop([{begins}], Server_in_order)"
    assert rest == [
        "IN  /\\ told' = (IF by = 2 THEN {} ELSE told)",
        "/\\ odd' = Greatest({out.here, out.there})",
        "/\\ even' = out.new_even",
        "/\\ UNCHANGED <<failure>>",
    ]


class Renamed(Model):
    """A local variable and one of the state whose names would meet."""

    a_2: Small = 0
    LET: Small = 0
    größe: Small = 0

    @action
    def counts(self) -> None:
        new_a = 0
        for number in range(2):
            new_a = min(3, new_a + number)
            self.a_2 = min(3, self.a_2 + new_a)
            self.LET = self.a_2
            self.größe = new_a


def test_what_a_loop_carries_has_names_of_its_own() -> None:
    _, out, *rest = defined(Renamed, "counts")
    carried = 'ended |-> "", new_a |-> 0, new_a_2 |-> a_2, new_LET |-> LET_2, new_gr__e |-> gr__e'
    assert out.startswith(f"out == loop([{carried}], ")
    assert rest[:-1] == ["IN  /\\ a_2' = out.new_a_2", "/\\ LET_2' = out.new_LET", "/\\ gr__e' = out.new_gr__e"]
    assert as_tla(Renamed).text.isascii()


class Two(Model):
    """It begins in two states."""

    up: bool

    @initial
    def start(self, up: bool) -> None:
        self.up = up

    @action
    def turns(self) -> None:
        self.up = not self.up


def test_a_run_begins_in_either_of_two_states() -> None:
    assert defined(Two, "Init") == ["/\\ \\/ /\\ up = FALSE", "\\/ /\\ up = TRUE", '/\\ failure = ""']


class Fallible(Model):
    """Parts that have no value in some states."""

    servers = Constant(2)
    row: Annotated[Seq[Small], Capacity(2)] = Seq()
    some: Set[Small] = Set()
    groups: Map[Server, Set[Server]]
    teams: Annotated[Set[Set[Server]], Capacity(2)] = Set()
    all_of: Set[Server] = Set()

    @initial
    def start(self) -> None:
        self.groups = Map({server: Set({server}) for server in Server})

    @action
    def takes_late(self, value: Small) -> None:
        require(self.row[0] == 1)
        require(value in self.some)
        self.some.remove(value)

    @action
    def takes(self, value: Small) -> None:
        require(value in self.some)
        require(self.row[0] == 1)
        self.some.remove(value)

    @action
    def joins(self) -> None:
        self.all_of = Set({other for server in Server for other in self.groups[server]})

    @action
    def joins_teams(self) -> None:
        self.all_of = Set({server for team in self.teams if len(team) > 1 for server in team})

    @invariant
    def one_is_small(self) -> bool:
        return any(self.row[i] < 3 for i in range(2) if i != 1)

    @invariant
    def all_are_small(self) -> bool:
        return all(self.row[i] < 3 for i in range(2))

    @invariant
    def sums_are_small(self) -> bool:
        return sum(1 for _ in Server) + sum(i for i in range(3)) + sum(self.row) < 99


def test_a_parameter_is_drawn_from_a_set_only_if_no_guard_before_may_fail() -> None:
    assert defined(Fallible, "Next")[:2] == [
        "\\/ \\E value \\in 0..3 : takes_late(value)", "\\/ \\E value \\in some : takes(value)",
    ]


def test_a_comprehension_goes_through_each_of_its_generators() -> None:
    assert defined(Fallible, "joins")[0] == "/\\ /\\ all_of' = (UNION {groups[server] : server \\in Server})"
    assert "UNION {IF Cardinality(team) > 1 THEN team ELSE {} : team \\in teams}" in defined(Fallible, "joins_teams")[0]


def invariant_of(name: str) -> str:
    return as_tla(Fallible).text.partition(f"\n{name} == ")[2].partition("\n")[0]


SEQ = "LET seq == [n \\in 1..(2 - 0) |-> 0 + (n - 1) * 1] IN "
OUTSIDE = "~(i \\in (-Len(row))..(Len(row) - 1))"


def test_any_and_all_are_decided_before_what_would_fail() -> None:
    of_j, of_i = "LET i == seq[j] IN ", "LET i == seq[i_2] IN "
    undecided = f"(\\A j \\in 1..(i_2 - 1) : {of_j}~((i # 1) /\\ (At(row, i) < 3)))"
    assert invariant_of("one_is_small") == (
        f"({SEQ}~(\\E i_2 \\in DOMAIN seq : {undecided} /\\ ({of_i}(i # 1) /\\ ({OUTSIDE})))) /\\ "
        f"({SEQ}\\E i_2 \\in DOMAIN seq : {of_i}(i # 1) /\\ (At(row, i) < 3))"
    )
    undecided = f"(\\A j \\in 1..(i_2 - 1) : {of_j}At(row, i) < 3)"
    assert invariant_of("all_are_small") == (
        f"({SEQ}~(\\E i_2 \\in DOMAIN seq : {undecided} /\\ ({of_i}{OUTSIDE}))) /\\ "
        f"({SEQ}~(\\E i_2 \\in DOMAIN seq : {of_i}~(At(row, i) < 3)))"
    )


def test_a_sum_counts_what_is_there_more_than_once_as_often() -> None:
    assert invariant_of("sums_are_small") == (
        "((Cardinality(Server) + Sum([i \\in 0..(3 - 1) |-> i])) + "
        "Sum([i_2 \\in DOMAIN row |-> LET item == row[i_2] IN item])) < 99"
    )


def test_an_item_is_looked_for_in_a_set_of_its_own_type() -> None:
    assert "IF server \\in few THEN few \\ {server} ELSE {server}" in as_tla(Bags).text


def test_what_always_has_a_value_is_no_invariant_of_its_own() -> None:
    assert "Defined" not in as_tla(Cut).text


def test_a_chain_is_what_decides_it() -> None:
    assert (conj(["a", "FALSE"]), disj(["TRUE", "a"])) == ("FALSE", "TRUE")
    assert (conj(["a", "TRUE", "a"]), disj([])) == ("a", "FALSE")
    assert conj(["a", "b c"]) == "a /\\ (b c)"


def test_two_negations_are_none() -> None:
    assert (negated("~a"), negated("~(a b)"), negated("a b")) == ("a", "a b", "~(a b)")
    assert negated("~(a b) /\\ (c d)") == "~(~(a b) /\\ (c d))"
