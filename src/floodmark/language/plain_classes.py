"""The members that the classes of a model may not define: special methods, and the names of the language.

Compiled code compares, hashes, copies and creates values by their type alone. A class that changed this would mean one
thing to CPython and another to every compiler, so it is refused by every engine. ``__repr__``, ``__str__`` and
``__format__`` only show values, and methods with ordinary names have Python's meaning.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Container
from typing import Any

from floodmark.language.bindings import class_place, member_place, require_single_members, source_file
from floodmark.language.errors import ModelError

_SHOWN = frozenset({"__repr__", "__str__", "__format__"})
_PYTHONS = frozenset(
    {"__annotate__", "__annotate_func__", "__dict__", "__doc__", "__module__", "__qualname__", "__weakref__"}
)
_ENUM_MEANING = frozenset(
    {
        "__bool__", "__contains__", "__eq__", "__ge__", "__getattr__", "__getattribute__", "__gt__", "__hash__",
        "__index__", "__int__", "__iter__", "__le__", "__len__", "__lt__", "__ne__", "_missing_",
    }
)  # fmt: skip
_ENUMS = frozenset({enum.Enum, enum.IntEnum, enum.StrEnum, enum.ReprEnum, int, str, object})


def require_plain(cls: type, language: type, own: Collection[str], read: Container[type] = ()) -> None:
    """Raises ModelError if a class derived from ``language`` redefines what compiled code relies on.

    ``own`` are the names, besides special ones, that belong to the language; ``read`` are classes that were not refused
    and cannot change.
    """
    _require_metaclass(cls, type(language))
    what = language.__name__
    for base in cls.__mro__:
        if base is object or base is language or base in read:
            continue
        require_single_members(base)
        for name, value in vars(base).items():
            if name in own:
                message = f"{name} is a name of the language, so {base.__name__} cannot have it; rename it"
                raise ModelError(message, *member_place(base, name))
            if _is_special(name, value):
                message = f"{base.__name__} defines {name}, which compiled code would not call"
                message += f"; leave it to {what}, and write a method or a function with a name of its own"
                raise ModelError(message, *member_place(base, name))


def require_plain_enum(cls: type[enum.Enum]) -> None:
    """Raises ModelError for an Enum whose members are more than distinct values."""
    _require_metaclass(cls, enum.EnumMeta)
    if issubclass(cls, enum.Flag):
        message = f"{cls.__name__} is a Flag, whose members combine; write an Enum, and Set[{cls.__name__}] for several"
        raise ModelError(message, *class_place(cls))
    for base in cls.__mro__:
        if base in _ENUMS:
            continue
        for name in sorted(_ENUM_MEANING & vars(base).keys()):
            message = f"{base.__name__} defines {name}, which compiled code would not call; leave it to Enum"
            raise ModelError(message, *member_place(base if source_file(base) else cls, name))


def _require_metaclass(cls: type, wanted: type) -> None:
    if type(cls) is not wanted:
        message = f"{cls.__name__} has the metaclass {type(cls).__name__}, which compiled code would not know"
        raise ModelError(f"{message}; leave it out", *class_place(cls))


def _is_special(name: str, value: Any) -> bool:
    """Whether Python itself would call, or look at, what a class defines; ``__hash__ = None`` counts, too."""
    if not (name.startswith("__") and name.endswith("__")) or name in _SHOWN or name in _PYTHONS:
        return False
    return value is None or callable(value) or hasattr(value, "__get__")
