"""Collects the properties of a model: its own, those in ``invariants/``, and those in files that the user names."""

from __future__ import annotations

import ast
import difflib
import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import is_
from types import ModuleType
from typing import Any, Literal
from weakref import WeakKeyDictionary

from floodmark.checkers.project.modules import is_copy
from floodmark.language.bindings import member_place, place, require_own_decorators, require_single_names
from floodmark.language.errors import SourceError
from floodmark.language.members import LIVENESS_KINDS, MARKS, PROPERTY_KINDS, REFINES, kind_of, role_of
from floodmark.language.model import Model
from floodmark.language.source import source_of

PropertyKind = Literal[
    "invariant", "transition", "reachable",
    "eventually", "always_eventually", "leads_to", "eventually_always", "recoverable", "fairness",
]  # fmt: skip
FAIRNESS: PropertyKind = "fairness"
"""Fairness of the mapped runs of a model to an action of the model that it refines."""
_ALL_KINDS = (*PROPERTY_KINDS, *LIVENESS_KINDS)
DEADLOCK = "deadlock"
"""The name under which a spec expects a state without successors; no property may have it."""


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a model. ``function`` takes the model, or (old, new) for a transition property.

    A refinement is a property of steps as well; its function is the mapping, which takes the model. The function of a
    liveness property may take parameters after the model; the property has to hold for each choice of them. With a
    ``mapping``, the property is about the runs of the refined model to which those of the model are mapped, and the
    function is of that model: a property of runs, or for "fairness" an action.
    """

    name: str
    kind: PropertyKind
    function: Callable[..., Any]
    file: str
    line: int
    doc: str
    mapping: Callable[..., Any] | None = None

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def is_refinement(self) -> bool:
        """Whether it claims that the steps of the model are steps of another model."""
        return kind_of(self.function) == REFINES

    @property
    def is_liveness(self) -> bool:
        """Whether it is about whole runs, not about states or steps."""
        return self.kind in (*LIVENESS_KINDS, FAIRNESS)

    @property
    def functions(self) -> list[Callable[..., Any]]:
        """The functions that define it."""
        return [self.function] if self.mapping is None else [self.function, self.mapping]


def collect(cls: type[Model], modules: Iterable[ModuleType]) -> dict[str, Property]:
    """The properties of ``cls`` by name: its decorated methods, then the decorated functions of the modules.

    A function is a property of the model when the annotation of its first parameter is the class or a base of it.
    Raises SourceError when two properties share a name, or a property and another member of the model do.
    """
    found: dict[str, Property] = {}
    for kind in _ALL_KINDS:
        for name, method in cls.methods(kind).items():
            found[name] = _property(name, kind, method)
    for module in modules:
        for name, kind, function in _declared(module):
            if _belongs(function, cls):
                _add(found, _property(name, kind, function))
                _require_no_member(found[name], cls)
    if DEADLOCK in found:
        message = f"{DEADLOCK} is the name for a state without successors; rename this property"
        raise SourceError(message, found[DEADLOCK].file, found[DEADLOCK].line)
    return found


_Declared = tuple[tuple[str, str, Callable[..., Any]], ...]
_declared_by: WeakKeyDictionary[ModuleType, tuple[list[str], list[Any], _Declared]] = WeakKeyDictionary()


def _declared(module: ModuleType) -> _Declared:
    """The functions in a module that are decorated as properties, with their names and kinds. A module is read again
    only if it has other names or objects: every known-bad design of a model requests the same ones."""
    names, values = list(vars(module)), list(vars(module).values())
    known = _declared_by.get(module)
    if known is not None and known[0] == names and all(map(is_, known[1], values)):
        return known[2]
    _require_plain_text(module)
    _require_no_lost_step(module)
    _require_no_lost_class(module)
    kinds = ((name, kind_of(value), value) for name, value in zip(names, values, strict=True) if callable(value))
    declared = tuple((name, kind, value) for name, kind, value in kinds if kind in _ALL_KINDS)
    _declared_by[module] = names, values, declared
    return declared


def about(cls: type[Model], module: ModuleType, lemmas: bool = False) -> bool:
    """Whether a module has a property of the model; or a lemma or a ranking, if ``lemmas`` count."""
    kinds = (*_ALL_KINDS, "lemma", "ranking") if lemmas else _ALL_KINDS
    return any(
        callable(function) and kind_of(function) in kinds and _belongs(function, cls)
        for function in vars(module).values()
    )


def own_properties(module: ModuleType) -> Iterator[Callable[..., Any]]:
    """The functions decorated as properties that a module defines itself."""
    for function in vars(module).values():
        if callable(function) and kind_of(function) in _ALL_KINDS and function.__module__ == module.__name__:
            yield function


def is_about(function: Callable[..., Any], cls: type[Model]) -> bool:
    """Whether a decorated function is a property of the model. Raises SourceError if that cannot be told."""
    return _belongs(function, cls)


def beside(cls: type[Model]) -> Iterator[Callable[..., Any]]:
    """The properties of a class that are functions in its own file or notebook, or in that of a base.

    Raises SourceError for one that is about a class of the same name which has been defined anew, as when a cell of a
    notebook is run again: it would be left out in silence.
    """
    models = [base for base in cls.__mro__ if issubclass(base, Model) and base is not Model]
    modules = [sys.modules[name] for name in dict.fromkeys(base.__module__ for base in models) if name in sys.modules]
    for function in dict.fromkeys(each for module in modules for each in own_properties(module)):
        owner, file, _ = _owner(function)
        if issubclass(cls, owner):
            yield function
        elif any((owner.__module__, owner.__qualname__) == (base.__module__, base.__qualname__) for base in models):
            name, line = owner.__name__, function.__code__.co_firstlineno
            message = f"{function.__name__} is about a class {name} that has been defined anew; define it anew, too"
            raise SourceError(message, file, line)


def add_function(found: dict[str, Property], function: Callable[..., Any], cls: type[Model]) -> None:
    """Adds a decorated function to the properties of a class. Raises SourceError for one that is no property of it."""
    name, kind = getattr(function, "__name__", repr(function)), kind_of(function)
    if name in found and found[name].function is function:
        return
    if kind not in _ALL_KINDS:
        raise SourceError(f"{name} is no property; decorate it, for example with @invariant")
    if not _belongs(function, cls):
        owner, file, line = _owner(function)
        message = f"{name} is a property of {owner.__name__}, from which {cls.__name__} is not derived"
        raise SourceError(message, file, line)
    _add(found, _property(name, kind, function))
    _require_no_member(found[name], cls)


def choose(found: dict[str, Property], names: Sequence[str] | None, file: str, line: int | None) -> list[Property]:
    """The named properties; all of them for None. An unknown name is an error at ``file`` and ``line``."""
    if names is None:
        return list(found.values())
    return [found[known(name, found, "property", file, line)] for name in names]


def known(name: str, names: Iterable[str], what: str, file: str, line: int | None) -> str:
    """Returns ``name`` if it is one of ``names``; otherwise raises an error that suggests the nearest one."""
    names = list(names)
    if name in names:
        return name
    raise SourceError(f"there is no {what} {name!r}{did_you_mean(name, names)}", file, line)


def functions_by_name(properties: Iterable[Property]) -> dict[str, Callable[..., Any]]:
    """The functions of properties by name. Two of the same name are an error at the second: one would hide the
    other."""
    found: dict[str, Property] = {}
    for prop in properties:
        _add(found, prop)
    return {name: prop.function for name, prop in found.items()}


MAX_NAMES = 20
"""The maximum number of names that a message lists."""


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest known name, or all of them if these are few."""
    names = list(names)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    more = f", and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"; available: {', '.join(names[:MAX_NAMES])}{more}" if names else "; there are none"


def _property(name: str, kind: Any, function: Callable[..., Any]) -> Property:
    source = source_of(function)
    kind = "transition" if kind == REFINES else kind
    return Property(name, kind, function, source.file, source.tree.lineno, (function.__doc__ or "").strip())


def _add(found: dict[str, Property], new: Property) -> None:
    old = found.get(new.name)
    if old is not None and old.function is not new.function:
        raise SourceError(f"property {new.name!r} is already defined at {old.place}", new.file, new.line)
    found[new.name] = new


def _require_plain_text(module: ModuleType) -> None:
    """Refuses a file that defines a name twice, or in which a foreign decorator may have dropped a property."""
    file = getattr(module, "__file__", None)
    if file is not None:
        require_single_names(file)
        require_own_decorators(file, vars(module), MARKS)


def _require_no_lost_step(module: ModuleType) -> None:
    """Refuses a function outside a class whose decorator is for methods: it would be part of no model."""
    for function in vars(module).values():
        kind = kind_of(function)
        if kind in ("initial", "action", "boundary") and function.__qualname__ == function.__name__:
            message = f"{function.__name__} is decorated as {kind} but is not a method; move it into a model"
            raise SourceError(message, function.__code__.co_filename, function.__code__.co_firstlineno)


def _require_no_lost_class(module: ModuleType) -> None:
    """Refuses a decorated function in a class that no model is derived from: it would never be checked."""
    for cls in vars(module).values():
        if isinstance(cls, type) and cls.__module__ == module.__name__ and not _has_models(cls):
            for name, member in vars(cls).items():
                if kind_of(member) is not None:
                    message = f"{name} is decorated as {kind_of(member)}, but {cls.__name__} is no model"
                    message += f"; derive it from Model, or move {name} out of it"
                    raise SourceError(message, *member_place(cls, name))


def _has_models(cls: type) -> bool:
    """Whether a class is a model or something that a model is derived from."""
    return cls is object or issubclass(cls, Model) or any(map(_has_models, type.__subclasses__(cls)))


def _require_no_member(prop: Property, cls: type[Model]) -> None:
    """Refuses a property in a file whose name is that of another member of the model."""
    owner = next((base for base in cls.__mro__ if prop.name in vars(base)), None)
    if owner is not None:
        what = role_of(vars(owner)[prop.name])
        at = place(*member_place(owner, prop.name))
        raise SourceError(f"{prop.name} is already the name of a {what} of the model at {at}", prop.file, prop.line)


def _belongs(function: Callable[..., Any], cls: type[Model]) -> bool:
    owner, file, line = _owner(function)
    _require_one_copy(owner, cls, file, line)
    return issubclass(cls, owner)


@functools.cache
def _owner(function: Callable[..., Any]) -> tuple[type, str, int]:
    """The class that a property is about, with the file and line that say so."""
    source = source_of(function)
    parameters = source.tree.args.args
    wanted = 2 if kind_of(function) == "transition" else 1
    if len(parameters) != wanted and (kind_of(function) not in (*LIVENESS_KINDS, "ranking") or not parameters):
        shape = "(old, new)" if wanted == 2 else "(model)"
        raise SourceError(f"{function.__name__} must take {shape}", source.file, source.tree.lineno)
    annotation = parameters[0].annotation
    if annotation is None:
        message = f"annotate the first parameter of {function.__name__} with the class of the model that it is about"
        raise SourceError(message, source.file, source.tree.lineno)
    text = ast.unparse(annotation)
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        text = annotation.value
    try:
        owner = eval(text, dict(function.__globals__))
    except Exception as error:
        raise SourceError(f"the annotation {text} cannot be read: {error}", source.file, annotation.lineno) from None
    if not isinstance(owner, type) or not _has_models(owner):
        message = f"{text} is not a model, so {function.__name__} would never be checked; write one model class"
        raise SourceError(message, source.file, annotation.lineno)
    return owner, source.file, annotation.lineno


def _require_one_copy(owner: type, cls: type[Model], file: str, line: int) -> None:
    """Refuses a class whose file was run twice, as a script and as a module: a property of one copy would not apply to
    the other."""
    for base in cls.__mro__:
        if base is not owner and base.__qualname__ == owner.__qualname__ and is_copy(base, owner):
            message = (
                f"there are two copies of {owner.__name__}, in the modules {owner.__module__} and {base.__module__}: "
                "its file was run twice; import it, instead of running it as a script or reloading it"
            )
            raise SourceError(message, file, line)
