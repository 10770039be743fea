"""The base class of every protocol model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, ClassVar, get_origin
from weakref import WeakSet

from floodmark.language.annotations import AnnotationContext, resolve
from floodmark.language.bindings import (
    annotation_position,
    class_place,
    compiled_annotation,
    module_names,
    place,
    require_own_decorators_in,
)
from floodmark.language.errors import ModelError
from floodmark.language.linear import Bound, SearchBound, left_open
from floodmark.language.members import MARKS, Constant, Variable, kind_of, require_one_role
from floodmark.language.plain_classes import require_plain
from floodmark.language.types import (
    INTEGER_LIMIT,
    MAX_VARIABLE_BITS,
    IdentifierType,
    OpenIdentifierType,
    RecordType,
    Type,
    classes_in,
    growing,
    has_any_key,
    is_open,
    is_unlimited,
    parts_of,
    uncounted,
)
from floodmark.language.values import Identifier, Record, admit, readmit, running
from floodmark.language.widths import NO_WIDTHS, Widths

State = tuple[Any, ...]
"""The values of a model's variables, in the order of their declaration: one state, immutable and hashable."""


_READ: WeakSet[type] = WeakSet()
"""The models that were read and not refused."""


class ModelClass(type):
    """The class of models. Each is read once, when it is defined, and cannot be changed after that."""

    _variables: dict[str, type]
    _defaults: dict[str, Any]

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        if bases:
            cls._declare()
            require_plain(cls, Model, _OWN, _READ)
            for base in cls.__mro__[:-1]:
                if base not in _READ:
                    require_own_decorators_in(base, module_names(base), MARKS)
            require_one_role(cls, Model)
            _READ.add(cls)

    def __setattr__(cls, name: str, value: Any) -> None:
        raise ModelError(f"{cls.__name__}.{name} is assigned from outside the class; override it in a subclass")

    def __delattr__(cls, name: str) -> None:
        raise ModelError(f"{cls.__name__}.{name} is deleted from outside the class; override it in a subclass")

    def _declare(cls) -> None:
        """Turns the annotations of a class body into variables."""
        own: dict[str, Any] = inspect.get_annotations(cls)
        variables: dict[str, type] = {}
        defaults: dict[str, Any] = {}
        for base in reversed(cls.__mro__[1:]):
            variables.update(vars(base).get("_variables", {}))
            defaults.update(vars(base).get("_defaults", {}))
        for name, annotation in own.items():
            given = cls.__dict__.get(name)
            if isinstance(given, Constant) or get_origin(annotation) is ClassVar or "ClassVar" in str(annotation):
                continue
            if hasattr(Model, name):
                message = f"{name} is a name of the language, so it cannot be a variable; call it something else"
                raise ModelError(f"variable {name}: {message}", *annotation_position(cls, name))
            if kind_of(given) is not None or inspect.isfunction(given):
                message = f"{name} is a variable and a method; call one of them something else"
                raise ModelError(message, *annotation_position(cls, name))
            variables[name] = cls
            if name in cls.__dict__:
                defaults[name] = given
            type.__setattr__(cls, name, Variable(name))
        for name, value in cls.__dict__.items():
            if isinstance(value, staticmethod | classmethod) and kind_of(value.__func__) is not None:
                message = f"{name} is decorated as {kind_of(value.__func__)}, so it has to be a plain method with self"
                raise ModelError(message, *_method_position(value.__func__))
            if inspect.isfunction(value) and hasattr(Model, name) and not name.startswith("__"):
                message = f"{name} is a name of the language, so it cannot be a method; call it something else"
                raise ModelError(message, *_method_position(value))
        type.__setattr__(cls, "_variables", variables)
        type.__setattr__(cls, "_defaults", defaults)


class Model(metaclass=ModelClass):
    """The base class of a protocol: annotated attributes are its state, decorated methods are what can happen.

        class Counter(Model):
            limit = Constant(3)
            value: Annotated[int, Between(0, "limit")] = 0

            @action
            def count(self) -> None:
                require(self.value < self.limit)
                self.value += 1

    ``Counter(limit=5)`` sets constants; the others keep their defaults. ``Counter(limit=5, value=2)`` is the model in a
    state, which only a mapping (``@refines``) returns. A value in the class body (``= 0``) is the
    variable's initial value unless an ``@initial`` method sets another. A subclass may override methods; that is how a
    known-bad design breaks a rule.
    """

    _variables: ClassVar[dict[str, type]] = {}
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, **given: Any) -> None:
        variables = {name: value for name, value in given.items() if name in self._variables}
        constants = {name: value for name, value in given.items() if name not in variables}
        if variables:
            self.__dict__.update(_prototype(type(self), tuple(constants.items())).__dict__)
            self._take(variables)
            return
        self._frozen = False
        self._any_size = False
        self._widths = NO_WIDTHS
        self._largest: dict[str, int] = {}
        self._values: dict[str, Any] = {}
        self._records: dict[type[Record], RecordType] = {}
        self._counts: dict[type[Identifier], int] = {}
        self._parameters: dict[Callable[..., Any], dict[str, Type]] = {}
        self._images: dict[Any, Any] = {}
        self._classes: dict[str, type] = {}
        self._maps = False
        self._constants = self._bind(constants)
        known = self.constants()
        self._bounds: dict[str, Bound] = {
            name: SearchBound(value) if known[name].bound else value for name, value in self._constants.items()
        }
        self._types = {name: self._declared(name) for name in self._variables}

    def _take(self, variables: Mapping[str, Any]) -> None:
        """Becomes the model in a state: that of a mapping, which says what every variable is."""
        missing = [name for name in self._variables if name not in variables]
        if missing:
            message = f"{type(self).__name__}(...) is a state, so it needs every variable; {missing[0]} is missing"
            raise ModelError(message)
        self._values = {}
        for name in self._variables:
            self._assign(name, variables[name])

    @classmethod
    def constants(cls) -> dict[str, Constant[Any]]:
        """The constants of the model by name, those of its bases first."""
        found: dict[str, Constant[Any]] = {}
        for base in reversed(cls.__mro__):
            found.update({name: value for name, value in vars(base).items() if isinstance(value, Constant)})
        return found

    @classmethod
    def methods(cls, kind: str) -> dict[str, Callable[..., Any]]:
        """The methods decorated as ``kind``, by name, in source order, those of the bases first.

        An override counts as what its base was decorated as, so a known-bad design need not repeat the decorator.
        """
        return dict(_methods(cls).get(kind, {}))

    def _bind(self, given: Mapping[str, int]) -> dict[str, int]:
        known = self.constants()
        for name, value in given.items():
            if name not in known:
                has = ", ".join(known) or "none"
                raise ModelError(
                    f"{type(self).__name__} has no constant {name!r}; it has {has}", *self.source_position()
                )
            wanted = bool if isinstance(known[name].default, bool) else int
            if type(value) is not wanted:
                raise ModelError(
                    f"the constant {name} is {value!r}, but needs {wanted.__name__}", *self.source_position()
                )
        for name, constant in known.items():
            if type(constant.default) not in (bool, int, type(None)):
                message = f"the constant {name} is {constant.default!r}; a constant is an int or a bool"
                raise ModelError(message, *self.source_position())
        bound_constants = {name: given.get(name, constant.default) for name, constant in known.items()}
        for name, chosen in bound_constants.items():
            if chosen is None:
                raise ModelError(
                    f"the constant {name!r} of {type(self).__name__} has no value; set it in the spec "
                    f"under [constants] or with --set {name}=3",
                    *self.source_position(),
                )
            if abs(chosen) > INTEGER_LIMIT:
                message = f"the constant {name} of {type(self).__name__} is too large; integers lie within 2**62"
                raise ModelError(message, *self.source_position())
        return {name: value for name, value in bound_constants.items() if value is not None}

    @classmethod
    def source_position(cls) -> tuple[str | None, int | None]:
        """File and line of the class."""
        return class_place(cls)

    def _declared(self, name: str) -> Type:
        owner = self._variables[name]
        try:
            kind = self.declared_type(self.evaluate_annotation(inspect.get_annotations(owner)[name], owner), name)
            if not is_open(kind) and not is_unlimited(kind) and kind.bits > MAX_VARIABLE_BITS:
                raise ModelError(f"it takes {kind.bits} bits, more than {MAX_VARIABLE_BITS}; make its type smaller")
        except ModelError as error:
            if error.file is not None:
                raise
            raise ModelError(f"variable {name}: {error.message}", *annotation_position(owner, name)) from None
        return kind

    def evaluate_annotation(self, annotation: Any, owner: type, file: Mapping[str, Any] | None = None) -> Any:
        """The object that an annotation means; with ``from __future__ import annotations`` the annotation is a string.

        It was written in the body of ``owner``, in a file whose global names are ``file``.
        """
        if not isinstance(annotation, str):
            return annotation
        names: dict[str, Any] = {}
        for base in reversed(owner.__mro__):
            names.update(vars(base))
        names.update(module_names(owner) if file is None else file)
        names.update({name: value for name, value in vars(owner).items() if not isinstance(value, Variable)})
        try:
            meant = eval(compiled_annotation(annotation), names)
            return eval(compiled_annotation(meant), names) if isinstance(meant, str) else meant
        except Exception as error:
            raise ModelError(f"the annotation {annotation!r} cannot be read: {error}") from None

    def declared_type(self, annotation: Any, variable: str = "") -> Type:
        """The type that an annotation means with this model's constants; it may be that of a variable."""
        kind = resolve(annotation, self._bounds, AnnotationContext(self._widths, variable))
        for part in parts_of(kind):
            if isinstance(part, OpenIdentifierType) and not self._any_size:
                raise ModelError(f"the number of {part} cannot be left open, but it is {part.limit}")
            if has_any_key(part) and not self._any_size:
                raise ModelError(f"{part} has an entry for every key, so how many there are cannot be left open")
        if self._any_size and not self._constants:
            kind = uncounted(kind)
        for cls in classes_in(kind):
            if self._maps and not issubclass(cls, Identifier):
                continue  # a mapped state is shown separately from the model's own
            known = self._classes.setdefault(cls.__name__, cls)
            if known is not cls:
                message = f"another {cls.__name__}, which the model uses as well, is at {place(*class_place(known))}"
                raise ModelError(f"{message}; reports could not tell them apart, so rename one", *class_place(cls))
        return kind

    def __getstate__(self) -> dict[str, Any]:
        """The state for another process, without the types of parameters: it computes them on demand, and rarely needs
        them."""
        return {**self.__dict__, "_parameters": {}}

    # Queries of identifiers and records to the running model.

    def identifier_count(self, cls: type[Identifier]) -> int:
        """The number of identifiers of a kind in this model."""
        if cls not in self._counts:
            kind = self.declared_type(cls)
            assert isinstance(kind, IdentifierType)
            self._counts[cls] = kind.count
        return self._counts[cls]

    def record_type(self, cls: type[Record]) -> RecordType:
        """The type of a record with this model's constants."""
        if cls not in self._records:
            kind = self.declared_type(cls)
            assert isinstance(kind, RecordType)
            self._records[cls] = kind
        return self._records[cls]

    def note_size(self, place: str, size: int) -> None:
        """Notes how many elements a container without a capacity was to hold."""
        if size > self._largest.get(place, 0):
            self._largest[place] = size

    # State.

    @property
    def constant_values(self) -> dict[str, int]:
        """The value of each constant, by name."""
        return dict(self._constants)

    @property
    def variable_types(self) -> dict[str, Type]:
        """The finite type of each variable, in order of declaration."""
        return dict(self._types)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in type(self)._variables and name not in _FIELDS:
            raise ModelError(self.no_variable(name))
        object.__setattr__(self, name, value)

    @classmethod
    def no_variable(cls, name: str) -> str:
        """The error for an assignment to something that is no variable."""
        if name in cls.constants():
            return f"{name} is a constant, which a spec sets; what changes is a variable, declared as {name}: <type>"
        return f"{name} is not a variable of the model; declare it: {name}: <type>"

    def __repr__(self) -> str:
        """Its constants and the state that it is in, as far as its variables are set."""
        constants = ", ".join(f"{name}={value!r}" for name, value in self._constants.items())
        state = ", ".join(f"{name}={value!r}" for name, value in self._values.items())
        return f"{type(self).__name__}({constants})" + (f" in ({state})" if state else "")

    def _assign(self, name: str, value: Any) -> None:
        if self._frozen:
            raise ModelError(f"{name} is assigned outside of an action")
        kind = self._types[name]
        held = self._values.get(name)
        self._values[name] = admit(kind, value, name) if held is None else readmit(kind, value, name, held)

    def snapshot(self) -> State:
        """The current state, as immutable values in order of declaration. Raises ModelError if a variable is not
        set.
        """
        missing = [name for name in self._types if name not in self._values]
        if missing:
            message = f"no @initial method sets the variable {missing[0]!r}; set it there or give it a value here"
            raise ModelError(message, *annotation_position(self._variables[missing[0]], missing[0]))
        return tuple(self._values[name] for name in self._types)

    def load(self, state: State) -> None:
        """Makes ``state`` the current state."""
        self._values = dict(zip(self._types, state, strict=True))

    def at(self, state: State) -> Model:
        """A frozen copy of the model in ``state``, for properties to read."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._values = dict(zip(self._types, state, strict=True))
        copy._frozen = True
        return copy

    def reset(self) -> None:
        """Discards the state and sets the values that the class body gives."""
        self._values = {}
        with running(self):
            for name, value in self._defaults.items():
                try:
                    self._assign(name, value)
                except ModelError as error:
                    error.file, error.line = annotation_position(self._variables[name], name)
                    raise


@lru_cache(maxsize=64)
def _prototype(cls: type[Model], constants: tuple[tuple[str, int], ...]) -> Model:
    """A model of which copies are made: a mapping returns one for each state."""
    return cls(**dict(constants))


def images_of(model: Model) -> dict[Any, Any]:
    """The cache of the models that a model refines; its copies share it."""
    return model._images


def mapped_from(model: Model) -> Model:
    """A model as its mappings see it: records and enums of the other model may have the names of its own."""
    known = model._images
    if mapped_from not in known:
        copy = object.__new__(type(model))
        copy.__dict__.update(model.__dict__)
        copy._records, copy._maps = {}, True
        known[mapped_from] = copy
    found: Model = known[mapped_from]
    return found


def bounds_of(model: Model) -> Mapping[str, Bound]:
    """The value of each constant in a type's bound, or the constant itself if it is left open."""
    return model._bounds


def widths_of(model: Model) -> Widths:
    """The widths of a model's containers without a capacity."""
    return model._widths


def is_any_size(model: Model) -> bool:
    """Whether there may be any number of each kind of identifier."""
    return model._any_size


def opened(model: Model, names: Iterable[str], any_size: bool = False) -> Model:
    """A model with these constants left open, so that they may be any natural number: it can be read but not run.

    With ``any_size`` they may count identifiers; in a model without constants there is then any number of each kind.
    Raises ModelError where a type needs the value of one of them.
    """
    copy = object.__new__(type(model))
    copy.__dict__.update(model.__dict__)
    copy._bounds = {**copy._bounds, **{name: left_open(name) for name in names}}
    copy._records, copy._counts, copy._parameters, copy._images, copy._any_size = {}, {}, {}, {}, any_size
    copy._types = {name: copy._declared(name) for name in copy._variables}
    return copy


def sized(model: Model, widths: Widths) -> Model:
    """A model whose containers without a capacity have these widths, so that its states can be packed.

    It raises ``WidthExceeded`` where a step needs more room. Raises ModelError where the widths are too large.
    """
    copy = object.__new__(type(model))
    copy.__dict__.update(model.__dict__)
    copy._widths = widths
    copy._records, copy._counts, copy._parameters, copy._images, copy._largest = {}, {}, {}, {}, {}
    if grows(model):  # else the types of its variables are the same
        copy._types = {name: copy._declared(name) for name in copy._variables}
    return copy


def grows(model: Model) -> bool:
    """Whether a model has containers without a capacity."""
    return any(any(growing(kind)) for kind in model.variable_types.values())


def largest_sizes(model: Model) -> dict[str, int]:
    """The most elements that each container without a capacity was to hold since this model was made, by its place."""
    return dict(model._largest)


def defaults_of(model: Model) -> dict[str, Any]:
    """The values that the class body of a model gives its variables."""
    model.reset()
    return dict(model._values)


_FIELDS = frozenset(
    {
        "_frozen", "_any_size", "_widths", "_largest", "_values", "_records", "_counts", "_parameters", "_constants",
        "_bounds", "_types", "_classes", "_images", "_maps",
    }
)
_OWN = _FIELDS | {name for name in vars(Model) if not name.startswith("__")} - {"_variables", "_defaults"}
"""The names of the language, which a model cannot use for anything else."""


def _method_position(method: Callable[..., Any]) -> tuple[str | None, int | None]:
    code = method.__code__
    return code.co_filename, code.co_firstlineno


@lru_cache(maxsize=256)
def _methods(cls: type) -> dict[str, dict[str, Callable[..., Any]]]:
    """The methods of each kind. Looked for at every step of a trace that is replayed."""
    found: dict[str, dict[str, Callable[..., Any]]] = {}
    kinds: dict[str, dict[str, None]] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            kind = kind_of(value)
            if kind is not None:
                kinds.setdefault(name, {})[kind] = None
            if callable(value):
                for each in kinds.get(name, ()):
                    found.setdefault(each, {})[name] = value
    return found
