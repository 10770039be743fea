"""Mistakes that leave a model valid and weaken its checks unnoticed: each is an error, in every engine.

A value that is assigned to a local name and never read (where a variable of the model was meant), a model without an
action, a method that changes the model and that nothing calls (where ``@action`` was forgotten), and a known-bad design
that does not differ from the good one where its author thinks it does. Nothing in a run shows these mistakes: every
property may hold.

A class that other processes do not find by its name is refused as well: they would search another one.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from types import FunctionType
from typing import Any

from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.reached_functions import Called, reached_functions
from floodmark.language.bindings import class_place, member_place, mentioned_in
from floodmark.language.errors import ModelError
from floodmark.language.fairness import fair_methods
from floodmark.language.members import LIVENESS_KINDS, PROPERTY_KINDS, Constant, kind_of, role_of
from floodmark.language.model import Model
from floodmark.language.reference import parameter_types
from floodmark.language.source import is_rewritten, source_of
from floodmark.language.unread_locals import unread_values

_STEPS = ("initial", "action", "boundary")


def require_actions(cls: type[Model]) -> None:
    """Raises ModelError for a model without an action."""
    if not cls.methods("action"):
        message = f"{cls.__name__} has no action, so nothing ever happens in it; decorate its steps with @action"
        raise ModelError(message, *class_place(cls))


def require_read_locals(cls: type[Model], properties: Iterable[Property], calls: Called | None = None) -> None:
    """Raises ModelError for the first local name that a function of the model or of a property assigns and never uses.
    Mutants are exempt: they are mistakes on purpose."""
    roots = [*fair_methods(cls), *(method for kind in _STEPS for method in cls.methods(kind).values())]
    for function in reached_functions(cls, [*roots, *(prop.function for prop in properties)], calls):
        if not is_rewritten(function):
            _require_read(function)


@functools.cache
def _require_read(function: Callable[..., Any]) -> None:
    source = source_of(function)
    for target in unread_values(source.tree):
        message = f"{target.id} is a local name here, assigned but never used"
        method = source.parameters and kind_of(function) not in (*PROPERTY_KINDS, *LIVENESS_KINDS)
        instead = f"write {source.parameters[0]}.{target.id} for a variable of the model, or " if method else ""
        raise ModelError(f"{message}; {instead}leave it out", source.file, target.lineno)


def require_calls(
    cls: type[Model], properties: Iterable[Property], good: type[Model] | None, calls: Called | None = None
) -> None:
    """Raises ModelError for a method that assigns variables, and for a rule, if no step, no property and no other
    method mentions it; also for a fair method that is no action. Members that a class inherits from another file, and a
    known-bad design from the good one, are exempt: others may call them. So are mutants."""
    fair = fair_methods(cls)
    if any(map(is_rewritten, filter(inspect.isfunction, (getattr(cls, name) for name in dir(cls))))):
        return
    kinds = (*_STEPS, *PROPERTY_KINDS, *LIVENESS_KINDS, "lemma", "ranking")
    roots = [*fair, *(method for kind in kinds for method in cls.methods(kind).values())]
    called = set(reached_functions(cls, [*roots, *(prop.function for prop in properties)], calls))
    classes = [base for base in cls.__mro__ if issubclass(base, Model) and base is not Model]
    own = [each for each in classes if each.__module__ == cls.__module__ and not (good and issubclass(good, each))]
    for base in own:
        for name, value in vars(base).items():
            if not isinstance(value, FunctionType) or getattr(cls, name) in called:
                continue
            is_rule = kind_of(value) == "rule"
            if not is_rule and (kind_of(value) is not None or not _assigns(value, cls)):
                continue
            if not any(name in mentioned_in(each, name) for each in classes):
                what = f"the rule {name}" if is_rule else f"{name}, which assigns variables"
                instead = "call it" if is_rule else "write @action above it if it is a step"
                message = f"no step and no property calls {what}; {instead}, or leave it out"
                raise ModelError(message, *member_place(base, name))


def _assigns(function: Callable[..., Any], cls: type[Model]) -> bool:
    """Whether a method assigns to variables of its model."""
    source = source_of(function)
    model = source.parameters[:1]
    for node in ast.walk(source.tree):
        place: ast.AST = node
        match node:
            case ast.Call(func=ast.Attribute(value=changed, attr="add" | "discard" | "remove" | "append")):
                place = changed
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                pass
            case _:
                continue
        while isinstance(place, ast.Attribute | ast.Subscript):
            match place:
                case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in model and name in cls._variables:
                    return True
            place = place.value
    return False


def require_difference(good: type[Model], bad: type[Model], other_constants: bool) -> None:
    """Raises ModelError for a known-bad design with a member that changes nothing, or that is nearly called what it
    should override; and for one that differs in nothing at all, not even in its constants."""
    classes = [cls for cls in bad.__mro__ if cls not in good.__mro__]
    own = {name: cls for cls in reversed(classes) for name in _members(cls)}
    old = {name for cls in good.__mro__ if cls not in (Model, object) for name in _members(cls)}
    if not own and not other_constants:
        message = f"{bad.__name__} changes nothing of {good.__name__}; override the rule that it breaks"
        raise ModelError(message, *class_place(bad))
    for name, cls in own.items():
        if name not in old:
            _require_use(name, cls, classes, old - own.keys())


def _members(cls: type) -> Iterator[str]:
    return (name for name in vars(cls) if not name.startswith("__") and name not in ("_variables", "_defaults"))


def _require_use(name: str, cls: type, classes: Sequence[type], old: Iterable[str]) -> None:
    """Refuses a new member that nothing mentions, and a new step that looks like a misspelled one."""
    value = vars(cls)[name]
    kind = kind_of(value)
    if kind in (*PROPERTY_KINDS, *LIVENESS_KINDS, "lemma", "ranking"):
        return
    near = next((each for each in sorted(old) if _is_misspelled(name, each)), None)
    meant = "" if near is None else f"; did you mean {near!r}?"
    if kind in _STEPS and near is not None:
        message = f"{name} is a new {kind} next to {near!r}, and does not replace it{meant} If not, find another name"
        raise ModelError(message, *member_place(cls, name))
    if kind not in _STEPS and not any(name in mentioned_in(each, name) for each in classes):
        what = "constant" if isinstance(value, Constant) else role_of(value)
        message = f"the {what} {name} overrides nothing, and nothing in {cls.__name__} uses it{meant}"
        raise ModelError(message, *member_place(cls, name))


def _is_misspelled(name: str, other: str) -> bool:
    """Whether two names differ in a letter or two, and not only in a number."""
    if "".join(filter(str.isalpha, name)) == "".join(filter(str.isalpha, other)) and _digits(name) != _digits(other):
        return False
    same = sum(block.size for block in SequenceMatcher(None, name, other, autojunk=False).get_matching_blocks())
    return len(name) + len(other) - 2 * same <= min(3, same // 2)


def _digits(name: str) -> str:
    return "".join(filter(str.isdigit, name))


def require_named(model: Model) -> None:
    """Raises ModelError, with its place, for a class of a model that is made where no other process finds it."""
    methods = [method for kind in ("initial", "action") for method in type(model).methods(kind).values()]
    for method in methods:
        parameter_types(model, method)  # whose classes the model knows from here on
    for cls in (type(model), *model._classes.values()):
        found: Any = sys.modules.get(cls.__module__)
        for part in cls.__qualname__.split("."):
            found = getattr(found, part, None)
        if found is not cls:
            maker, _, inside = cls.__qualname__.partition(".<locals>.")
            how = f"is made inside {maker}" if inside else "has another name in its file"
            name = cls.__qualname__.rpartition(".")[2]
            message = f"{name} {how}, where other processes do not find it; write class {name} at the top of the file"
            raise ModelError(message, *class_place(cls))
