"""The values of the modelling language as z3 terms, component by component.

    bool                    a truth value
    int, enum, identifier   a number; enums and identifiers are numbered from 0
    T | None                (present, value)
    record                  its fields, in order
    Set                     whether each possible element is in it; with a capacity, as a Bag
    Bag                     descending slots (used, element)
    Map                     the values, in the order of the keys
    Seq                     (length, elements)

Where there is no value (the value of None, an unused slot), the component is the type's first value, so that equal
values have equal components. A set that may hold any number of elements is a relation: a function from an element to
whether it is in the set. Constants left open are symbols themselves, and the bounds of types are terms over them.
"""

from __future__ import annotations

from collections.abc import Iterable

from floodmark.checkers.symbolic.values.comparison import Comparison, Conditionals
from floodmark.checkers.symbolic.values.components import Components
from floodmark.checkers.symbolic.values.containers import Containers
from floodmark.checkers.symbolic.values.conversion import Conversion
from floodmark.checkers.symbolic.values.quantifiers import Quantifiers
from floodmark.checkers.symbolic.values.translation import Membership, Translation
from floodmark.checkers.symbolic.values.types import Types


class Values:
    """The values of one model. Its operations are those of its parts, each of which has one subject."""

    def __init__(self, unbounded: Iterable[str] = (), integers: bool = False, any_size: bool = False) -> None:
        types = self.types = Types(unbounded, integers, any_size)
        self.numbers, self.symbols, self.axioms = types.numbers, types.symbols, types.axioms
        quantifiers = self.quantifiers = Quantifiers(types.axioms)
        components = self.components = Components(types)
        self.default, self.fresh = components.default, components.fresh
        comparison = Comparison(types, components, quantifiers)
        self.equal = comparison.equal
        conditionals = Conditionals(types, components)
        self.either = conditionals.either
        translation = Translation(types, components, comparison)
        self.constant, self.lifted, self.decode = translation.constant, translation.lifted, translation.decode
        membership = Membership(types, components, comparison, quantifiers)
        self.well_formed, self.admits = membership.well_formed, membership.admits
        containers = self.containers = Containers(types, components, comparison, conditionals, translation)
        conversion = Conversion(types, components, comparison, conditionals, quantifiers, containers)
        self.cast, self.settled = conversion.cast, conversion.settled
