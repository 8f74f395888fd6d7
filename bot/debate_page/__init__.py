"""A debate as a page, which anybody with its link can read."""
