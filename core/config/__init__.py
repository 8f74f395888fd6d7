"""Reads and checks the configuration file (YAML or JSON), and builds `Settings` from it."""
