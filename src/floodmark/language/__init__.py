"""The modelling language, which protocol files import by ``from floodmark import ...``.

- ``model.py``: the class ``Model``, and the parts of a model whose class has been created.
- ``members.py``: decorators, constants and variables, and the one role of each name.
- ``types.py``: the finite types; ``universe.py``: every value of one; ``widths.py``: the widths of containers
  without a capacity, and the sizes of containers; ``annotations.py``: from annotations and constants to types;
  ``linear.py``: bounds over constants that are left open, for proofs about every value of them.
- ``values.py``: identifiers, records, sets, maps, sequences and bags: immutable values that know the place that they
  were read from.
- ``reference.py``: initial states, successors and properties, as CPython runs them: the reference meaning.
- ``enabledness.py``: whether an action is enabled for some parameters.
- ``bindings.py``: duplicate definitions of names, decorators that drop a mark; ``plain_classes.py``: members that the
  classes of a model may not redefine; ``unread_locals.py``: assigned values that are never used.
- ``source.py``: syntax trees with file and line; rewriting a function for a while.
- ``rankings.py``: rankings, for proofs about runs.
- ``errors.py``: errors that name file and line.

A mutation is an assignment to a place: ``self.node[b].log.append(x)`` assigns to the variable ``node``. So no reference
to a value ever sees it change, and compiled code may copy packed values freely.
"""

# ruff: noqa: E402 - the clock is read before the other files are
import time

loaded_at = time.time_ns()
"""The time before the other files of the package were read, in nanoseconds; see ``checkers/own_sources.py``."""

from floodmark.language.enabledness import enabled
from floodmark.language.errors import ActionDisabled, ModelError, SourceError, ValueOutOfRange
from floodmark.language.fairness import fair, unfair
from floodmark.language.members import (
    Constant,
    action,
    always_eventually,
    boundary,
    eventually,
    eventually_always,
    initial,
    invariant,
    leads_to,
    lemma,
    ranking,
    reachable,
    recoverable,
    refines,
    rule,
    transition,
)
from floodmark.language.model import Model, State
from floodmark.language.rankings import helper
from floodmark.language.types import Between, Capacity
from floodmark.language.values import Bag, Identifier, Map, Record, Seq, Set, implies, require

__all__ = [
    "ActionDisabled",
    "Bag",
    "Between",
    "Capacity",
    "Constant",
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
    "always_eventually",
    "boundary",
    "enabled",
    "eventually",
    "eventually_always",
    "fair",
    "helper",
    "implies",
    "initial",
    "invariant",
    "leads_to",
    "lemma",
    "ranking",
    "reachable",
    "recoverable",
    "refines",
    "require",
    "rule",
    "transition",
    "unfair",
]
