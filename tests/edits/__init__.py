"""What an edit changes: random edits against an oracle, the edits that people make, and the gate of a pull request."""
