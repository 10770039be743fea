"""Coverage by source line: the lines, branches, guards, arguments and values that states and their steps take.

``counter.py`` is where to begin. It builds on ``conditions.py``, the texts of conditions; ``places.py`` adds up the
counts of each place in the source, and computes shares. ``floodmark/compiler/marks.py`` defines what is counted; the
machine code is in ``floodmark/checkers/codegen/coverage_module.py``.

Decisions:

- The counting code is separate from the code of the search and runs on states that a search has found, or that a walk
  visits. It therefore cannot change a verdict, and costs nothing unless it is requested.
- Counts have a meaning without the engine: a step counts a line once, whatever order its loops run in, and guards are
  evaluated in the order of the source. CPython counts the same (``tests/coverage``).
"""
