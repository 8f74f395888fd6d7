"""The debate: knows no Slack."""
