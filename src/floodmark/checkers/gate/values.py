"""Hashes classes and functions by their parts: their code, and every value that it reaches.

A model's source does not determine it: a constant may come from a file, a method from a factory, a rule from another
module that replaced it. This room therefore hashes objects as they are once everything is loaded: code with its
constants and positions, defaults, closures, annotations, the globals that the code mentions, classes with their
members, and so on through everything that these reach, including which objects are shared. Two runs with equal hashes
began with equal objects. An object of floodmark, of Python or of a pure module of its standard library is hashed by
name, because the versions of those are hashed separately. Any other object (an open file, a function of ``os`` or
``time``, a class of an installed package) may differ in the next run; ``NotCacheable`` then prevents caching.
"""

from __future__ import annotations
import __future__

import _abc  # type: ignore[import-not-found]
import abc
import builtins
import dis
import enum
import functools
import hashlib
import importlib.util
import inspect
import re
import sys
import types
import typing
from collections import deque
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from floodmark.checkers.project.loading import is_floodmarks, is_users

PURE = frozenset({
    "__future__", "_abc", "_bisect", "_collections", "_collections_abc", "_functools", "_heapq", "_operator", "abc",
    "bisect", "builtins", "cmath", "collections", "collections.abc", "contextlib", "copy", "dataclasses", "enum",
    "fractions", "functools", "graphlib", "heapq", "itertools", "math", "numbers", "operator", "re", "string",
    "textwrap", "types", "typing", "typing_extensions",
})
"""Modules whose functions return the same for the same arguments, whenever and wherever they are called. ``decimal`` is
excluded: its results depend on a context."""


@functools.cache
def pure_modules() -> dict[str, types.ModuleType]:
    """These modules; they are loaded before any file of a user is."""
    return {name: importlib.import_module(name) for name in sorted(PURE) if importlib.util.find_spec(name)}


_IMPURE = frozenset({
    "__import__", "breakpoint", "compile", "eval", "exec", "globals", "hash", "id", "input", "locals", "memoryview",
    "open", "vars",
})
"""Python functions whose result depends on more than their arguments, or that reach objects that no code mentions."""
_REACHING = frozenset({"__subclasses__", "__globals__", "__builtins__", "f_globals", "__loader__", "__spec__"})
"""Attributes through which code reaches objects that it does not mention."""
_ATOMS = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))
_OF_MODULES = frozenset({
    "__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__", "__package__", "__path__",
    "__spec__",
})
_OF_CLASSES = frozenset({"__dict__", "__weakref__", "_abc_impl", "__slotnames__", "__static_attributes__"})
_WORD = re.compile(r"[^\W\d]\w*")

_identity = object.__hash__
"""Tells objects apart as ``id`` does; Python raises an audit event for each call of ``id``."""

Parts = tuple[str, list[Any]]
"""An object without its references: a text, and the objects that it refers to, in an order that identifies them."""


class NotCacheable(Exception):  # noqa: N818 - it says what becomes of a verdict and is not an error
    """The reason why a verdict may not be cached, as a text for the user; ``blames`` is whether it names the user of an
    object."""

    def __init__(self, text: str, blames: bool = False) -> None:
        super().__init__(text)
        self.blames = blames


class _Object(typing.NamedTuple):
    """An object, kept alive so that its ``id`` stays unique: a text for it and its plain parts, and its other parts."""

    value: Any
    text: bytes
    inner: list[Any]
    file: str | None


class _ReachedObjects:
    """Objects in the order in which they were reached; a later reference to an object is its number."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.files: set[str] = set()
        self.hash = hashlib.sha256()

    def copy(self) -> _ReachedObjects:
        other = _ReachedObjects()
        other.numbers, other.files, other.hash = self.numbers.copy(), self.files.copy(), self.hash.copy()
        return other


class ValueHasher:
    """Hashes of what objects reach. Each object is read once, so none may change while this is in use."""

    def __init__(self) -> None:
        self._known: dict[int, _Object] = {}
        self._walks: dict[int, _ReachedObjects] = {}

    def digest(self, roots: Iterable[Any]) -> tuple[str, set[str]]:
        """The hash of everything that some objects reach, in order, and the files with its code. Raises NotCacheable.

        Digests that begin with the same object share the work of reading it: those of a model and its designs.
        """
        walk = _ReachedObjects()
        for position, root in enumerate(roots):
            if position:
                self._go_on(walk, root)
                continue
            if _identity(root) not in self._walks:
                self._go_on(walk, root)
                self._walks[_identity(root)] = walk
            walk = self._walks[_identity(root)].copy()
        return walk.hash.hexdigest(), walk.files

    def _go_on(self, walk: _ReachedObjects, root: Any) -> None:
        """Adds the objects that are reached from one and were not reached before."""
        words: list[bytes] = [b"root;"]
        known, say, number = self._known, words.append, walk.numbers.setdefault
        new = len(walk.numbers)
        waiting = [[root]]
        while waiting:
            for each in waiting.pop():
                place = _identity(each)
                seen = number(place, new)
                if seen != new:
                    say(b"@%d;" % seen)
                    continue
                new += 1
                if place not in known:
                    known[place] = self._object(each)
                _, text, inner, file = known[place]
                say(text)
                if file is not None:
                    walk.files.add(file)
                if inner:
                    waiting.append(inner)
        walk.hash.update(b"".join(words))

    def _object(self, each: Any) -> _Object:
        text, parts = self._read(each)
        inner: list[Any] = []
        words = [text.encode("utf-8", "backslashreplace")]
        for part in parts:
            if isinstance(part, _ATOMS):
                words.append(f"{type(part).__name__} {part!r}".encode("utf-8", "backslashreplace"))
            else:
                words.append(b"")
                inner.append(part)
        whole = b"".join([b"%d:%b" % (len(word), word) for word in words])
        file = each.co_filename if isinstance(each, types.CodeType) else None
        return _Object(each, b"%d;%b" % (len(words), whole), inner, file)

    def _read(self, each: Any) -> Parts:
        kind = type(each)
        if kind in _ATOMS:
            return f"{kind.__name__} {each!r}", []
        if kind is tuple or kind is list or kind is deque:
            return f"{kind.__name__} {len(each)}", list(each)
        if kind is dict or kind is types.MappingProxyType:
            return f"{kind.__name__} {len(each)}", [part for item in each.items() for part in item]
        if kind is set or kind is frozenset:
            return _set(each)
        if kind is types.CodeType:
            return _code(each)
        if kind is types.FunctionType:
            return self._function(each)
        if isinstance(each, type):
            return _class(each)
        if kind is types.ModuleType:
            return _module(each)
        return _named(each) or _instance_parts(each)

    def _function(self, function: types.FunctionType) -> Parts:
        code = function.__code__
        cells = [_content(cell) for cell in function.__closure__ or ()]
        if is_ours(function.__module__) and is_floodmarks(code.co_filename):
            return f"{function.__module__}.{function.__qualname__}", cells
        if cells and function.__globals__.get("__name__") in PURE:  # made for a user: a named tuple's methods
            return f"{function.__globals__['__name__']}.{code.co_qualname}", [*cells, function.__defaults__]
        if not is_users(code.co_filename) and not code.co_filename.startswith("<"):
            return _by_name(function)
        who = f"{code.co_filename}:{code.co_firstlineno} {function.__qualname__}"
        mentioned = _mentioned(code)
        for name in sorted(mentioned.attributes & _REACHING | mentioned.written):
            uses = name in _REACHING
            raise NotCacheable(f"{who} {'uses' if uses else 'changes'} {name}", blames=uses)
        inner: list[Any] = [code, function.__defaults__, function.__kwdefaults__, function.__annotations__]
        inner += [vars(function), cells]
        text = [function.__module__ or "", function.__qualname__]
        for name in sorted(mentioned.names | _annotated(function.__annotations__.values(), function.__globals__)):
            value = function.__globals__.get(name, vars(builtins).get(name, _ABSENT))
            text.append(name if value is not _ABSENT else f"{name} is absent")
            if name in _IMPURE and name not in function.__globals__:
                if f"__{name}__" == function.__name__:
                    continue  # its own __hash__, built from hashes, which no order in the language depends on
                raise NotCacheable(f"{who} uses {name}", blames=True)
            self._must_stay(value, f"{who} uses {name}")
            inner.append(value)
        return f"function {text}", inner

    def _must_stay(self, value: Any, who: str) -> None:
        """Refuses an object that may differ in the next run, and names its user."""
        if _identity(value) in self._known or isinstance(value, _ATOMS):
            return
        try:
            self._known[_identity(value)] = self._object(value)
        except NotCacheable as error:
            raise error if error.blames else NotCacheable(who, blames=True) from None


def _annotated(annotations: Iterable[Any], names: dict[str, Any]) -> set[str]:
    """The names in annotations that are text: floodmark evaluates them. Raises NotCacheable."""
    words = {word for text in annotations if isinstance(text, str) for word in _WORD.findall(text)}
    for word in words & (_IMPURE | _REACHING):
        raise NotCacheable(f"an annotation uses {word}", blames=True)
    return {word for word in words if word in names}


def _class(cls: type) -> Parts:
    if not _is_own(cls):
        return _by_name(cls)
    if isinstance(cls, abc.ABCMeta) and _abc._get_dump(cls)[0]:
        raise NotCacheable(f"{cls.__module__}.{cls.__qualname__} has registered subclasses")
    inner: list[Any] = [type(cls), *cls.__mro__[1:]]
    text = [cls.__module__, cls.__qualname__, str(len(inner))]
    for name, value in vars(cls).items():
        if name not in _OF_CLASSES and not isinstance(value, types.GetSetDescriptorType):
            text.append(name)
            inner.append(value)
    module = sys.modules.get(cls.__module__)
    names = {} if module is None else vars(module)
    for name in sorted(_annotated(inspect.get_annotations(cls).values(), names)):
        text.append(f"{name}:")
        inner.append(names[name])
    return f"class {text}", inner


def _module(module: types.ModuleType) -> Parts:
    """A module by everything in it, as code can reach any of it."""
    name = module.__name__
    if name in PURE:
        return f"module {name}", []
    file = getattr(module, "__file__", None)
    if is_ours(name):
        raise NotCacheable(f"{name} is used as a whole; import the names that you use: from {name} import Model")
    if not is_users(file) if file is not None else not hasattr(module, "__path__"):
        raise NotCacheable(f"{name} may behave differently in the next run")
    items = [(key, value) for key, value in vars(module).items() if key not in _OF_MODULES]
    return f"module {name} {[key for key, _ in items]}", [value for _, value in items]


def _set(each: Iterable[Any]) -> Parts:
    """A set in a canonical order, as Python's own order differs from process to process."""
    labelled = {_label(element): element for element in each}
    if len(labelled) != len(list(each)):
        raise NotCacheable(f"two elements of {each!r} cannot be distinguished"[:_MAX_SHOWN])
    return f"{type(each).__name__} {len(labelled)}", [labelled[label] for label in sorted(labelled)]


def _label(element: Any, depth: int = 0) -> str:
    """A text that distinguishes an element of a set from the others."""
    kind = type(element)
    if depth > _MAX_DEPTH:
        raise NotCacheable(f"a set holds {element!r}, which is too deep to compare"[:_MAX_SHOWN])
    if kind in _ATOMS:
        return f"{kind.__name__} {element!r}"
    if isinstance(element, enum.Enum) and element.name is not None:
        return f"{kind.__module__}.{kind.__qualname__}.{element.name}"
    if kind is tuple:
        return f"({','.join(_label(part, depth + 1) for part in element)})"
    if kind is dict:  # the fields of a record, the entries of a map
        return f"{{{','.join(f'{_label(key, depth + 1)}:{_label(of, depth + 1)}' for key, of in element.items())}}}"
    if kind is frozenset:
        return f"{{{','.join(sorted(_label(part, depth + 1) for part in element))}}}"
    if isinstance(element, type | types.FunctionType):
        return f"{element.__module__}.{element.__qualname__}"
    text, inner = _instance_parts(element)
    return f"{kind.__module__}.{kind.__qualname__} {text} {[_label(part, depth + 1) for part in inner]}"


def _named(each: Any) -> Parts | None:
    """The parts of an object that is hashed by name: functions and descriptors written in C, type variables and special
    forms."""
    match each:
        case types.BuiltinFunctionType() if isinstance(each.__self__, types.ModuleType | types.NoneType):
            return _by_name(each)
        case types.BuiltinFunctionType() | types.MethodWrapperType():
            return f"method {each.__name__}", [each.__self__]
        case types.WrapperDescriptorType() | types.MethodDescriptorType() | types.ClassMethodDescriptorType():
            return f"method {each.__name__}", [each.__objclass__]
        case types.MemberDescriptorType():
            return f"slot {each.__name__}", []
        case typing.TypeVar():
            return f"type variable {each.__name__}", [each.__bound__, each.__constraints__]
    if type(each).__module__ == "typing" and not hasattr(each, "__args__") and not isinstance(each, typing.ForwardRef):
        return f"typing {each!r}", []
    return None


def _instance_parts(each: Any) -> Parts:
    """An instance: its class and its state."""
    kind = type(each)
    match each:
        case property() if kind is property:
            return "property", [each.fget, each.fset, each.fdel]
        case staticmethod() | classmethod():
            return kind.__name__, [each.__func__, vars(each)]
        case types.MethodType():
            return "bound", [each.__func__, each.__self__]
        case functools.partial() | functools.partialmethod():
            return f"{kind.__name__}", [each.func, each.args, each.keywords, vars(each)]
        case functools._lru_cache_wrapper():
            if each.cache_info().currsize:
                raise NotCacheable(f"{each.__module__}.{each.__qualname__} was called while files were loaded")
            return "cached", [each.__wrapped__, vars(each)]
        case functools.cached_property():
            return "cached property", [each.func]
        case types.UnionType():
            return "union", [each.__args__]
        case range() | slice() | Fraction():
            return repr(each), []
        case re.Pattern():
            return f"pattern {each.flags}", [each.pattern]
        case typing.ForwardRef():
            return "reference", [each.__forward_arg__]
        case _ if kind is type(_MentionedNames.names):
            return "field of a tuple", list(each.__reduce__()[1])
    if isinstance(each, types.GenericAlias) or kind.__module__ == "typing":
        return f"generic {kind.__name__}", [each.__origin__, each.__args__, getattr(each, "__metadata__", ())]
    if _is_own(kind) or is_ours(kind.__module__) or kind.__module__ == "dataclasses" or isinstance(each, enum.Enum):
        return _instance(each, kind)
    if kind in _PLAIN:
        return kind.__qualname__, [dict(getattr(each, "__dict__", {}))]
    raise NotCacheable(f"{each!r} may be different in the next run"[:_MAX_SHOWN])


def _instance(each: Any, kind: type) -> Parts:
    """The state of an instance: its attributes, its slots, and the content of the container that it extends."""
    text: list[str] = []
    inner: list[Any] = [kind]
    for base in kind.__mro__:
        if not _is_own(base) and not is_ours(base.__module__) and base not in _EMPTY:
            inner.append(_content_of(each, base))
        for name, slot in vars(base).items():
            if isinstance(slot, types.MemberDescriptorType) and slot.__objclass__ is base:
                text.append(name)
                inner.append(_slot(slot, each))
    try:
        own = object.__getattribute__(each, "__dict__")
    except AttributeError:
        own = {}
    text += [f".{name}" for name in own]
    return f"instance {text}", [*inner, *own.values()]


def _by_name(each: Any) -> Parts:
    """An object of floodmark or of a pure module, by its name, if the module has it under that name."""
    module, name = each.__module__, each.__qualname__
    in_c = isinstance(each, type) and not each.__flags__ & _HEAP_TYPE
    known = module in PURE or is_ours(module)
    if not known or not (_is_there(each) or in_c) or (module == "builtins" and name in _IMPURE):
        raise NotCacheable(f"{module}.{name} may behave differently in the next run")
    return f"{module}.{name}", []


def _is_there(each: Any) -> bool:
    """Whether a module has an object under the name that the object states."""
    found: Any = sys.modules.get(each.__module__)
    for part in each.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is each


_EMPTY: tuple[Any, ...] = (
    object, enum.Enum, enum.IntEnum, enum.StrEnum, enum.ReprEnum, enum.Flag, enum.IntFlag, typing.Generic,
    typing.Protocol,
)
"""Classes whose instances have no state of their own."""
_PLAIN: tuple[Any, ...] = (object, types.SimpleNamespace, enum.property, enum.auto, __future__._Feature)
"""Python classes whose instances are determined by their attributes."""
_HEAP_TYPE = 1 << 9
_ABSENT = "absent"
_MAX_SHOWN = 200
_MAX_DEPTH = 20


def is_ours(module: str | None) -> bool:
    """Whether a module is floodmark's own, whose source is hashed as a whole."""
    return module is not None and module.split(".")[0] == "floodmark"


def _is_own(cls: type) -> bool:
    """Whether a class is made by a user's file."""
    module = sys.modules.get(cls.__module__)
    if module is None or is_ours(cls.__module__):
        return not (is_ours(cls.__module__) and _is_there(cls))
    file = getattr(module, "__file__", None)
    return file is not None and is_users(file)


def _code(code: types.CodeType) -> Parts:
    """Code with its places, because a result shows lines."""
    text = (
        code.co_filename, code.co_qualname, code.co_firstlineno, code.co_argcount, code.co_posonlyargcount,
        code.co_kwonlyargcount, code.co_flags, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
        code.co_code, code.co_linetable, code.co_exceptiontable,
    )
    return f"code {text!r}", list(code.co_consts)


class _MentionedNames(typing.NamedTuple):
    names: frozenset[str]
    attributes: frozenset[str]
    written: frozenset[str]


_SHIFTS = {"LOAD_GLOBAL": 1, "LOAD_NAME": 0, "LOAD_FROM_DICT_OR_GLOBALS": 0}
"""Instructions that read a name of the module; the number is how many low bits of their argument precede its index."""
_LOADS = {dis.opmap[name]: shift for name, shift in _SHIFTS.items() if name in dis.opmap}
_STORES = frozenset(dis.opmap[name] for name in ("STORE_GLOBAL", "DELETE_GLOBAL"))
_IMPORT, _EXTENDED = dis.opmap["IMPORT_NAME"], dis.opmap["EXTENDED_ARG"]
_NAMING = frozenset({*_LOADS, *_STORES, _IMPORT, _EXTENDED})


@functools.cache
def _mentioned(code: types.CodeType) -> _MentionedNames:
    """The names of the module that code and the functions within it read, all other names, and those of the module that
    it writes.

    It reads the instructions itself: ``dis`` describes each of them, which took a tenth of an unchanged run.
    """
    names: set[str] = set()
    attributes: set[str] = set(code.co_names)
    written: set[str] = set()
    text, known = code.co_code, code.co_names
    high = 0
    for place, operation in enumerate(text[::2]):
        if operation not in _NAMING:
            high = 0
            continue
        argument = high | text[2 * place + 1]
        high = argument << 8 if operation == _EXTENDED else 0
        if operation in _LOADS:
            names.add(known[argument >> _LOADS[operation]])
        elif operation == _IMPORT:
            names.add("__import__")
        elif operation in _STORES:
            written.add(known[argument])
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found = _mentioned(inner)
            names |= found.names
            attributes |= found.attributes
            written |= found.written
    return _MentionedNames(frozenset(names), frozenset(attributes), frozenset(written))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "an empty cell"


def _slot(slot: Any, each: Any) -> Any:
    try:
        return slot.__get__(each)
    except AttributeError:
        return "an empty slot"


_CONTENTS: dict[type, Callable[[Any], Any]] = {
    int: int, float: float, str: str, bytes: bytes, complex: complex, tuple: tuple, list: list, dict: dict, set: set,
    frozenset: frozenset,
}


def _content_of(each: Any, base: type) -> Any:
    """The content that an instance inherits from a container."""
    if base in _CONTENTS:
        return _CONTENTS[base](each)
    if base.__module__ in ("abc", "collections.abc", "contextlib", "dataclasses", "typing"):
        return None
    raise NotCacheable(f"{each!r} may be different in the next run"[:200])
