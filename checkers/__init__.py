"""The engines of Floodmark and its commands; ARCHITECTURE.md shows how the rooms fit together.

The files next to the rooms are what the rooms share:

- ``spec.py`` reads a spec and names the line of any mistake in it. ``spec_keys.py`` is the list of all keys,
  ``spec_values.py`` the kinds of values that they may have, ``spec_entries.py`` what the tables become.
  ``spec_rows.py`` makes a spec of each row of a file, ``spec_address.py`` says how rows are named.
- ``input_file.py`` reads whatever file a user names, or says why not; ``toml.py`` and ``json_text.py`` parse it,
  ``amounts.py`` limits the numbers in it. ``file_parameter.py`` is the kind of options that name files.
- ``project.py`` loads the files of the user's repository and of the shipped protocols without a clash of names;
  ``loading.py`` loads a file from its source and records what it reads; ``unpacking.py`` unpacks files on workers of
  a cluster.
- ``properties.py`` finds the properties that apply to a model: its own, those in ``invariants/`` and those in files
  named by the user.
- ``check.py`` is what is checked: a spec's model or one of its known-bad designs, with the options of the command line.
- ``oversights.py`` and ``unfound_properties.py`` refuse what would leave a check weaker than it looks.
  ``reached_functions.py``: the functions that a model or a property runs.
- ``engine.py`` is the interface of an engine, ``engines.py`` the table of engines and which of them searches a check.
  ``reference.py`` is the search in plain Python, the oracle for the others; ``reference_engine.py``: as a run sees it.
- ``run.py`` runs many small checks side by side and each large one alone on all cores. ``processes.py`` provides the
  processes: each has one job at a time, so that it is known what a process was doing when it dies, and whoever waits
  for it is interrupted at once. ``result_transfer.py`` sends results from one process to another.
- ``growth.py`` begins a search anew with wider containers where a model gives them no capacity.
- ``exploration.py`` is what a search takes and returns; ``verdict.py`` compares that with the spec. ``result.py`` is
  the outcome of a check, ``proof_result.py`` that of a proof or a claim.
- ``claim.py`` reads the claims of a file; ``proof_command.py`` is the command that makes a proof that a spec lists.
  Both are here and not beside what proves, since a run that has all verdicts in its cache does not load z3.
- ``licence.py`` and ``asymmetry.py`` decide whether a search may count states up to renaming of identifiers, and show
  why not.
- ``disk_cache.py`` keeps compiled code and verdicts between runs, in one folder; ``versions.py`` has the sources and
  versions that every verdict depends on.
- ``paths.py`` shows paths to people; ``resources.py`` measures this process.
- ``pytest_plugin.py`` collects specs for pytest; it imports nothing from the checkers until it has found one.
"""
