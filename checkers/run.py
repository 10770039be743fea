"""Runs checks: each spec's model, then each of its known-bad designs, in parallel processes where they are small."""

from __future__ import annotations

import importlib.util
import pickle
import shlex
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from floodmark.checkers import processes
from floodmark.checkers.engine_selection import may_move_to_spark, uses_spark
from floodmark.checkers.exploration import Exploration, Limits, Options, Violation, Watcher
from floodmark.checkers.properties import Property, about, did_you_mean
from floodmark.checkers.resources import cores
from floodmark.checkers.result import CheckResult, ExitCode, Verdict
from floodmark.checkers.spec import DEADLOCK, Flawed, Spec
from floodmark.language.errors import SourceError
from floodmark.language.model import Model

EngineName = Literal["auto", "native", "spark", "reference"]
Engine = Callable[[Model, Sequence[Property], Options, Watcher | None], Exploration]

LARGE = 2_000_000
"""From this many expected states on, a search gets all cores for itself."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line says over and above the specs; None leaves it to the spec."""

    engine: EngineName = "auto"
    constants: dict[str, int] = field(default_factory=dict)
    invariant_files: tuple[Path, ...] = ()
    limits: Limits = Limits()
    workers: int = 0
    symmetry: bool | None = None
    deadlock: bool = False
    only_variant: str | None = None
    master: str | None = None
    distribute: Literal["auto", "always"] = "auto"
    partitions: int | None = None
    checkpoint: str | None = None
    resume: str | None = None
    keep_states: str | None = None
    keep_results: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A spec's model, or one known-bad design of it, and how to search it.

    A check that is ``alone`` has the machine to itself, and may go on in Spark when it outgrows its process.
    """

    spec: Spec
    flawed: Flawed | None
    settings: Settings
    alone: bool = True

    @property
    def constants(self) -> dict[str, int]:
        flawed = {} if self.flawed is None else self.flawed.constants
        return {**self.spec.constants, **flawed, **self.settings.constants}

    @property
    def symmetry(self) -> bool:
        return self.spec.symmetry if self.settings.symmetry is None else self.settings.symmetry

    @property
    def options(self) -> Options:
        given, own = self.settings.limits, self.spec.limits
        limits = Limits(
            given.states if given.states is not None else own.states,
            given.seconds if given.seconds is not None else own.seconds,
            given.memory if given.memory is not None else own.memory,
        )
        deadlock = self.spec.deadlock or self.settings.deadlock or self.spec.expect.property == DEADLOCK
        if self.flawed is not None:
            deadlock = self.flawed.property == DEADLOCK
        workers = self.settings.workers
        return Options(workers, self.symmetry, deadlock, limits, self._likely)

    @property
    def _likely(self) -> int | None:
        """How many states the spec expects; unknown of a known-bad design and with other constants."""
        changed = self.settings.constants or self.settings.symmetry is not None
        return None if changed or self.flawed is not None else self.spec.expect.distinct

    @property
    def beside_others(self) -> Check:
        """The check on one core, for a process that is one of many."""
        return replace(self, settings=replace(self.settings, workers=1), alone=False)

    @property
    def seconds(self) -> float | None:
        """The time limit of the search."""
        return self.options.limits.seconds

    @property
    def large(self) -> bool:
        """Whether the search should have the machine for itself; that of a known-bad design ends early."""
        if self.spec.tier == "deep":
            return True
        return self.flawed is None and (self.spec.expect.distinct or 0) >= LARGE

    @property
    def wanted_property(self) -> str | None:
        """The property that is expected to be violated."""
        return self.spec.expect.property if self.flawed is None else self.flawed.property

    @property
    def wanted_depth(self) -> int | None:
        return self.spec.expect.depth if self.flawed is None else self.flawed.depth

    def cls(self) -> type[Model]:
        return self.spec.model_class() if self.flawed is None else self.spec.flawed_class(self.flawed)

    def properties(self) -> list[Property]:
        """What the search checks: of a known-bad design only what its entry names."""
        found = self.spec.properties(self.cls(), self.settings.invariant_files)
        if self.flawed is not None:
            return self.spec.named(self.flawed, found)
        self._known_expectation(found)
        chosen = self.spec.chosen(found)
        self.spec.known_silence(self.cls(), chosen)
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
        words = ["floodmark", "check", shown(self.spec.path)]
        if self.flawed is not None:
            words += ["--only-variant", self.flawed.name]
        elif self.spec.flawed:
            words += ["--only-variant", self.spec.model.rpartition(":")[2]]
        for name, value in settings.constants.items():
            words += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        for file in settings.invariant_files:
            words += ["--invariants", shown(file)]
        if settings.symmetry is not None:
            words.append("--symmetry" if settings.symmetry else "--no-symmetry")
        if settings.deadlock:
            words.append("--deadlock")
        if settings.engine != "auto":
            words += ["--engine", settings.engine]
        return shlex.join(words)


def shown(path: Path) -> str:
    """A path as the user would write it: relative to where the command runs, when it is below."""
    resolved = path.resolve()
    here = Path.cwd()
    return resolved.relative_to(here).as_posix() if resolved.is_relative_to(here) else str(path)


def checks(spec: Spec, settings: Settings) -> list[Check]:
    """The checks of a spec: its model, then its known-bad designs; or only the one that the settings name."""
    every = [Check(spec, None, settings), *(Check(spec, flawed, settings) for flawed in spec.flawed)]
    if settings.only_variant is None:
        return every
    return [check for check in every if variant_name(check) == settings.only_variant]


def must_matter(files: Sequence[Path], every: Sequence[Check]) -> None:
    """Refuses a file of properties of which none is about any model that is checked: it would be ignored."""
    models = {check.spec.model: check for check in every if check.flawed is None}
    for file in files:
        if not any(about(check.cls(), check.spec.project.load(file)) for check in models.values()):
            names = ", ".join(model.rpartition(":")[2] for model in models) or "any model that is checked"
            raise SourceError(f"no property in this file is about {names}; its parameter's type says which", str(file))


def variant_name(check: Check) -> str:
    """The name of the class that a check is about."""
    return check.spec.model.rpartition(":")[2] if check.flawed is None else check.flawed.name


def run(every: Sequence[Check], watch: Callable[[Check, Any], None] | None = None) -> Iterator[CheckResult]:
    """Runs the checks and gives each result when it and those before it are there: the small ones, then the large."""
    here = [check for check in every if not uses_spark(check)]
    yield from _run_here(here, watch)
    elsewhere = [check for check in every if check not in here]
    if elsewhere:
        from floodmark.checkers.spark.engine import run_on_spark

        yield from run_on_spark(
            elsewhere, lambda check: None if watch is None else _watcher(watch, check), run_check
        )


def _run_here(every: Sequence[Check], watch: Callable[[Check, Any], None] | None) -> Iterator[CheckResult]:
    """Runs each check in a process other than this one, which is free to hear of interrupts and of what has died."""
    _load(every)
    small = [check for check in every if not check.large]
    large = [check for check in every if check.large]
    count = min(len(small), (small[0].settings.workers if small else 0) or cores())
    if count < 2:
        large, small = [*small, *large], []
    yield from _run_parallel(small, [check.beside_others for check in small], run_pickled, count, None)
    yield from _run_parallel(large, large, _run_and_tell, 1, watch)


def _watcher(watch: Callable[[Check, Any], None], check: Check) -> Watcher:
    return lambda progress: watch(check, progress)


def _run_parallel(
    asked: Sequence[Check],
    run_as: Sequence[Check],
    function: Callable[[Check], bytes],
    count: int,
    watch: Callable[[Check, Any], None] | None,
) -> Iterator[CheckResult]:
    def heard(position: int, progress: object) -> None:
        if watch is not None:
            watch(asked[position], progress)

    found = processes.run_each(function, run_as, count, lambda check: check.seconds, heard)
    for check, content in zip(asked, processes.in_order(found), strict=True):
        yield replace(received(check, content), reproduce=check.reproduce())


def received(check: Check, content: bytes | Exception) -> CheckResult:
    """The result that another process gives by ``run_pickled``, or what is said of a check that gave none."""
    if isinstance(content, bytes):
        return unpickled(check, content)
    if isinstance(content, processes.Overdue):
        return replace(
            _blank(check), verdict="undetermined", exit_code=ExitCode.UNDETERMINED,
            message=f"the search was still in one step long after the limit of {check.seconds:g} seconds",
        )
    if isinstance(content, processes.Lost):
        return internal_error(check, str(content))
    return internal_error(check, f"{type(content).__name__}: {content}", "".join(traceback.format_exception(content)))


def _load(every: Sequence[Check]) -> None:
    """Loads the models once, so that no worker has to; what is wrong with one is said when its check runs."""
    for check in every:
        with suppress(SourceError):
            check.properties()
    if every:
        engine_named(every[0].settings.engine)


def unpickled(check: Check, content: bytes) -> CheckResult:
    """The result that another process gives by ``run_pickled``."""
    result: CheckResult = pickle.loads(content)
    if result.exploration is not None:
        result.properties = check.properties()
    return result


def run_pickled(check: Check) -> bytes:
    """Runs a check for another process."""
    return _sent(run_check(check))


def _sent(result: CheckResult) -> bytes:
    result.properties = []  # functions of the user's files, which the asking process has itself
    return pickle.dumps(result, pickle.HIGHEST_PROTOCOL)


def _run_and_tell(check: Check) -> bytes:
    """Runs a check for another process, which hears of its progress."""
    return _sent(run_check(check, processes.tell))


def run_check(check: Check, watch: Watcher | None = None) -> CheckResult:
    """Searches and judges what was found. Never raises: an error is a result too."""
    result = _blank(check)
    try:
        return _search(check, result, watch)
    except SourceError as error:
        result.message, result.file, result.line = error.message, error.file, error.line
        return result
    except MemoryError:
        return replace(result, verdict="undetermined", exit_code=ExitCode.UNDETERMINED, message="out of memory")
    except Exception as error:
        return internal_error(check, f"{type(error).__name__}: {error}", traceback.format_exc())


def _blank(check: Check) -> CheckResult:
    spec = check.spec
    return CheckResult(
        spec=shown(spec.path),
        name=spec.name,
        model=spec.model,
        variant=None if check.flawed is None else check.flawed.name,
        tier=spec.tier,
        title=spec.title,
        constants=check.constants,
        symmetry=check.symmetry,
        reproduce=check.reproduce(),
        idle=spec.idle,
        vacuous=spec.vacuous,
    )


def failed(spec: Path, error: SourceError) -> CheckResult:
    """The result of a spec that could not be read."""
    result = CheckResult(spec=shown(spec), name=shown(spec), model="", variant=None, tier="")
    result.message, result.file, result.line = error.message, error.file, error.line
    return result


def internal_error(check: Check, message: str, trace: str = "") -> CheckResult:
    """The result of a check that failed by a fault of ours."""
    return replace(_blank(check), exit_code=ExitCode.INTERNAL_ERROR, message=message, traceback=trace)


def _engine(check: Check) -> Engine:
    if uses_spark(check) or (check.alone and may_move_to_spark(check)):
        from floodmark.checkers.spark.engine import engine_of

        return engine_of(check)
    return engine_named(check.settings.engine)


def engine_named(name: EngineName) -> Engine:
    """The function that explores. The native engine unless the reference is asked for."""
    from floodmark.checkers import reference

    if name != "reference":
        if importlib.util.find_spec("floodmark.checkers.native.search") is not None:
            from floodmark.checkers.native import search  # type: ignore[attr-defined, unused-ignore]

            native: Engine = search.explore
            return native
        if name == "native":
            raise SourceError("this installation has no native engine")
    return reference.explore


def _search(check: Check, result: CheckResult, watch: Watcher | None) -> CheckResult:
    cls = check.cls()
    properties = check.properties()
    model = _instance(check, cls)
    result.constants = model.constant_values
    result.properties = properties
    result.subject = model
    if not properties and not check.options.deadlock:
        return replace(
            result,
            verdict="undetermined",
            exit_code=ExitCode.NOTHING_CHECKED,
            message="nothing was checked: no property belongs to this model",
        )
    found = _engine(check)(model, properties, check.options, watch)
    result.exploration = found
    result.engine = found.engine
    if found.complete:
        result.unreached = [
            prop.name for prop in properties if prop.kind == "reachable" and prop.name not in found.reached
        ]
    return _judge(check, result, found)


def _instance(check: Check, cls: type[Model]) -> Model:
    """The model with the spec's constants; an unknown constant is an error at the line that sets it."""
    spec = check.spec
    known = cls.constants()
    for name in check.constants:
        if name in known:
            continue
        message = f"{cls.__name__} has no constant {name!r}{did_you_mean(name, known)}"
        if name in check.settings.constants:
            raise SourceError(f"--set {name}: {message}")
        in_flawed = check.flawed is not None and name in check.flawed.constants
        line = check.flawed.line if check.flawed is not None and in_flawed else spec.line(f"constants.{name}")
        raise SourceError(message, str(spec.path), line)
    return cls(**check.constants)


def _judge(check: Check, result: CheckResult, found: Exploration) -> CheckResult:
    """Sets the verdict, and whether it is the expected one."""
    result.violation = _main_violation(check, found)
    result.verdict = _verdict(result, found)
    if result.violation is not None:
        violation = result.violation
        result.property = violation.property or None
        result.message, result.file, result.line = violation.message, violation.file, violation.line
    elif result.unreached:
        wanted = check.wanted_property
        result.property = wanted if wanted in result.unreached else result.unreached[0]
        result.message = "no reachable state satisfies it"
    elif result.verdict == "undetermined":
        result.message = f"the search ended before it was complete, at {found.stopped}"
    differences = _differences(check, result, found)
    result.expected = not differences
    if result.verdict == "error":
        result.exit_code = ExitCode.USER_ERROR
    elif result.verdict == "undetermined":
        result.exit_code = ExitCode.UNDETERMINED
    else:
        result.exit_code = ExitCode.NOT_AS_EXPECTED if differences else ExitCode.AS_EXPECTED
        if differences and (check.wanted_property is not None or result.verdict == "holds"):
            result.message = "; ".join(filter(None, [result.message, *differences]))
    return result


def _verdict(result: CheckResult, found: Exploration) -> Verdict:
    if result.violation is not None:
        return "error" if result.violation.kind == "error" else "violated"
    if result.unreached:
        return "violated"
    return "holds" if found.complete else "undetermined"


def _main_violation(check: Check, found: Exploration) -> Violation | None:
    """The violation to show: of the expected property, else an error of the model, else the first found."""
    for violation in found.violations:
        if violation.property == check.wanted_property and violation.kind != "error":
            return violation
    errors = [violation for violation in found.violations if violation.kind == "error"]
    return next(iter([*errors, *found.violations]), None)


def _differences(check: Check, result: CheckResult, found: Exploration) -> list[str]:
    """What is not as the spec expects it; nothing when all is."""
    wanted = "holds" if check.wanted_property is None else "violated"
    if result.verdict != wanted:
        return [f"expected {check.wanted_property} to be violated" if wanted == "violated" else "expected to hold"]
    if wanted == "violated" and result.property != check.wanted_property:
        return [f"expected {check.wanted_property} to be violated, not {result.property}"]
    if check.settings.constants or check.settings.symmetry is not None:
        return []
    depth = len(result.violation.trace) if result.violation is not None else found.depth
    expect = check.spec.expect
    figures = [("depth", check.wanted_depth, depth)]
    if check.flawed is None:
        figures += [("distinct", expect.distinct, found.distinct), ("generated", expect.generated, found.generated)]
    differ = [(name, want, is_) for name, want, is_ in figures if want is not None and want != is_]
    said = [f"{name} is {is_:,}, expected {want:,}" for name, want, is_ in differ]
    return said if check.flawed is not None else [*said, *_not_silent(check.spec, found)]


def _not_silent(spec: Spec, found: Exploration) -> list[str]:
    """What the spec lists as idle or vacuous and is not."""
    said = [f"{name} fires, though the spec lists it as idle" for name in spec.idle if found.actions.get(name)]
    if not found.complete or found.engine == "reference":  # which does not look at premises
        return said
    vacuous = {premise.property for premise in found.vacuous}
    never = [name for name in spec.vacuous if name not in vacuous]
    return said + [f"the premise of {name} comes true, though the spec lists it as vacuous" for name in never]
