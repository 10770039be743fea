"""The compiled kernel of every search: native, on Spark, and of liveness.

- ``compiled_model.py``: a model's machine code, ready to be called, in a plain and an optimised edition.
- ``loops.py``: the inner loops (expand, look up, insert, check), written for ``codegen/loop_compiler.py``;
  ``partitioned.py``: those of a visited set in partitions; ``symmetry_loops.py``: those that compare states with
  renamed copies.
- ``stepper.py``: the steps from one state at a time.
- ``memory.py``: the memory that a search may use, and has reserved. ``scratch.py``: where scratch files are, and how
  they are sized.
"""
