"""Liveness as a user meets it: fairness and bounds in models and specs, verdicts, and what is said of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import pytest

from floodmark import (
    Bag,
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    ModelError,
    Record,
    Set,
    SourceError,
    action,
    always_eventually,
    boundary,
    eventually,
    eventually_always,
    fair,
    initial,
    leads_to,
    recoverable,
    require,
    rule,
    unfair,
)
from floodmark.checkers import reference
from floodmark.checkers.check import Settings, checks
from floodmark.checkers.exploration import Exploration, Finding, Limits, Options
from floodmark.checkers.liveness.assumptions import assumptions_of
from floodmark.checkers.native import search as native
from floodmark.checkers.properties import collect
from floodmark.checkers.report import itf as itf_report
from floodmark.checkers.report import json as json_report
from floodmark.checkers.report import replay, text
from floodmark.checkers.report.listing import description
from floodmark.checkers.run import run_check
from floodmark.checkers.spark import search as spark_search
from floodmark.checkers.spec import read
from floodmark.language.bounding import beyond_bounds
from floodmark.language.fairness import Fairness, declared_fairness

ALONE = Options(workers=1)
ENGINES: dict[str, Callable[..., Exploration]] = {"native": native.explore, "reference": reference.explore}


def found(cls: type[Model], options: Options = ALONE) -> Exploration:
    """What the engines find, which have to agree."""
    properties = list(collect(cls, []).values())
    by = {name: explore(cls(), properties, options) for name, explore in ENGINES.items()}
    seen = [[(it.name, it.verdict, it.bounds, it.needs, it.loop) for it in each.liveness] for each in by.values()]
    assert seen[0] == seen[1]
    return by["native"]


def only(cls: type[Model]) -> Finding:
    [finding] = found(cls).liveness
    return finding


class Node(Identifier, count="nodes", prefix="n"):
    """Who may work."""


class Work(Model):
    """Nodes work, each for itself, and some have to."""

    nodes = Constant(2)
    done: Set[Node] = Set()

    @fair(each="node")
    @action
    def works(self, node: Node) -> None:
        require(node not in self.done)
        self.done.add(node)

    @action
    def forgets(self, node: Node) -> None:
        require(node in self.done)
        self.done.discard(node)

    @always_eventually
    def each_works(self, node: Node) -> bool:
        return node in self.done


class WorksTogether(Work):
    """Somebody has to work, whoever it is."""

    @fair
    @action
    def works(self, node: Node) -> None:
        require(node not in self.done)
        self.done.add(node)


class Idles(Work):
    """Nobody has to work."""

    @unfair
    @action
    def works(self, node: Node) -> None:
        require(node not in self.done)
        self.done.add(node)


# Fairness, where it is said.


def test_an_override_is_as_fair_as_what_it_overrides() -> None:
    class Quiet(Work):
        def works(self, node: Node) -> None:
            super().works(node)

    assert declared_fairness(Quiet) == {"works": Fairness(False, ("node",))}
    assert declared_fairness(Idles) == {}
    assert declared_fairness(WorksTogether) == {"works": Fairness()}


def test_each_node_by_itself_or_together() -> None:
    assert [it.verdict for it in found(Work).liveness] == ["holds", "holds"]
    assert [it.name for it in found(Work).liveness] == ["each_works(node=n1)", "each_works(node=n2)"]
    assert [it.verdict for it in found(WorksTogether).liveness] == ["violated", "violated"]
    assert [it.verdict for it in found(Idles).liveness] == ["violated", "violated"]


def test_a_spec_adds_and_drops_fairness() -> None:
    added = Options(workers=1, fairness={"works": Fairness(False, ("node",))})
    dropped = Options(workers=1, fairness={"works": None})
    assert [it.verdict for it in found(Idles, added).liveness] == ["holds", "holds"]
    assert [it.verdict for it in found(Work, dropped).liveness] == ["violated", "violated"]


def test_what_is_called_fair_is_an_action() -> None:
    class Rules(Work):
        @fair
        @rule
        def idle(self) -> bool:
            return True

    with pytest.raises(ModelError, match="idle is no action, and only actions are fair"):
        assumptions_of(Rules())


def test_each_names_a_parameter() -> None:
    class Elsewhere(Work):
        @fair(each="broker")
        @action
        def rests(self, node: Node) -> None:
            require(node in self.done)

    with pytest.raises(ModelError, match="rests is fair for each broker, which is no parameter of it; it has node"):
        assumptions_of(Elsewhere())


def test_fairness_is_said_once() -> None:
    with pytest.raises(ModelError, match="is called fair or unfair twice"):

        class Twice(Work):
            @fair
            @unfair
            @action
            def rests(self) -> None:
                require(len(self.done) == 0)


class Colour(Enum):
    """What a letter may be."""

    RED = 0
    GREEN = 1


class Letter(Record):
    """What is on its way."""

    colour: Colour
    to: Node | None
    weight: Annotated[int, Between(-1, 0)]


class Post(Model):
    """Letters of many kinds; each is delivered some day if each is treated fairly."""

    nodes = Constant(2)
    sacks: Annotated[Bag[Letter], Capacity(2)] = Bag()
    wide: Map[Annotated[int, Between(0, 9)], Annotated[int, Between(0, 1023)]]
    sent: Annotated[int, Between(0, 2)] = 0

    @initial
    def start(self) -> None:
        self.wide = Map({place: 1000 + place for place in range(10)})

    @action
    def sends(self, colour: Colour, to: Node | None, weight: Annotated[int, Between(-1, 0)]) -> None:
        letter = Letter(colour=colour, to=to, weight=weight)
        require(len(self.sacks) < 2 and self.sent < 2 and letter not in self.sacks)
        self.sacks.add(letter)
        self.sent += 1

    @fair(each="letter")
    @action
    def delivers(self, letter: Letter, twice: bool) -> None:
        require(letter in self.sacks and not twice)
        self.sacks.remove(letter)
        self.sent -= 1

    @leads_to
    def letter_arrives(self, to: Node) -> tuple[bool, bool]:
        waits = Letter(colour=Colour.GREEN, to=to, weight=-1) in self.sacks
        return waits, not waits


class LosesCount(Post):
    """Only some letter has to be delivered."""

    @fair
    @action
    def delivers(self, letter: Letter, twice: bool) -> None:
        super().delivers(letter, twice)


def test_each_letter_is_treated_fairly_whatever_it_is_made_of() -> None:
    assert {it.verdict for it in found(Post).liveness} == {"holds"}
    assert {it.needs for it in found(Post).liveness} == {("delivers weakly fair for each letter",)}
    assert {it.verdict for it in found(LosesCount).liveness} == {"violated"}


# What a property says.


def test_a_pair_is_returned_as_a_pair() -> None:
    class Whole(Work):
        @leads_to
        def pair(self) -> tuple[bool, bool]:
            both = len(self.done) == 0, len(self.done) == 2
            return both  # noqa: RET504 - what is refused

    with pytest.raises(ModelError, match="has to return a pair: return premise, goal"):
        native.explore(Whole(), list(collect(Whole, []).values()), Options(workers=1))


def test_a_premise_that_is_never_true_is_reported() -> None:
    class Never(Work):
        @leads_to
        def three_lead_to_none(self) -> tuple[bool, bool]:
            return len(self.done) == 3, len(self.done) == 0

    assert [premise.property for premise in found(Never).vacuous] == ["three_lead_to_none"]


def test_a_condition_that_fails_is_an_error_at_its_line() -> None:
    class Fails(Work):
        counts: Map[Annotated[int, Between(0, 1)], bool]

        @initial
        def start(self) -> None:
            self.counts = Map({0: False, 1: False})

        @eventually
        def beyond(self) -> bool:
            return self.counts[len(self.done)]

    for explore in ENGINES.values():
        with pytest.raises(SourceError) as caught:
            explore(Fails(), list(collect(Fails, []).values()), Options(workers=1))
        assert caught.value.line is not None


def test_symmetry_is_refused() -> None:
    for explore in ENGINES.values():
        with pytest.raises(ModelError, match="a run of orbits need not be one of the model"):
            explore(Work(), list(collect(Work, []).values()), Options(workers=1, symmetry=True))


def test_a_search_that_a_limit_ends_says_nothing_of_runs() -> None:
    for explore in ENGINES.values():
        result = explore(Work(), list(collect(Work, []).values()), Options(workers=1, limits=Limits(states=1)))
        assert not result.complete
        assert result.liveness == []


def test_a_search_that_memory_ends_while_edges_are_made_is_not_complete() -> None:
    result = native.explore(Work(), list(collect(Work, []).values()), Options(workers=1, limits=Limits(seconds=1e-9)))
    assert not result.complete
    assert "limit" in result.stopped


def test_a_search_that_stays_out_of_spark_is_judged_as_natively() -> None:
    result = spark_search.explore(Work(), list(collect(Work, []).values()), ALONE)
    assert [it.verdict for it in result.liveness] == ["holds", "holds"]


def test_the_smallest_fairness_is_found_and_the_rest_is_told() -> None:
    class TooMuch(Work):
        @fair
        @action
        def forgets(self, node: Node) -> None:
            require(node in self.done)
            self.done.discard(node)

    result = found(TooMuch)
    assert {it.needs for it in result.liveness} == {("works weakly fair for each node",)}
    from floodmark.checkers.report.liveness import superfluous_lines

    assert superfluous_lines(result) == ["no property needs that forgets is weakly fair"]


# Bounds.

Term = Annotated[int, Between(0, "max_term")]


class Elections(Model):
    """An election fails or succeeds, and each takes a term; without a bound on terms one succeeds some day."""

    max_term = Constant(3, bound=True)
    term: Term = 0
    leader: bool = False

    def has_room(self) -> bool:
        return self.term < self.max_term

    @fair
    @action
    def election_fails(self) -> None:
        require(not self.leader and self.has_room())
        self.term += 1

    @fair(strong=True)
    @action
    def election_succeeds(self) -> None:
        require(not self.leader)
        require(self.has_room())
        self.term += 1
        self.leader = True

    @eventually
    def has_leader(self) -> bool:
        return self.leader

    @recoverable
    def may_have_leader(self) -> bool:
        return self.leader


def test_a_bound_that_ends_runs_leaves_it_open() -> None:
    by_name = {it.property: it for it in found(Elections).liveness}
    assert {it.verdict for it in by_name.values()} == {"undetermined"}
    assert by_name["has_leader"].bounds == ("max_term",)
    assert by_name["has_leader"].trace[-1].state == (3, False)


def test_a_constant_that_is_no_bound_ends_runs_for_good() -> None:
    class Limited(Elections):
        max_term = Constant(3)

    assert {it.verdict for it in found(Limited).liveness} == {"violated"}


def test_a_loop_within_the_bounds_is_a_violation_whatever_lies_beyond() -> None:
    class Abdicates(Elections):
        @action
        def hides(self) -> None:
            """A leader is lost and the term with it: a loop far from the bound."""
            require(self.term == 1 and not self.leader)
            self.term = 0

        @unfair
        @action
        def election_succeeds(self) -> None:
            require(not self.leader and self.has_room())
            self.term += 1
            self.leader = True

    by_name = {it.property: it for it in found(Abdicates).liveness}
    assert by_name["has_leader"].verdict == "violated"
    assert by_name["has_leader"].bounds == ()


def test_a_boundary_is_a_bound() -> None:
    class Bounded(Model):
        count: Annotated[int, Between(0, 9)] = 0

        @boundary
        def small(self) -> bool:
            return self.count < 3

        @fair
        @action
        def counts(self) -> None:
            self.count += 1

        @eventually
        def counts_to_five(self) -> bool:
            return self.count == 5

    assert only(Bounded).verdict == "undetermined"
    assert only(Bounded).bounds == ("small",)


def test_a_number_that_stops_at_a_bound_goes_on_beyond() -> None:
    class Clock(Model):
        horizon = Constant(3, bound=True)
        time: Annotated[int, Between(0, "horizon")] = 0
        rang: bool = False

        @fair
        @action
        def ticks(self) -> None:
            self.time = min(self.time + 1, self.horizon)

        @fair
        @action
        def rings(self) -> None:
            require(self.time == 9)
            self.rang = True

        @eventually
        def has_rung(self) -> bool:
            return self.rang

    assert only(Clock).verdict == "undetermined"


def test_a_step_that_a_bound_steers_is_no_proof() -> None:
    """Beyond the bound the clock would not go round, so this loop is none there."""

    class Wraps(Model):
        horizon = Constant(3, bound=True)
        time: Annotated[int, Between(0, "horizon")] = 0

        @fair
        @action
        def ticks(self) -> None:
            self.time = 0 if self.time == self.horizon else self.time + 1

        @eventually
        def late(self) -> bool:
            return self.time == 9

    assert only(Wraps).verdict == "undetermined"


def test_a_step_that_larger_bounds_may_steer_elsewhere_is_no_proof() -> None:
    """One more would not change where the clock goes; six more would."""

    class Wraps(Model):
        horizon = Constant(3, bound=True)
        time: Annotated[int, Between(0, 2)] = 0

        @fair
        @action
        def ticks(self) -> None:
            self.time = 0 if self.time == 2 or self.horizon > 8 else self.time + 1

        @eventually
        def late(self) -> bool:
            return self.time == 9

    assert only(Wraps).verdict == "undetermined"


def test_a_way_that_a_bound_steers_leads_to_no_proof() -> None:
    """The stall is not the bound's matter; that the run comes there is."""

    class Falls(Model):
        horizon = Constant(3, bound=True)
        fallen: bool = False

        @action
        def falls(self) -> None:
            self.fallen = self.horizon < 9

        @always_eventually
        def stands(self) -> bool:
            return not self.fallen

    assert only(Falls).verdict == "undetermined"


def test_a_guard_that_waits_for_a_bound_opens_no_way() -> None:
    """The last step is taken at the bound alone: a run that takes it is no run with a larger one."""

    class GivesUp(Model):
        most = Constant(2, bound=True)
        tries: Annotated[int, Between(0, "most")] = 0
        given_up: bool = False

        @fair
        @action
        def tries_again(self) -> None:
            require(not self.given_up and self.tries < self.most)
            self.tries += 1

        @fair
        @action
        def gives_up(self) -> None:
            require(self.tries == self.most)
            self.given_up = True

        @eventually_always
        def goes_on(self) -> bool:
            return not self.given_up

    assert only(GivesUp).verdict == "undetermined"


def test_a_parameter_that_a_bound_limits_has_more_choices_beyond() -> None:
    class Jumps(Model):
        furthest = Constant(2, bound=True)
        here: Annotated[int, Between(0, "furthest")] = 0

        @fair
        @action
        def jumps(self, to: Annotated[int, Between(0, "furthest")]) -> None:
            require(to > self.here)
            self.here = to

        @eventually
        def is_far(self) -> bool:
            return self.here > 7

    assert only(Jumps).verdict == "undetermined"


def test_a_choice_that_only_a_larger_bound_has_is_fair_too() -> None:
    """The loop takes every choice that there is; the next one is never taken, and beyond the bound it could be."""

    class Rounds(Model):
        furthest = Constant(2, bound=True)
        here: Annotated[int, Between(0, "furthest")] = 0

        @fair(each="to")
        @action
        def goes(self, to: Annotated[int, Between(0, "furthest")]) -> None:
            require(to != self.here)
            self.here = to

        @eventually
        def is_far(self) -> bool:
            return self.here > 2

    assert only(Rounds).verdict == "undetermined"


def test_a_number_that_begins_at_its_bound_goes_on_beyond() -> None:
    """No step is taken here: that none changes anything is the bound's doing."""

    class Late(Model):
        horizon = Constant(3, bound=True)
        time: Annotated[int, Between(0, 9)] = 3

        @fair
        @action
        def ticks(self) -> None:
            self.time = min(self.time + 1, self.horizon)

        @eventually
        def is_late(self) -> bool:
            return self.time == 9

    assert only(Late).verdict == "undetermined"


def test_a_step_that_counts_what_a_bound_makes_is_another_beyond_it() -> None:
    class Counts(Model):
        most = Constant(2, bound=True)
        marks: Map[Annotated[int, Between(0, "most")], bool]
        total: Annotated[int, Between(0, 9)] = 0

        @initial
        def start(self) -> None:
            self.marks = Map({place: False for place in range(self.most + 1)})

        @fair
        @action
        def counts(self) -> None:
            self.total = sum(1 for marked in self.marks.values() if not marked)

        @eventually
        def are_many(self) -> bool:
            return self.total > 6

    assert only(Counts).verdict == "undetermined"


def test_a_require_behind_the_guards_may_name_a_bound() -> None:
    class Late(Model):
        most = Constant(2, bound=True)
        count: Annotated[int, Between(0, "most")] = 0

        @fair
        @action
        def counts(self) -> None:
            further = self.count + 1
            require(further <= self.most)
            self.count = further

        @eventually
        def has_counted(self) -> bool:
            return self.count > 7

    assert only(Late).verdict == "undetermined"


def test_what_a_bound_does_not_touch_is_decided() -> None:
    """Who waits for nothing that is bounded starves for good."""

    class Two(Elections):
        @fair
        @action
        def resigns(self) -> None:
            require(self.leader and self.term > 5)
            self.leader = False

        @always_eventually
        def resigns_again(self) -> bool:
            return not self.leader

    by_name = {it.property: it for it in found(Two).liveness}
    assert by_name["resigns_again"].verdict == "violated"


def test_a_bound_is_no_number_of_identifiers() -> None:
    class Counted(Work):
        nodes = Constant(2, bound=True)

    with pytest.raises(ModelError, match="nodes says how many of Node there are, so it is no bound"):
        beyond_bounds(Counted())


# What is said.

SPEC = 'model = "{file}:{name}"\n'


def outcome(tmp_path: Path, name: str, more: str = "") -> Any:
    spec = tmp_path / "it.toml"
    spec.write_text(SPEC.format(file=__file__, name=name) + more)
    return run_check(checks(read(spec), Settings(workers=1))[0])


def test_an_open_property_is_undetermined_because_of_its_bound(tmp_path: Path) -> None:
    result = outcome(tmp_path, "Elections")
    assert (result.verdict, result.exit_code) == ("undetermined", 3)
    lines = text.lines(result)
    assert "the bound max_term ends the run" in lines[0]
    assert any("has_leader is undetermined (the bound max_term ends the run)" in line for line in lines)


def test_a_violated_property_is_shown_with_its_loop(tmp_path: Path) -> None:
    result = outcome(tmp_path, "WorksTogether")
    assert result.verdict == "violated"
    said = "\n".join(text.lines(result))
    assert "for node=n1: steps 2 to 3 can be repeated for ever" in said
    assert "after step 3: steps 2 to 3 can be repeated for ever" in said
    assert "works weakly fair: taken at step 2" in said


def test_a_spec_says_what_is_fair(tmp_path: Path) -> None:
    assert outcome(tmp_path, "Idles", '[fairness]\nworks = { each = "node" }\n').verdict == "holds"
    assert outcome(tmp_path, "Work", '[fairness]\nworks = "none"\n').verdict == "violated"
    assert outcome(tmp_path, "Idles", '[fairness]\nworks = "strong"\n').verdict == "violated"
    wrong = outcome(tmp_path, "Work", '[fairness]\nwork = "weak"\n')
    assert (wrong.verdict, wrong.line) == ("error", 3)
    assert "there is no action 'work'; did you mean 'works'?" in wrong.message


def test_show_says_what_is_fair(tmp_path: Path) -> None:
    spec = tmp_path / "it.toml"
    spec.write_text(SPEC.format(file=__file__, name="Work") + '[fairness]\nforgets = "strong"\n')
    [check] = checks(read(spec), Settings())
    said = list(description(check))
    at = said.index("fairness")
    assert said[at + 1 : at + 3] == ["  works weakly fair for each node", "  forgets strongly fair"]
    assert any(line.startswith("  each_works (always_eventually)") for line in said)


def test_reports_know_lassos(tmp_path: Path) -> None:
    result = outcome(tmp_path, "WorksTogether")
    [entry] = json.loads(json_report.document([result]))["results"]
    assert entry["loop"] == 0
    assert entry["liveness"][0]["fair"] == [{"assumption": "works weakly fair", "why": "taken at step 2"}]
    assert json.loads(itf_report.itf(result))["loop"] == 0
    source = replay.test_module([result])
    assert "assert model.snapshot() == before" in source
    names: dict[str, Any] = {}
    exec(compile(source, "<test>", "exec"), names)
    names["test_works_together_breaks_each_works"]()


# Answers that the literature gives.

EXAMPLES = Path("specs/examples")


def example(name: str, variant: str | None = None) -> Exploration:
    for check in checks(read(EXAMPLES / f"{name}.toml"), Settings(workers=1)):
        if (check.flawed and check.flawed.name) == variant:
            result = run_check(check)
            assert result.exploration is not None, result.message
            return result.exploration
    raise AssertionError(name)


def needs(name: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for finding in example(name).liveness:
        assert finding.verdict == "holds"
        found.setdefault(finding.property, set()).update(finding.needs)
    return found


def each(kind: str, *actions: str) -> set[str]:
    return {f"{action} weakly fair for each {kind}" for action in actions}


def test_peterson_starves_nobody() -> None:
    assert needs("peterson") == {"who_wants_to_enter_does": each("process", "gives_way", "enters", "leaves")}
    stays = example("peterson", "StaysInside").violations[0]
    assert (len(stays.trace), stays.loop) == (6, 5)


def test_dekker_starves_nobody() -> None:
    wanted = each("process", "enters", "backs_off", "tries_again", "hands_over", "leaves")
    assert needs("dekker") == {"who_wants_to_enter_does": wanted}
    retries = example("dekker", "TriesAtOnce").violations[0]
    assert (len(retries.trace), retries.loop) == (5, 2)


def test_the_alternating_bit_needs_strong_fairness_of_both_channels() -> None:
    arrives = {"sends weakly fair", "receives strongly fair"}
    goes_on = arrives | {"hears strongly fair"}
    assert needs("alternating_bit") == {"a_message_arrives": arrives, "the_sender_goes_on": goes_on}
    loses = example("alternating_bit", "LosesEverything").violations[0]
    assert (len(loses.trace), loses.loop) == (3, 0)


def test_two_phase_commit_decides_if_nobody_fails() -> None:
    learns = each("manager", "manager_learns_of_commit", "manager_learns_of_abort")
    assert needs("two_phase_commit_progress") == {
        "everybody_decides": {"coordinator_aborts weakly fair"} | learns,
        "a_decision_can_be_reached": set(),
    }
    assert example("two_phase_commit_progress", "CoordinatorFails").violations[0].property == "everybody_decides"


def test_dijkstras_ring_stabilises_whoever_moves() -> None:
    moves = {"moves weakly fair"}
    assert needs("token_ring") == {
        "one_is_privileged": moves, "the_privilege_goes_round": moves, "all_can_agree": set(),
    }  # fmt: skip
    few = example("token_ring", "TooFewNumbers").violations[0]
    assert (len(few.trace), few.loop) == (9, 0)


@pytest.mark.parametrize(("numbers", "verdict"), [(2, "violated"), (3, "holds"), (4, "holds")])
def test_dijkstras_ring_needs_one_number_fewer_than_machines(numbers: int, verdict: str) -> None:
    from specs.examples.token_ring import TokenRing

    properties = [collect(TokenRing, [])["one_is_privileged"]]
    [finding] = native.explore(TokenRing(numbers=numbers), properties, Options(workers=1)).liveness
    assert finding.verdict == verdict


# The gate.

LAMP = '''
from floodmark import Model, action, always_eventually, fair


class Lamp(Model):
    on: bool = False

    @fair
    @action
    def switches(self) -> None:
        self.on = not self.on

    @action
    def fails(self) -> None:
        self.on = False

    @always_eventually
    def shines(self) -> bool:
        return self.on
'''


def gate(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "floodmark", "gate", ".", *more]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_lock_holds_the_fairness_that_a_property_needs(tmp_path: Path) -> None:
    (tmp_path / "lamp.py").write_text(LAMP)
    (tmp_path / "lamp.toml").write_text('model = "lamp.py:Lamp"\n')
    assert gate(tmp_path, "--update-lock").returncode == 0
    lock = (tmp_path / "floodmark.lock").read_text()
    assert 'needs = ["shines needs switches weakly fair"]' in lock
    assert gate(tmp_path).returncode == 0
    (tmp_path / "lamp.toml").write_text('model = "lamp.py:Lamp"\n[fairness]\nfails = "weak"\n')
    drifted = gate(tmp_path)
    assert drifted.returncode == 4
    assert "fairness: - | fails weakly fair  a new assumption" in drifted.stdout
    (tmp_path / "lamp.py").write_text(LAMP.replace("    @fair\n", ""))
    (tmp_path / "lamp.toml").write_text('model = "lamp.py:Lamp"\n')
    broken = gate(tmp_path)
    assert broken.returncode == 1
    assert "violates shines" in broken.stdout
