"""Reports of a run's results: text for people, and formats for scripts, CI servers and other tools."""
