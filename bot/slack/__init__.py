"""Slack's API: clients, connections, payloads, ids, limits and text."""
