"""Listeners for requests of Slack: they parse a payload, call a use case, and answer."""
