"""The commands as a user meets them: exit codes, messages, strange inputs, processes that die."""
