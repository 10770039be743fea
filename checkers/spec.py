"""Specs: TOML files that say what is checked, at which size, and with which expected verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from floodmark.checkers import toml
from floodmark.checkers.exploration import Limits
from floodmark.checkers.project import Project, module_name
from floodmark.checkers.properties import DEADLOCK, Property, about, choose, collect, did_you_mean, known
from floodmark.language.errors import SourceError
from floodmark.language.fairness import Fairness
from floodmark.language.model import Model

Tier = Literal["quick", "deep"]
InvariantKind = Literal["scenarios", "lemmas"]
INVARIANT_KINDS: tuple[InvariantKind, ...] = ("scenarios", "lemmas")
"""What may follow the name of a model's module in that of a file in ``invariants/``."""


@dataclass(frozen=True, slots=True)
class Expect:
    """The verdict that a spec expects, and the figures that it states."""

    verdict: Literal["holds", "violated"] = "holds"
    property: str | None = None
    depth: int | None = None
    distinct: int | None = None
    generated: int | None = None


@dataclass(frozen=True, slots=True)
class Flawed:
    """A known-bad design and the property that it must break; ``depth`` is the number of states of its shortest
    trace."""

    reference: str
    name: str
    property: str
    depth: int | None = None
    constants: Mapping[str, int] = field(default_factory=dict)
    invariants: tuple[str, ...] = ()
    line: int | None = None


ProofMethod = Literal["induction", "bmc", "k-induction", "infer"]
ProofExpectation = Literal["holds", "bounded"]
"""What is expected of a proof. A bounded search proves less than the others: no violation within its depth. A spec that
expects no more says "bounded"; the verdict "undetermined" is then the expected one."""
PROOF_METHODS: tuple[ProofMethod, ...] = ("induction", "bmc", "k-induction", "infer")


@dataclass(frozen=True, slots=True)
class Proving:
    """A proof that a spec lists: what to ask of ``floodmark prove``, and in which ``tier`` the gate makes it.

    ``properties`` are those to prove; none means all. ``constants`` override the spec's. ``expect`` "bounded" is for
    bounded search, where the claim is only that there is no violation within ``depth`` states.
    """

    method: ProofMethod = "induction"
    depth: int | None = None
    unbounded: bool = False
    properties: tuple[str, ...] = ()
    constants: Mapping[str, int] = field(default_factory=dict)
    tier: Tier = "quick"
    expect: ProofExpectation = "holds"
    line: int | None = None

    @property
    def name(self) -> str:
        """What distinguishes the proof from others of its spec: ``induction unbounded brokers=4``."""
        words: list[str] = [self.method]
        words += ["unbounded"] if self.unbounded else []
        words += [f"{name}={value}" for name, value in self.constants.items()]
        return " ".join([*words, *self.properties])


@dataclass(frozen=True, slots=True)
class Reason:
    """Why no check needs to notice some mutants of the model, each identified by its change."""

    reason: str
    changes: tuple[str, ...]
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Mutation:
    """How the spec's model is tested by mutation.

    ``also`` are further specs that a mutant has to survive. ``own`` limits the changes to what the model adds to the
    models that it extends. ``survivors`` are the mutants that survive all specs, with reasons.
    """

    also: tuple[Path, ...] = ()
    own: bool = False
    survivors: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Spec:
    """One spec file, read and well formed; its model is not loaded yet.

    ``idle`` are the actions that are expected never to fire, ``vacuous`` the properties whose premise is expected never
    to be true, because the spec's constants leave out what they are about. ``fairness`` is added to what the model says
    of its actions or, with None, taken from it.
    """

    path: Path
    model: str
    title: str = ""
    invariants: tuple[str, ...] | None = None
    invariant_files: tuple[Path, ...] = ()
    symmetry: bool = False
    deadlock: bool = False
    tier: Tier = "quick"
    constants: Mapping[str, int] = field(default_factory=dict)
    expect: Expect = Expect()
    idle: tuple[str, ...] = ()
    vacuous: tuple[str, ...] = ()
    limits: Limits = Limits()
    fairness: Mapping[str, Fairness | None] = field(default_factory=dict)
    flawed: tuple[Flawed, ...] = ()
    prove: tuple[Proving, ...] = ()
    mutation: Mutation | None = None
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def project(self) -> Project:
        return Project.of(self.path)

    @property
    def name(self) -> str:
        """The spec's path below its folder ``specs/``, without the suffix: ``alter_isr/core``."""
        path = self.path.resolve().with_suffix("")
        specs = self.project.root / "specs"
        return (path.relative_to(specs) if path.is_relative_to(specs) else Path(path.name)).as_posix()

    def line(self, key: str) -> int | None:
        return self.lines.get(key)

    def error(self, message: str, key: str) -> SourceError:
        return SourceError(message, str(self.path), self.line(key))

    def model_class(self) -> type[Model]:
        """The class that the spec is about."""
        return self._class(self.model, self.line("model"))

    def flawed_class(self, flawed: Flawed) -> type[Model]:
        """The class of a known-bad design, a subclass of the spec's model."""
        cls = self._class(flawed.reference, flawed.line)
        if not issubclass(cls, self.model_class()):
            raise SourceError(f"{flawed.name} is not a subclass of {self.model}", str(self.path), flawed.line)
        return cls

    def properties(self, cls: type[Model], files: tuple[Path, ...] = ()) -> dict[str, Property]:
        """Every property of a class: in the model, in invariants/, in the spec's files and in ``files``."""
        own = [self.project.load(file) for file in self.invariant_files]
        for file, module in zip(self.invariant_files, own, strict=True):
            if not about(cls, module):
                raise self.error(f"no property in {file.name} is about {cls.__name__}", "invariant_files")
        ours = self.invariant_modules(cls, "scenarios")
        return collect(cls, [*ours, *own, *(self.project.load(file) for file in files)])

    def chosen(self, found: dict[str, Property]) -> list[Property]:
        """The properties that the spec checks."""
        return choose(found, self.invariants, str(self.path), self.line("invariants"))

    def known_silence(self, cls: type[Model], chosen: Sequence[Property]) -> None:
        """Refuses a name in ``idle`` that is not an action of the model, and one in ``vacuous`` that is not checked."""
        for name in self.idle:
            known(name, cls.methods("action"), "action", str(self.path), self.line("idle"))
        for name in self.fairness:
            known(name, cls.methods("action"), "action", str(self.path), self.line(f"fairness.{name}"))
        for name in self.vacuous:
            known(name, [prop.name for prop in chosen], "property", str(self.path), self.line("vacuous"))

    def named(self, flawed: Flawed, found: dict[str, Property]) -> list[Property]:
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
        models = [key for key, value in vars(module).items() if isinstance(value, type) and issubclass(value, Model)]
        own = [key for key in models if key != "Model"]
        cls = vars(module).get(name)
        if not isinstance(cls, type) or not issubclass(cls, Model):
            what = "is not a Model" if name in vars(module) else "is not defined"
            message = f"{name} {what} in {module.__file__}{did_you_mean(name, own)}"
            raise SourceError(message, str(self.path), line)
        return cls

    def _module(self, where: str, line: int | None) -> ModuleType:
        for path in (self.path.parent / where, self.path.parent / f"{where}.py"):
            if path.suffix == ".py" and path.is_file():
                return self.project.load(path)
        module = None if where.endswith(".py") else self.project.module(where)
        if module is None:
            raise SourceError(f"there is no module {where!r}: it is neither a file next to the spec nor importable",
                              str(self.path), line)
        return module

    def invariant_modules(self, cls: type[Model], kind: InvariantKind) -> list[ModuleType]:
        """The files in ``invariants/`` of this project and of the shipped one that may have properties of the class.

        They are found by the module of the class or of one of its bases: ``<path>.py`` and ``<path>_<kind>.py`` for
        ``model/<path>.py``, where the folders of the path may be left out.
        """
        models = [base for base in cls.__mro__ if issubclass(base, Model) and base is not Model]
        names = dict.fromkeys(name for base in models for name in (within_model(base), _last_name(base)))
        found = [
            project.load(path)
            for name in names
            for file in (name, f"{name}_{kind}")
            for project in (self.project, Project.shipped())
            if (path := project.find(f"invariants.{file}")) is not None and path.is_file()
        ]
        return list(dict.fromkeys(found))


def within_model(cls: type[Model]) -> str:
    """The dotted path of a class's module below ``model/``; for a module elsewhere, its last name."""
    _, found, path = f".{module_name(cls)}".partition(".model.")
    return path if found else _last_name(cls)


def _last_name(cls: type[Model]) -> str:
    return module_name(cls).rpartition(".")[2]


def read(path: Path) -> Spec:
    """Reads a spec file. Raises SourceError, with file and line, for whatever is wrong in it."""
    text = toml.text_of(path)
    data = toml.parse(text, path)
    return _Reader(path, key_lines(text)).spec(data)


def read_gate_limits(path: Path, text: str, table: Any) -> Limits:
    """The limits of a gate in the table ``tool.floodmark`` of a TOML file with this text; errors are as ``read``'s."""
    known: dict[str, Convert] = {key: _LIMIT_KEYS[key] for key in ("seconds", "memory")}

    def limits(reader: _Reader, value: Any, key: str) -> Limits:
        return Limits(**reader.table(value, known, key))

    def gate(reader: _Reader, value: Any, key: str) -> Limits:
        return Limits() if not value else reader.table(value, {"limits": limits}, key).get("limits", Limits())

    found: dict[str, Limits] = _Reader(path, key_lines(text)).table(table, {"gate": gate}, "tool.floodmark")
    return found.get("gate", Limits())


def find(arguments: list[Path], tier: str) -> list[Path]:
    """The spec files that arguments mean: a file stands for itself, a folder for its specs of a tier (quick, deep,
    all)."""
    found: list[Path] = []
    for argument in arguments:
        if argument.is_dir():
            found += [path for path in sorted(argument.rglob("*.toml")) if _of_tier(path, tier)]
        else:
            found.append(argument)
    return list(dict.fromkeys(found))


def _of_tier(path: Path, tier: str) -> bool:
    """Whether a spec belongs to a tier. One that cannot be read belongs to every tier, so that its error is
    reported."""
    try:
        return tier in ("all", read(path).tier)
    except SourceError:
        return True


_HEADER = re.compile(r"^\s*(\[\[?)\s*([\w.\"'-]+)\s*\]\]?")
_KEY = re.compile(r"^\s*[\"']?([\w-]+)[\"']?\s*=")


def key_lines(text: str) -> dict[str, int]:
    """The line of each key: ``expect.depth``, ``flawed.0.class``; ``flawed.0`` is the line of the header."""
    lines: dict[str, int] = {}
    counts: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            name = header[2]
            first, _, rest = name.partition(".")
            if header[1] == "[[":
                counts[name] = counts.get(name, -1) + 1
                table = f"{name}.{counts[name]}"
            else:
                table = f"{first}.{counts[first]}.{rest}" if rest and first in counts else name
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault(f"{table}.{key[1]}" if table else key[1], number)
    return lines


Convert = Callable[["_Reader", Any, str], Any]


class _Reader:
    """Turns the data of a TOML file into a Spec, and refuses every key that it does not know."""

    def __init__(self, path: Path, lines: dict[str, int]) -> None:
        self.path = path
        self.lines = lines

    def spec(self, data: dict[str, Any]) -> Spec:
        values = self.table(data, _SPEC_KEYS, "")
        if "model" not in values:
            raise self.error('a spec needs model = "model.alter_isr.core:AlterIsr"', "")
        spec = Spec(path=self.path, lines=self.lines, **values)
        for index, flawed in enumerate(spec.flawed):
            if flawed.name == spec.model.rpartition(":")[2]:
                raise self.error(f"{flawed.name} is also the name of the spec's model; rename one", f"flawed.{index}")
        return spec

    def error(self, message: str, key: str) -> SourceError:
        while key and key not in self.lines:
            key = key.rpartition(".")[0]
        return SourceError(message, str(self.path), self.lines.get(key, 1))

    def table(self, data: Any, keys: Mapping[str, Convert], place: str) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise self.error(f"{place} must be a table", place)
        values = {}
        for key, value in data.items():
            full = f"{place}.{key}" if place else key
            if key not in keys:
                raise self.error(f"unknown key {key!r}{did_you_mean(key, keys)}", full)
            values[key] = keys[key](self, value, full)
        return values

    def typed(self, value: Any, kind: type, what: str, key: str) -> Any:
        if type(value) is not kind:
            raise self.error(f"{key.rpartition('.')[2]} must be {what}, not {value!r}", key)
        return value

    def text(self, value: Any, key: str) -> str:
        checked: str = self.typed(value, str, "a string", key)
        return checked

    def flag(self, value: Any, key: str) -> bool:
        return bool(self.typed(value, bool, "true or false", key))

    def count(self, value: Any, key: str) -> int:
        if type(value) is not int or value < 0:
            raise self.error(f"{key.rpartition('.')[2]} must be a whole number, 0 or more, not {value!r}", key)
        return value

    def seconds(self, value: Any, key: str) -> float:
        if type(value) not in (int, float) or value < 0:
            raise self.error(f"seconds must be a number, 0 or more, not {value!r}", key)
        return float(value)

    def memory(self, value: Any, key: str) -> int:
        try:
            return parse_memory(str(value))
        except ValueError as error:
            raise self.error(str(error), key) from None

    def one_of(self, value: Any, allowed: tuple[str, ...], key: str) -> str:
        name = self.text(value, key)
        if name not in allowed:
            raise self.error(f"{key.rpartition('.')[2]} must be one of {', '.join(allowed)}, not {name!r}", key)
        return name

    def names(self, value: Any, key: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise self.error(f"{key.rpartition('.')[2]} must be a list of names, not {value!r}", key)
        twice = next((name for name in value if value.count(name) > 1), None)
        if twice is not None:
            raise self.error(f"{twice} is listed twice", key)
        return tuple(value)

    def invariants(self, value: Any, key: str) -> tuple[str, ...] | None:
        if value == "all":
            return None
        if isinstance(value, str):
            raise self.error(f'invariants must be "all" or a list of names, not {value!r}', key)
        return self.names(value, key)

    def files(self, value: Any, key: str) -> tuple[Path, ...]:
        paths = tuple(self.path.parent / name for name in self.names(value, key))
        for path in paths:
            if not path.is_file():
                raise self.error(f"there is no file {path}", key)
        return paths

    def constants(self, value: Any, key: str) -> dict[str, int]:
        if not isinstance(value, dict):
            raise self.error("constants must be a table", key)
        for name, number in value.items():
            if type(number) not in (int, bool):
                raise self.error(f"the constant {name} must be a whole number or true or false, not {number!r}",
                                 f"{key}.{name}")
        return dict(value)

    def expect(self, value: Any, key: str) -> Expect:
        expect = Expect(**self.table(value, _EXPECT_KEYS, key))
        if expect.verdict == "violated" and expect.property is None:
            raise self.error('a spec that expects "violated" names the property: property = "..."', key)
        if expect.verdict == "holds" and expect.property is not None:
            raise self.error('property needs verdict = "violated"', f"{key}.property")
        return expect

    def fairness(self, value: Any, key: str) -> dict[str, Fairness | None]:
        """``name = "weak"``, ``"strong"`` or ``"none"``, or ``{ strong = true, each = "broker" }``."""
        if not isinstance(value, dict):
            raise self.error("fairness must be a table of actions", key)
        return {name: self._fair(how, f"{key}.{name}") for name, how in value.items()}

    def _fair(self, how: Any, key: str) -> Fairness | None:
        if isinstance(how, str):
            word = self.one_of(how, ("weak", "strong", "none"), key)
            return None if word == "none" else Fairness(strong=word == "strong")
        given = self.table(how, _FAIRNESS_KEYS, key)
        return Fairness(given.get("strong", False), given.get("each", ()))

    def each(self, value: Any, key: str) -> tuple[str, ...]:
        return (value,) if isinstance(value, str) else self.names(value, key)

    def limits(self, value: Any, key: str) -> Limits:
        return Limits(**self.table(value, _LIMIT_KEYS, key))

    def mutation(self, value: Any, key: str) -> Mutation:
        return Mutation(**self.table(value, _MUTATION_KEYS, key))

    def survivors(self, value: Any, key: str) -> tuple[Reason, ...]:
        if not isinstance(value, list):
            raise self.error(f"write [[{key}]], with two brackets: there can be several", key)
        found = []
        for index, entry in enumerate(value):
            place = f"{key}.{index}"
            values = self.table(entry, _SURVIVOR_KEYS, place)
            for needed in ("reason", "changes"):
                if not values.get(needed):
                    raise self.error(f"survivors need {needed} = ...", place)
            found.append(Reason(**values, line=self.lines.get(place)))
        return tuple(found)

    def flawed(self, value: Any, key: str) -> tuple[Flawed, ...]:
        if not isinstance(value, list):
            raise self.error("write [[flawed]], with two brackets: there can be several", key)
        found: list[Flawed] = []
        for index, entry in enumerate(value):
            place = f"{key}.{index}"
            values = self.table(entry, _FLAWED_KEYS, place)
            for needed in ("class", "property"):
                if needed not in values:
                    raise self.error(f"a flawed design needs {needed} = ...", place)
            reference = values.pop("class")
            name = reference.rpartition(":")[2]
            flawed = Flawed(reference, name, line=self.lines.get(place), **values)
            for other in found:
                if other.name == name and (other.reference != reference or other.property == flawed.property):
                    message = f"{name} already breaks {other.property} at line {other.line}"
                    raise self.error(f"{message}, and reports could not tell the two apart; rename one", place)
            found.append(flawed)
        return tuple(found)

    def prove(self, value: Any, key: str) -> tuple[Proving, ...]:
        if not isinstance(value, list):
            raise self.error("write [[prove]], with two brackets: there can be several", key)
        found: list[Proving] = []
        for index, entry in enumerate(value):
            place = f"{key}.{index}"
            proving = Proving(**self.table(entry, _PROVE_KEYS, place), line=self.lines.get(place))
            if proving.unbounded and proving.method != "induction":
                raise self.error('unbounded needs method = "induction"', f"{place}.unbounded")
            if proving.depth is not None and proving.method not in ("bmc", "k-induction"):
                raise self.error('depth needs method = "bmc" or "k-induction"', f"{place}.depth")
            if proving.depth == 0:
                raise self.error("depth is the number of states of a run, at least 1", f"{place}.depth")
            if proving.expect == "bounded" and proving.method != "bmc":
                raise self.error('expect = "bounded" needs method = "bmc"', f"{place}.expect")
            if "properties" in entry and not proving.properties:
                message = "name the properties to be proved, or leave the key out for all"
                raise self.error(message, f"{place}.properties")
            if proving.name in [each.name for each in found]:
                raise self.error("the spec already asks for this proof", place)
            found.append(proving)
        return tuple(found)


_EXPECT_KEYS: dict[str, Convert] = {
    "verdict": lambda reader, value, key: reader.one_of(value, ("holds", "violated"), key),
    "property": _Reader.text,
    "depth": _Reader.count,
    "distinct": _Reader.count,
    "generated": _Reader.count,
}
_LIMIT_KEYS: dict[str, Convert] = {
    "states": _Reader.count,
    "seconds": _Reader.seconds,
    "memory": _Reader.memory,
}
_FAIRNESS_KEYS: dict[str, Convert] = {
    "strong": _Reader.flag,
    "each": _Reader.each,
}
_FLAWED_KEYS: dict[str, Convert] = {
    "class": _Reader.text,
    "property": _Reader.text,
    "depth": _Reader.count,
    "constants": _Reader.constants,
    "invariants": _Reader.names,
}
_PROVE_KEYS: dict[str, Convert] = {
    "method": lambda reader, value, key: reader.one_of(value, PROOF_METHODS, key),
    "depth": _Reader.count,
    "unbounded": _Reader.flag,
    "properties": _Reader.names,
    "constants": _Reader.constants,
    "tier": lambda reader, value, key: reader.one_of(value, ("quick", "deep"), key),
    "expect": lambda reader, value, key: reader.one_of(value, ("holds", "bounded"), key),
}
_SURVIVOR_KEYS: dict[str, Convert] = {
    "reason": _Reader.text,
    "changes": _Reader.names,
}
_MUTATION_KEYS: dict[str, Convert] = {
    "also": _Reader.files,
    "own": _Reader.flag,
    "survivors": _Reader.survivors,
}
_SPEC_KEYS: dict[str, Convert] = {
    "model": _Reader.text,
    "title": _Reader.text,
    "invariants": _Reader.invariants,
    "invariant_files": _Reader.files,
    "symmetry": _Reader.flag,
    "deadlock": _Reader.flag,
    "tier": lambda reader, value, key: reader.one_of(value, ("quick", "deep"), key),
    "constants": _Reader.constants,
    "expect": _Reader.expect,
    "idle": _Reader.names,
    "vacuous": _Reader.names,
    "limits": _Reader.limits,
    "fairness": _Reader.fairness,
    "flawed": _Reader.flawed,
    "prove": _Reader.prove,
    "mutation": _Reader.mutation,
}

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_memory(text: str) -> int:
    """Bytes, from ``8G``, ``500M`` or a plain number."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise ValueError(f"{text!r} is not an amount of memory; write 8G or 500M")
    return int(float(match[1]) * _UNITS[match[2].upper()])


__all__ = ["DEADLOCK", "Expect", "Flawed", "Spec", "find", "known", "parse_memory", "read"]
