"""Tests of what assistants call."""
