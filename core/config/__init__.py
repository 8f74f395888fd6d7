"""The configuration file (YAML or JSON): read, checked, explained, and made into `Settings`."""
