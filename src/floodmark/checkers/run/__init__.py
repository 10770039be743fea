"""Runs checks.

- ``checks.py`` runs many small checks side by side and each large one alone on all cores.
- ``engines.py``: the table of engines, and which of them searches a check.
- ``unfound_properties.py``: properties in ``invariants/`` that nothing checks.
"""
