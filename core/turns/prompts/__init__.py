"""Prompts as files, one per act and one per role, rendered strictly."""
