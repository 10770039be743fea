"""Whether a search may count states up to renaming of identifiers.

- ``proof.py`` is where to begin: it gives the licence, from how a model is written or by a proof.
- ``obligations.py``: z3 proves that swapping identifiers changes nothing, for licences and for bounded search.
- ``asymmetry.py``: why there is no licence, by what CPython does in two states.
"""
