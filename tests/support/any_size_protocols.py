"""Helpers of the tests of proofs for any number of identifiers: checks of specs, and the properties proved of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from floodmark.checkers.project.properties import Property
from floodmark.checkers.project.spec import read
from floodmark.checkers.symbolic.methods.lemmas import lemmas_of
from floodmark.checkers.symbolic.tactics.portfolio import STRATEGIES, Strategy
from floodmark.checkers.verdict.check import Check, CheckSettings, checks, variant_name
from floodmark.language.model import Model

SPECS = Path(__file__).resolve().parents[2] / "specs"


def check_of(path: str, variant: str | None = None) -> Check:
    """The check of a spec, or of one of its known-bad designs."""
    spec = read(SPECS.parent / path)
    if variant is None:
        return Check(spec, None, CheckSettings())
    return next(it for it in checks(spec, CheckSettings()) if it.flawed is not None and variant_name(it) == variant)


def all_properties(check: Check) -> tuple[Model, list[Property]]:
    """The model of a check, and what an induction proves of it: properties and lemmas."""
    model = check.model()
    found = [prop for prop in check.spec.properties(type(model)).values() if prop.kind in ("invariant", "transition")]
    return model, [*found, *lemmas_of(check.spec, type(model))]


def seeded(seed: int) -> list[Strategy]:
    """The ways in which z3 is asked, with other random choices: a proof that depends on them would soon be none."""
    return [
        replace(it, options={**it.options, "random_seed": it.options.get("random_seed", 0) + seed}) for it in STRATEGIES
    ]


def as_invariants(properties: list[Property]) -> list[Property]:
    """The properties of states, as invariants that a search judges."""
    return [Property(it.name, "invariant", it.function, it.file, it.line, it.doc) for it in properties
            if it.kind != "transition"]
