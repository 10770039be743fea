"""Metadata logs of KRaft clusters, as ``kafka-dump-log.sh --cluster-metadata-decoder`` prints them, against the rules.

``dump.py`` reads what the tool prints, ``registration.py`` replays records as a controller does, ``rules.py`` says what
has to hold of a step, ``judge.py`` goes through a log, and ``run.py`` divides the work.
"""
