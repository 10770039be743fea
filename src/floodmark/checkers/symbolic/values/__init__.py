"""The values of the language as z3 terms, component by component.

- ``value.py`` is where to begin. ``types.py``: types as z3 sees them; ``components.py``: the components of a value.
- ``comparison.py``: equality and order; ``containers.py``: elements before and after a change.
- ``unordered_slots.py``: a set with a capacity whose elements have no order here.
- ``translation.py``: from the language's values to components, and from a model of z3 back to values.
"""
