"""The project that ``floodmark init`` writes into a repository: a small model with its checks, and files for CI.

``project.py`` writes it. The other files in this folder are the project itself, each with ``.txt`` added to its name.
"""
