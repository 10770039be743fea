"""The commands: each file runs one subcommand and prints its results."""
