"""Results that ``--json`` wrote, read again for ``floodmark report``: begin with ``results_file.py``.

The file is not believed: the spec is read again, from sources that are the same as then, and the model takes the steps
of every counterexample again (``retrace.py``). What disagrees is an error.
"""
