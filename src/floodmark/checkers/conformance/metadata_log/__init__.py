"""Metadata logs of KRaft clusters, as printed by ``kafka-dump-log.sh --cluster-metadata-decoder``, against the rules.

``dump.py`` reads what the tool prints, ``registration.py`` replays records as a controller does, ``rules.py`` has one
pure function for each rule about a step, ``judge.py`` goes through a log, and ``run.py`` divides the work.

- A metadata log is not sent around. Every worker reads all of it and parses only the lines of its own partitions.
  Finding those lines costs a sixth of parsing and judging them, so with a few workers this beats a shuffle; the gain
  ends at six times one worker.
- The rules share ``model/replica_sets.py`` with the models and are tested against them: every step of the KRaft model
  passes as a record, and the known-bad designs whose mistake a log can show are found.
"""
