"""Connections from Slack: a WebSocket (Socket Mode) or signed HTTP requests."""
