"""Compares two versions of a spec: model, actions, properties, known-bad designs and bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType

from floodmark.checkers.edits.alignment import Alignment, align
from floodmark.checkers.edits.comparison import compare
from floodmark.checkers.edits.difference import Difference
from floodmark.checkers.edits.property_changes import PropertyChange, StateSource, changed_properties
from floodmark.checkers.edits.spec_changes import SettingChange, setting_changes
from floodmark.checkers.edits.versions import Version, is_same_file
from floodmark.checkers.gate.closure import Closure
from floodmark.checkers.gate.definitions import may_import_by_name
from floodmark.checkers.gate.property_hashes import function_text
from floodmark.checkers.project.loading import observed_dependences
from floodmark.checkers.project.paths import resolved
from floodmark.checkers.project.spec import Spec
from floodmark.checkers.search_result import Options, Watcher
from floodmark.language.errors import SourceError
from floodmark.language.fairness import declared_fairness
from floodmark.language.model import Model


@dataclass(frozen=True)
class SpecEdit:
    """The changes of the spec ``name``. ``old`` or ``new`` is None if the edit added or removed the spec; with an
    ``error``, both may be: the file of one version cannot be read.

    ``model`` is the change of the model's behaviours. It is None if nothing that the model rests on changed, or if the
    comparison failed with ``error``. ``designs`` are the known-bad designs whose own code changed.
    """

    name: str
    old: Spec | None
    new: Spec | None
    unchanged: bool = False
    model: Difference | None = None
    settings: list[SettingChange] = field(default_factory=list)
    properties: list[PropertyChange] = field(default_factory=list)
    designs: list[str] = field(default_factory=list)
    error: str = ""

    @property
    def emptier(self) -> list[str]:
        """The changes that make the check cover less than before, a sentence each."""
        found = []
        if self.new is None:
            return [] if self.error else ["the spec is gone: nothing of it is checked any more"]
        for setting in self.settings:
            if setting.emptier:
                note = f": {setting.note}" if setting.note else ""
                found.append(f"{setting.what} was {setting.was} and is {setting.now}{note}")
        for change in self.properties:
            if change.weaker is not None:
                found.append(f"{change.name} is weaker: it allows states or steps that it forbade")
        model = self.model
        if model is not None:
            found += [f"{each.name} fired and never fires now" for each in model.actions if each.gone]
            was, now = model.states.get("old"), model.states.get("new")
            if was is not None and now is not None and now < was and model.added == "none":
                found.append(f"the model reaches fewer states: {now:,} instead of {was:,}")
        return found

    @property
    def is_undetermined(self) -> bool:
        return bool(self.error) or (self.model is not None and self.model.is_undetermined)

    @property
    def is_same(self) -> bool:
        """Whether the model behaves as before and the spec has the same settings and properties."""
        if self.unchanged:
            return True
        changes = self.settings or self.properties or self.designs or self.error or self.old is None or self.new is None
        return not changes and (self.model is None or self.model.is_same)


@dataclass(frozen=True)
class EditSettings:
    """``constants`` override those of both versions; ``options`` has the limits of each search."""

    options: Options = field(default_factory=Options)
    constants: Mapping[str, int] = field(default_factory=dict)


def spec_edit(
    old: Spec, new: Spec, versions: tuple[Version, Version], settings: EditSettings, lost: bool = False,
    watch: Watcher | None = None,
) -> SpecEdit:
    """Compares the two versions of a spec. ``lost`` is whether files of the old version are gone."""
    edit = SpecEdit(new.name, old, new)
    try:
        before, after = versions
        if before.root != after.root and not settings.constants and _rests_on_same(new, after, before):
            edit = replace(edit, unchanged=not lost or _rests_on_same(old, before, after))
            if edit.unchanged:
                return edit
        classes = old.model_class(), new.model_class()
        found = [spec.properties(cls) for spec, cls in zip((old, new), classes, strict=True)]
        chosen = [
            {prop.name: prop for prop in spec.chosen(every)} for spec, every in zip((old, new), found, strict=True)
        ]
        models = tuple(
            cls(**_constants(spec, cls, settings)) for spec, cls in zip((old, new), classes, strict=True)
        )
        edit = replace(edit, settings=list(setting_changes(
            old, new, models[0].constant_values, models[1].constant_values,
            {name: prop.kind for name, prop in chosen[0].items()},
            {name: prop.kind for name, prop in chosen[1].items()},
            *(_fairness(spec, cls) for spec, cls in zip((old, new), classes, strict=True)),
        )))
        options = replace(settings.options, likely=new.expect.distinct)
        difference = compare(models[0], models[1], options, watch)
        edit = replace(edit, model=difference)
        pairs = [(chosen[0][name], prop) for name, prop in chosen[1].items() if name in chosen[0]]
        sources = _sources((old, new), (models[0], models[1]), settings)
        alignment = align(models[0], models[1])
        properties = changed_properties(models[0], models[1], pairs, sources, alignment, settings.options)
        edit = replace(edit, properties=properties, designs=_changed_designs(sources, alignment))
        return replace(edit, unchanged=edit.is_same and difference.by == "graph" and not difference.actions)
    except SourceError as error:
        return replace(edit, error=_located_message(error, versions))


def _fairness(spec: Spec, cls: type[Model]) -> dict[str, str]:
    """The fair actions of a model, with the changes of its spec."""
    declared = {**declared_fairness(cls), **spec.fairness}
    return {name: str(fairness) for name, fairness in declared.items() if fairness is not None}


def _constants(spec: Spec, cls: type[Model], settings: EditSettings) -> dict[str, int]:
    known = cls.constants()
    return {**spec.constants, **{name: value for name, value in settings.constants.items() if name in known}}


def _sources(specs: tuple[Spec, Spec], models: tuple[Model, Model], settings: EditSettings) -> list[StateSource]:
    """The models in whose states properties are compared: both versions, then their known-bad designs."""
    found = [
        StateSource("new", type(models[1]).__name__, models[1]), StateSource("old", type(models[0]).__name__, models[0])
    ]
    for version, spec in (("new", specs[1]), ("old", specs[0])):
        for flawed in spec.flawed:
            with suppress(SourceError):
                cls = spec.flawed_class(flawed)
                given = {**_constants(spec, cls, settings), **flawed.constants}
                found.append(StateSource("new" if version == "new" else "old", flawed.name, cls(**given)))
    return found


def _changed_designs(sources: Sequence[StateSource], alignment: Alignment) -> list[str]:
    """The known-bad designs of both versions whose own code changed, overrides included, inherited code excluded."""
    old, new = ({each.name: each.model for each in sources[2:] if each.version == name} for name in ("old", "new"))
    bases = {each.version: type(each.model) for each in sources[:2]}
    return [
        name for name, model in new.items()
        if name in old
        and alignment.in_new_names(_own_text(type(old[name]), bases["old"])) != _own_text(type(model), bases["new"])
    ]


def _own_text(cls: type[Model], base: type[Model]) -> list[str]:
    """The definitions of the classes between a known-bad design and its model, without comments and layout."""
    own = [each for each in cls.__mro__ if each not in base.__mro__]
    functions = [value for each in own for value in vars(each).values() if isinstance(value, FunctionType)]
    others = [
        f"{name} = {value!r}" for each in own for name, value in vars(each).items()
        if not name.startswith("_") and isinstance(value, int | str)
    ]
    return [*others, *(function_text(function) for function in functions)]


def _rests_on_same(spec: Spec, mine: Version, other: Version) -> bool:
    """Whether all files that a spec of one version rests on are the same in the other one. A file that depends on more
    than its text never counts as the same."""
    cls = spec.model_class()
    closure = Closure()
    functions = [prop.function for prop in spec.properties(cls).values()]
    closure.add([cls, *(spec.flawed_class(flawed) for flawed in spec.flawed), *functions])
    files = {*closure.files, resolved(spec.path)}
    return all(
        observed_dependences(str(file)) is None and is_same_file(file, other, mine) and not _may_load_others(file)
        for file in files
    )


def _may_load_others(file: Path) -> bool:
    """Whether a file may load files that reading its text does not reveal."""
    return file.suffix == ".py" and may_import_by_name(file.read_text(encoding="utf-8", errors="replace"))


def _located_message(error: SourceError, versions: tuple[Version, Version]) -> str:
    text = error.message
    for version in versions:
        if error.file is not None and version.is_checkout and Path(error.file).is_relative_to(version.root):
            return f"{version.place(error.file, error.line)}: {text}"
    return str(error)
