"""The values of the language as z3 terms, component by component.

- ``value.py`` is where to begin: it composes classes that have one subject each, and are given those that they use.
- ``types.py``: types as z3 sees them; ``components.py``: the components of a value; ``quantifiers.py``: all values.
- ``comparison.py``: equality and order, and values that depend on a condition.
- ``translation.py``: from the language's values to components, and from a model of z3 back to values; whether
  components form a value of a type. ``conversion.py``: from one type to another.
- ``containers.py``: elements before and after a change; ``unordered_slots.py``: a set with a capacity whose elements
  have no order here.
"""
