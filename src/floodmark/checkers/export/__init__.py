"""The exporting back ends: a model's expression graph as a TLA+ module or a Promela process, for TLC and Spin.

``tla.py`` and ``promela.py`` write whole models. For each language, ``*_values.py`` has types and values,
``*_expressions.py`` expressions, ``*_effects.py`` statements and ``*_text.py`` the text being written.
``tla_scope.py`` has the definitions, conditions and failures around an expression of TLA+. Promela's expressions need
more files: ``promela_comprehensions.py``, ``promela_containers.py``, ``promela_conversions.py``, and
``promela_memory.py`` for values that are computed once and stored. Both share ``names.py`` (legal, unique
names, and source locations) and ``graph_queries.py`` (what a statement assigns, open ends of slices, and refusals).

- TLA+ has neither an order of evaluation nor errors, so values and failures are written separately.
- Promela works on cells. Unused cells are 0, so equal values have equal cells.
- Initial states come from CPython.
- What a language cannot express is refused, with file, line and reason.
"""
