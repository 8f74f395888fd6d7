"""Formats of debate: pure functions that say which turns are ready."""
