"""Tests, by room: ``tests/spark/`` tests ``checkers/spark/``, and so on; each room says what is in it.

``support`` has what tests share. ``measuring.py`` says which tests are measured, and which begin first. The counts in
``[expect]`` tables of specs are tests too: those of the examples also come from TLC and Stateright.

Tests that take long are marked ``slow``. Performance is measured in ``benchmarks/``; no test asserts a time.
"""
