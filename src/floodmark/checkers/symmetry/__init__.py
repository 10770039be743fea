"""Proofs of symmetry, without which no search counts states up to renaming of identifiers.

- ``proof.py`` is where to begin: it proves a model symmetric, by the way it is written or else with z3.
- ``obligations.py``: z3 proves that swapping identifiers changes nothing, for ``proof.py`` and for bounded search.
- ``asymmetry.py``: shows why a model is asymmetric, by what CPython does in two states.
"""
