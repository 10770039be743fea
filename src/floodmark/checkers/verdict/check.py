"""One check: a spec's model or one of its known-bad designs, with the command line's settings for the search."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from floodmark.checkers.project.input_limits import memory_text
from floodmark.checkers.project.lint import require_actions, require_calls, require_difference, require_read_locals
from floodmark.checkers.project.paths import shown
from floodmark.checkers.project.properties import Property, about, did_you_mean
from floodmark.checkers.project.reached_functions import Called
from floodmark.checkers.project.spec import DEADLOCK, ListedDesign, Spec, Tier, only, read_all
from floodmark.checkers.project.spec_address import class_name
from floodmark.checkers.project.spec_entries import SimulationSettings
from floodmark.checkers.search_result import Limits, Options, Symmetry
from floodmark.compiler.renaming import identifiers_in
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

EngineName = Literal["auto", "native", "spark", "reference"]

MIN_STATES_FOR_ALL_CORES = 2_000_000
"""A search that expects at least this many states gets all cores."""
MIN_STATES_FOR_CLUSTER = 10_000_000
"""A search of the deep tier that expects fewer states takes no cluster, which takes as long to start."""


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """The command line's settings on top of the specs; None leaves the choice to the spec.

    ``properties`` restricts the check; if empty, all that the spec names are checked. ``compare`` is whether a
    known-bad design that fails as expected is compared with its good one, which only reports show; an unexpected result
    is always compared. ``coverage`` is about the model, not its known-bad designs, unless one is named. From ``master``
    on, settings are for searches on Spark only.
    """

    engine: EngineName = "auto"
    constants: dict[str, int] = field(default_factory=dict)
    invariant_files: tuple[Path, ...] = ()
    limits: Limits = Limits()
    workers: int = 0
    symmetry: bool | None = None
    deadlock: bool = False
    properties: tuple[str, ...] = ()
    only_variant: str | None = None
    walks: SimulationSettings | None = None
    coverage: bool = False
    compare: bool = True
    master: str | None = None
    distribute: Literal["auto", "always"] = "auto"
    partitions: int | None = None
    checkpoint: str | None = None
    resume: str | None = None
    keep_states: str | None = None
    keep_results: str | None = None

    def engine_words(self) -> list[str]:
        """The options that select the engine, without the places of its results and checkpoints."""
        given = {"master": self.master, "partitions": self.partitions}
        if self.distribute != "auto":
            given["distribute"] = self.distribute
        spark = [f"{name}={value}" for name, value in given.items() if value is not None]
        if self.engine == "spark" and spark:
            return [word for setting in spark for word in ("--spark", setting)]
        return [] if self.engine == "auto" else ["--engine", self.engine]


@dataclass(frozen=True, slots=True)
class Check:
    """A spec's model, or one known-bad design of it, and how to search it."""

    spec: Spec
    flawed: ListedDesign | None
    settings: CheckSettings

    @property
    def constants(self) -> dict[str, int]:
        flawed = {} if self.flawed is None else self.flawed.constants
        return {**self.spec.constants, **flawed, **self.settings.constants}

    @property
    def symmetry(self) -> Symmetry:
        given = self.settings.symmetry
        if given is None or (given and self.spec.symmetry):
            return self.spec.symmetry
        return given

    @property
    def options(self) -> Options:
        given, own = self.settings.limits, self.spec.limits
        limits = Limits(
            given.states if given.states is not None else own.states,
            given.seconds if given.seconds is not None else own.seconds,
            given.memory if given.memory is not None else own.memory,
        )
        workers = self.settings.workers
        covers = self.settings.coverage and (self.flawed is None or self.settings.only_variant is not None)
        return Options(workers, self.symmetry, self._deadlock, limits, self._likely, self.spec.fairness, covers)

    @property
    def walks(self) -> SimulationSettings | None:
        """The random walks to take instead of a search."""
        return self.spec.simulate if self.settings.walks is None else self.settings.walks

    @property
    def tier(self) -> Tier:
        """The tier of the gate that makes the check."""
        return self.spec.tier_of(self.flawed)

    @property
    def _deadlock(self) -> bool:
        """Whether a state without successors is a violation."""
        if self.settings.properties:
            return self.settings.deadlock or DEADLOCK in self.settings.properties
        if self.flawed is not None:
            return self.flawed.property == DEADLOCK
        return self.spec.deadlock or self.settings.deadlock or self.spec.expect.property == DEADLOCK

    @property
    def _likely(self) -> int | None:
        """The number of states that the spec expects; None for a known-bad design and with other constants."""
        return None if self.changed or self.flawed is not None else self.spec.expect.distinct

    @property
    def changed(self) -> bool:
        """Whether the command line deviates from the spec, whose figures are then meaningless."""
        return bool(self.settings.constants) or self.settings.symmetry is not None

    def beside(self, others: int) -> Check:
        """The check on one core, for one of ``others`` processes that run at once and share the memory equally."""
        given, memory = self.settings.limits, self.options.limits.memory
        limits = given if memory is None else replace(given, memory=memory // others)
        return replace(self, settings=replace(self.settings, workers=1, limits=limits))

    @property
    def seconds(self) -> float | None:
        """The time limit of the search."""
        return self.options.limits.seconds

    @property
    def large(self) -> bool:
        """Whether the search should have the machine to itself; that of a known-bad design ends early."""
        if self.tier == "deep" or (self.walks is not None and self.flawed is None):
            return True
        return self.flawed is None and (self.spec.expect.distinct or 0) >= MIN_STATES_FOR_ALL_CORES

    @property
    def is_for_a_cluster(self) -> bool:
        """Whether the spec leaves the search of its model to the deep tier and the search is long for one process: it
        expects many states, or no number. A known-bad design ends at its violation."""
        few = self._likely is not None and self._likely < MIN_STATES_FOR_CLUSTER
        return self.tier == "deep" and self.flawed is None and not few

    @property
    def wanted_property(self) -> str | None:
        """The property that is expected to be violated, unless only others are requested."""
        wanted = self.spec.expect.property if self.flawed is None else self.flawed.property
        return wanted if self.concerns(wanted) else None

    def concerns(self, name: str | None) -> bool:
        """Whether a property is among the requested ones."""
        return not self.settings.properties or name in self.settings.properties

    @property
    def wanted_depth(self) -> int | None:
        return self.spec.expect.depth if self.flawed is None else self.flawed.depth

    def cls(self) -> type[Model]:
        return self.spec.model_class() if self.flawed is None else self.spec.flawed_class(self.flawed)

    def model(self) -> Model:
        """The model with the spec's constants. An unknown constant is an error at the line that sets it, and so is a
        mistake that would weaken the check unnoticed (``checkers/project/lint.py``)."""
        spec, cls = self.spec, self.cls()
        require_actions(cls)
        found = spec.properties(cls, self.settings.invariant_files)
        calls: Called = {}
        require_read_locals(cls, self._chosen(found), calls)
        good = None if self.flawed is None else spec.model_class()
        require_calls(cls, found.values(), good, calls)
        if good is not None and self.flawed is not None:
            require_difference(good, cls, bool(self.flawed.constants))
        known = cls.constants()
        for name in self.constants:
            if name in known:
                continue
            message = f"{cls.__name__} has no constant {name!r}{did_you_mean(name, known)}"
            if name in self.settings.constants:
                raise SourceError(f"--set {name}: {message}")
            in_flawed = self.flawed is not None and name in self.flawed.constants
            line = self.flawed.line if self.flawed is not None and in_flawed else spec.line(f"constants.{name}")
            raise SourceError(message, str(spec.path), line)
        model = cls(**self.constants)
        self._known_symmetry(model)
        return model

    def _known_symmetry(self, model: Model) -> None:
        """Refuses a name in ``symmetry`` that is not a class of identifiers of the model's variables."""
        kinds = [found for kind in model.variable_types.values() for found in identifiers_in(kind)]
        names = list(dict.fromkeys(kind.cls.__name__ for kind in kinds))
        for name in self.symmetry if isinstance(self.symmetry, tuple) else ():
            if name not in names:
                message = f"no variable of {type(model).__name__} holds identifiers of a class {name!r}"
                raise self.spec.error(f"{message}{did_you_mean(name, names)}", "symmetry")

    def properties(self) -> list[Property]:
        """The properties to check; for a known-bad design, only those of its entry, unless others are requested."""
        return self._chosen(self.spec.properties(self.cls(), self.settings.invariant_files))

    def _chosen(self, found: dict[str, Property]) -> list[Property]:
        if self.settings.properties:
            return [found[name] for name in self.settings.properties if name in found]
        if self.flawed is not None:
            return self.spec.named(self.flawed, found)
        self._known_expectation(found)
        chosen = self.spec.chosen(found)
        self.spec.known_silence(self.cls(), chosen)
        if not self.settings.invariant_files:
            return chosen
        files = {str(file.resolve()) for file in self.settings.invariant_files}
        added = [prop for prop in found.values() if str(Path(prop.file).resolve()) in files and prop not in chosen]
        return [*chosen, *added]

    def _known_expectation(self, found: dict[str, Property]) -> None:
        name = self.spec.expect.property
        if name is not None and name not in found and name != DEADLOCK:
            raise self.spec.error(f"there is no property {name!r}{did_you_mean(name, found)}", "expect.property")

    def reproduce(self) -> str:
        """The command that runs this check alone."""
        settings = self.settings
        command = "check" if settings.walks is None else "simulate"
        words = ["floodmark", command, shown(self.spec.address)]
        if self.flawed is not None:
            words += ["--only-variant", self.flawed.name]
        elif self.spec.flawed:
            words += ["--only-variant", class_name(self.spec.model)]
        if settings.walks is not None:
            usual = asdict(SimulationSettings())
            changed = {name: value for name, value in asdict(settings.walks).items() if value != usual[name]}
            words += [word for name, value in changed.items() for word in (f"--{name}", str(value))]
        for name, value in settings.constants.items():
            words += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        for file in settings.invariant_files:
            words += ["--invariants", shown(file)]
        for name in settings.properties:
            words += ["--property", name]
        if settings.symmetry is not None:
            words.append("--symmetry" if settings.symmetry else "--no-symmetry")
        if settings.deadlock:
            words.append("--deadlock")
        for option, given in (
            ("--max-states", settings.limits.states),
            ("--max-seconds", settings.limits.seconds),
        ):
            words += [option, f"{given:g}" if isinstance(given, float) else str(given)] if given is not None else []
        if settings.limits.memory is not None:
            words += ["--max-memory", memory_text(settings.limits.memory)]
        if settings.workers:
            words += ["--workers", str(settings.workers)]
        return shlex.join([*words, *settings.engine_words()])


def checks(spec: Spec, settings: CheckSettings) -> list[Check]:
    """The checks of a spec: its model, then its known-bad designs; or only the one that the settings name.

    Where the settings name properties, a known-bad design is checked if it is there to violate one of them.
    """
    every = [Check(spec, None, settings), *(Check(spec, flawed, settings) for flawed in spec.flawed)]
    if settings.only_variant is None:
        return [check for check in every if check.flawed is None or check.concerns(check.flawed.property)]
    return [check for check in every if variant_name(check) == settings.only_variant]


def one_check(address: Path, variant: str | None, settings: CheckSettings) -> Check:
    """The check that an address and a class name denote; without a name, that of the spec's model. Raises SourceError
    if there is none, or if the address has several rows."""
    specs = read_all(address)
    if variant is None:
        return Check(only(specs), None, settings)
    every = [check for spec in specs for check in checks(spec, settings)]
    chosen = [check for check in every if variant_name(check) == variant]
    if not chosen:
        names = dict.fromkeys(map(variant_name, every))
        raise SourceError(f"there is no variant {variant!r}{did_you_mean(variant, names)}", str(address))
    only(list({check.spec.name: check.spec for check in chosen}.values()))
    return chosen[0]


def variant_name(check: Check) -> str:
    """The name of the class that a check is about."""
    return class_name(check.spec.model) if check.flawed is None else check.flawed.name


def with_properties(every: Sequence[Check], wanted: Sequence[str]) -> list[Check]:
    """The checks of models that have one of the properties. A name that no model has is an error.

    A model that cannot be read stays, so that its error is reported.
    """
    names = dict.fromkeys((DEADLOCK,))
    kept = []
    for check in every:
        try:
            found = check.spec.properties(check.cls(), check.settings.invariant_files)
        except SourceError:
            return list(every)
        names.update(dict.fromkeys(found))
        if not found.keys().isdisjoint(wanted) or DEADLOCK in wanted:
            kept.append(check)
    for name in wanted:
        if name not in names:
            raise SourceError(f"no model being checked has a property {name!r}{did_you_mean(name, names)}")
    return kept


def must_matter(files: Sequence[Path], every: Sequence[Check]) -> None:
    """Refuses a file if none of its properties is about a model being checked, because it would be ignored."""
    models = {check.spec.model: check for check in every if check.flawed is None}
    for file in files:
        if not any(about(check.cls(), check.spec.project.load(file)) for check in models.values()):
            names = ", ".join(map(class_name, models)) or "any model being checked"
            raise SourceError(f"no property in this file is about {names}; its parameter's type says which", str(file))
