"""Liveness as a user meets it: fairness in models and specs, verdicts, and what is said of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
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
    enabled,
    eventually,
    fair,
    initial,
    leads_to,
    require,
    rule,
    unfair,
)
from floodmark.checkers.liveness.assumptions import assumptions_of
from floodmark.checkers.native import search as native
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import read
from floodmark.checkers.report import itf as itf_report
from floodmark.checkers.report import json as json_report
from floodmark.checkers.report import replay, text
from floodmark.checkers.report.listing import description
from floodmark.checkers.search_result import Limit, Limits, Options
from floodmark.checkers.spark import search as spark_search
from floodmark.checkers.verdict.check import CheckSettings, checks
from floodmark.language.bounding import beyond_bounds
from floodmark.language.fairness import Fairness, declared_fairness
from tests.support.judged import ALONE, ENGINES, found, outcome, spec_of


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


def test_fairness_may_be_for_each_choice_or_for_all_together() -> None:
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


def test_each_has_to_name_a_parameter() -> None:
    class Elsewhere(Work):
        @fair(each="broker")
        @action
        def rests(self, node: Node) -> None:
            require(node in self.done)

    with pytest.raises(ModelError, match="each broker, which is no parameter of it and no method; it has node"):
        assumptions_of(Elsewhere())


class Note(Record):
    """What is handed over; two notes to a node may wait at once."""

    to: Node
    urgent: bool


class Notes(Model):
    """Notes are written at any time. Somebody who has notes eventually gets one of them, but not every one of them."""

    nodes = Constant(2)
    waiting: Set[Note] = Set()
    last: Note | None = None

    @action
    def writes(self, note: Note) -> None:
        self.waiting.add(note)

    @fair(each="note.to")
    @action
    def hands_over(self, note: Note) -> None:
        require(note in self.waiting)
        self.waiting.remove(note)
        self.last = note

    @leads_to
    def node_gets_a_note(self, node: Node) -> tuple[bool, bool]:
        return any(note.to == node for note in self.waiting), self.last is not None and self.last.to == node

    @leads_to
    def note_arrives(self, to: Node, urgent: bool) -> tuple[bool, bool]:
        note = Note(to=to, urgent=urgent)
        return note in self.waiting, self.last == note


class Ends(Model):
    """A run ends when nothing is enabled any more."""

    left: Annotated[int, Between(0, 2)] = 2

    @fair
    @action
    def goes_on(self) -> None:
        require(self.left > 0)
        self.left -= 1

    @eventually
    def ends(self) -> bool:
        return not enabled(self.goes_on)

    @eventually
    def never_ends(self) -> bool:
        return self.left == 1 and not enabled(self.goes_on)


def test_a_property_of_runs_may_ask_whether_an_action_is_enabled() -> None:
    assert [it.verdict for it in found(Ends).liveness] == ["holds", "violated"]


@pytest.mark.parametrize(
    ("each", "some", "every"),
    [("", "violated", "violated"), ("note.to", "holds", "violated"), ("note", "holds", "holds")],
)
def test_fairness_may_be_for_each_value_of_a_field(each: str, some: str, every: str) -> None:
    fairness = Fairness(False, (each,) if each else ())
    verdicts = [it.verdict for it in found(Notes, Options(workers=1, fairness={"hands_over": fairness})).liveness]
    assert verdicts == [some] * 2 + [every] * 4
    if each == "note.to":
        assert str(assumptions_of(Notes()).by_action["hands_over"]) == "hands_over weakly fair for each note.to"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("letter.weigth", "but letter is Letter, and not every value of it has a field 'weigth'"),
        ("letter.to.number", "but letter.to is Node | None, and not every value of it has a field 'number'"),
        ("sacks.to", "which is no parameter of it and no method; it has letter, twice"),
    ],
)
def test_each_has_to_name_a_field_that_every_value_has(path: str, said: str) -> None:
    with pytest.raises(ModelError, match=re.escape(f"delivers is fair for each {path}, {said}")):
        assumptions_of(Post(), {"delivers": Fairness(False, (path,))})


def test_two_fairness_decorators_are_refused() -> None:
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
    """Letters of many kinds; each is eventually delivered if each is treated fairly."""

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
        native.search_states(Whole(), list(collect(Whole, []).values()), Options(workers=1))


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

    for search_states in ENGINES.values():
        with pytest.raises(SourceError) as caught:
            search_states(Fails(), list(collect(Fails, []).values()), Options(workers=1))
        assert caught.value.line is not None


def test_symmetry_with_liveness_is_refused() -> None:
    for search_states in ENGINES.values():
        with pytest.raises(ModelError, match="a run of orbits need not be one of the model"):
            search_states(Work(), list(collect(Work, []).values()), Options(workers=1, symmetry=True))


def test_a_search_that_a_limit_ends_says_nothing_of_runs() -> None:
    for search_states in ENGINES.values():
        result = search_states(Work(), list(collect(Work, []).values()), Options(workers=1, limits=Limits(states=1)))
        assert not result.complete
        assert result.liveness == []


def test_a_search_that_memory_ends_while_edges_are_made_is_not_complete() -> None:
    options = Options(workers=1, limits=Limits(seconds=1e-9))
    result = native.search_states(Work(), list(collect(Work, []).values()), options)
    assert not result.complete
    assert result.stopped is not None and result.stopped.limit is Limit.SECONDS


def test_a_search_that_stays_out_of_spark_is_judged_as_natively() -> None:
    result = spark_search.search_states(Work(), list(collect(Work, []).values()), ALONE)
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


def test_a_bound_is_no_number_of_identifiers() -> None:
    class Counted(Work):
        nodes = Constant(2, bound=True)

    with pytest.raises(ModelError, match="nodes counts the identifiers of Node, so it is no bound"):
        beyond_bounds(Counted())


# What is said.


def test_a_violated_property_is_shown_with_its_loop(tmp_path: Path) -> None:
    result = outcome(tmp_path, WorksTogether)
    assert result.verdict == "violated"
    said = "\n".join(text.lines(result))
    assert "for node=n1: steps 2 to 3 can be repeated forever" in said
    assert "after step 3: steps 2 to 3 can be repeated forever" in said
    assert "works weakly fair: taken at step 2" in said


def test_a_spec_says_what_is_fair(tmp_path: Path) -> None:
    assert outcome(tmp_path, Idles, '[fairness]\nworks = { each = "node" }\n').verdict == "holds"
    assert outcome(tmp_path, Work, '[fairness]\nworks = "none"\n').verdict == "violated"
    assert outcome(tmp_path, Idles, '[fairness]\nworks = "strong"\n').verdict == "violated"
    wrong = outcome(tmp_path, Work, '[fairness]\nwork = "weak"\n')
    assert (wrong.verdict, wrong.line) == ("error", 3)
    assert "there is no action 'work'; did you mean 'works'?" in wrong.message


def test_show_says_what_is_fair(tmp_path: Path) -> None:
    spec = tmp_path / "it.toml"
    spec.write_text(spec_of(Work) + '[fairness]\nforgets = "strong"\n')
    [check] = checks(read(spec), CheckSettings())
    said = list(description(check))
    at = said.index("fairness")
    assert said[at + 1 : at + 3] == ["  works weakly fair for each node", "  forgets strongly fair"]
    assert any(line.startswith("  each_works (always_eventually)") for line in said)


def test_every_report_shows_lassos(tmp_path: Path) -> None:
    result = outcome(tmp_path, WorksTogether)
    [entry] = json.loads(json_report.document([result]))["results"]
    assert entry["loop"] == 0
    assert entry["liveness"][0]["fair"] == [{"assumption": "works weakly fair", "why": "taken at step 2"}]
    assert json.loads(itf_report.itf(result))["loop"] == 0
    source = replay.test_module([result])
    assert "assert model.snapshot() == before" in source
    names: dict[str, Any] = {}
    exec(compile(source, "<test>", "exec"), names)
    names["test_works_together_breaks_each_works"]()


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


@pytest.mark.slow
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
