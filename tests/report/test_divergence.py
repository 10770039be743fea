"""Where the good design decides otherwise than a known-bad one: each way to differ, and all shipped designs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pytest

from floodmark import (
    Between,
    Constant,
    Model,
    action,
    eventually,
    fair,
    initial,
    invariant,
    leads_to,
    require,
    rule,
    unfair,
)
from floodmark.checkers.designs.design_pair import DesignPair
from floodmark.checkers.designs.distinctions import CheckSubject
from floodmark.checkers.designs.divergence import divergence, where_the_good_design_differs, with_constants
from floodmark.checkers.designs.rule_calls import RuleCall, first_difference
from floodmark.checkers.project.properties import collect
from floodmark.checkers.project.spec import read
from floodmark.checkers.reference.search import search_states
from floodmark.checkers.report import text
from floodmark.checkers.report.json import document
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.search_result import Limits, Options, Violation
from floodmark.checkers.verdict.check import Check, CheckSettings, checks
from floodmark.checkers.verdict.divergence import Divergence
from floodmark.checkers.verdict.result import CheckResult
from floodmark.language import reference
from tests.support.outcomes import FLAWED, inside, tank
from tests.support.shipped import SPECS, quick

REPOSITORY = Path(__file__).parents[2]
QUICK = [address.relative_to(SPECS).as_posix() for address in quick()]
ALWAYS = ("alter_isr/core.toml", "examples/peterson.toml", "examples/two_phase_commit.toml")


class Gate(Model):
    """A gate that counts who passes, and opens only for so many."""

    places = Constant(2)
    inside: Annotated[int, Between(0, 9)]
    closed: bool

    @initial
    def start(self) -> None:
        self.inside = 0
        self.closed = False

    @rule
    def room(self) -> bool:
        return self.inside < self.places

    @rule
    def one_more(self) -> int:
        return self.inside + 1

    @rule
    def may_close(self) -> bool:
        return True

    @rule
    def counted(self) -> int:
        return self.inside

    @fair
    @action
    def enter(self) -> None:
        require(not self.closed and self.room())
        self.inside = self.one_more()

    @action
    def leave(self) -> None:
        require(self.inside > 0)
        self.inside -= 1

    @fair
    @action
    def close(self) -> None:
        require(self.may_close() and self.inside == self.places)
        self.closed = True

    @invariant
    def never_full(self) -> bool:
        return self.counted() <= self.places

    @eventually
    def closes(self) -> bool:
        return self.closed

    @eventually
    def opens(self) -> bool:
        return self.inside > 0


class LetsAllIn(Gate):
    def room(self) -> bool:
        return self.inside < 9


class CountsTwice(Gate):
    def one_more(self) -> int:
        return self.inside + 2


class BeginsFull(Gate):
    def start(self) -> None:
        self.inside = 5
        self.closed = False


class Jumps(Gate):
    @action
    def jump(self) -> None:
        self.inside = 5


class Forgets(Gate):
    """Knows more than the gate, and gets wrong by it."""

    tired: bool = False

    @action
    def tires(self) -> None:
        require(not self.tired)
        self.tired = True

    def room(self) -> bool:
        return self.tired or super().room()


class Leaks(Gate):
    """Leaves the types where the gate only refuses."""

    def enter(self) -> None:
        self.inside = 10


class Judges(Gate):
    def counted(self) -> int:
        return self.inside + 2


class NeverCloses(Gate):
    def may_close(self) -> bool:
        return False


class NeverOpens(Gate):
    """Nobody leaves a full gate, and it does not close."""

    def may_close(self) -> bool:
        return False

    def leave(self) -> None:
        require(self.inside > 9)
        super().leave()


class Careless(Gate):
    @unfair
    def close(self) -> None:
        super().close()

    def leave(self) -> None:
        require(self.inside > 9)
        super().leave()


class Patient(Gate):
    @unfair
    def enter(self) -> None:
        super().enter()


class Tight(Gate):
    """Nothing is different but what the gate counts up to, which the test sets."""


def found(bad: type[Gate], name: str = "never_full", **constants: int) -> Divergence:
    """Where ``Gate`` decides otherwise in the counterexample that CPython finds."""
    model = bad(**constants)
    properties = collect(bad, [])
    result = search_states(model, [properties[name]], Options())
    violations = result.violations
    subject = CheckSubject(collect(Gate, []), {}, {key: (value, 2) for key, value in constants.items()})
    return divergence(DesignPair(model, with_constants(Gate, model)), violations[0], subject)


def test_a_divergence_names_the_guard_that_disables_the_step() -> None:
    said = found(LetsAllIn)
    assert (said.how, said.step) == ("stopped", 4)
    assert said.text == "Gate does not take it: it requires self.room()"
    assert said.reasons == ("false: room(), because", "  false: self.inside < self.places, that is 2 < 2")
    assert said.file == __file__
    assert "require(not self.closed and self.room())" in Path(__file__).read_text().splitlines()[(said.line or 0) - 1]
    assert said.ruling is not None
    assert (said.ruling.call, said.ruling.good.text, said.ruling.bad.text) == ("room()", "False", "True")
    assert said.ruling.good.design == "Gate"
    assert "def room" in Path(__file__).read_text().splitlines()[said.ruling.bad.line - 1]


def test_a_design_with_another_effect_diverges_at_the_rule_that_decides_it() -> None:
    said = found(CountsTwice)
    assert (said.how, said.step) == ("elsewhere", 2)
    assert said.reasons == ("inside: 1 in Gate, 2 in CountsTwice",)
    assert said.ruling is not None
    assert (said.ruling.good.text, said.ruling.bad.text) == ("1", "2")


def test_a_design_with_another_initial_state_diverges_at_step_1() -> None:
    said = found(BeginsFull)
    assert (said.how, said.step, said.reasons) == ("begins", 1, ("inside: 0 in Gate, 5 in BeginsFull",))


def test_an_action_of_the_known_bad_design_alone_is_the_divergence() -> None:
    said = found(Jumps)
    assert (said.how, said.step, said.text) == ("unknown", 2, "Gate has no action jump")


def test_what_only_the_known_bad_design_knows_is_not_what_it_does_wrong() -> None:
    """Its own action changes nothing that the good design knows; the step that follows from it is the one."""
    said = found(Forgets)
    assert said.how == "stopped"
    assert said.ruling is not None
    assert said.ruling.call == "room()"


def test_a_step_with_a_model_error_can_be_the_divergence() -> None:
    said = found(Leaks)
    assert (said.how, said.step, said.text) == ("fails", 2, "Gate takes it without an error")


def test_a_property_with_another_value_is_the_divergence() -> None:
    said = found(Judges)
    assert (said.how, said.step) == ("judged", None)
    assert said.ruling is not None
    assert (said.ruling.call, said.ruling.good.text) == ("counted()", "1")


def test_a_step_of_the_good_design_alone_is_the_divergence() -> None:
    said = found(NeverCloses, "closes")
    assert (said.how, said.step) == ("alike", None)  # going in and out forever is fair in the gate, too
    said = found(NeverOpens, "closes")
    assert said.how == "goes_on"
    assert said.step is not None
    assert "it can also take leave(), close()" in said.text
    assert said.ruling is not None
    assert said.ruling.call == "leave()"


def test_a_design_with_other_fairness_diverges_in_its_loop() -> None:
    said = found(Careless, "closes")
    assert (said.how, said.step) == ("goes_on", 3)  # Gate can also leave
    said = found(Patient, "opens")
    assert (said.how, said.step) == ("fairness", None)
    assert said.reasons == ("enter weakly fair in Gate: enter() is enabled all the time, and never taken",)


def test_a_design_that_differs_in_constants_alone_takes_the_same_steps() -> None:
    class Wide(Tight):
        @invariant
        def few(self) -> bool:
            return self.inside < 3

    said = found(Wide, "few", places=4)
    assert (said.how, said.step) == ("alike", None)
    assert said.text == "Gate takes each of these steps, too, with places = 4; its own check has places = 2"


def test_a_state_that_the_good_design_has_not() -> None:
    """Nothing is said of a step from a state that the good design cannot be in."""
    mine, other = LetsAllIn(), Narrow()
    trace = search_states(mine, [collect(LetsAllIn, [])["never_full"]], Options()).violations[0].trace
    said = divergence(DesignPair(mine, other), Violation("invariant", "never_full", (*trace, trace[-1])),
                      CheckSubject({}, {}, {}))
    assert said.how == "elsewhere"
    assert "inside is 3, which Narrow cannot store in it" in said.text
    beside = DesignPair(mine, other)
    with pytest.raises(Exception, match="inside is 3, which Narrow cannot store in it"):
        beside.carried(trace[-1].state)


class Turn(Model):
    """Goes round, and could mark each time that it begins anew."""

    place: Annotated[int, Between(0, 1)] = 0
    marked: bool = False

    @fair
    @action
    def turns(self) -> None:
        require(not self.marked)
        self.place = 1 - self.place

    @fair(strong=True)
    @action
    def marks(self) -> None:
        require(self.place == 0 and not self.marked)
        self.marked = True

    @eventually
    def ends(self) -> bool:
        return self.marked


class MarksSomeDay(Turn):
    @fair
    def marks(self) -> None:
        super().marks()


class MarksNever(MarksSomeDay):
    @unfair
    def marks(self) -> None:
        super().marks()


def test_a_step_that_is_enabled_at_times_is_left_out_by_strong_fairness_only() -> None:
    for bad, good, how in ((MarksSomeDay, Turn, "fairness"), (MarksNever, MarksSomeDay, "alike")):
        trace = search_states(bad(), [collect(bad, [])["ends"]], Options()).violations[0]
        said = divergence(DesignPair(bad(), good()), trace, CheckSubject({}, {}, {}))
        assert said.how == how
    said = divergence(DesignPair(MarksNever(), Turn()), trace, CheckSubject({}, {}, {}))
    assert said.reasons == ("marks strongly fair in Turn: marks() is enabled at times, and never taken",)


def test_rules_are_compared_where_they_are_asked_the_same() -> None:
    """A rule that is asked something else, or in another state, may answer otherwise for that."""

    def call(name: str, argument: int, state: int, answer: int) -> RuleCall:
        return RuleCall(name, (argument,), (str(argument),), {"x": state}, {"x": state}, (answer,))

    methods = {name: (Gate.room, LetsAllIn.room) for name in ("first", "second", "third")}
    good = [call("first", 1, 0, 1), call("second", 0, 1, 1), call("third", 0, 0, 1)]
    bad = [call("first", 2, 0, 2), call("second", 0, 2, 2), call("third", 0, 0, 2)]
    said = first_difference(methods, ("Gate", good), ("LetsAllIn", bad))  # type: ignore[arg-type]
    assert said is not None
    assert (said.call, said.good.text, said.bad.text) == ("third(0)", "1", "2")


class Narrow(Model):
    """The same gate with a smaller type."""

    inside: Annotated[int, Between(0, 2)] = 0
    closed: bool = False

    @action
    def enter(self) -> None:
        self.inside = min(2, self.inside + 1)

    @leads_to
    def nothing(self) -> tuple[bool, bool]:
        return False, False


FEW = Limits(states=300_000)


def shipped(spec: str) -> Iterator[tuple[Check, CheckResult]]:
    for check in checks(read(REPOSITORY / "specs" / spec), CheckSettings(engine="native", workers=1, limits=FEW)):
        if check.flawed is not None:
            result = run_check(check)
            if result.violation is not None:
                yield check, result


@pytest.mark.parametrize(
    "spec", [pytest.param(each, marks=() if each in ALWAYS else pytest.mark.slow) for each in QUICK]
)
def test_the_steps_before_are_those_of_the_good_design_and_that_one_is_not(spec: str) -> None:
    """By the successors of the good design's states, for all known-bad designs that have its variables."""
    for check, result in shipped(spec):
        said, violation = result.divergence, result.violation
        assert said is not None
        assert violation is not None
        assert result.subject is not None
        good = with_constants(check.spec.model_class(), result.subject)
        if list(good.variable_types) != list(result.subject.variable_types):
            continue
        known = []
        before = None
        for entry in violation.trace:
            steps = reference.initial_states(good) if before is None else reference.successors(good, before)
            known.append(any((str(step), state) == (str(entry.step), entry.state) for step, state in steps))
            before = entry.state
        if said.step is not None and said.how not in ("goes_on", "unlike") and said.step <= len(known):
            assert known[: said.step] == [True] * (said.step - 1) + [False], result.variant
        else:
            assert all(known), result.variant


def test_every_flaw_of_a_spec_has_a_rule() -> None:
    """In KIP-497's model each known-bad design overrides a rule, and that rule is named."""
    for _, result in shipped("alter_isr/core.toml"):
        assert result.divergence is not None
        assert result.divergence.ruling is not None, result.variant


def test_text_and_json_contain_the_divergence(tmp_path: Path) -> None:
    with inside(tank(tmp_path, FLAWED)):
        every = checks(read(Path("specs/tank.toml")), CheckSettings(workers=1))
        result = run_check(every[2])
        said = text.counterexample(result)
        assert "2  fill()  <- Tank goes elsewhere" in said
        at = said.index("where Tank decides otherwise: step 2, fill()")
        assert said[at + 1 : at + 6] == [
            "  Tank goes elsewhere (model/tank.py:23)",
            "    level: 1 in Tank, 0 in Leaks",
            "  the rule fill()",
            "    Tank (model/tank.py:23): level: 0 -> 1",
            "    Leaks (specs/flawed.py:10): changes nothing",
        ]
        (entry,) = json.loads(document([result]))["results"]
        assert entry["divergence"]["how"] == "elsewhere"
        assert entry["divergence"]["ruling"]["good"]["text"] == "level: 0 -> 1"
        (model,) = json.loads(document([run_check(every[0])]))["results"]
        assert model["divergence"] is None


def test_a_design_that_the_good_one_cannot_be_compared_with_is_told(tmp_path: Path) -> None:
    with inside(tank(tmp_path, FLAWED)):
        check = checks(read(Path("specs/tank.toml")), CheckSettings(workers=1))[1]
        result = run_check(check)
        assert result.subject is not None
        assert result.violation is not None
        broken = replace(check, spec=replace(check.spec, constants={"size": True}))
        said = where_the_good_design_differs(broken, result.subject, result.violation)
        assert said is not None
        assert said.how == "unlike"
        assert "cannot be made" in said.text


def test_a_fault_costs_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("nothing")

    monkeypatch.setattr("floodmark.checkers.run.checks.where_the_good_design_differs", broken)
    with inside(tank(tmp_path, FLAWED)):
        result = run_check(checks(read(Path("specs/tank.toml")), CheckSettings(workers=1))[1])
    assert result.expected
    assert result.search_result is not None
    assert result.search_result.notes == [
        "an internal fault hides where the good design decides otherwise: KeyError: 'nothing'"
    ]
