"""Engines against CPython: state by state, on shipped models, on drawn ones, and on all small programs.

``test_regressions.py`` keeps what drawn models have found. ``tasks`` has solutions to small tasks in ordinary Python,
which ``test_tasks.py`` runs through everything. ``test_known_counts.py`` and ``test_by_hand.py`` compare with figures
that no part of Floodmark has computed.
"""
