"""The regression gate: everything that a repository checks, in one run, compared with the lock.

- ``run.py`` is where to begin: cached verdicts, then new ones, then the comparison. ``scope.py`` finds the folder and
  its lock, ``plan.py`` the jobs of a run.
- ``job.py``, ``schedule.py``: a check, a proof or a claim with what its verdict depends on; processes, longest job
  first, and the progress of a run.
- ``definitions.py``, ``lexical_scopes.py``, ``closure.py``: a file as definitions and what they mention; what a name
  refers to; what a model reaches, and its hash.
- ``basis.py``, ``modules.py``, ``values.py``: what a verdict rests on: files as they were loaded, and the objects made
  from them. ``cacheable_names.py``: the names that a file may use if its verdicts are to be cached.
- ``verdicts.py``: the verdict cache.
- ``limits.py``: limits of a whole run.
- ``lock.py``, ``entries.py``: the lock as a file; what a run contributes to it.
- ``comparison.py``, ``drift.py``: compare a run with the lock; what a difference means, where to look, what causes it.
- ``property_hashes.py``, ``renames.py``: which property changed; which spec was renamed.
- ``text.py``: the table, the drift and the verdict.

Decisions:

- The cache's key covers what was loaded, the lock's hash what it means. The key includes the text of every file that
  was loaded for a check and everything that its classes and functions reach. What files may use is a list of modules
  and builtin functions that depend on nothing else, because what an import leaves behind is not always in a value that
  can be looked at, such as the results of a cached function. With anything else, nothing is cached, and the gate says
  so. The lock is for people, so its hash is that of the syntax tree with names replaced by numbers in the order in
  which they are mentioned: renaming an action changes the action's key and nothing else.
- Modules are loaded even when nothing has changed. That costs a second, and avoids a second notion of "unchanged",
  which could disagree with the first.
- Each job has one core. Hundreds of small jobs keep all cores busy without the overhead of several workers in one
  search; the longest starts first. A job that runs alone gets all cores.
- The lock holds reproducible results, never timings: figures of complete searches and the depth of violations. The gate
  never writes an unexpected or undetermined verdict nor, unless the spec expects it, an action that never fires, a
  premise that is never true, or an empty state space.
- The gate reports differences that a failure causes together with the failure: it is red already, and an entry for each
  figure would hide which one matters. Whatever weakens a check by itself (a removed property or design, another
  constant, another meaning of a property) is reported apart from that.
- A renamed spec is compared with its old entry, but its name is drift: whoever renames a row sees what else changed. A
  removed row is never mistaken for a renamed one, because its constants are missing.
- The hash of a single property locates a change and never decides whether there is one: it depends on names and on
  formatting, so it only counts where the hash of everything differs.
"""
