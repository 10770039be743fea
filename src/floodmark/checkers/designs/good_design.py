"""The good design beside a known-bad one, as a spec names the two."""

from __future__ import annotations

from floodmark.checkers.designs.design_pair import DesignPair
from floodmark.checkers.designs.distinctions import CheckSubject
from floodmark.checkers.designs.divergence import divergence
from floodmark.checkers.project.spec import Spec
from floodmark.checkers.search_result import Violation
from floodmark.checkers.verdict.check import Check
from floodmark.checkers.verdict.divergence import Divergence
from floodmark.language.errors import SourceError
from floodmark.language.model import Model


def with_constants(cls: type[Model], model: Model) -> Model:
    """A model of ``cls`` with the constants of another; those that only one of the two has keep their defaults."""
    known = cls.constants()
    return cls(**{name: value for name, value in model.constant_values.items() if name in known})


def where_the_good_design_differs(check: Check, model: Model, violation: Violation) -> Divergence | None:
    """The step at which the spec's model diverges in the counterexample of its known-bad design ``model``; None for a
    check of the spec's model itself."""
    if check.flawed is None:
        return None
    cls = check.spec.model_class()
    try:
        good = with_constants(cls, model)
        changed = _changed(check.spec, cls, model)
    except SourceError as error:
        text = f"{cls.__name__} cannot be compared, as it cannot be made with these constants: {error.message}"
        return Divergence(cls.__name__, type(model).__name__, "unlike", None, text, (), error.file, error.line)
    properties = check.spec.properties(cls, check.settings.invariant_files)
    subject = CheckSubject(properties, check.spec.fairness, changed)
    return divergence(DesignPair(model, good), violation, subject)


def _changed(spec: Spec, cls: type[Model], model: Model) -> dict[str, tuple[int, int]]:
    """The constants that the known-bad design sets differently: its value, and that of the spec's model."""
    usual = cls(**spec.constants).constant_values
    return {
        name: (value, usual[name])
        for name, value in model.constant_values.items()
        if name in usual and usual[name] != value
    }
