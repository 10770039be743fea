"""Checks metadata logs of KRaft clusters, as ``kafka-dump-log.sh --cluster-metadata-decoder`` prints them.

``dump.py`` reads what the tool prints, ``registration.py`` replays records as a controller does, ``rules.py`` has the
rules for states and changes, ``judge.py`` applies them to a log, and ``run.py`` divides the work.
"""
