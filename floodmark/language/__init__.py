"""The modelling language: what a protocol file imports."""

from floodmark.language.errors import Disabled, ModelError, SourceError, ValueOutOfRange
from floodmark.language.members import (
    Constant,
    action,
    boundary,
    initial,
    invariant,
    lemma,
    reachable,
    rule,
    transition,
)
from floodmark.language.model import Model, State
from floodmark.language.types import Between, Capacity
from floodmark.language.values import Bag, Identifier, Map, Record, Seq, Set, implies, require

__all__ = [
    "Bag",
    "Between",
    "Capacity",
    "Constant",
    "Disabled",
    "Identifier",
    "Map",
    "Model",
    "ModelError",
    "Record",
    "Seq",
    "Set",
    "SourceError",
    "State",
    "ValueOutOfRange",
    "action",
    "boundary",
    "implies",
    "initial",
    "invariant",
    "lemma",
    "reachable",
    "require",
    "rule",
    "transition",
]
