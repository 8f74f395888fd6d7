"""Looks whether everything Moot needs is there, and says what to do where it is not."""
