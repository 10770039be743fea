"""A cache of expression graphs: a graph is reused if none of its dependences has changed.

A known-bad design is a subclass that overrides a rule or two, and a mutant has one function with another source: all
other actions would be read from the same functions with the same result. While it reads a function, the compiler
records its queries: the member of the class that a name denotes, the source of a function, the value of a name in a
module or of an attribute of a class, and the type of a class. A graph depends only on the answers, and on those about
the model as a whole (its types, its constants, the open ones). Syntax trees are immutable, and the content of a mutable
value is never taken from an earlier reading.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from floodmark.language.errors import ModelError
from floodmark.language.model import Model, bounds_of, is_any_size, widths_of
from floodmark.language.reference import parameter_types
from floodmark.language.source import Source, is_rewritten, source_of
from floodmark.language.types import Type, growing
from floodmark.language.values import Record

Question = Callable[..., Any]

ABSENT = object()
"""The answer for a name that does not exist."""
MAX_KEPT = 300_000
"""The maximum number of expressions in the kept readings of all models: some 50 MB. Designs of one model are usually
checked one after the other."""
_MAX_OF_ONE = 4
_CHANGING = (list, dict, set, bytearray)


class CompilerInputs:
    """The compiler's queries to a model and its modules, with the answers."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._whole = _whole(model)
        self._answers: dict[tuple[Question, tuple[Any, ...]], Any] = {}
        self.lasts = True
        """Whether the answers are complete: the content of a list, or of an object without a name, may change."""

    def rests_on(self, question: Question, *about: Any) -> None:
        """Records a query about the model and its answer. Raises ModelError if there is none."""
        try:
            if (question, about) in self._answers:
                return
        except TypeError:  # about something that has no hash
            self.lasts = False
            return
        answer = self._answers[question, about] = question(self._model, *about)
        self.lasts = self.lasts and not _changes(answer)

    def is_of(self, model: Model) -> bool:
        """Whether it would be the same for another model."""
        whole = _whole(model)
        if whole is not self._whole and whole != self._whole:
            return False
        try:
            return all(_is_same(question(model, *about), was) for (question, about), was in self._answers.items())
        except ModelError:
            return False


class _LatestModel:
    """Dependences on a whole model, for the latest one: all its actions are compiled one after the other."""

    model: Model | None = None
    whole: tuple[object, ...] = ()


def _whole(model: Model) -> tuple[object, ...]:
    if _LatestModel.model is not model:
        _LatestModel.model, _LatestModel.whole = model, _asked_of_whole(model)
    return _LatestModel.whole


def _asked_of_whole(model: Model) -> tuple[object, ...]:
    kinds = tuple((name, kind, *_places_in(kind)) for name, kind in model.variable_types.items())
    constants = tuple((name, type(value), value) for name, value in model.constant_values.items())
    bounds = tuple((name, type(bound), bound) for name, bound in bounds_of(model).items())
    return kinds, constants, bounds, widths_of(model), is_any_size(model)


def _changes(answer: Any) -> bool:
    """Whether the value may change while it remains the same object, or is temporary."""
    if isinstance(answer, Source):
        return is_rewritten(answer.function)
    return isinstance(answer, _CHANGING) or (isinstance(answer, tuple) and any(map(_changes, answer)))


def _places_in(kind: Type) -> list[str]:
    """The places of the containers of a type that have no capacity; equality of types ignores these places."""
    return [part.grows for part in growing(kind)]


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, Type) and isinstance(other, Type):
        return one == other and _places_in(one) == _places_in(other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return one is other or (len(one) == len(other) and all(map(_is_same, one, other)))
    return one is other


# Dependences.


def member(model: Model, name: str, behind: type | None = None) -> Any:
    """The value of a name in the class of a model, or for ``super()`` in the classes behind one of its bases."""
    order = type(model).__mro__
    if behind is not None:
        if behind not in order:
            return ABSENT
        order = order[order.index(behind) + 1 :]
    return next((vars(base)[name] for base in order if name in vars(base)), ABSENT)


def has_base(model: Model, base: type) -> bool:
    return base in type(model).__mro__


def own_source(_: Model, function: Callable[..., Any]) -> Any:
    return source_of(function)


def name_in_file(_: Model, function: Any, name: str) -> Any:
    return function.__globals__.get(name, ABSENT)


def name_around(_: Model, function: Any, name: str) -> Any:
    """The value of a name in the function or class around a function; ABSENT if it has none there."""
    code = function.__code__
    if name not in code.co_freevars:
        return ABSENT
    try:
        return function.__closure__[code.co_freevars.index(name)].cell_contents
    except ValueError:
        return ABSENT


def attribute(_: Model, owner: Any, name: str) -> Any:
    return getattr(owner, name, ABSENT)


def meant_type(model: Model, cls: Any) -> Type:
    """The type of a class's instances."""
    return model.record_type(cls) if issubclass(cls, Record) else model.declared_type(cls)


def parameters_of(model: Model, function: Callable[..., Any]) -> tuple[Type, ...]:
    """The types of the parameters of an action, whose names its source has."""
    return tuple(parameter_types(model, function).values())


class CompileCache:
    """The latest readings of functions, by the function and what it was read as."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, list[_CacheEntry]] = OrderedDict()
        self._size = 0

    def find(self, model: Model, what: Hashable) -> Any | None:
        """The graph of an earlier compilation, if a new one would give the same."""
        known = self._known.get(what, [])
        found = next((each for each in known if each.reading.is_of(model)), None)
        if found is None:
            return None
        known.remove(found)
        known.insert(0, found)
        self._known.move_to_end(what)
        return found.result

    def keep(self, what: Hashable, reading: CompilerInputs, made: Any, size: int) -> None:
        """Stores the result of a reading of ``size`` expressions. It is shared from now on and must not change."""
        if not reading.lasts:
            return
        known = self._known.setdefault(what, [])
        self._known.move_to_end(what)
        known.insert(0, _CacheEntry(reading, made, size))
        self._size += size - sum(each.size for each in known[_MAX_OF_ONE:])
        del known[_MAX_OF_ONE:]
        while self._size > MAX_KEPT and self._known:
            self._size -= sum(each.size for each in self._known.popitem(last=False)[1])


@dataclass(frozen=True, slots=True, eq=False)
class _CacheEntry:
    reading: CompilerInputs
    result: Any
    size: int
