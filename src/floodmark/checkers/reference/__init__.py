"""The reference engine: a search in plain Python over the reference meaning of a model, the oracle for the others.

- ``search.py``: the search. ``engine.py``: as a run sees it.
"""
