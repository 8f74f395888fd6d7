"""What arrives from Slack: parse, delegate, answer."""
