"""A user's repository: its specs, and the Python files that they name.

- ``spec.py`` is where to begin: it reads a spec and names the line of any mistake in it. ``spec_keys.py`` is the list
  of all keys, ``spec_values.py`` the kinds of values that they may have, ``spec_entries.py`` what the tables become.
  ``spec_rows.py`` makes a spec of each row of a file, ``spec_address.py`` says how rows are named.
- ``input_file.py`` reads whatever file a user names, or says why not; ``toml.py`` and ``json_text.py`` parse it,
  ``input_limits.py`` limits the numbers in it. ``arguments.py`` finds the files and specs that arguments of
  commands name, and ``paths.py`` shows paths to people.
- ``modules.py`` loads the files of the user's repository and of the shipped protocols without a clash of names;
  ``imported.py`` lists the loaded modules; ``loading.py`` loads a file from its source and records its dependences;
  ``unpacking.py`` unpacks files on workers of a cluster; ``versions.py`` has the sources and versions that every
  verdict depends on, ``used_files.py`` the hashes of the files that results rest on.
- ``properties.py`` finds the properties that apply to a model: its own, those in ``invariants/`` and those in files
  named by the user, ``mapped_properties.py`` those that it takes over from a model that it refines. ``claim.py`` reads
  the claims of a file: it is here and not beside what proves, since a run that has all verdicts in its cache does not
  load z3.
- ``lint.py`` refuses mistakes that would silently weaken a check, and classes that other processes do not find;
  ``reached_functions.py``: the functions that a model or a property runs.
"""
