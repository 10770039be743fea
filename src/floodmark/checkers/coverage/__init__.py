"""Coverage by source line: which lines, branches, guards, arguments and values states and their steps take.

``counter.py`` is where to begin. It builds on ``conditions.py``, the texts of conditions; ``places.py`` adds up the
counts of each place in the source, and says what share was taken. What is counted is defined in
``floodmark/compiler/marks.py``; the machine code is in ``floodmark/checkers/codegen/coverage_module.py``.

Decisions:

- The counting code stands beside the code of the search and is run on states that a search has found, or that a walk
  visits. So it cannot change a verdict, and costs nothing where it is not asked for.
- Counts have a meaning without the engine: a step counts a line once, whatever order its loops run in, and guards are
  asked in the order of the source. CPython counts the same (``tests/coverage``).
"""
