"""The commands: each file runs one subcommand and prints its results.

``conform_dataframes.py``: the results of ``floodmark conform`` as Spark DataFrames.
"""
