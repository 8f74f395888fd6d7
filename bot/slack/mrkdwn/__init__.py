"""Text of unknown origin → safe Slack text within its limits (pure)."""
