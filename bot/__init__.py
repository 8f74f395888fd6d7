"""The Slack side of Moot."""
