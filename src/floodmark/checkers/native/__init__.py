"""The native search: breadth first, level by level, exact, in threads that share one table of visited states.

- Start with ``search.py``: a search in memory that may continue in files. ``engine.py``: its interface.
- ``memory.py``: the table that all threads share; ``worker.py``: a thread's states.
- ``files.py``: the states once memory is full, in partitions that are files.

Decisions; ``benchmarks/RESULTS.md`` has the figures behind them:

- One table of 32-bit cells points into the workers' stores. States are stored once, in the order in which they were
  found, so a level's frontier is a slice, and a search needs no queue. The bits of a cell that an index does not need
  hold a tag from the fingerprint, so a lookup that misses rarely touches a state. States are compared in full.
- A look-up examines several cells at once, so no branch depends on the probe length; mispredicting that branch took
  a fifth of the time of a fast model (``benchmarks/async_isr.c``). These cells are in one cache line, since only that
  one is prefetched. Successors are looked up in groups, whose cells and states are prefetched. Groups of 128 gain
  hardly anything over 64, prefetching the line in which a state ends gained nothing.
- While a table exceeds the caches, a worker drops a successor that it sent to the table shortly before, compared in
  full, without a look-up. It remembers no more states than fit into a core's first cache: a larger filter catches more
  duplicates, but costs as much as it saves. It pays for models whose duplicates mostly come soon.
- Workers share the table. They claim a cell with one atomic operation, after the state has been written, and take
  chunks of the frontier from each other. Giving each worker the states of its own hash range and sending them through
  rings was also tried: it reached 1.2 to 1.4 times the speed of one worker on two cores, the shared table 1.7 to 1.9.
  When the table is too full, all workers stop and rehash it together.
- A stored state takes as many bytes as its bits need, not whole words. Tables double: to grow by half enters each
  state three times. The last table that a limit has room for is sized for the states that then still fit, at nine
  tenths full.
- When memory is full, the search continues in files from any point of a level, not from its beginning: the rest
  of the frontier, the states found since, and those not yet looked up move together, so no step is taken twice.
- Huge pages hold stores and table: 10 to 30 % faster on one core, more on two.
- Parents are not kept. A counterexample is found by expanding the levels before it again, which costs at most as much
  as the search and happens only when there is a counterexample. It saves 4 to 8 bytes for each state of every search.
- CPython replays every trace, and evaluates the property in each state in which compiled code calls it false. A
  disagreement is an internal error, never a verdict.
- A search begins in plain code, which LLVM does not optimise, and changes to optimised code once it has been running
  for ``driver.PATIENCE``. Plain code is ready in a third of the time or less, and a search in it takes two to three
  times as long; most searches, above all those of known-bad designs, end before optimised code would have been ready. A
  spec whose ``[expect]`` table predicts many states begins with optimised code, one that predicts few stays with plain
  code (``driver.MIN_STATES_FOR_OPTIMISED_CODE``).
"""
