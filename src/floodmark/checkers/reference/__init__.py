"""The reference engine: a search in plain Python over the reference meaning of a model, the oracle for the others.

- ``search.py``: the search. ``premises.py``: the premises of properties. ``engine.py``: the engine's interface.
"""
