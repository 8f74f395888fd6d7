"""Installation in one or many workspaces, and storage of their tokens."""
