"""The engines of Floodmark and its commands; ARCHITECTURE.md shows how the rooms fit together.

The few files beside the rooms belong to all of them:

- ``search_result.py``: what a search takes and returns; ``engine.py``: the interface of an engine.
- ``adaptive_capacity.py``: begins a search anew with wider containers where a model gives them no capacity.
- ``interrupts.py``: ends the command, or a process that it started, soon after a signal.
- ``processes.py``: runs jobs in processes. Each has one job at a time, so that it is known what a process was doing
  when it dies, and whoever waits for it is interrupted at once.
- ``resources.py``: the memory and the cores of the machine; ``disk_cache.py``: compiled code and verdicts kept between
  runs, in one folder; ``own_sources.py``: whether the sources are still those that were loaded.
- ``value_text.py``: values of the language as text and as JSON; ``part_kinds.py``: the types of their parts.
- ``pytest_plugin.py``: collects specs for pytest; it imports nothing from the checkers until it has found one.
"""
