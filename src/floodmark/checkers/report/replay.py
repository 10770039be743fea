"""Counterexamples as pytest functions that replay them on the model in CPython, without any engine."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from floodmark.checkers.project.modules import Project
from floodmark.checkers.project.properties import FAIRNESS, Property
from floodmark.checkers.report.liveness import finding_of
from floodmark.checkers.report.python_source import PythonCode
from floodmark.checkers.search_result import Violation
from floodmark.checkers.verdict.result import CheckResult
from floodmark.language.errors import SourceError
from floodmark.language.members import REFINES
from floodmark.language.model import Model
from floodmark.language.plurals import counted
from floodmark.language.reference import Step, holds
from floodmark.language.values import running

_MAX_LINE = 110
_FOREIGN = "floodmark_"
"""Prefixes of the names of modules that only this process can import."""
_SCRIPT = "__main__"
_OURS = "floodmark.replay"
"""The module that tests import, besides the language."""


def test_module(results: Sequence[CheckResult]) -> str:
    """A test module with one function for each counterexample; empty when there is none.

    Its file names are relative to the root of the repository in which it is to lie.
    """
    code = PythonCode()
    functions = [_Function(result, code).text() for result in results if _has_trace(result)]
    return "\n\n\n".join(["\n".join(_head(code)), *functions]) + "\n" if functions else ""


def _has_trace(result: CheckResult) -> bool:
    return result.subject is not None and result.violation is not None and bool(result.violation.trace)


class _Function:
    """The function of one counterexample."""

    def __init__(self, result: CheckResult, code: PythonCode) -> None:
        assert result.subject is not None
        assert result.violation is not None
        self.result = result
        self.model: Model = result.subject
        self.violation: Violation = result.violation
        self.code = code
        code.use(_OURS, "running")

    def text(self) -> str:
        constants = [f"{name}={value!r}" for name, value in self.model.constant_values.items()]
        lines = [
            f"def {self._name()}() -> None:",
            f'    """{self._title()}"""',
            *_call(f"    model = {self.code.name(type(self.model))}", constants),
            "    with running(model):",
            "        model.reset()",
            *(f"        {line}" for line in self._body()),
        ]
        return "\n".join(lines)

    def _name(self) -> str:
        broken = f"breaks_{self.violation.property.replace('.', '_')}" if self.violation.property else "fails"
        words = f"{type(self.model).__name__}_{broken}"
        return self.code.fresh("test_" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", words).lower())

    def _title(self) -> str:
        count = len(self.violation.trace)
        broken = f"breaks {self.violation.property}" if self.violation.property else "fails"
        steps = counted(count, "step")
        return f"{type(self.model).__name__} {broken} after {steps} ({self.result.address()})."

    def _body(self) -> Iterator[str]:
        steps: list[Step | None] = [entry.step for entry in self.violation.trace]
        if not type(self.model).methods("initial"):
            steps[0] = None
        match self.violation.kind:
            case "invariant":
                yield from self._invariant(steps)
            case "transition":
                yield from self._transition(steps)
            case "deadlock":
                yield from self._take(steps)
                self.code.use(_OURS, "successors")
                yield "assert not list(successors(model, model.snapshot()))"
            case "error":
                yield from self._error(steps)
            case "liveness":
                yield from self._liveness(steps)

    def _take(self, steps: Sequence[Step | None]) -> Iterator[str]:
        """The calls of steps; None stands for the initial values in the class body, which ``reset`` sets."""
        for step in steps:
            if step is not None:
                arguments = [f"{name}={self.code.value(value)}" for name, value in step.arguments.items()]
                yield from _call(f"model.{step.action}", arguments)

    def _invariant(self, steps: Sequence[Step | None]) -> Iterator[str]:
        yield from self._take(steps[:-1])
        if len(steps) > 1:
            yield f"assert {self._property('model')}"
        yield from self._take(steps[-1:])
        yield f"assert not {self._property('model')}"

    def _transition(self, steps: Sequence[Step | None]) -> Iterator[str]:
        """The property holds for every step but the last."""
        yield from self._take(steps[:-2])
        for index, step in enumerate(steps[-2:]):
            if index == 1:
                yield "before = model.at(model.snapshot())"
                yield from self._take([step])
                yield f"assert not {self._property('before', 'model')}"
            elif len(steps) > 2:
                yield "before = model.at(model.snapshot())"
                yield from self._take([step])
                yield f"assert {self._property('before', 'model')}"
            else:
                yield from self._take([step])
        if len(steps) == 1:  # its image is no initial state of the refined model
            yield f"assert not {self._property('model')}"

    def _liveness(self, steps: Sequence[Step | None]) -> Iterator[str]:
        """The steps into the loop and once round it: they lead back to its first state; the goal is missed there."""
        loop, prop = self.violation.loop, self.result.find_property(self.violation.property)
        assert prop is not None
        yield from self._take(steps[: len(steps) if loop is None else loop + 1])
        yield from self._missed(prop)
        if loop is None or loop == len(steps) - 1:
            return
        yield "before = model.snapshot()"
        for step in steps[loop + 1 :]:
            yield from self._take([step])
            if prop.kind != "eventually_always":
                yield from self._missed(prop)
        yield "assert model.snapshot() == before"

    def _missed(self, prop: Property) -> Iterator[str]:
        """Asserts that the goal is false here; if its truth changes on the loop, in one state of the loop only."""
        if prop.kind in ("eventually_always", FAIRNESS):
            return
        finding = finding_of(self.result.search_result, self.violation)
        chosen = {} if finding is None else finding.arguments
        given = [f"{name}={self.code.value(value)}" for name, value in chosen.items()]
        yield f"assert not {self._property('model', *given)}" + ("[1]" if prop.kind == "leads_to" else "")

    def _error(self, steps: Sequence[Step | None]) -> Iterator[str]:
        """The step or the property that leaves the declared types, with the exception that CPython raises."""
        failed, name = self.violation.failed_step, self.violation.property
        yield from self._take(steps)
        error = self._raised()
        name_of_error = error.__name__ if error.__module__ == "builtins" else self.code.name(error)
        self.code.use_module("pytest")
        yield f"with pytest.raises({name_of_error}):  # {self.violation.message}"
        if failed is not None:
            yield from (f"    {line}" for line in self._take([failed]))
        elif name:
            prop = self.result.find_property(name)
            states = ("model", "model") if prop is not None and prop.kind == "transition" else ("model",)
            yield f"    {self._property(*states)}"

    def _raised(self) -> type[BaseException]:
        failed = self.violation.failed_step
        self.model.load(self.violation.trace[-1].state)
        try:
            with running(self.model):
                if failed is not None:
                    getattr(self.model, failed.action)(**failed.arguments)
                else:
                    prop = self.result.find_property(self.violation.property)
                    assert prop is not None
                    if prop.is_refinement:
                        holds(self.model, prop.function, *[entry.state for entry in self.violation.trace[-2:]])
                    else:
                        prop.function(*[self.model] * (2 if prop.kind == "transition" else 1))
        except Exception as error:
            return type(error)
        raise AssertionError(f"{failed} does not fail in CPython")

    def _property(self, *subjects: str) -> str:
        """The call of the broken property on models: a method of the first, or a function from ``invariants/``."""
        prop = self.result.find_property(self.violation.property)
        assert prop is not None
        if prop.is_refinement:
            mapping = self._mapping(prop.function)
            states = ", ".join("model.snapshot()" if it == "model" else f"{it}.snapshot()" for it in subjects)
            self.code.use(_OURS, "holds")
            return f"holds(model, {mapping}, {states})"
        if prop.mapping is not None:
            self.code.use(_OURS, "image")
            mapping = self._mapping(prop.mapping)
            subject = f"image(model, {mapping}, model.snapshot()).at()"
            name = prop.function.__name__
            if "." in prop.function.__qualname__:
                return f"{subject}.{name}({', '.join(subjects[1:])})"
            return f"{self.code.use(prop.function.__module__, name)}({', '.join([subject, *subjects[1:]])})"
        if _is_method(self.model, prop):
            return f"{subjects[0]}.{prop.name}({', '.join(subjects[1:])})"
        name = self.code.use(prop.function.__module__, prop.function.__name__)
        return f"{name}({', '.join(subjects)})"


    def _mapping(self, mapping: Callable[..., Any]) -> str:
        """The mapping of a refinement, which is a method of the model's class or a function in ``invariants/``."""
        name = mapping.__name__
        if type(self.model).methods(REFINES).get(name) is mapping:
            return f"{self.code.name(type(self.model))}.{name}"
        return self.code.use(mapping.__module__, name)


def _is_method(model: Model, prop: Property) -> bool:
    return type(model).methods(prop.kind).get(prop.name) is prop.function


def _call(function: str, arguments: Sequence[str]) -> list[str]:
    """A call, with each argument on its own line when it is long."""
    whole = f"{function}({', '.join(arguments)})"
    if len(whole) <= _MAX_LINE - 8 or not arguments:
        return [whole]
    indent = " " * (len(function) - len(function.lstrip()))
    return [f"{function}(", *(f"{indent}    {argument}," for argument in arguments), f"{indent})"]


def _import(module: str, names: Sequence[str]) -> list[str]:
    whole = f"from {module} import {', '.join(names)}"
    if len(whole) <= _MAX_LINE:
        return [whole]
    return [f"from {module} import (", *(f"    {name}," for name in names), ")"]


def _files(modules: Sequence[str]) -> dict[str, str]:
    """The files of modules, each relative to its repository, unless another has a file of the same name there."""
    paths = {module: _file_of(module) for module in modules}
    names = {module: path.relative_to(Project.of(path).root).as_posix() for module, path in paths.items()}
    count = Counter(names.values())
    return {module: name if count[name] == 1 else paths[module].as_posix() for module, name in names.items()}


def _file_of(module: str) -> Path:
    file = getattr(sys.modules[module], "__file__", None)
    if file is None:
        raise SourceError("a test imports its model from a file, and this one is in none; write it to a file")
    return Path(file)


def _head(code: PythonCode) -> Iterator[str]:
    """The imports. Files of a repository are loaded as specs see them, from wherever the test is run."""
    foreign = [module for module in code.names if module.startswith(_FOREIGN) or module == _SCRIPT]
    files = _files(foreign)
    if foreign:
        code.use(_OURS, "load_file")
    for module in sorted(code.modules):
        yield f"import {module}"
    if code.modules:
        yield ""
    for module in sorted(set(code.names) - set(foreign)):
        names = sorted(code.names[module].items())
        yield from _import(module, [name if name == alias else f"{name} as {alias}" for name, alias in names])
    for module in sorted(foreign):
        short = code.fresh(f"{Path(files[module]).stem}_file")
        yield ""
        yield f'{short} = load_file("{files[module]}", __file__)'
        yield from (f"{alias} = {short}.{name}" for name, alias in sorted(code.names[module].items()))
