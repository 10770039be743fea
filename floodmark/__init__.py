"""Model checking for replication protocols that are written as plain Python classes.

A protocol file imports the modelling language from here: ``from floodmark import Model, Set, action, invariant``.
Besides that there are ``floodmark.claims``, to check sentences of a text, and ``floodmark.conformance``, to check an
implementation, or a recorded run of one, against a model.
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
