"""What the language means, and what it refuses, with the line and the advice."""
