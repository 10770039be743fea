"""What a run prints and writes: text for people, JSON for scripts."""
