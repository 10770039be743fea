"""The distributed search: figures and verdicts of the native one, whatever is lost, killed or damaged.

Most of these tests need no session: ``tests/support/losses.py`` runs the code of a search without Spark.
"""
