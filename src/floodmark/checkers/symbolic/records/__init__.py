"""The answers to obligations of any size, recorded beside the spec.

- ``fresh_context.py`` is where to begin: it solves a query in a fresh context, from its record or by a search.
- ``answer_file.py``: the file; ``term_names.py``: its names of terms; ``narrowing.py``: from a search's answer to the
  narrowest one; ``replay.py``: replays a record in z3.
"""
