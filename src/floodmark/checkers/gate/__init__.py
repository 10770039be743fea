"""The regression gate: everything that a repository checks, in one run, compared with the lock.

- ``run.py`` is where to begin: cached verdicts, then new ones, then the comparison. ``scope.py`` finds the folder and
  its lock, ``plan.py`` the jobs of a run.
- ``job.py``, ``schedule.py``: a check, a proof or a claim with what its verdict depends on; processes, longest job
  first.
- ``definitions.py``, ``lexical_scopes.py``, ``closure.py``: a file as definitions and what they mention; what a name
  refers to; what a model reaches, and its hash.
- ``basis.py``, ``modules.py``, ``values.py``: what a verdict rests on: files as they were loaded, and the objects made
  from them. ``determined.py``: what a file may use so that these two tell everything.
- ``verdicts.py``: the verdict cache.
- ``limits.py``, ``progress.py``, ``totals.py``: limits of a whole run; how far it is; how many states a search will
  find.
- ``lock.py``, ``entries.py``: the lock as a file; what a run contributes to it.
- ``comparison.py``, ``drift.py``, ``meanings.py``, ``renames.py``: found and locked side by side; what a difference
  means, where to look, and what it follows from; which property changed; which spec has another name.
- ``text.py``: the table, the drift and the verdict.

Decisions:

- The cache's key covers what was loaded, the lock's hash what it means. The key includes the text of every file that
  was loaded for a check and everything that its classes and functions reach. What files may use is a list of modules
  and builtin functions that depend on nothing else, because what an import leaves behind is not always in a value that
  can be looked at, such as the results of a cached function. With anything else, nothing is cached, and the gate says
  so. The lock is for people, so its hash is that of the syntax tree with names replaced by numbers in the order in
  which they are mentioned: renaming an action changes the action's key and nothing else.
- Modules are loaded even when nothing has changed. That costs a second, and avoids a second notion of "unchanged" that
  could disagree with the first.
- Each job has one core. Hundreds of small jobs keep all cores busy without the overhead of several workers in one
  search; the longest starts first. A job that runs alone gets all cores.
- The lock has what every run finds again: figures of complete searches and the depth of violations, but no times. A
  verdict that is unexpected or undetermined is never written, nor, unless the spec says so, an action that never fires,
  a premise that is never true, or an empty state space.
- Differences that a failure causes are reported with the failure: it is red already, and a card for each figure would
  hide which one matters. Whatever weakens a check by itself (a property or a design that is gone, another constant,
  another meaning of a property) is told apart from that.
- A spec that has another name is compared with its old entry, but its name is drift: whoever renames a row sees what
  else changed, and a row that is gone cannot be mistaken for one that was renamed, as its constants are missed.
- The hash of a single property says where a change is, never whether there is one: it depends on names and on Python's
  way of writing, so it only counts where a hash of everything differs.
"""
