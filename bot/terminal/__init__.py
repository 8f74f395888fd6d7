"""The command line: `moot debate`, and commands that read and export its records."""
