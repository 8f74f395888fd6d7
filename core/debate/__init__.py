"""A debate: its values by subject, its events, and the log they make. Pure."""
