"""Model checking for replication protocols that are written as plain Python classes.

A protocol file imports the modelling language from here: ``from floodmark import Model, Set, action, invariant``. What
else users import: ``floodmark.claims`` to ask sentences of a text, ``floodmark.conformance`` to hold an implementation
against a model.
"""

from floodmark.language import (
    Bag,
    Between,
    Capacity,
    Constant,
    Disabled,
    Identifier,
    Map,
    Model,
    ModelError,
    Record,
    Seq,
    Set,
    SourceError,
    State,
    ValueOutOfRange,
    action,
    boundary,
    implies,
    initial,
    invariant,
    lemma,
    reachable,
    require,
    rule,
    transition,
)

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
