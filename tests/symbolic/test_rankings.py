"""Proofs about runs by rankings: z3 against CPython and the oracles of fair graphs, and what is refused."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from floodmark.checkers.liveness.assumptions import Assumptions, assumptions_of
from floodmark.checkers.liveness.goals import Goal, goals_of
from floodmark.checkers.project.properties import Property, _property, collect
from floodmark.checkers.project.spec import read
from floodmark.checkers.symbolic.methods.progress import (
    EVERY_PENDING_STATE,
    EXPLAINED,
    HELPED,
    KEPT,
    NATURAL,
    RankingProof,
    breaks,
    confirm_failure,
)
from floodmark.checkers.symbolic.methods.rankings import BoundRanking, Explanations, FairHelper, _helpers, levels_of
from floodmark.checkers.symbolic.methods.smtlib import SmtScripts
from floodmark.checkers.symbolic.methods.task import ProofTask
from floodmark.checkers.symbolic.prove import prove_check
from floodmark.checkers.symbolic.translate.transition_system import system_of
from floodmark.checkers.verdict.check import Check, CheckSettings
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import ExitCode
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, State
from floodmark.language.rankings import Helper, Ranks
from floodmark.language.reference import successors
from tests.support.fair_graphs import FairGraph, _reached, _steps, loaded, random_graph, verdict
from tools.second_solver import ask

ROOT = Path(__file__).parents[2]


def distances(graph: FairGraph) -> dict[int, int]:
    """How many steps each state is away from the goal; as many as there are states where it is never reached."""
    found = dict.fromkeys(graph.goal, 0)
    for distance in range(1, graph.states):
        for old, _, new in graph.steps:
            if found.get(new) == distance - 1:
                found.setdefault(old, distance)
    return {state: found.get(state, graph.states) for state in range(graph.states)}


@dataclass(frozen=True)
class Ranking:
    """A level for a graph: the numbers of states, 0 where there is none, and helpers as they are written."""

    table: dict[int, int]
    helpers: tuple[str, ...]


def with_rankings(graph: FairGraph, kind: str, levels: Sequence[Ranking]) -> str:
    """The graph as a model, with what is reached as an invariant, and levels."""
    reached = sorted(_reached(set(graph.initial), _steps(graph)))
    lines = [graph.source(), "from floodmark import helper, invariant, ranking", ""]
    lines += [f"REACHED = Set({set(reached)})", ""]
    lines += ["@invariant", "def inside(model: Walk) -> bool:", "    return model.here in REACHED", ""]
    lines += ["def odd(model: Walk) -> bool:", "    return model.here % 2 == 0", ""]
    lines += ["def sometimes(model: Walk) -> bool | None:", "    return True if model.here % 3 > 0 else None", ""]
    lines += ["def seldom(model: Walk) -> bool | None:", "    return False if model.here % 3 > 0 else None", ""]
    property_name = f"{kind}_goal" if kind != "leads_to" else "premise_leads_to_goal"
    for number, level in enumerate(levels):
        rank = " ".join(f"{rank} if model.here == {state} else" for state, rank in level.table.items())
        lines += [f'@ranking("{property_name}", helped_by=[{", ".join(level.helpers)}])']
        lines += [f"def level_{number}(model: Walk) -> int:", f"    return {rank} 0", ""]
    return "\n".join(lines)


def random_rankings(graph: FairGraph, chance: random.Random) -> list[Ranking]:
    """The distance to the goal or any numbers, helped by some of what is fair."""
    levels = []
    for _ in range(chance.randint(1, 2)):
        table = distances(graph)
        if chance.random() < 0.4:
            table = {state: chance.randint(0, 2) for state in table}
        helpers = [name for name in graph.fair if chance.random() < 0.7]
        given = [
            f'helper("act_{it}", odd={chance.choice(["odd", "sometimes"])})' if it in graph.each else f'"act_{it}"'
            for it in helpers
        ]
        levels.append(Ranking(table, tuple(given)))
    return levels


def explained(cls: type[Model], kind: str) -> tuple[Property, Explanations, Goal]:
    """The invariant of a graph with rankings, what CPython says of these, and the goal that they are for."""
    names = cls.start.__globals__  # type: ignore[attr-defined]
    model = cls()
    inside = _property("inside", "invariant", names["inside"])
    goal = next(it for it in goals_of(model, list(collect(cls, []).values())) if it.prop.kind == kind)
    assumptions = assumptions_of(model)
    rankings = [_property(name, "ranking", names[name]) for name in names if name.startswith("level_")]
    return inside, Explanations(model, goal, levels_of(model, goal, rankings, assumptions), assumptions), goal


def broken(graph: FairGraph, kind: str, levels: Sequence[Ranking]) -> set[tuple[str, str]]:
    """The obligations that fail: z3 finds a break exactly where CPython does."""
    with loaded(with_rankings(graph, kind, levels)) as cls:
        inside, explanations, goal = explained(cls, kind)
        wanted = broken_in_python(explanations, _reached(set(graph.initial), _steps(graph)), kind)
        found = set()
        system = system_of(explanations.model, [inside])
        for obligation in RankingProof(system, goal, explanations.levels, [inside]).obligations():
            assert obligation.outcome in ("proved", "fails")
            if obligation.outcome == "fails":
                assert confirm_failure(explanations, obligation) == obligation
                found.add((obligation.action, obligation.property))
        assert found == wanted, graph.source()
    return found


TWICE = """
from typing import Annotated
from floodmark import *

class Walk(Model):
    here: Annotated[int, Between(0, 1)] = 0
    @fair(each=("one", "other"))
    @action
    def act_0(self, one: bool, other: bool) -> None:
        require(self.here == 0 and one and other)
        self.here = 1
    @initial
    def start(self) -> None:
        self.here = 0
    @eventually
    def eventually_goal(self) -> bool:
        return self.here == 1

@invariant
def inside(model: Walk) -> bool:
    return model.here < 2

def yes(model: Walk) -> bool | None:
    return True

def maybe(model: Walk) -> bool | None:
    return {0}

@ranking("eventually_goal", helped_by=[helper("act_0", one={1}, other={2})])
def level_0(model: Walk) -> int:
    return 1 - model.here
"""


@pytest.mark.parametrize(("maybe", "helps"), [("None if model.here == 0 else True", False), ("True", True)])
@pytest.mark.parametrize("places", [("yes", "maybe"), ("maybe", "yes")])
def test_a_helper_helps_where_all_of_its_arguments_are_chosen(
    maybe: str, helps: bool, places: tuple[str, str]
) -> None:
    text = TWICE.replace("{0}", maybe).replace("{1}", places[0]).replace("{2}", places[1])
    with loaded(text) as cls:
        inside, explanations, goal = explained(cls, "eventually")
        found = {(it.action, it.property): it.outcome for it in
                 RankingProof(
                     system_of(explanations.model, [inside]), goal, explanations.levels, [inside]
                 ).obligations()}
        assert found[EVERY_PENDING_STATE, HELPED] == ("proved" if helps else "fails")
        late = RankingProof(
            system_of(explanations.model, [inside]), goal, explanations.levels, [inside]
        ).obligations(0.0)
        assert {it.outcome for it in late} <= {"undetermined", "proved"}


def assert_ranking_agrees(graph: FairGraph, kind: str, chance: random.Random) -> bool:
    """What z3 proves holds; whether it proves it."""
    found = broken(graph, kind, random_rankings(graph, chance))
    if not found:
        assert verdict(graph, kind, "streett") == "holds", graph.source()
    return not found


def broken_in_python(explanations: Explanations, reached: set[int], kind: str) -> set[tuple[str, str]]:
    """The obligations that fail in some reachable state, as CPython sees it."""
    found = set()
    for number in reached:
        state = (number,)
        if not explanations.pending(state):
            continue
        found |= {(EVERY_PENDING_STATE, name) for name in (NATURAL, HELPED) if breaks(explanations, name, state, None)}
        for step, after in successors(explanations.model, state):
            for name in (EXPLAINED, *([KEPT] if kind == "leads_to" else [])):
                if breaks(explanations, name, state, after):
                    found.add((step.action, name))
    return found


@pytest.mark.parametrize("kind", ["always_eventually", "leads_to", "eventually"])
def test_what_rankings_prove_holds_on_random_graphs(kind: str) -> None:
    chance = random.Random(kind)
    proved = sum(assert_ranking_agrees(random_graph(chance, by_field=False), kind, chance) for _ in range(14))
    assert proved >= 1


def walks(goal: set[int], steps: Sequence[tuple[int, int, int]], strong: bool = False, each: bool = False) -> FairGraph:
    """Three actions, of which the first is fair."""
    states = 1 + max(max(old, new) for old, _, new in steps)
    chosen = frozenset({0}) if each else frozenset()
    return FairGraph(states, 3, tuple(steps), (0,), frozenset(), frozenset(goal), {0: strong}, chosen)


TO_AND_FRO = [(0, 1, 1), (1, 2, 0)]
HELPLESS = (EVERY_PENDING_STATE, HELPED)
THERE, BACK = ("act_1", EXPLAINED), ("act_2", EXPLAINED)
FIRST = (Ranking({}, ('"act_0"',)),)

CLAUSES: dict[str, tuple[FairGraph, Sequence[Ranking], set[tuple[str, str]], str]] = {
    "another choice helps after the step": (
        walks({2, 3}, [*TO_AND_FRO, (0, 0, 3), (1, 0, 2)], each=True),
        [Ranking({}, ('helper("act_0", odd=odd)',))], {THERE, BACK}, "violated",
    ),
    "no choice helps after the step": (
        walks({2}, [(1, 1, 0), (0, 2, 1), (1, 0, 2)], strong=True, each=True),
        [Ranking({}, ('helper("act_0", odd=seldom)',))], {HELPLESS, THERE, BACK}, "violated",
    ),
    "another choice is taken": (
        walks({3}, [(0, 0, 3), (2, 0, 3), (0, 0, 2), (2, 0, 0)], each=True),
        [Ranking({}, ('helper("act_0", odd=odd)',))], set(), "holds",
    ),
    "the helper is taken, or what leads where it leads": (
        walks({2}, [(0, 0, 1), (1, 0, 0), (0, 2, 1), (0, 1, 2)]), FIRST, {("act_0", EXPLAINED), BACK}, "violated",
    ),
    "a weakly fair helper is not enabled any more": (
        walks({2}, [*TO_AND_FRO, (0, 0, 2)]), FIRST, {HELPLESS, THERE, BACK}, "violated",
    ),
    "a strongly fair helper need not stay enabled": (
        walks({2}, [*TO_AND_FRO, (0, 0, 2)], strong=True), FIRST, {HELPLESS, BACK}, "violated",
    ),
    "the ranking rises while help is there": (
        walks({2}, [*TO_AND_FRO, (0, 0, 2), (1, 0, 2)]), [Ranking({1: 1}, ('"act_0"',))], {THERE}, "holds",
    ),
    "the ranking above rises": (
        walks({2}, [*TO_AND_FRO, (0, 0, 2)]), [Ranking({1: 1}, ()), Ranking({0: 1}, ())], {HELPLESS, THERE}, "violated",
    ),
    "the helper changes nothing": (
        walks({1}, [(0, 0, 0), (0, 1, 1)]), FIRST, {HELPLESS, ("act_0", EXPLAINED)}, "violated",
    ),
    "a step that changes nothing is none of the helper's": (
        walks({1}, [(0, 0, 0), (0, 0, 1), (0, 2, 0)]), FIRST, set(), "holds",
    ),
    "no choice helps": (
        walks({2}, [(0, 0, 2)], each=True), [Ranking({}, ('helper("act_0", odd=seldom)',))], {HELPLESS}, "holds",
    ),
    "what does not help is not taken": (
        replace(walks({1}, [(0, 0, 6), (0, 1, 1), (6, 1, 1)], each=True), fair={0: False, 1: False}),
        [Ranking({}, ('helper("act_0", odd=seldom)', '"act_1"'))], set(), "holds",
    ),
    "the helper leads beyond the boundary": (
        replace(walks({1}, [(0, 0, 2), (0, 1, 1)]), bound=2), FIRST, {HELPLESS}, "undetermined",
    ),
}  # fmt: skip
"""Graphs at which one clause of the rule decides: what fails, and what is true."""


@pytest.mark.parametrize("clause", CLAUSES)
def test_each_clause_of_the_rule_is_needed(clause: str) -> None:
    graph, levels, wanted, truth = CLAUSES[clause]
    assert broken(graph, "always_eventually", levels) == wanted
    assert verdict(graph, "always_eventually", "streett") == truth


def small_graph(chance: random.Random) -> FairGraph:
    """Two or three states from which one further state, the goal, can be reached or not; most actions are fair."""
    states, actions = chance.randint(3, 4), chance.randint(2, 3)
    pairs = itertools.product(range(states - 1), range(actions), range(states))
    steps = tuple(step for step in pairs if chance.random() < 0.35)
    fair = {number: chance.random() < 0.4 for number in range(actions) if chance.random() < 0.8}
    each = frozenset(number for number in fair if chance.random() < 0.2)
    initial = tuple(range(states))
    return FairGraph(states, actions, steps, initial, frozenset(), frozenset({states - 1}), fair, each)


TRIES = 40
"""So many rankings are tried of each graph."""


def sound_proofs(graph: FairGraph, chance: random.Random) -> int:
    """How many random rankings prove that the goal is reached in CPython's eyes; fails if the oracle does not agree."""
    proofs = 0
    with loaded(graph.source()) as cls:
        model = cls()
        goals = goals_of(model, list(collect(cls, []).values()))
        goal = next(it for it in goals if it.prop.kind == "always_eventually")
        assumptions = assumptions_of(model)
        known: dict[State, list[tuple[int, State]]] = {}
        for _ in range(TRIES):
            levels = [random_level(graph, goal.prop, assumptions, chance) for _ in range(chance.randint(1, 3))]
            explanations = Explanations(model, goal, levels, assumptions, known)
            proofs += not broken_in_python(explanations, set(range(graph.states)), "always_eventually")
    if proofs:
        assert verdict(graph, "always_eventually", "streett") == "holds", graph.source()
    return proofs


def random_level(graph: FairGraph, prop: Property, assumptions: Assumptions, chance: random.Random) -> BoundRanking:
    """Any small numbers, and any helpers."""
    ranks = [chance.randint(0, 1) for _ in range(graph.states)]
    odd = [chance.choice([False, True, None]) for _ in range(graph.states)]
    helpers = [it for it in assumptions.by_action.values() if chance.random() < 0.5]
    chosen = {"odd": lambda model: odd[model.here]}
    level = replace(prop, name="level", function=lambda model: ranks[model.here])
    return BoundRanking(level, {}, tuple(FairHelper(it, chosen if it.each else {}) for it in helpers))


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 5])  # a graph of 5 tells weak from strong
def test_the_rule_is_sound_on_random_graphs(seed: int) -> None:
    chance = random.Random(seed)
    assert sum(sound_proofs(small_graph(chance), chance) > 0 for _ in range(30)) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_the_rule_is_sound_on_many_random_graphs(seed: int) -> None:
    chance = random.Random(seed)
    assert sum(sound_proofs(small_graph(chance), chance) > 0 for _ in range(300)) >= 30


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_what_rankings_prove_holds_on_many_random_graphs(seed: int) -> None:
    chance = random.Random(seed)
    kinds = itertools.cycle(["always_eventually", "leads_to", "eventually"])
    graphs = (random_graph(chance, by_field=False) for _ in range(500))
    assert sum(assert_ranking_agrees(graph, next(kinds), chance) for graph in graphs) >= 50


# What a spec asks for.

QUEUE = '''
from __future__ import annotations

from typing import Annotated

from floodmark import (
    Between, Constant, Model, action, always_eventually, eventually_always, fair, helper, initial, invariant, leads_to,
    lemma, ranking, recoverable, require,
)


class Queue(Model):
    """Orders come while the shop is open; a door that opens and closes lets them be served."""

    most = Constant(3)
    waiting: Annotated[int, Between(0, "most")]
    open: bool
    door: bool

    @initial
    def start(self) -> None:
        self.waiting = 0
        self.open = True
        self.door = True

    @action
    def comes(self) -> None:
        require(self.open and self.waiting < self.most)
        self.waiting += 1

    @action
    def closes(self) -> None:
        self.open = False

    @action
    def door_moves(self) -> None:
        self.door = not self.door

    @fair(strong=True)
    @action
    def serves(self) -> None:
        require(self.waiting > 0 and self.door)
        self.waiting -= 1

    @fair
    @action
    def door_opens(self) -> None:
        require(not self.door)
        self.door = True

    @leads_to
    def closed_shop_empties(self) -> tuple[bool, bool]:
        return not self.open, self.waiting == 0

    @recoverable
    def can_be_empty(self) -> bool:
        return self.waiting == 0


@ranking("closed_shop_empties", helped_by="serves")
def orders(model: Queue) -> int:
    return model.waiting


@ranking("closed_shop_empties", helped_by="door_opens")
def door_is_shut(model: Queue) -> int:
    return 0 if model.door else 1
'''

WRONG = QUEUE + "\n@invariant\ndef never_two(model: Queue) -> bool:\n    return model.waiting < 2\n"


def queue(tmp_path: Path, text: str = QUEUE, spec: str = "") -> Check:
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    folder.mkdir()
    (folder / "queue.py").write_text(text)
    (folder / "queue.toml").write_text(f'model = "queue.py:Queue"\ninvariant_files = ["queue.py"]\n{spec}')
    return Check(read(folder / "queue.toml"), None, CheckSettings())


def proved(tmp_path: Path, text: str = QUEUE, spec: str = "", **task: object) -> ProofResult:
    return prove_check(queue(tmp_path, text, spec), ProofTask(method="ranking", **task))  # type: ignore[arg-type]


def changed(old: str, new: str) -> str:
    assert old in QUEUE
    return QUEUE.replace(old, new)


@pytest.mark.parametrize("unbounded", [False, True])
def test_a_ranking_with_a_strongly_fair_helper_proves_a_property(tmp_path: Path, unbounded: bool) -> None:
    found = proved(tmp_path, unbounded=unbounded)
    assert found.verdict == "holds", [found.headline, *found.lines]
    assert "1 property with 2 rankings" in found.headline
    assert "the search of all 16 states agrees" in found.headline
    assert found.facts["enumerated"] == 16
    assert ("for every most" in found.headline) == unbounded


def test_a_ranking_that_does_not_fall_proves_nothing(tmp_path: Path) -> None:
    found = proved(tmp_path, changed("return model.waiting\n", "return 1\n"))
    assert found.verdict == "undetermined"
    assert found.lines[0] == "closed_shop_empties: serves is explained by no level"
    assert any("orders: 1 -> 1; serves strongly fair taken" in line for line in found.lines)


def test_a_ranking_that_rises_proves_nothing(tmp_path: Path) -> None:
    found = proved(tmp_path, changed("require(self.open and", "require("))
    assert found.verdict == "undetermined"
    assert any("comes is explained by no level" in line for line in found.lines)


def test_a_negative_ranking_proves_nothing(tmp_path: Path) -> None:
    found = proved(tmp_path, changed("return model.waiting\n", "return model.waiting - 2\n"))
    assert "closed_shop_empties: a ranking is negative, or something cannot be evaluated" in found.lines


def test_a_weakly_fair_helper_has_to_stay_enabled(tmp_path: Path) -> None:
    found = proved(tmp_path, spec='[fairness]\nserves = "weak"\n')
    assert found.verdict == "undetermined"
    assert any("serves weakly fair enabled before the step only" in line for line in found.lines)


def test_a_pending_state_without_help_is_shown(tmp_path: Path) -> None:
    found = proved(tmp_path, changed('helped_by="door_opens")', "helped_by=[])"))
    assert "closed_shop_empties: no helper is enabled" in found.lines


def test_everything_that_fails_is_shown(tmp_path: Path) -> None:
    wrong = changed("return model.waiting\n", "return 1\n").replace("self.open = False", "self.open = not self.open")
    found = proved(tmp_path, wrong)
    assert "closed_shop_empties: closes ends the premise, and the goal is not reached" in found.lines
    assert "closed_shop_empties: serves is explained by no level" in found.lines


def test_nothing_is_left_open_where_no_constant_only_bounds_integers(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no constant of Queue only bounds integers"):
        proved(tmp_path, changed('Between(0, "most")', "Between(0, 3)"), unbounded=True)


def test_a_premise_has_to_last_until_the_goal(tmp_path: Path) -> None:
    found = proved(tmp_path, changed("        self.open = False", "        self.open = not self.open"))
    assert "closed_shop_empties: closes ends the premise, and the goal is not reached" in found.lines


def test_an_invariant_that_the_proof_rests_on_has_to_be_inductive(tmp_path: Path) -> None:
    wrong = QUEUE + "\n@lemma\ndef never_two(model: Queue) -> bool:\n    return model.waiting < 2\n"
    found = proved(tmp_path, wrong)
    assert found.verdict == "violated"
    assert "not proved: 1 invariants and lemmas that it rests on" in found.headline


def test_an_invariant_that_the_spec_does_not_check_is_dropped_where_it_is_not_proved(tmp_path: Path) -> None:
    assert proved(tmp_path, WRONG, 'invariants = ["closed_shop_empties"]\n').verdict == "holds"


def test_of_a_ranking_what_the_proof_rests_on_is_recorded(tmp_path: Path) -> None:
    """Each obligation once, and none of the induction with an invariant that was dropped."""
    scripts = SmtScripts(tmp_path / "smt")
    check = queue(tmp_path, WRONG, 'invariants = ["closed_shop_empties"]\n')
    found = prove_check(check, ProofTask(method="ranking"), scripts)
    files = sorted(scripts.folder.rglob("*.smt2"))
    assert len(files) == found.facts["obligations"]
    assert not [file.name for file in files if "never_two" in file.name]
    assert {ask(file).answer for file in files} == {"unsat"}


@pytest.mark.slow
def test_of_a_ranking_that_fails_the_induction_is_recorded(tmp_path: Path) -> None:
    scripts = SmtScripts(tmp_path / "smt")
    found = prove_check(queue(tmp_path, WRONG), ProofTask(method="ranking"), scripts)
    files = list(scripts.folder.rglob("*.smt2"))
    assert len(files) == found.facts["obligations"]
    assert {ask(file).outcome for file in files} == {"agrees"}
    assert "sat" in {ask(file).answer for file in files}


@pytest.mark.parametrize("each", ["way.odd", "turns"])
def test_a_ranking_is_not_helped_for_each_value_of_a_field_or_of_a_method(each: str) -> None:
    graph = FairGraph(2, 2, ((0, 1, 1),), (0,), frozenset(), frozenset({1}), {1: False}, frozenset({1}), by_field=True)
    turning = replace(graph, each=frozenset(), turning=frozenset({1}))
    with loaded((turning if each == "turns" else graph).source()) as cls:
        model = cls()
        prop = collect(cls, [])["eventually_goal"]
        ranks = Ranks(("eventually_goal",), (Helper("act_1"),))
        with pytest.raises(SourceError, match=f"fair for each {each}, and a ranking is helped only for each p"):
            _helpers(model, prop, ranks, assumptions_of(model))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('helped_by="door_opens"', 'helped_by="door_moves"', "door_moves is not fair, so it helps nothing"),
        ('helped_by="door_opens"', 'helped_by="door_open"', "there is no action 'door_open'; did you mean"),
        ('@ranking("closed_shop_empties", helped_by="door', '@ranking("shop", helped_by="door', "there is no property"),
        ('@ranking("closed_shop_empties", helped_by="door', '@ranking("can_be_empty", helped_by="door', "@recoverable"),
        ("return 0 if model.door else 1", "return model.door", "door_is_shut has to return a natural number"),
        ("door_is_shut(model: Queue)", "door_is_shut(model: Queue, x: bool)", "must have the parameters of"),
    ],
)
def test_what_a_ranking_says_wrongly_is_refused_at_its_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(SourceError, match=message) as raised:
        proved(tmp_path, changed(old, new))
    assert raised.value.file is not None and raised.value.file.endswith("queue.py")
    assert raised.value.line is not None and raised.value.line > 58


def test_fairness_for_each_choice_asks_which_one_helps(tmp_path: Path) -> None:
    each = QUEUE.replace("@fair\n    @action\n    def door_opens(self)", '@fair(each="wide")\n    @action\n    '
                         "def door_opens(self, wide: bool)")  # fmt: skip
    with pytest.raises(SourceError, match="say which one helps"):
        proved(tmp_path, each)
    chosen = each.replace('helped_by="door_opens"', 'helped_by=helper("door_opens", wide=widely)')
    head, tail = chosen.split("\n\n\n@ranking", maxsplit=1)
    for choice, verdict_there in (
        ("True", "holds"),
        ("None if model.door else True", "holds"),
        ("None if model.waiting > 1 else True", "undetermined"),
    ):
        function = f"\n\n\ndef widely(model: Queue) -> bool | None:\n    return {choice}\n\n\n@ranking"
        assert proved(tmp_path, head + function + tail).verdict == verdict_there


def test_what_has_no_ranking_is_not_proved(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="can_be_empty has no @ranking"):
        proved(tmp_path, properties=("can_be_empty",))
    without = QUEUE.replace('@ranking("closed_shop_empties", helped_by="serves")\n', "").replace(
        '@ranking("closed_shop_empties", helped_by="door_opens")\n', ""
    )
    counts = "\n\n@invariant\ndef counts(model: Queue) -> bool:\n    return model.waiting >= 0\n"
    found = proved(tmp_path, without + counts)
    assert found.exit_code == ExitCode.NOTHING_CHECKED


@pytest.mark.slow
def test_a_pending_isr_change_is_settled() -> None:
    spec = read(ROOT / "specs/alter_isr/progress_zookeeper.toml")
    found = prove_check(Check(spec, None, CheckSettings()), ProofTask(method="ranking"))
    assert found.verdict == "holds", found.lines
    assert found.facts["enumerated"] == spec.expect.distinct
