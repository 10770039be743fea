"""Independent checks of a proof's result.

- ``enumeration.py``: compiled code, which is independent of z3's terms, evaluates everything in every reachable state.
- ``spot_checks.py``: a proof for every value of some constants, repeated at some values.
- ``countermodels.py``: obligations that are not proved for any number of identifiers, solved for a few.
"""
