"""Containers without a capacity: whatever engine searches, nothing is cut, and the widths are the model's alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from click.testing import CliRunner

from floodmark import (
    Bag,
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Record,
    Seq,
    Set,
    action,
    eventually,
    fair,
    initial,
    invariant,
    leads_to,
    reachable,
    require,
    transition,
)
from floodmark.checkers import reference
from floodmark.checkers.check import Check, Settings
from floodmark.checkers.codegen.model_module import parts
from floodmark.checkers.commands.cli import command
from floodmark.checkers.conformance.adapter import Adapter
from floodmark.checkers.conformance.tours import tour
from floodmark.checkers.conformance.walks import walk
from floodmark.checkers.exploration import Exploration, Limits, Options, Progress
from floodmark.checkers.explore.session import Question, Session
from floodmark.checkers.growth import at_widths, search_growing
from floodmark.checkers.native.search import explore, reachable_set
from floodmark.checkers.properties import collect
from floodmark.checkers.spec import read
from floodmark.compiler.program import read_program
from floodmark.language.errors import ModelError, SourceError
from floodmark.language.model import sized
from floodmark.language.types import growing, is_unlimited
from floodmark.language.widths import FIRST_WIDTHS, Outgrown, Widths, least_widths
from tests.engines import ENGINES, outcome, plain_search
from tests.projects import write
from tests.symbolic_agreement import assert_bounded_search_agrees, levels_by_cpython
from tests.test_memory import Limit, small

__all__ = ["small"]

ROOT = Path(__file__).parent.parent

Flag = Annotated[int, Between(0, 1)]
Wide = Annotated[int, Between(0, 10**6)]


class Node(Identifier, count="nodes", prefix="n"):
    pass


class Note(Record):
    to: Node
    entries: Seq[Flag]


class Post(Model):
    """Logs grow, notes carry them, and what arrives is kept until it is forgotten."""

    nodes = Constant(2)
    most = Constant(3)
    logs: Map[Node, Seq[Flag]]
    sent: Bag[Note]
    kept: Set[Seq[Flag]]

    @initial
    def start(self) -> None:
        self.logs = Map({node: Seq() for node in Node})
        self.sent = Bag()
        self.kept = Set()

    @action
    def appends(self, node: Node) -> None:
        require(sum(len(log) for log in self.logs.values()) < self.most)
        self.logs[node].append(len(self.logs[node]) % 2)

    @action
    def sends(self, node: Node) -> None:
        require(len(self.sent) < self.most and len(self.logs[node]) > 1)
        self.sent.add(Note(to=node, entries=self.logs[node]))

    @action
    def arrives(self, note: Note) -> None:
        require(note in self.sent)
        self.sent.remove(note)
        self.kept.add(note.entries)

    @action
    def forgets(self, entries: Seq[Flag]) -> None:
        require(entries in self.kept)
        self.kept.remove(entries)

    @invariant
    def logs_are_short(self) -> bool:
        return all(len(log) <= self.most for log in self.logs.values())

    @reachable
    def one_is_full(self) -> bool:
        return any(len(log) == 3 for log in self.logs.values())


class Late(Post):
    """What is false only where containers have grown."""

    @invariant
    def is_never_known(self) -> bool:
        return Seq((0, 1, 0)) not in self.kept

    @transition
    def sends_little(self, new: Late) -> bool:
        return len(new.sent) < 3 or len(self.sent) == 3


class Through(Model):
    """What a step holds on its way is larger than what it leaves, in a bag, a set and a record."""

    times = Constant(3)
    bag: Bag[Flag]
    wide: Set[Wide]
    count: Annotated[int, Between(0, 9)] = 0

    @initial
    def start(self) -> None:
        self.bag = Bag()
        self.wide = Set()

    @action
    def fills_and_empties(self, many: Annotated[int, Between(0, 4)]) -> None:
        require(self.count < self.times and many <= self.times)
        for number in range(many):
            self.bag.add(number % 2)
            self.wide.add(number * 1000)
        for number in range(many):
            self.bag.remove(number % 2)
        self.wide = self.wide - {1000, 2000}
        self.count = max(self.count, many)

    @invariant
    def bag_is_empty(self) -> bool:
        return len(self.bag) == 0


class Hold(Record):
    wide: Set[Wide]
    inner: Seq[Seq[Flag]]


class Aside(Model):
    """A record that no variable holds, made in a guard, in a step and in a property; a container in a container."""

    level: Annotated[int, Between(0, 6)] = 0
    stack: Seq[Seq[Flag]]
    odd: bool = False

    @initial
    def start(self) -> None:
        self.stack = Seq()

    @action
    def climbs(self) -> None:
        require(len(Hold(wide=Set({number * 999 for number in range(self.level)}), inner=self.stack).wide) < 6)
        self.level += 1
        if self.level < 4:
            self.stack.append(Seq([0 for _ in range(self.level)]))
        else:
            self.stack = Seq()

    @invariant
    def fits(self) -> bool:
        held = Hold(wide=Set({number + 1 for number in range(2 * self.level)}), inner=Seq())
        return len(held.wide) == 2 * self.level


class Endless(Model):
    """Nothing says how long the queue becomes."""

    queue: Seq[Annotated[int, Between(0, 2**60)]]

    @initial
    def start(self) -> None:
        self.queue = Seq()

    @action
    def adds(self) -> None:
        self.queue.append(1)


class Broken(Endless):
    """A model error behind two restarts, and one that is no model error before it."""

    most = Constant(5)
    other: Annotated[Seq[Flag], Capacity(3)]

    @initial
    def start(self) -> None:
        self.queue = Seq()
        self.other = Seq()

    @action
    def overfills(self) -> None:
        require(len(self.queue) == self.most)
        for _ in range(4):
            self.other.append(0)


MODELS: dict[str, Model] = {
    "post": Post(),
    "late": Late(),
    "later": Late(most=4),
    "through": Through(),
    "aside": Aside(),
}
WIDTHS = {
    "post": {"logs[...]": 4, "sent": 4, "the field entries": 4, "an element of kept": 4},
    "through": {"bag": 4, "wide": 4},
    "aside": {"the field wide": 16, "stack": 4, "an element of stack": 4, "the field inner": 4,
              "an element of the field inner": 4},
}
FIGURES = ("complete", "distinct", "generated", "depth", "levels", "actions", "cut", "digest", "widths", "sizes")


def searched(model: Model, options: Options) -> Exploration:
    return explore(model, list(collect(type(model), ()).values()), options)


def figures(found: Exploration) -> list[Any]:
    shown = [(it.kind, it.property, len(it.trace), it.message, it.failed_step) for it in found.violations]
    return [*(getattr(found, name) for name in FIGURES), shown, sorted(found.reached)]


@pytest.mark.parametrize("name", MODELS)
def test_every_engine_finds_what_cpython_finds(name: str) -> None:
    model = MODELS[name]
    properties = list(collect(type(model), ()).values())
    wanted, states = plain_search(type(model)(**model.constant_values), properties)
    for engine in ENGINES.values():
        assert outcome(engine, type(model)(**model.constant_values), properties) == wanted
    if not wanted.broken:
        rows, _ = reachable_set(model, Options(workers=2))
        assert len(rows) == len(states)
        assert searched(model, Options(workers=1)).widths == WIDTHS[name]


@pytest.mark.parametrize("name", MODELS)
def test_a_search_through_files_finds_the_same(name: str, small: Limit) -> None:
    model = MODELS[name]
    small(1 << 30)
    wanted = figures(searched(model, Options(workers=1)))
    for room in (0, 900):
        small(room)
        assert figures(searched(model, Options(workers=2))) == wanted


def test_orbits_grow_like_states() -> None:
    for model in (Post(), Late()):
        options = Options(workers=1, symmetry=True)
        properties = list(collect(type(model), ()).values())
        plain = reference.explore(type(model)(), properties, options)
        found = explore(model, properties, options)
        assert (found.distinct, found.digest, found.widths) == (plain.distinct, plain.digest, plain.widths)
        assert found.distinct < searched(model, Options(workers=1)).distinct or found.violations


def test_z3_grows_as_far_as_its_runs_need(tmp_path: Path) -> None:
    for model, depth in ((Late(), 6), (Through(), 4), (Aside(), 5)):
        properties = list(collect(type(model), ()).values())
        wanted, _ = plain_search(type(model)(), properties)
        assert at_widths(model, lambda it: assert_bounded_search_agrees(it, properties, wanted, depth, 30))  # noqa: B023


def test_cpython_says_which_container_is_too_narrow() -> None:
    with pytest.raises(Outgrown, match="sent would hold 3 elements, more than its width of 2") as caught:
        levels_by_cpython(sized(Post(), Widths({**WIDTHS["post"], "sent": 2})), 8)
    assert (caught.value.place, caught.value.width) == ("sent", 2)
    assert levels_by_cpython(sized(Post(), Widths(WIDTHS["post"])), 8) == levels_by_cpython(Post(), 8)


class NoCapacity:
    """What no annotation has."""


@pytest.mark.parametrize(
    ("name", "grown"),
    [
        ("kraft/sizes.toml@two_voters", {"logs[...]": 2, "committed": 2}),
        ("reassignment/kip455_two_partitions.toml", {"the field replicas": 2}),
        ("alter_isr/progress.toml", {"updates": 2}),
        ("zk_controller/transactions.toml", {"queues[...]": 2}),
    ],
)
def test_protocols_are_the_same_without_their_capacities(
    name: str, grown: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As small as containers are here, they grow from a width of 1, and sets are in slots rather than masks."""
    check = Check(read(ROOT / "specs" / name), None, Settings())
    properties = [prop for prop in check.properties() if not prop.is_liveness]
    options = replace(check.options, workers=2)
    wanted = explore(check.model(), properties, options)
    monkeypatch.setattr("floodmark.language.annotations.Capacity", NoCapacity)
    monkeypatch.setattr("floodmark.language.annotations.WIDEST_MASK", 8)
    monkeypatch.setattr("floodmark.language.widths.START", 1)
    found = explore(check.model(), properties, options)
    assert found.widths == grown
    for figure in ("complete", "distinct", "generated", "levels", "actions", "cut", "vacuous"):
        assert getattr(found, figure) == getattr(wanted, figure), figure
    assert set(found.reached) == set(wanted.reached)


# What the widths are.


def test_widths_do_not_depend_on_the_order_in_which_they_were_outgrown() -> None:
    one = FIRST_WIDTHS.grown("a").grown("b").grown("a")
    other = FIRST_WIDTHS.grown("b").grown("a").grown("a")
    assert one == other == least_widths({"a": 5, "b": 3, "c": 2})
    assert one.doublings == 3
    assert one.of("c") == 2


def test_the_code_of_one_width_is_not_that_of_another() -> None:
    keys = []
    for widths in (FIRST_WIDTHS, FIRST_WIDTHS.grown("logs[...]"), FIRST_WIDTHS.grown("the field entries")):
        made, _ = parts(read_program(sized(Post(), widths), {}), None)
        keys.append({part.name: part.key for part in made})
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert all(keys[one][name] != keys[other][name] for name in keys[one] if name.startswith("action"))


def test_a_model_is_read_only_when_its_containers_have_widths() -> None:
    assert all(is_unlimited(kind) for kind in Post().variable_types.values())
    assert {kind.grows for kind in growing(Post().variable_types["sent"])} == {"sent", "the field entries"}
    with pytest.raises(AssertionError, match="before its containers have widths"):
        read_program(Post(), {})
    with pytest.raises(AssertionError, match="before its containers have widths"):
        read_program(sized(Aside(), Widths(limited=False)), {})


# Limits.


def test_each_restart_is_told() -> None:
    told: list[Progress] = []
    found = explore(Through(), [], Options(workers=1), told.append)
    assert [at.note for at in told if at.level == 0 and "grew" in at.note] == [
        "bag grew from 2 to 4: the search begins anew", "wide grew from 2 to 4: the search begins anew",
    ]
    assert found.notes == [
        "the search began anew 2 times, as containers without a capacity grew: bag to 4, wide to 4"
    ]


def test_a_search_without_an_end_is_undetermined() -> None:
    found = searched(Endless(), Options(workers=1, limits=Limits(states=50)))
    assert (found.complete, found.stopped, found.widths) == (False, "the limit of 50 states", {"queue": 64})
    wide = searched(Endless(), Options(workers=1))
    assert not wide.complete
    assert not wide.violations
    assert wide.stopped == (
        "queue, which would have to hold more than 64 elements: variable queue: it takes 7816 bits, more than 4096; "
        "make its type smaller"
    )


def test_all_attempts_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100, 2))
    monkeypatch.setattr("floodmark.checkers.growth.time", SimpleNamespace(perf_counter=lambda: float(next(clock))))
    left: list[float | None] = []

    def prepare(model: Model, options: Options, widths: Widths) -> Callable[[], Exploration]:
        left.append(options.limits.seconds)
        raise Outgrown("queue", "queue", 0, 0)

    found = search_growing(Endless(), Options(limits=Limits(seconds=5.0)), None, prepare)
    assert left == [5.0, 3.0, 1.0]
    assert (found.complete, found.stopped, found.widths) == (False, "the limit of 5 seconds", {"queue": 16})


def test_a_capacity_stays_a_bound() -> None:
    for engine in (explore, reference.explore):
        found = engine(Broken(), [], Options(workers=1, limits=Limits(states=50)))
        (violation,) = found.violations
        assert violation.message == "other would hold 4 elements, more than its capacity of 3"
        assert (violation.kind, len(violation.trace), found.widths) == ("error", 6, {"queue": 8})


# Parameters.


class Draws(Model):
    held: Set[Seq[Flag]]
    other: Map[Flag, Set[Seq[Flag]]]

    @initial
    def start(self) -> None:
        self.held = Set({Seq((1,) * size) for size in (0, 1, 5)})
        self.other = Map({flag: Set[Seq[int]]() for flag in range(2)})

    @action
    def takes(self, one: Seq[Flag]) -> None:
        require(one in self.held)
        self.held.remove(one)

    @action
    def moves(self, flag: Flag, one: Seq[Flag]) -> None:
        require(one in self.held)
        self.held.remove(one)
        self.other[flag] = Set({one})

    @action
    def drops(self, flag: Flag, one: Seq[Flag]) -> None:
        require(one in self.other[flag])
        self.other[flag].remove(one)

    @invariant
    def is_not_empty(self) -> bool:
        return len(self.held) > 0


def test_a_parameter_is_whatever_a_container_offers() -> None:
    """The longest one, too, although a parameter has no width of its own."""
    properties = list(collect(Draws, ()).values())
    wanted, _ = plain_search(Draws(), properties)
    for engine in ENGINES.values():
        assert outcome(engine, Draws(), properties) == wanted
    found = explore(Draws(), [], Options(workers=1))
    assert found.widths == {"held": 4, "an element of held": 8, "an element of other[...]": 8}


def test_a_parameter_without_a_capacity_has_to_be_drawn() -> None:
    class Guesses(Endless):
        @action
        def guesses(self, some: Seq[Flag]) -> None:
            require(len(some) == len(self.queue))
            self.queue = some

    message = "the parameter some has no capacity"
    with pytest.raises(ModelError, match=f"{message}, so it is drawn from .*require") as caught:
        explore(Guesses(), [], Options(workers=1))
    assert caught.value.file == __file__
    found = reference.explore(Guesses(), [], Options(limits=Limits(states=20)))
    assert message in found.violations[0].message


# Runs for ever.


class Queue(Model):
    """The queue is emptied only if that is fair; its bound keeps it from growing for ever."""

    most = Constant(5, bound=True)
    queue: Seq[Flag]
    full: bool = False

    @initial
    def start(self) -> None:
        self.queue = Seq()

    @action
    def adds(self) -> None:
        require(len(self.queue) < self.most)
        self.queue.append(len(self.queue) % 2)

    @fair
    @action
    def empties(self) -> None:
        require(len(self.queue) > 3)
        self.queue = Seq()
        self.full = True

    @eventually
    def was_full(self) -> bool:
        return self.full

    @leads_to
    def becomes_empty(self) -> tuple[bool, bool]:
        return len(self.queue) > 3, len(self.queue) == 0


def test_liveness_is_judged_over_the_last_attempt() -> None:
    properties = list(collect(Queue, ()).values())
    ours, plain = explore(Queue(), properties, Options(workers=2)), reference.explore(Queue(), properties, Options())
    for found in (ours, plain):
        assert {it.property: it.verdict for it in found.liveness} == {"was_full": "violated", "becomes_empty": "holds"}
        assert found.widths == {"queue": 8}
    assert ours.digest == plain.digest
    assert [it.trace for it in ours.liveness] == [it.trace for it in plain.liveness]


# The command.


SOURCE = """\
from typing import Annotated

from floodmark import Between, Constant, Model, Seq, Set, action, initial, invariant, require

Flag = Annotated[int, Between(0, 1)]


class Logs(Model):
    most = Constant(5)
    log: Seq[Flag]
    seen: Set[Seq[Flag]]

    @initial
    def start(self) -> None:
        self.log = Seq()
        self.seen = Set()

    @action
    def appends(self, flag: Flag) -> None:
        require(len(self.log) < self.most)
        self.log.append(flag)

    @action
    def notes(self) -> None:
        require(len(self.seen) < 2)
        self.seen.add(self.log)

    @action
    def forgets(self, entries: Seq[Flag]) -> None:
        require(entries in self.seen)
        self.seen.remove(entries)

    @invariant
    def short(self) -> bool:
        return len(self.log) <= self.limit()

    def limit(self) -> int:
        return self.most


class Leaks(Logs):
    def limit(self) -> int:
        return 4
"""
SPEC = """\
model = "logs.py:Logs"

[constants]
most = 4

[[flawed]]
class = "logs.py:Leaks"
property = "short"
constants = { most = 6 }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "logs.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "logs.toml").write_text(SPEC, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(*words: str) -> str:
    done = CliRunner().invoke(command, list(words), standalone_mode=False)
    assert not done.return_value, done.output
    assert done.exception is None
    return done.stdout


def refused(*words: str) -> str:
    done = CliRunner().invoke(command, list(words))
    assert isinstance(done.exception, SourceError), done.output
    return str(done.exception)


def test_a_check_tells_what_grew(project: Path) -> None:
    said = ran("check", "logs.toml", "--json", "found.json")
    assert "largest sizes: log 4 of 4, seen 2 of 2" in said
    grew = "the search began anew 2 times, as containers without a capacity grew: an element of seen to 4, log to 4"
    assert f"note: {grew}" in said
    good, flawed = json.loads((project / "found.json").read_text())["results"]
    assert good["widths"] == {"log": 4, "an element of seen": 4}
    assert flawed["widths"] == {"log": 8, "an element of seen": 4}
    other = ran("check", "logs.toml", "--engine", "reference", "--json", "again.json")
    assert "largest sizes: log 4 of 4, seen 2 of 2" in other
    for one, two in zip((good, flawed), json.loads((project / "again.json").read_text())["results"], strict=True):
        assert {key: one[key] for key in FIGURES} == {key: two[key] for key in FIGURES}


def test_a_model_is_shown_with_the_bits_that_it_takes_at_least(project: Path) -> None:
    said = ran("show", "logs.toml")
    assert "variables (14 bits or more)" in said
    assert "log   Seq[0..1]       4 bits or more" in said


def test_a_lock_is_the_same_for_each_run(project: Path) -> None:
    """And kept verdicts are those of a fresh run."""
    write(project, {"pyproject.toml": "", "specs/logs.toml": SPEC.replace("logs.py", "../logs.py")})
    locks = []
    for workers in ("1", "2"):
        ran("gate", "--update-lock", "--no-cache", "--workers", workers)
        locks.append((project / "specs/floodmark.lock").read_text(encoding="utf-8"))
    for kept in ((), ()):
        assert "floodmark.lock is unchanged" in ran("gate", *kept)
    assert locks[0] == locks[1]


def test_an_emitted_test_replays_a_counterexample(project: Path) -> None:
    text = ran("check", "logs.toml", "--only-variant", "Leaks", "--emit-test")
    names: dict[str, Any] = {"__file__": str(project / "test_logs.py")}
    exec(compile(text, "emitted", "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert tests
    for test in tests:
        test()


def test_a_recorded_run_may_hold_any_number(project: Path) -> None:
    lines = [{"action": "appends", "arguments": {"flag": 1}}] * 6
    lines.append({"state": {"log": [1] * 6}})
    (project / "run.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert "accepted" in ran("conform", "logs.toml", "--trace", "run.jsonl", "--set", "most=6")


def test_a_bounded_search_grows_and_a_proof_asks_for_a_capacity(project: Path) -> None:
    said = ran("prove", "logs.toml", "--method", "bmc", "--depth", "6", "--only-variant", "Leaks")
    assert "violates short in 6 states; there is no shorter run" in said
    for options in (("--method", "induction"), ("--method", "k-induction"), ("--method", "infer"), ("--unbounded",)):
        said = refused("prove", "logs.toml", *options)
        assert "logs.py:10: log has no capacity, and a proof begins in any state of the declared types" in said


LOG = "Annotated[Seq[Flag], Capacity(4)]"
BOUNDED = SOURCE.replace("Between, ", "Between, Capacity, ").replace("Seq[Flag]", LOG).replace(
    f"Set[{LOG}]", f"Annotated[Set[{LOG}], Capacity(2)]")


def test_a_record_that_no_variable_holds_needs_a_capacity_too(project: Path) -> None:
    text = BOUNDED.replace("class Logs(", "class Box(Record):\n    held: Seq[Flag]\n\n\nclass Logs(")
    text = text.replace("Model, Seq", "Model, Record, Seq")
    text = text.replace("len(self.log) <= self.limit()", "len(Box(held=self.log).held) <= self.limit()")
    (project / "logs.py").write_text(text, encoding="utf-8")
    assert "the field held has no capacity" in refused("prove", "logs.toml")
    assert "the field held to 4" in ran("check", "logs.toml", "--only-variant", "Logs")


TEXT = """\
from typing import Annotated

from floodmark import Bag, Between, Capacity, Model, Seq, Set, action, initial, require

Flag = Annotated[int, Between(0, 1)]
Wide = Annotated[int, Between(0, 5000)]


class Logs(Model):
    log: {log}
    bag: {bag}
    far: {far}

    @initial
    def start(self) -> None:
        self.log = Seq()
        self.bag = Bag()
        self.far = Set()

    @action
    def appends(self, flag: Flag) -> None:
        require(len(self.log) < 3)
        self.log.append(flag)
        self.bag.add(flag)
        self.far.add(1000 * len(self.log))

    @action
    def takes(self, far: Wide) -> None:
        require(far in self.far and len(self.log) > 1)
        self.far.remove(far)
        self.bag.remove(self.log[0])
        self.log = self.log[1:]


class Leaks(Logs):
    pass
"""


@pytest.mark.parametrize("language", ["tla", "promela"])
def test_an_export_has_the_widths_that_a_search_found(project: Path, language: str) -> None:
    kinds = {"log": "Seq[Flag]", "bag": "Bag[Flag]", "far": "Set[Wide]"}
    texts = []
    for number, widths in enumerate(({}, {"log": 4, "bag": 4, "far": 4}, {"log": 2, "bag": 4, "far": 4})):
        given = {name: f"Annotated[{kinds[name]}, Capacity({width})]" for name, width in widths.items()}
        (project / f"logs{number}.py").write_text(TEXT.format(**{**kinds, **given}), encoding="utf-8")
        (project / "logs.toml").write_text(f'model = "logs{number}.py:Logs"\n', encoding="utf-8")
        ran("export", "logs.toml", f"--{language}", "-o", f"out{number}")
        (file,) = (path for path in (project / f"out{number}").iterdir() if path.suffix in (".tla", ".pml"))
        texts.append(file.read_text(encoding="utf-8").replace(f"logs{number}", "logs"))
    assert texts[0] == texts[1] != texts[2]


def test_an_export_without_widths_is_refused(project: Path) -> None:
    (project / "logs.toml").write_text(SPEC + "\n[limits]\nstates = 3\n", encoding="utf-8")
    said = refused("export", "logs.toml", "--tla", "-o", "out")
    assert "how wide the containers without a capacity become is not known" in said
    assert "the limit of 3 states" in said


def test_the_explorer_walks_as_far_as_one_likes(project: Path) -> None:
    check = Check(read(project / "logs.toml"), None, Settings())
    page = Session(check.spec, check)
    path: tuple[str, ...] = ("start()", *["appends(flag=1)"] * 4, "notes()")
    answer = page.answer(Question("Logs", "Leaks", path, len(path) - 1))
    assert answer["stop"] == ""
    assert answer["path"] == list(path)
    assert "forgets(entries=[1,1,1,1])" in unescape(answer["parts"]["actions"])


# An implementation.


class Kept(Adapter):
    def __init__(self, start: Endless) -> None:
        self.length = len(start.queue)

    def adds(self) -> None:
        self.length += 1

    def lags(self) -> bool:
        return False


class Forgetful(Kept):
    def adds(self) -> None:
        self.length += self.length < 9


def observing(adapter: type[Kept]) -> type[Kept]:
    from floodmark.conformance import observable

    class Observed(adapter):  # type: ignore[misc, valid-type]
        @observable
        def queue(self) -> list[int]:
            return [1] * self.length

    return Observed


@pytest.mark.parametrize("drive", [walk, tour])
def test_an_implementation_is_driven_as_far_as_the_model_grows(drive: Callable[..., Any]) -> None:
    assert drive(Endless(), observing(Kept), seed=1, most=60, **({"explored": 60} if drive is tour else {})) is None
    found = drive(Endless(), observing(Forgetful), seed=1, most=200, **({"explored": 200} if drive is tour else {}))
    assert found is not None
    assert found.mismatch is not None
    assert len(found.steps) == 11
