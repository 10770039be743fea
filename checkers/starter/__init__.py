"""What ``floodmark init`` writes into a repository: a small project and its continuous integration.

The files below this folder are the project, each with ``.txt`` behind its name.
"""
