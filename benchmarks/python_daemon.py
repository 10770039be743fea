"""PySpark's daemon with the modules of a search's tasks, so that a Python worker starts at once.

Where Spark starts second attempts of slow tasks, this matters beyond the time that it saves. The first task after a
Python worker was killed takes long, for the next worker has to import the modules. The second attempt is faster, Spark
kills the first one with its Python worker, which was still importing, and the same happens to the next task.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # what has threads must not fork

import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import floodmark.checkers.spark.tasks  # noqa: F401

if __name__ == "__main__":
    manager()
