"""The terminal: `moot debate` and what one can do with its records."""
