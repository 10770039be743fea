"""The modelling language: what a protocol file imports."""

from model.language.errors import Disabled, ModelError, SourceError, ValueOutOfRange
from model.language.members import (
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
from model.language.model import Model, State
from model.language.types import Between, Capacity
from model.language.values import Bag, Identifier, Map, Record, Seq, Set, implies, require

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
