"""Adapters that serve models: one file per vendor, and a factory that builds them."""
