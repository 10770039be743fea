"""Terms of z3, with constants folded.

- ``booleans.py``, ``integers.py``: truth values and exact integers, which are Python's where they are constant.
- ``symbols.py``: free symbols, each with a number of its own; ``axioms.py``: the axioms about them.
- ``canonical.py``: canonical copies of terms in a fresh context; ``smt_text.py``: terms as SMT-LIB 2.
- ``structure.py``: the kinds and parts of terms, computed once for each.
"""
