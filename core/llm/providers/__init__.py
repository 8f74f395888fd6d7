"""Adapters that serve models: one file per vendor, and a registry that picks them."""
