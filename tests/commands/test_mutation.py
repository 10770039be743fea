"""Tests mutants of models: which there are, what becomes of them, and what the command reports."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any, get_args

import pytest

from floodmark.checkers.commands import mutate as command
from floodmark.checkers.kernel.loops import SEED_1, SEED_2
from floodmark.checkers.mutation import report
from floodmark.checkers.mutation.change import MutationKind, changes
from floodmark.checkers.mutation.mutant import Mutant, functions, mutants
from floodmark.checkers.mutation.run import run
from floodmark.checkers.mutation.steps import steps_digest
from floodmark.checkers.mutation.trial import Trial, TrialBudget, stages, try_mutant
from floodmark.checkers.project.spec import Spec, read
from floodmark.checkers.run.checks import run_check
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.checkers.verdict.result import ExitCode
from floodmark.compiler.layout import digest_text, fingerprint, lay_out
from floodmark.language.errors import SourceError
from floodmark.language.reference import Step, fire, initial_states, successors
from tests.support.command import Ended, floodmark
from tests.support.engines import imported
from tests.support.outcomes import inside
from tests.support.projects import tank_project, write

TANK_LINES = [
    "16 Tank.start: - self.level = 0  + (dropped)",
    "24 Tank.fill: - require(not self.full())  + (dropped)",
    "24 Tank.fill: - not self.full()  + self.full()",
    "25 Tank.fill: - self.level += 1  + (dropped)",
    "25 Tank.fill: - self.level += 1  + self.level -= 1",
    "29 Tank.drain: - require(self.level > 0)  + (dropped)",
    "29 Tank.drain: - require(self.level > 0)  + require(not self.level > 0)",
    "29 Tank.drain: - self.level > 0  + self.level >= 0",
    "30 Tank.drain: - self.level -= 1  + (dropped)",
    "30 Tank.drain: - self.level -= 1  + self.level |= 1",
    "30 Tank.drain: - self.level -= 1  + self.level += 1",
    "20 Tank.full: - self.level == self.size  + self.level != self.size",
]

KINDS = '''
from __future__ import annotations

from typing import Annotated

from floodmark import Between, Identifier, Model, Set, action, initial, require


class Item(Identifier, count=2, prefix="i"):
    """Something that comes in."""


class Kinds(Model):
    """The same action twice: of one a property knows all, of the other nothing."""

    watched: Set[Item]
    ignored: Set[Item]
    watched_count: Annotated[int, Between(0, 4)]
    ignored_count: Annotated[int, Between(0, 4)]

    @initial
    def start(self) -> None:
        self.watched = Set()
        self.ignored = Set({Item(1)})
        self.watched_count = 0
        self.ignored_count = 0
'''
ACTION = '''
    @action
    def take_{name}(self, item: Item) -> None:
        require(item not in self.{name} and self.{name}_count < 4)
        if self.{name}_count == 0 or any(other in self.{name} for other in Item):
            self.{name} = self.{name} | {{item}}
        self.{name}_count += 1

    @action
    def empty_{name}(self) -> None:
        require(len(self.{name}) > 0)
        for item in Item:
            self.{name}.discard(item)
'''
KNOWS = '''
from __future__ import annotations

from model.kinds import Kinds
from floodmark import implies, reachable, transition


@transition
def watched_is_known(old: Kinds, new: Kinds) -> bool:
    takes = old.watched_count == 0 or len(old.watched) > 0
    grown = len(new.watched) == len(old.watched) + (1 if takes else 0) and old.watched <= new.watched
    more = new.watched_count == old.watched_count + 1 and grown
    less = new.watched_count == old.watched_count and len(old.watched) > 0 and len(new.watched) == 0
    changed = new.watched != old.watched or new.watched_count != old.watched_count
    return implies(changed, more or less)


@reachable
def both_are_taken(model: Kinds) -> bool:
    return len(model.watched) == 2 and model.watched_count == 2


@reachable
def all_are_gone(model: Kinds) -> bool:
    return len(model.watched) == 0 and model.watched_count == 4
'''


def spec_of(root: Path, more: str = "") -> Spec:
    return read(tank_project(root, more) / "specs/tank.toml")


def only(spec: Spec, text: str) -> Mutant:
    [mutant] = [each for each in mutants(spec.model_class()) if each.change.endswith(text)]
    return mutant


def tried(spec: Spec, text: str, budget: TrialBudget | None = None) -> Trial:
    return try_mutant(only(spec, text), stages(spec, budget or TrialBudget()), budget or TrialBudget())


def test_mutants_of_a_model_are_one_line_differences(tmp_path: Path) -> None:
    found = mutants(spec_of(tmp_path).model_class())
    assert [f"{each.line} {each.change}" for each in found] == TANK_LINES
    assert {Path(each.file) for each in found} == {tmp_path / "model/tank.py"}
    text = (tmp_path / "model/tank.py").read_text().splitlines()
    assert all(text[each.line - 1][each.column :].strip() for each in found)
    assert text[23][only(spec_of(tmp_path), "- require(not self.full())  + (dropped)").column :] == "not self.full())"


def test_every_kind_of_change_is_tried() -> None:
    source = """
        def take(self, item):
            require(item in self.room and (self.open or self.late))
            if self.count < 2:
                self.room = self.room - {item}
            self.items.add(item)
            return all(x is None for x in self.room if not x)
    """
    tree = ast.parse(dedent(source)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    before = ast.dump(tree)
    found = changes(tree)
    assert [(each.kind, f"{each.was} -> {each.now}") for each in found] == [
        ("guard", "require(item in self.room and (self.open or self.late)) -> (dropped)"),
        ("guard", "require(item in self.room) -> (dropped)"),
        ("comparison", "item in self.room -> item not in self.room"),
        ("guard", "require(self.open or self.late) -> (dropped)"),
        ("guard", "require(self.open or self.late) -> require(not (self.open or self.late))"),
        ("condition", "self.open or self.late -> self.late"),
        ("condition", "self.open or self.late -> self.open"),
        ("branch", "if self.count < 2 -> if True"),
        ("branch", "if self.count < 2 -> if False"),
        ("comparison", "self.count < 2 -> self.count <= 2"),
        ("assignment", "self.room = self.room - {item} -> (dropped)"),
        ("operation", "self.room - {item} -> self.room | {item}"),
        ("operation", "self.room - {item} -> self.room + {item}"),
        ("call", "self.items.add(item) -> (dropped)"),
        ("fold", "all((x is None for x in self.room if not x)) -> any((x is None for x in self.room if not x))"),
        ("comparison", "x is None -> x is not None"),
        ("condition", "if not x -> (dropped)"),
        ("condition", "not x -> x"),
    ]
    assert ast.dump(tree) == before
    assert "item in self.room and" not in ast.unparse(found[1].tree)
    assert len({ast.unparse(each.tree) for each in found}) == len(found)


def test_a_line_says_why_a_mutant_is_not_decided() -> None:
    trial = Trial("fill: - a  + b", "guard", "tank.py", 3, 0, "undetermined", "the limit of 8 states")
    assert report.trial_line(trial).endswith("tank.py:3  fill: - a  + b  (the limit of 8 states)")
    assert report.trial_line(replace(trial, fate="equal", by="")).endswith("tank.py:3  fill: - a  + b")


def test_each_comparison_of_a_chain_is_changed() -> None:
    found = changes(ast.parse("def full(self): return 0 <= self.level < self.size").body[0])  # type: ignore[arg-type]
    assert [each.now for each in found] == ["0 < self.level < self.size", "0 <= self.level <= self.size"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", get_args(MutationKind))
def test_every_kind_can_be_killed_and_can_survive(tmp_path: Path, kind: str) -> None:
    model = KINDS + ACTION.format(name="watched") + ACTION.format(name="ignored")
    files = {"model/kinds.py": model, "invariants/kinds.py": KNOWS, "specs/kinds.toml": 'model = "model.kinds:Kinds"\n'}
    spec = read(write(tmp_path, files) / "specs/kinds.toml")
    chosen = [each for each in mutants(spec.model_class()) if each.kind == kind and "start" not in each.change]
    assert len(chosen) % 2 == 0
    trials = list(run(chosen, stages(spec, TrialBudget()), TrialBudget(), workers=1))
    fates = {name: {trial.fate for trial in trials if f"_{name}:" in trial.change} for name in ("watched", "ignored")}
    assert "killed" in fates["watched"]
    assert "survived" in fates["ignored"]


def test_counterexample_of_a_mutant_replays_in_cpython(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, 'invariants = ["below_size", "gets_full"]\n')
    mutant = only(spec, "- require(not self.full())  + (dropped)")
    check = Check(spec, None, CheckSettings(engine="native", workers=1))
    with mutant.planted():
        result = run_check(check)
        assert result.violation is not None and result.violation.failed_step is not None
        assert (result.file, result.line) == (str(tmp_path / "model/tank.py"), 25)
        model = check.cls()(**check.constants)
        states = [each.state for each in result.violation.trace]
        assert states[0] in [state for _, state in initial_states(model)]
        for before, after in zip(result.violation.trace, result.violation.trace[1:], strict=False):
            assert fire(model, before.state, after.step) == after.state
        with pytest.raises(Exception, match="level would become 4"):
            fire(model, states[-1], result.violation.failed_step)
    assert fire(model, states[-1], result.violation.failed_step) is None
    assert run_check(check).verdict == "holds"


def test_what_a_base_class_does_is_changed_for_super_as_well(tmp_path: Path) -> None:
    valve = '''
        from floodmark import action
        from model.tank import Tank

        class Valve(Tank):
            @action
            def drain(self) -> None:
                super().drain()

            def unused(self) -> int:
                return 1 + 1
    '''
    root = tank_project(tmp_path, **{"model/valve.py": valve, "specs/valve.toml": 'model = "model.valve:Valve"\n'})
    spec = read(root / "specs/valve.toml")
    names = [function.__qualname__ for function in functions(spec.model_class())]
    assert names == ["Tank.start", "Tank.fill", "Valve.drain", "Tank.full", "Tank.drain"]
    trial = tried(spec, "Tank.drain: - require(self.level > 0)  + (dropped)")
    assert trial.by.startswith("error: level would become -1")
    assert tried(spec, "Valve.drain: - super().drain()  + (dropped)").fate == "survived"
    model = spec.model_class()()
    with only(spec, "Valve.drain: - super().drain()  + (dropped)").planted():
        assert fire(model, (2,), _drain()) == (2,)
    assert fire(model, (2,), _drain()) == (1,)


def test_a_variable_with_the_name_of_its_method_is_no_longer_assigned(tmp_path: Path) -> None:
    valve = """
        from floodmark import rule
        from model.tank import Tank

        class Valve(Tank):
            @rule
            def full(self) -> bool:
                full = super().full()
                return full
    """
    root = tank_project(tmp_path, **{"model/valve.py": valve, "specs/valve.toml": 'model = "model.valve:Valve"\n'})
    trial = tried(read(root / "specs/valve.toml"), "Valve.full: - full = super().full()  + (dropped)")
    assert (trial.fate, "full" in trial.by) == ("refused", True)


def test_only_what_a_model_adds_is_changed(tmp_path: Path) -> None:
    valve = """
        from floodmark import Model, action, rule
        from model.tank import Tank

        def more(level: int) -> int:
            return level + 1

        class Valve(Tank):
            def drain(self) -> None:
                super().drain()

            @action
            def refill(self) -> None:
                self.level = more(self.level) if self.level < self.size else 0

        class Spring(Model):
            @rule
            def held(self, level: int) -> int:
                return level - 0

        class SafetyValve(Spring, Valve):
            @action
            def drain(self) -> None:
                super().drain()
                self.level = self.held(self.level)
    """
    root = tank_project(tmp_path, '[mutation]\nown = true\n', **{"model/valve.py": valve})
    spec = (root / "specs/tank.toml").read_text()
    wanted = {"Valve": {"Valve.drain", "Valve.refill"}, "SafetyValve": {"SafetyValve.drain", "Spring.held"}}
    for name, methods in wanted.items():
        write(root, {"specs/tank.toml": spec.replace("model.tank:Tank", f"model.valve:{name}")})
        *lines, total = mutate(root, listing=True).out.splitlines()
        assert {line.split("  ")[2].split(":")[0] for line in lines} == {*methods, "more"}
        assert total == f"tank  {len(lines)} mutants"


def test_the_smallest_spec_is_tried_first(tmp_path: Path) -> None:
    small = 'model = "model.tank:Tank"\n[constants]\nsize = 1\n'
    root = tank_project(tmp_path, '[mutation]\nalso = ["small.toml"]\n', **{"specs/small.toml": small})
    spec = read(root / "specs/tank.toml")
    assert tried(spec, "Tank.fill: - self.level += 1  + (dropped)").spec == "small"


def test_what_never_happens_without_a_mutant_kills_none(tmp_path: Path) -> None:
    small = 'model = "model.tank:Tank"\n[constants]\nsize = 0\n'
    root = tank_project(tmp_path, '[mutation]\nalso = ["small.toml"]\n', **{"specs/small.toml": small})
    said = mutate(root)
    assert said.code == 2
    assert "never fires, which would be noticed in every mutant; list it under idle or vacuous" in said.err


def _drain() -> Step:
    return Step("drain")


def test_a_mutant_with_different_steps_is_not_equal(tmp_path: Path) -> None:
    trial = tried(spec_of(tmp_path), "- self.level -= 1  + (dropped)")
    assert (trial.fate, trial.states_differ) == ("survived", False)


def test_a_step_that_changes_nothing_is_no_difference(tmp_path: Path) -> None:
    waits = """
        from floodmark import action, require
        from model.tank import Tank

        class Waits(Tank):
            @action
            def wait(self) -> None:
                require(self.level == 2)
                self.level = 2
    """
    root = tank_project(tmp_path, **{"model/waits.py": waits, "specs/waits.toml": 'model = "model.waits:Waits"\n'})
    spec = read(root / "specs/waits.toml")
    assert tried(spec, "- self.level = 2  + (dropped)").fate == "equal"
    assert tried(spec, "Waits.wait: - require(self.level == 2)  + (dropped)").fate == "survived"


def test_steps_that_orbits_do_not_tell_apart_are_no_equality(tmp_path: Path) -> None:
    lease = """
        from floodmark import Identifier, Model, action, invariant

        class Client(Identifier, count=2):
            pass

        class Lease(Model):
            holder: Client = Client(1)

            @action
            def passes(self, other: Client) -> None:
                self.holder = other

            @invariant
            def held(self) -> bool:
                return any(self.holder == client for client in Client)
    """
    spec = 'model = "model.lease:Lease"\nsymmetry = true\n'
    root = tank_project(tmp_path, **{"model/lease.py": lease, "specs/lease.toml": spec})
    assert tried(read(root / "specs/lease.toml"), "- self.holder = other  + (dropped)").fate == "survived"


BOUNDED = """
    from typing import Annotated

    from floodmark import Between, Model, action, boundary, initial, require

    class Bounded(Model):
        level: Annotated[int, Between(0, 9)]

        @initial
        def start(self) -> None:
            self.level = 0

        @boundary
        def low(self) -> bool:
            return self.level < 3

        @action
        def rise(self) -> None:
            require(self.level < 3)
            self.level += 1

        @action
        def leap(self) -> None:
            require(self.level == 2)
            if self.level > 1:
                self.level = 7
"""


def trial_of(root: Path, model: str, change: str, spec: str = "") -> Trial:
    """What becomes of a mutant of a model that has a property of nothing."""
    files = {"model/m.py": dedent(model), "specs/m.toml": f'model = "model.m:{{}}"\n{spec}'}
    name = model.partition("(Model)")[0].rpartition(" ")[2]
    more = f"""
        from floodmark import invariant
        from model.m import {name}

        @invariant
        def anything(model: {name}) -> bool:
            return True
    """
    files["specs/m.toml"] = files["specs/m.toml"].replace("{}", name)
    return tried(read(write(root, {"pyproject.toml": "", **files, "invariants/m.py": more}) / "specs/m.toml"), change)


def test_a_step_out_of_the_boundary_is_a_difference(tmp_path: Path) -> None:
    """States outside of it are checked, so a property could notice."""
    trial = trial_of(tmp_path, BOUNDED, "Bounded.leap: - self.level = 7  + (dropped)")
    assert (trial.fate, trial.states_differ) == ("survived", False)
    assert trial_of(tmp_path, BOUNDED, "- if self.level > 1  + if True").fate == "equal"


def test_a_state_that_begins_outside_of_the_boundary_is_a_difference(tmp_path: Path) -> None:
    starts = BOUNDED.replace("start(self)", "start(self, far: bool)").replace("self.level = 0", """self.level = 0
            if far:
                self.level = 8""")
    assert trial_of(tmp_path, starts, "Bounded.start: - self.level = 8  + (dropped)").fate == "survived"


def test_a_survivor_that_reaches_other_states_says_so(tmp_path: Path) -> None:
    free = BOUNDED.replace("self.level < 3\n\n", "self.level < 9\n\n").replace("Bounded", "Free")
    trial = trial_of(tmp_path, free, "Free.rise: - self.level < 3  + self.level <= 3")
    assert (trial.fate, trial.states_differ) == ("survived", True)


def test_the_digest_of_steps_is_that_of_each_step_once(tmp_path: Path) -> None:
    """Compared with what CPython takes: steps that change nothing, and those that two actions take, are not added."""
    drawn = """
        from typing import Annotated
        from floodmark import Between, Model, action, require
        Far = Annotated[int, Between(0, 19)]
        class Drawn(Model):
            here: Far = 0
            there: Annotated[int, Between(0, 2**61)] = 0
            @action
            def goes(self, to: Far) -> None:
                self.here = to
            @action
            def goes_far(self, to: Far) -> None:
                require(to > 9)
                self.here = to
                self.there = 1
            @action
            def returns(self) -> None:
                self.here = 0
    """
    with imported(dedent(drawn), "Drawn", tmp_path) as cls:
        model = cls()
        layout, sums = lay_out(model.variable_types), [0, 0]
        states = {layout.pack(state): state for _, state in initial_states(model)}
        waiting = list(states)
        while waiting:
            words = waiting.pop()
            after = {layout.pack(state): state for _, state in successors(model, states[words])}
            for number, seed in enumerate((SEED_1, SEED_2)):
                sums[number] += sum(fingerprint(it, fingerprint(words, seed)) for it in after if it != words)
            waiting += [it for it in after if it not in states]
            states.update(after)
        assert steps_digest(model) == digest_text(*(it % (1 << 64) for it in sums))


def test_a_known_bad_design_that_is_no_longer_caught_kills(tmp_path: Path) -> None:
    flawed = '[[flawed]]\nclass = "flawed:Jumps"\nproperty = "drains"\n'
    more = {"invariants/tank.py": """
        from floodmark import transition
        from model.tank import Tank

        @transition
        def drains(old: Tank, new: Tank) -> bool:
            return new.level >= old.level - 1
    """}
    jumps = """
        from model.tank import Tank

        class Jumps(Tank):
            def drain(self) -> None:
                super().drain()
                if self.level < 2:
                    self.level = 0
    """
    root = tank_project(tmp_path, flawed, **more)
    spec = read(write(root, {"specs/flawed.py": jumps}) / "specs/tank.toml")
    assert tried(spec, SURVIVOR).by == "drains is no longer broken by Jumps"


def test_a_design_that_is_not_caught_without_a_mutant_notices_none(tmp_path: Path) -> None:
    flawed = '[[flawed]]\nclass = "flawed:Same"\nproperty = "below_size"\n'
    same = """
        from model.tank import Tank

        class Same(Tank):
            def full(self) -> bool:
                return self.level >= 3
    """
    spec = read(write(tank_project(tmp_path, flawed), {"specs/flawed.py": same}) / "specs/tank.toml")
    with pytest.raises(SourceError, match="design Same is not caught without a mutant either") as error:
        tried(spec, SURVIVOR)
    assert error.value.line == 2


def test_no_mutant_is_killed_by_a_budget(tmp_path: Path) -> None:
    trial = tried(spec_of(tmp_path), "- self.level -= 1  + (dropped)", TrialBudget(seconds=0))
    assert trial.fate == "undetermined"
    assert "0 seconds" in trial.by


def test_a_spec_that_expects_a_violation_has_no_mutants(tmp_path: Path) -> None:
    root = tank_project(tmp_path, '[expect]\nverdict = "violated"\nproperty = "below_size"\n')
    ended = mutate(root)
    assert ended.code == 2
    assert "mutants are made of a model that holds" in ended.err


SURVIVOR = "Tank.drain: - self.level -= 1  + (dropped)"
REASON = """
[mutation]
[[mutation.survivors]]
reason = "nobody minds a full tank"
changes = ["{}"]
"""


def mutate(root: Path, *specs: str, **given: Any) -> Ended:
    """The command in a folder, in this process."""
    with inside(root):
        try:
            paths = [Path(spec) for spec in specs or ("specs/tank.toml",)]
            *lines, code = command.mutate(paths, command.MutateSettings(workers=1, **given))
        except SourceError as error:
            return Ended(2, "", str(error))
    assert isinstance(code, ExitCode)
    return Ended(int(code), "".join(f"{line}\n" for line in lines), "")


def test_survivors_are_listed_as_one_line(tmp_path: Path) -> None:
    ended = mutate(tank_project(tmp_path), json_file=Path("found.json"))
    assert ended.code == 1
    lines = ended.out.splitlines()
    assert lines[0] == f"survive       model/tank.py:30  {SURVIVOR}  (reaches the same states)"
    assert lines[1].startswith("tank  12 mutants: 9 killed, 1 survive, 2 no model, 0 of the survivors with a reason  ")
    assert lines[2] == "a mutant survives without a reason, or a reason is stale (exit code 1)"
    [data] = json.loads((tmp_path / "found.json").read_text())["mutation"]
    assert data["counts"] == {"killed": 9, "survived": 1, "refused": 2}
    assert next(each for each in data["mutants"] if each["fate"] == "survived")["file"] == "model/tank.py"


def test_the_mutants_of_each_spec_are_tried(tmp_path: Path) -> None:
    root = tank_project(tmp_path, **{"specs/small.toml": 'model = "model.tank:Tank"\nconstants = { size = 2 }\n'})
    ended = mutate(root, "specs/tank.toml", "specs/small.toml", only="self.level -= 1  + (dropped)")
    counts = [line.partition(":")[0] for line in ended.out.splitlines() if " 1 mutant: " in line]
    assert counts == ["tank  1 mutant", "small  1 mutant"]


def test_a_reason_makes_a_survivor_fine_until_it_is_stale(tmp_path: Path) -> None:
    root = tank_project(tmp_path, REASON.format(SURVIVOR))
    assert mutate(root).code == 0
    for change, why in [("Tank.fill: - self.level += 1  + (dropped)", "killed by gets_full"),
                        ("Tank.fill: - gone  + (dropped)", "there is no such mutant")]:
        ended = mutate(tank_project(tmp_path, REASON.format(change)))
        assert ended.code == 1
        assert f"stale reason  specs/tank.toml:4  {change}  ({why})" in ended.out


def test_the_lock_records_the_surviving_mutants(tmp_path: Path) -> None:
    root = tank_project(tmp_path)
    assert "each has a reason" in mutate(root, update_lock=True, json_file=Path("found.json")).err
    assert SURVIVOR in (root / "found.json").read_text()
    root = tank_project(tmp_path, REASON.format(SURVIVOR))
    assert mutate(root, update_lock=True).code == 0
    lock = root / "specs/floodmark.lock"
    assert f'[mutants.tank.survivors]\n"{SURVIVOR}" = "nobody minds a full tank"\n' in lock.read_text()
    assert mutate(root).code == 0
    lock.write_text(lock.read_text().replace("-= 1", "-= 2"))
    ended = mutate(root)
    assert ended.code == 4
    assert f"survives now, not in the lock: {SURVIVOR}" in ended.out


def test_another_spec_may_kill_a_mutant(tmp_path: Path) -> None:
    more = {"specs/strict.toml": 'model = "model.tank:Tank"\ninvariant_files = ["strict.py"]\n', "specs/strict.py": """
        from floodmark import transition
        from model.tank import Tank

        @transition
        def drains(old: Tank, new: Tank) -> bool:
            return old.level != new.level
    """}
    spec = read(tank_project(tmp_path, '[mutation]\nalso = ["strict.toml"]\n', **more) / "specs/tank.toml")
    trial = tried(spec, SURVIVOR)
    assert (trial.fate, trial.by, trial.spec) == ("killed", "drains", "strict")


def test_mutants_run_in_processes_and_heed_the_options(tmp_path: Path) -> None:
    root = tank_project(tmp_path)
    assert floodmark("mutate", "tank", "--workers", "2", at=root).out.startswith("survive       model/tank.py:30  ")
    listed = mutate(root, listing=True, only="drain").out.splitlines()
    assert len(listed) == 7 and listed[0].startswith("model/tank.py:29:")
    assert "no mutant of model.tank:Tank has 'nothing'" in mutate(root, only="nothing").err


@pytest.mark.slow
def test_mutants_run_as_spark_tasks_with_the_same_results(tmp_path: Path) -> None:
    spec = spec_of(tmp_path)
    every = mutants(spec.model_class())
    here = list(run(every, stages(spec, TrialBudget()), TrialBudget(), workers=1))
    there = list(run(every, stages(spec, TrialBudget()), TrialBudget(), master="local[2]"))
    assert [(each.change, each.fate, each.by) for each in there] == [(each.change, each.fate, each.by) for each in here]
