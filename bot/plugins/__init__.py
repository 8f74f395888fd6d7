"""What installed packages bring to Moot: roles, formats, providers and sinks, by entry points."""
