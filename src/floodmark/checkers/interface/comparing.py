"""``floodmark.diff``: which behaviours one version of a model has and another one does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from floodmark.checkers.edits.comparison import compare
from floodmark.checkers.edits.difference import Answer, Difference, DistinguishingRun
from floodmark.checkers.edits.spec_edit import SpecEdit
from floodmark.checkers.edits.text import behaviours, lines
from floodmark.checkers.edits.versions import Version
from floodmark.checkers.interface.subject import Design, class_spec
from floodmark.checkers.project.input_limits import require_numbers
from floodmark.checkers.project.spec import Spec
from floodmark.checkers.search_result import Limits, Options

SETTINGS = ("max_states", "seconds", "workers", "constants")
"""The names of the arguments that are no constants."""


@dataclass(frozen=True)
class Edit:
    """The changes from one model to another. ``added`` and ``removed`` are "none", "some" or "undetermined"; its
    printed form is complete."""

    found: Difference
    old: Spec
    new: Spec

    @property
    def added(self) -> Answer:
        """Whether the new version has a behaviour that the old one does not have."""
        return self.found.added

    @property
    def removed(self) -> Answer:
        """Whether the old version has a behaviour that the new one does not have."""
        return self.found.removed

    @property
    def is_same(self) -> bool:
        """Whether it is proved that neither has one, within the bounds."""
        return self.found.is_same

    @property
    def runs(self) -> tuple[DistinguishingRun, ...]:
        """Shortest runs that only one version has."""
        return tuple(self.found.witnesses)

    def __str__(self) -> str:
        return "\n".join(click.unstyle(line) for line in self._lines())

    def __repr__(self) -> str:
        return f"<{'; '.join(behaviours(self.found, _VERSIONS))}>"

    def _lines(self) -> Iterator[str]:
        return lines(SpecEdit(self.new.name, self.old, self.new, model=self.found), _VERSIONS)


_VERSIONS = (Version("the old version", Path("/"), Path("/")), Version("the new version", Path("/"), Path("/")))


def diff(
    old: Design,
    new: Design,
    *,
    max_states: int | None = None,
    seconds: float | None = None,
    workers: int = 0,
    constants: Mapping[str, int] | None = None,
    **sizes: int,
) -> Edit:
    """Compares two versions of a model: ``print(floodmark.diff(Lease, LeaseWithGrace, clients=3))``.

    Constants are set in both versions; those that only one of them has keep their defaults in it. The answer is exact
    for these constants. Raises SourceError for a model that cannot be read.
    """
    require_numbers(max_states=max_states, seconds=seconds, workers=workers)
    specs = []
    for design in (old, new):
        known = class_spec(design, None, {}, ()).model_class().constants()
        own, others = (
            {name: value for name, value in each.items() if name in known} for each in (constants or {}, sizes)
        )
        specs.append(class_spec(design, own, others, SETTINGS))
    for name in {**(constants or {}), **sizes}:
        if all(name not in spec.model_class().constants() for spec in specs):
            raise TypeError(f"neither version has a constant {name}")
    models = [spec.model_class()(**spec.constants) for spec in specs]
    options = Options(workers, limits=Limits(states=max_states, seconds=seconds))
    return Edit(compare(models[0], models[1], options), specs[0], specs[1])
