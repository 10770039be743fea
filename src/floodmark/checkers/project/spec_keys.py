"""Every key of a spec: how it is read, and what it means.

This is the only list of keys, those of ``tool.floodmark`` in ``pyproject.toml`` included. Specs are read by it
(``SPEC``), messages about unknown keys come from it, and ``docs/tools/spec.py`` writes the page ``docs/spec.md`` from
it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from floodmark.checkers.project.input_limits import brief
from floodmark.checkers.project.spec_address import class_name
from floodmark.checkers.project.spec_entries import (
    PROOF_METHODS,
    STRATEGIES,
    TIERS,
    ExpectedVerdict,
    ListedDesign,
    ListedProof,
    Mutation,
    RefinementDemands,
    Scenario,
    SimulationSettings,
    SpecRow,
    SurvivalReason,
)
from floodmark.checkers.project.spec_values import (
    ALL_OR_NAMES,
    CONSTANTS,
    COUNT,
    FILES,
    FLAG,
    FLAG_OR_NAMES,
    MEMORY,
    NAME_OR_NAMES,
    NAMES,
    POSITIVE,
    SECONDS,
    SOME_NAMES,
    SPECS,
    TEXT,
    TEXTS,
    Key,
    SpecReader,
    ValueKind,
    fairness,
    line_of,
    one_of,
    table,
)
from floodmark.checkers.search_result import Limits


def _expect(reader: SpecReader, value: Any, key: str) -> ExpectedVerdict:
    expect = ExpectedVerdict(**reader.table(value, EXPECT, key))
    if expect.verdict == "violated" and expect.property is None:
        raise reader.error('a spec that expects "violated" names the property: property = "..."', key)
    if expect.verdict == "holds" and expect.property is not None:
        raise reader.error('property needs verdict = "violated"', f"{key}.property")
    return expect


def _flawed(reader: SpecReader, value: Any, key: str) -> tuple[ListedDesign, ...]:
    found: list[ListedDesign] = []
    for place, values in reader.entries(value, FLAWED, key):
        reference = values.pop("class")
        found.append(ListedDesign(reference, class_name(reference), line=reader.lines.get(place), **values))
    return tuple(found)


def _prove(reader: SpecReader, value: Any, key: str) -> tuple[ListedProof, ...]:
    found: list[ListedProof] = []
    for place, values in reader.entries(value, PROVE, key):
        proving = ListedProof(**values, line=reader.lines.get(place))
        for name in ("unbounded", "any_size"):
            methods = ("induction", "infer") if name == "any_size" else ("induction", "ranking")
            if getattr(proving, name) and proving.method not in methods:
                text = " or ".join(f'"{method}"' for method in methods)
                raise reader.error(f"{name} needs method = {text}", f"{place}.{name}")
        if proving.depth is not None and proving.method not in ("bmc", "k-induction"):
            raise reader.error('depth needs method = "bmc" or "k-induction"', f"{place}.depth")
        if proving.depth == 0:
            raise reader.error("depth is the number of states of a run, at least 1", f"{place}.depth")
        if proving.expect == "bounded" and proving.method != "bmc":
            raise reader.error('expect = "bounded" needs method = "bmc"', f"{place}.expect")
        found.append(proving)
    return tuple(found)


def _scenarios(reader: SpecReader, value: Any, key: str) -> tuple[Scenario, ...]:
    found: list[Scenario] = []
    for place, values in reader.entries(value, SCENARIO, key):
        scenario = Scenario(**values, line=reader.lines.get(place))
        if scenario.name in [other.name for other in found]:
            raise reader.error(f"there is a scenario {brief(scenario.name)} already; rename one", f"{place}.name")
        found.append(scenario)
    return tuple(found)


def _survivors(reader: SpecReader, value: Any, key: str) -> tuple[SurvivalReason, ...]:
    return tuple(
        SurvivalReason(
            **values, line=reader.lines.get(place)
        ) for place, values in reader.entries(value, SURVIVORS, key)
    )


_ROW_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


def _rows(reader: SpecReader, value: Any, key: str) -> tuple[SpecRow, ...]:
    """The rows. Their form is checked here; their values are read when they are merged with the file's."""
    found: list[SpecRow] = []
    for place, values in reader.entries(value, ROW, key):
        name, given = values["name"], {key: it for key, it in value[len(found)].items() if key != "name"}
        if not _ROW_NAME.fullmatch(name):
            advice = 'write letters, digits, - and _, as in "five_voters"'
            raise reader.error(f"{brief(name)} cannot be the name of a row: {advice}", f"{place}.name")
        for other in found:
            if other.name.lower() == name.lower():  # reports name files after rows, and some systems ignore case
                message = f"there is a row {other.name} already, at line {other.line}; rename one"
                raise reader.error(message, f"{place}.name")
        for inner, it in given.items():
            if it == {}:
                message = f"{inner} is empty, which changes nothing: a row adds to what the file says; leave it out"
                raise reader.error(message, f"{place}.{inner}")
        found.append(SpecRow(name, given, place, line_of(place, reader.lines) or 1))
    if not found:
        raise reader.error("there is no row: write a table [[row]] for each, or leave the key out", key)
    return tuple(found)


EXPECT: Sequence[Key] = (
    Key("verdict", one_of(("holds", "violated")), "The expected verdict of the search.", '`"holds"`'),
    Key("property", TEXT, "The property that must be violated, or `deadlock`; needs `verdict = \"violated\"`."),
    Key("depth", COUNT, "The number of levels of the search or, if a violation is expected, of states in its shortest "
        "trace. Another number fails the check, as for the next two."),
    Key("distinct", COUNT, "The number of distinct states (of orbits, with `symmetry`)."),
    Key("generated", COUNT, "The number of initial states and of steps, including those to states already known."),
)
LIMITS: Sequence[Key] = (
    Key("states", COUNT, "The most distinct states."),
    Key("seconds", SECONDS, "The most time."),
    Key("memory", MEMORY, "The most memory for all processes; a search that needs more continues in files on disk."),
)
SIMULATE: Sequence[Key] = (
    Key("walks", POSITIVE, "The number of walks.", "100,000"),
    Key("steps", POSITIVE, "The most steps of a walk.", "100"),
    Key("seed", COUNT, "What the random numbers are drawn from: the same seed is the same walks.", "0"),
    Key("strategy", one_of(STRATEGIES), "As `floodmark simulate --strategy`.", '`"actions"`'),
)
FAIRNESS: Sequence[Key] = (
    Key("strong", FLAG, "Strong fairness instead of weak.", "`false`"),
    Key("each", NAME_OR_NAMES, "Parameters of the action, their fields such as `message.to`, or methods of the model: "
        "each value is fair separately."),
)
REFINES: Sequence[Key] = (
    Key("liveness", FLAG, "Whether the runs of the model, mapped, also have to be fair to the fair actions of the "
        "other model, and to have its properties of runs.", "`false`"),
)
BELONGS = Key("rows", NAME_OR_NAMES, "The rows of the spec to which it belongs, if the spec has `[[row]]` tables.",
              "the first row")
FLAWED: Sequence[Key] = (
    Key("class", TEXT, "The known-bad design, `\"file:Class\"` as in `model`: a subclass of the model.",
        error_if_missing="a flawed design needs class = ..."),
    Key("property", TEXT, "The property that it must violate, or `deadlock`.",
        error_if_missing="a flawed design needs property = ..."),
    Key("depth", COUNT, "The number of states in its shortest trace."),
    Key("constants", CONSTANTS, "Constants for this design, which override the spec's."),
    Key("invariants", NAMES, "Further properties to check it for. If one is violated in fewer steps, the check fails."),
    Key("tier", one_of(TIERS), "The tier in which it is checked: a search may find a mistake quickly in a large model, "
        "and late in a small one.", "that of its spec"),
    BELONGS,
)
PROVE: Sequence[Key] = (
    Key("method", one_of(PROOF_METHODS), "As `floodmark prove --method`.", '`"induction"`'),
    Key("depth", COUNT, "The number of states in the longest run, for `bmc` and `k-induction`.", "10"),
    Key("unbounded", FLAG, "Whether to prove it for every value of each constant that only bounds integers.",
        "`false`"),
    Key("any_size", FLAG, "Whether to prove it for every number of identifiers as well; includes unbounded.",
        "`false`"),
    Key("properties", SOME_NAMES, "What to prove.", "all"),
    Key("constants", CONSTANTS, "Constants for this proof, which override the spec's."),
    Key("tier", one_of(TIERS), "The tier of the gate that makes the proof.", '`"quick"`'),
    Key("expect", one_of(("holds", "bounded")),
        'The result that counts as expected. `"bounded"` is for `bmc`: no violation within `depth`.', '`"holds"`'),
    BELONGS,
)
SCENARIO: Sequence[Key] = (
    Key("name", TEXT, "What the run shows, for reports.", error_if_missing='a scenario needs name = "..."'),
    Key("steps", TEXTS, "The run: steps as a counterexample prints them, `\"grants(client=c1)\"`, or the name of "
        "an action that has a single step there. The initial step may be left out.",
        error_if_missing="a scenario needs steps = [...]"),
    Key("possible", FLAG, "Whether the run must be possible. `false` says that its last step must not be, and all "
        "before it must.", "`true`"),
    BELONGS,
)
SURVIVORS: Sequence[Key] = (
    Key("reason", TEXT, "Why no check has to notice these changes.", error_if_missing="survivors need reason = ..."),
    Key("changes", NAMES, "The changes, as `floodmark mutate` prints them.",
        error_if_missing="survivors need changes = ..."),
)
MUTATION: Sequence[Key] = (
    Key("also", SPECS, "Further specs that a mutant has to survive: `\"larger.toml\"`, one row of it "
        "(`\"larger.toml@small\"`), or another row of this spec (`\"@small\"`)."),
    Key("own", FLAG, "Whether to change only what the model adds to the models that it extends.", "`false`"),
    Key("survivors", ValueKind("tables", _survivors, SURVIVORS, many=True),
        "Mutants that no check has to notice."),
    BELONGS,
)
COMMON: Sequence[Key] = (
    Key("model", TEXT, 'The model\'s class: `"model.alter_isr.core:AlterIsr"`, or `"path/to/file.py:Class"` relative '
        "to the spec.", error_if_missing='a spec needs model = "model.alter_isr.core:AlterIsr"'),
    Key("title", TEXT, "The title of the spec in `floodmark list` and reports."),
    Key("tier", one_of(TIERS), "`\"deep\"` is for large searches: `floodmark check` and the gate leave them out unless "
        "asked for with `--tier`, and run them on Spark unless fewer than ten million states are expected.",
        '`"quick"`'),
    Key("constants", CONSTANTS, "The values of the model's constants. Those left out keep their defaults."),
    Key("invariants", ALL_OR_NAMES, "The properties to check, of every kind.", '`"all"`'),
    Key("invariant_files", FILES, "Python files with further properties. Each must have one about the model."),
    Key("symmetry", FLAG_OR_NAMES, "Whether states that differ only in the names of identifiers count as one (an "
        "orbit); with names, in those of identifiers of these classes, as in `[\"Client\"]`. It is refused unless they "
        "are provably interchangeable.", "`false`"),
    Key("deadlock", FLAG, "Whether a state without successors is a violation. Its name is `deadlock`.", "`false`"),
    Key("idle", NAMES, "Actions that the constants rule out. The check fails if one of them fires."),
    Key("vacuous", NAMES, "Properties whose premise the constants rule out, and actions of a refined model that no "
        "step takes (`as_store.deletes`). The check fails if a premise becomes true, or a step takes such an action."),
    Key("expect", table(EXPECT, dict), "The expected result of a check of the model."),
    Key("limits", table(LIMITS, Limits), "Where a search, also that of a known-bad design, gives up and "
        "is undetermined (exit code 3). `--max-states`, `--max-seconds` and `--max-memory` take precedence."),
    Key("simulate", table(SIMULATE, SimulationSettings), "Random walks instead of a search, for a violation that no "
        "search reaches. They never show that a property holds, so the spec has to expect `verdict = \"violated\"`; "
        "known-bad designs are walked in the same way."),
    Key("fairness", fairness(FAIRNESS), "Fairness assumptions about actions, by name, as in `drain = \"weak\"`. They "
        "are added to those of the model's `@fair`; `\"none\"` removes one."),
    Key("refines", table(REFINES, RefinementDemands), "What the spec requires of its refinements besides steps."),
)
"""The statements of a spec about its model, one key at a time."""
BELONGING: Sequence[Key] = (
    Key("flawed", ValueKind("tables", _flawed, FLAWED, many=True),
        "Known-bad designs. Each is checked only for what its entry names."),
    Key("prove", ValueKind("tables", _prove, PROVE, many=True), "Proofs that `floodmark gate` and `pytest` make."),
    Key("scenario", ValueKind("tables", _scenarios, SCENARIO, many=True),
        "Runs that must be possible, or must not; `floodmark check` and the gate take them in CPython."),
    Key("mutation", table(MUTATION, Mutation), "How `floodmark mutate` tests the spec."),
)
"""The keys that belong to one row, where a spec has rows."""
_WHOLE = ("model", "invariant_files")
"""The keys that all rows share."""
ROW: Sequence[Key] = (
    Key("name", TEXT, "What distinguishes the row: `lease@small` is the row `small` of `lease.toml`.",
        error_if_missing='a row needs name = "..."'),
    *(replace(key, kind=replace(key.kind, keys=()), meaning="As at the top, for this row.", default="",
              error_if_missing="")
      for key in COMMON if key.name not in _WHOLE),
)
ROWS = ValueKind("tables", _rows, ROW, many=True)
SPEC: Sequence[Key] = (
    *(replace(key, kind=ValueKind("a table", _expect, EXPECT)) if key.name == "expect" else key for key in COMMON),
    Key("row", ROWS, "The same model at several sizes. Each row is a spec of its own. It inherits the keys outside of "
        "rows and overrides them: tables key by key, other values as a whole."),
    *BELONGING,
)


def _limits_of_gate(limits: Limits = Limits()) -> Limits:
    return limits


GATE_LIMITS: Sequence[Key] = tuple(key for key in LIMITS if key.name in ("seconds", "memory"))
GATE: Sequence[Key] = (Key("limits", table(GATE_LIMITS, Limits), "Limits of a whole run of the gate."),)
SPARK: Sequence[Key] = (
    Key("master", TEXT, "The cluster, such as `\"spark://host:7077\"`.", '`"local[*]"`'),
    Key("distribute", one_of(("auto", "always")), "Whether to distribute narrow levels too.", '`"auto"`'),
    Key("partitions", POSITIVE, "Partitions of a distributed search.",
        "as the expected states need, at least one per core"),
    Key("checkpoint", TEXT, "A folder for each complete level, from which a search can be continued by "
        "`--spark resume=DIR`."),
    Key("keep_states", TEXT, "A folder for the reachable states, as Parquet."),
    Key("keep_results", TEXT, "A folder with a Parquet table, to which results are appended."),
)
TOOL: Sequence[Key] = (
    Key("gate", table(GATE, _limits_of_gate), "Settings of the gate."),
    Key("spark", table(SPARK, dict), "Settings of searches on Spark; `--spark NAME=VALUE` takes precedence."),
)
"""The table ``tool.floodmark`` of a project's ``pyproject.toml``."""
