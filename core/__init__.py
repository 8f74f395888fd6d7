"""The debate itself. Knows no Slack."""
