"""What each command takes from the command line, and its help.

These modules import what they run when they run it: help and completion need no engine.
"""
