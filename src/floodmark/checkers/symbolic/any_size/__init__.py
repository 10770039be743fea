"""Identifier classes with any number of members.

- ``open_identifiers.py``: an uninterpreted sort, names for some, their numbers, and counting.
- ``set_sorts.py``: sets of them, as membership predicates.
- ``unbounded_constants.py``: the constants that ``--unbounded`` and ``--any-size`` may leave open.
"""
