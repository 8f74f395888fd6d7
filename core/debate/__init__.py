"""A debate: its values by subject, its events, its log and its state. Pure."""
