"""Formats of debate: lists of steps, and pure functions over them."""
