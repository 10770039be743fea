"""Whether an operator's reassignment plan can be cancelled at every point: one search for each shape of a partition.

- ``reassignment_json.py``: reads the operator's files.
- ``shapes.py``: reduces partitions to shapes, their replica sets up to renaming of brokers.
- ``verdicts.py``: searches one shape, or many in processes or as Spark tasks, with the model
  ``model/reassignment/plan.py``.
- ``report.py``: translates the shortest way into trouble back to a partition's own brokers.
"""
