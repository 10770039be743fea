"""Specs: TOML files that define a check, its size, and the expected verdict."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from floodmark.checkers.project import input_file, spec_address, toml
from floodmark.checkers.project.input_limits import brief
from floodmark.checkers.project.mapped_properties import mapped_properties
from floodmark.checkers.project.modules import Project, module_name
from floodmark.checkers.project.paths import resolved, shown
from floodmark.checkers.project.properties import (
    DEADLOCK,
    Property,
    about,
    add_function,
    beside,
    choose,
    collect,
    did_you_mean,
    known,
)
from floodmark.checkers.project.spec_entries import (
    ExpectedVerdict,
    ListedDesign,
    ListedProof,
    Mutation,
    ProofExpectation,
    ProofMethod,
    RefinementDemands,
    Scenario,
    SimulationSettings,
    SurvivalReason,
    Tier,
)
from floodmark.checkers.project.spec_keys import TOOL
from floodmark.checkers.project.spec_rows import expand_rows, without_rows
from floodmark.checkers.project.spec_values import SpecReader, line_of
from floodmark.checkers.search_result import Limits, Symmetry
from floodmark.language.errors import SourceError
from floodmark.language.fairness import Fairness
from floodmark.language.model import Model
from floodmark.language.plurals import counted
from floodmark.language.reference import abstract_class

InvariantKind = Literal["scenarios", "lemmas"]
INVARIANT_KINDS: tuple[InvariantKind, ...] = ("scenarios", "lemmas")
"""The suffixes that may follow a model's module name in the name of a file in ``invariants/``."""


class MissingRow(SourceError):  # noqa: N818 - the file is as it should be, and an address means none of its rows
    """An address names a row that its file does not have."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One spec, a file or a row of a file, read and well formed; its model is not loaded yet.

    ``path`` is the file, ``row`` the name of the row; None for a file without rows. ``idle`` are the actions that are
    expected never to fire, ``vacuous`` the properties whose premise is expected never to be true (and actions of a
    refined model that no step takes), because the spec's constants exclude them. ``fairness`` is added to the model's
    own or, with None, removed from it. ``project`` is the repository that the file belongs to.
    """

    path: Path
    model: str
    title: str = ""
    invariants: tuple[str, ...] | None = None
    invariant_files: tuple[Path, ...] = ()
    symmetry: Symmetry = False
    deadlock: bool = False
    tier: Tier = "quick"
    constants: Mapping[str, int] = field(default_factory=dict)
    expect: ExpectedVerdict = ExpectedVerdict()
    idle: tuple[str, ...] = ()
    vacuous: tuple[str, ...] = ()
    limits: Limits = Limits()
    simulate: SimulationSettings | None = None
    fairness: Mapping[str, Fairness | None] = field(default_factory=dict)
    refines: RefinementDemands = RefinementDemands()
    flawed: tuple[ListedDesign, ...] = ()
    prove: tuple[ListedProof, ...] = ()
    scenario: tuple[Scenario, ...] = ()
    mutation: Mutation | None = None
    row: str | None = None
    lines: Mapping[str, int] = field(default_factory=dict)
    project: Project = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "project", Project.of(self.path))

    @property
    def name(self) -> str:
        """The spec's path below its folder ``specs/``, without the suffix: ``alter_isr/core``, or ``kraft/sizes@small``
        for a row."""
        path = resolved(self.path).with_suffix("")
        specs = self.project.root / "specs"
        name = (path.relative_to(specs) if path.is_relative_to(specs) else Path(path.name)).as_posix()
        return spec_address.with_row(name, self.row)

    @property
    def address(self) -> Path:
        """The spec's address on the command line: its file, or ``lease.toml@small`` for a row."""
        return spec_address.join_address(self.path, self.row)

    @property
    def first_line(self) -> int | None:
        """The line of the file at which the row begins; None for a file without rows."""
        return self.line("row") if self.row is not None else None

    def tier_of(self, flawed: ListedDesign | None) -> Tier:
        """The tier in which a known-bad design is checked; without one, the model."""
        return self.tier if flawed is None or flawed.tier is None else flawed.tier

    def has_checks_in(self, tier: str) -> bool:
        """Whether the model or one of its known-bad designs is checked in a tier, which may be "all"."""
        return tier == "all" or tier in (self.tier, *map(self.tier_of, self.flawed))

    def line(self, key: str) -> int | None:
        """The line of a key such as ``constants.brokers``, or of the nearest one around it that has a line."""
        return line_of(key, self.lines)

    def error(self, message: str, key: str) -> SourceError:
        return SourceError(message, str(self.path), self.line(key))

    def model_class(self) -> type[Model]:
        """The class that the spec is about."""
        return self._class(self.model, self.line("model"))

    def flawed_class(self, flawed: ListedDesign) -> type[Model]:
        """The class of a known-bad design, a subclass of the spec's model."""
        cls = self._class(flawed.reference, flawed.line)
        if not issubclass(cls, self.model_class()):
            raise SourceError(f"{flawed.name} is not a subclass of {self.model}", str(self.path), flawed.line)
        return cls

    def properties(self, cls: type[Model], files: tuple[Path, ...] = ()) -> dict[str, Property]:
        """Every property of a class: in the model, beside it in its file, in invariants/, in the spec's files and in
        ``files``."""
        own = [self.project.load(file) for file in self.invariant_files]
        for file, module in zip(self.invariant_files, own, strict=True):
            if not about(cls, module, lemmas=True):
                raise self.error(f"no property in {file.name} is about {cls.__name__}", "invariant_files")
        ours = self.invariant_modules(cls, "scenarios")
        found = collect(cls, [*ours, *own, *(self.project.load(file) for file in files)])
        for function in beside(cls):
            add_function(found, function, cls)
        if self.refines.liveness:
            names = found if self.invariants is None else self.invariants
            for prop in [each for each in found.values() if each.is_refinement and each.name in names]:
                other = abstract_class(prop.function)
                known = collect(other, self.invariant_modules(other, "scenarios"))
                for function in beside(other):
                    add_function(known, function, other)
                found |= {each.name: each for each in mapped_properties(prop, known.values())}
        return found

    def chosen(self, found: dict[str, Property]) -> list[Property]:
        """The properties that the spec checks. Those of mapped runs go with the refinement."""
        own = {name: prop for name, prop in found.items() if prop.mapping is None}
        chosen = choose(own, self.invariants, str(self.path), self.line("invariants"))
        mappings = [prop.function for prop in chosen if prop.is_refinement]
        return [*chosen, *(prop for prop in found.values() if prop.mapping in mappings)]

    def known_silence(self, cls: type[Model], chosen: Sequence[Property]) -> None:
        """Refuses a name in ``idle`` that is not an action of the model, and one in ``vacuous`` that is not checked."""
        for name in self.idle:
            known(name, cls.methods("action"), "action", str(self.path), self.line("idle"))
        for name in self.fairness:
            known(name, cls.methods("action"), "action", str(self.path), self.line(f"fairness.{name}"))
        for name in self.vacuous:
            known(name, _silent_names(chosen), "property", str(self.path), self.line("vacuous"))

    def named(self, flawed: ListedDesign, found: dict[str, Property]) -> list[Property]:
        """The properties that a known-bad design is checked for: the one that it breaks, and those that its entry
        adds."""
        names = dict.fromkeys((flawed.property, *flawed.invariants))
        names.pop(DEADLOCK, None)
        return choose(found, list(names), str(self.path), flawed.line)

    def module(self) -> ModuleType:
        """The module in which the spec looks for its model."""
        return self._module(self.model.rpartition(":")[0], self.line("model"))

    def _class(self, reference: str, line: int | None) -> type[Model]:
        where, _, name = reference.rpartition(":")
        if not where:
            message = f'{reference!r} does not name a class; write "model.alter_isr.core:AlterIsr" or "file.py:Class"'
            raise SourceError(message, str(self.path), line)
        module = self._module(where, line)
        cls = vars(module).get(name)
        if not isinstance(cls, type) or not issubclass(cls, Model):
            classes = {key: value for key, value in vars(module).items() if isinstance(value, type)}
            own = [key for key, value in classes.items() if issubclass(value, Model) and key != "Model"]
            what = "is not a Model" if name in vars(module) else "is not defined"
            message = f"{name} {what} in {module.__file__}{did_you_mean(name, own)}"
            raise SourceError(message, str(self.path), line)
        return cls

    def _module(self, where: str, line: int | None) -> ModuleType:
        for path in (self.path.parent / where, self.path.parent / f"{where}.py"):
            if path.suffix == ".py" and os.path.exists(path):
                return self.project.load(path)
        dotted = all(part.isidentifier() for part in where.split("."))
        module = self.project.module(where) if dotted and not where.endswith(".py") else None
        if module is None:
            message = f"there is no module {brief(where)}: it is neither a file next to the spec nor importable"
            raise SourceError(message, str(self.path), line)
        return module

    def invariant_modules(self, cls: type[Model], kind: InvariantKind) -> list[ModuleType]:
        """The files in ``invariants/`` of this project and of the shipped one that may have properties of the class.

        They are found by the module of the class or of one of its bases: ``<path>.py`` and ``<path>_<kind>.py`` for
        ``model/<path>.py``, where the folders of the path may be left out.
        """
        models = [base for base in cls.__mro__ if issubclass(base, Model) and base is not Model]
        names = dict.fromkeys(name for base in models for name in (within_model(base), _last_name(base)))
        projects = dict.fromkeys((self.project, Project.shipped()))
        found = [
            project.load(path)
            for name in names
            for file in (name, f"{name}_{kind}")
            for project in projects
            if (path := project.find(f"invariants.{file}")) is not None and path.is_file()
        ]
        return list(dict.fromkeys(found))


def _silent_names(chosen: Sequence[Property]) -> list[str]:
    """The names that may be listed as vacuous: properties, and for a refinement the actions of the refined model."""
    actions = [
        f"{prop.name}.{name}"
        for prop in chosen
        if prop.is_refinement
        for name in abstract_class(prop.function).methods("action")
    ]
    return [prop.name for prop in chosen if not prop.is_refinement] + actions


def within_model(cls: type[Model]) -> str:
    """The dotted path of a class's module below ``model/``; for a module elsewhere, its last name."""
    _, found, path = f".{module_name(cls)}".partition(".model.")
    return path if found else _last_name(cls)


def _last_name(cls: type[Model]) -> str:
    return module_name(cls).rpartition(".")[2]


LARGEST = 1 << 20
"""Characters of the largest spec: TOML's parser takes a second for each million."""


def read(address: Path) -> Spec:
    """Reads the one spec that an address means. Raises SourceError, with file and line, for any error in the file, and
    for a file with several rows none of which is named."""
    return only(read_all(address))


def read_all(address: Path) -> list[Spec]:
    """Reads the specs that an address means: every row of a file, or one; for a model's file, a spec with defaults
    alone. Raises SourceError as ``read`` does."""
    path, row = spec_address.split_address(address)
    if path.suffix == ".py":
        return [_of_model(path)]
    text = input_file.text_of(path)
    if len(text) > LARGEST:
        raise SourceError(f"cannot be read: no spec is larger than {LARGEST >> 20} MiB", str(path))
    data = toml.parse(text, path)
    reader = SpecReader(path, key_lines(text))
    values = expand_rows(reader, data) if "row" in data else [without_rows(reader, data)]
    specs = [Spec(path=path, **each) for each in values]
    for spec in specs:
        _require_distinct(spec)
        _require_violation(spec)
    if row is None:
        return specs
    names = [spec.row for spec in specs if spec.row is not None]
    if row not in names:
        hint = did_you_mean(row, names) if names else f": the spec has no rows; write {path.name}"
        raise MissingRow(f"there is no row {brief(row)}{hint}", str(path))
    return [spec for spec in specs if spec.row == row]


def _of_model(path: Path) -> Spec:
    """The spec of the only model in a file, whose constants keep their defaults."""
    module = Project.of(path).load(path)
    models = (value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Model))
    own = [cls.__name__ for cls in models if cls.__module__ == module.__name__ and cls.methods("action")]
    if len(own) != 1:
        found = f"has the models {', '.join(own)}" if own else "has no model with an action"
        raise SourceError(f'{found}; write a spec that names one: model = "{path.name}:Class"', str(path))
    return Spec(path, f"{path.name}:{own[0]}")


def only(specs: Sequence[Spec]) -> Spec:
    """The only one of the specs of a file. Raises SourceError, with the names of the rows, if there are several."""
    if len(specs) > 1:
        names = " or ".join(shown(spec.address) for spec in specs)
        raise SourceError(f"this spec has several rows; name one: {names}", str(specs[0].path))
    return specs[0]


def _require_distinct(spec: Spec) -> None:
    """Refuses classes or proofs that reports and the lock could not tell apart."""
    for index, flawed in enumerate(spec.flawed):
        if flawed.name == spec_address.class_name(spec.model):
            message = f"{flawed.name} is also the name of the spec's model; rename one"
            raise SourceError(message, str(spec.path), flawed.line)
        for other in spec.flawed[:index]:
            if other.name == flawed.name and (
                other.reference != flawed.reference or other.property == flawed.property
            ):
                message = f"{flawed.name} already breaks {other.property} at line {other.line}"
                message += ", and reports could not tell the two apart; rename one"
                raise SourceError(message, str(spec.path), flawed.line)
    for index, proving in enumerate(spec.prove):
        if proving.name in [other.name for other in spec.prove[:index]]:
            raise SourceError("the spec already lists this proof", str(spec.path), proving.line)


def _require_violation(spec: Spec) -> None:
    """Refuses random walks for a model that is expected to hold, which they never show."""
    if spec.simulate is not None and spec.expect.verdict != "violated":
        message = "random walks never show that a property holds: expect a violation, or leave [simulate] out and use"
        raise spec.error(f"{message} floodmark simulate", "simulate")


def tool_settings(root: Path) -> dict[str, Any]:
    """The table ``tool.floodmark`` in the ``pyproject.toml`` of a project: ``gate``, the limits of its gate, and
    ``spark``, settings by their names. Raises SourceError as ``read`` does."""
    path = root / "pyproject.toml"
    if not path.is_file():
        return {}
    text = input_file.text_of(path)
    tool = toml.parse(text, path).get("tool", {})
    table = tool.get("floodmark", {}) if isinstance(tool, dict) else {}
    return SpecReader(path, key_lines(text)).table(table, TOOL, "tool.floodmark")


@dataclass(frozen=True, slots=True)
class SelectedSpec:
    """The address of a spec, with the selected tier, which may be "all"; no ``spec`` if it cannot be read."""

    address: Path
    tier: str
    spec: Spec | None

    @property
    def is_there(self) -> bool:
        """Whether the spec has a check of the tier. An unreadable spec belongs to every tier, so that its error is
        reported."""
        return self.spec is None or self.spec.has_checks_in(self.tier)


def find(arguments: list[Path], tier: str | None = None) -> list[Path]:
    """The addresses of the selected specs whose model is of the tier."""
    every = selected_specs(arguments, tier)
    return [each.address for each in every if each.spec is None or each.tier in ("all", each.spec.tier)]


def selected_specs(arguments: list[Path], tier: str | None = None) -> list[SelectedSpec]:
    """All specs that arguments are about, each once.

    A folder selects a tier (quick, deep, all; None is quick), the rows of a file as well (None is all); any other file
    is selected as a whole.
    """
    found: dict[Path, SelectedSpec] = {}
    for argument in arguments:
        if os.path.isdir(argument):
            paths = [(path, tier or "quick") for path in input_file.below(argument, spec_address.SUFFIX)]
        else:
            paths = [(argument, (tier or "all") if _has_rows(argument) else "all")]
        for each in (each for path, of in paths for each in _selected(path, of)):
            earlier = found.get(each.address, each)
            found[each.address] = each if each.tier == earlier.tier else replace(each, tier="all")
    return list(found.values())


def _selected(path: Path, tier: str) -> list[SelectedSpec]:
    try:
        return [SelectedSpec(spec.address, tier, spec) for spec in read_all(path)]
    except SourceError:
        return [SelectedSpec(path, tier, None)]


def _has_rows(address: Path) -> bool:
    """Whether an address is that of a file with rows, as a whole."""
    path, row = spec_address.split_address(address)
    try:
        return row is None and any(spec.row is not None for spec in read_all(path))
    except SourceError:
        return False


_HEADER = re.compile(r"^\s*(\[\[?)\s*([\w.\"'-]+)\s*\]\]?")
_KEY = re.compile(r"^\s*[\"']?([\w-]+)[\"']?\s*=")


def key_lines(text: str) -> dict[str, int]:
    """The line of each key: ``expect.depth``, ``flawed.0.class``; ``flawed.0`` is the line of the header."""
    lines: dict[str, int] = {}
    counts: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            first, _, rest = header[2].partition(".")
            table = f"{first}.{counts[first]}.{rest}" if rest and first in counts else header[2]
            lines.setdefault(table, number)
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = f"{table}.{counts[table]}"
                lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault(f"{table}.{key[1]}" if table else key[1], number)
    return lines


__all__ = [
    "DEADLOCK",
    "ExpectedVerdict",
    "ListedDesign",
    "ListedProof",
    "ProofExpectation",
    "ProofMethod",
    "SelectedSpec",
    "Spec",
    "SurvivalReason",
    "Tier",
    "find",
    "known",
    "only",
    "read",
    "read_all",
    "selected_specs",
]


def left_out(specs: Iterable[Spec], tier: str, proofs: bool = True) -> str:
    """The contents of the other tier, as a sentence; empty if it has none. Without ``proofs``, only its checks."""
    specs = list(specs)
    other = "deep" if tier == "quick" else "quick"
    numbers = {
        "spec": sum(spec.tier == other for spec in specs),
        "known-bad design": sum(spec.tier_of(flawed) == other for spec in specs for flawed in spec.flawed),
        "proof": sum(proving.tier == other for spec in specs for proving in spec.prove if proofs),
    }
    parts = [counted(number, what) for what, number in numbers.items() if number]
    return f"left to the {other} tier (--tier {other}): {', '.join(parts)}" if parts else ""
