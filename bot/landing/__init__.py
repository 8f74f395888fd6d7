"""Sends debates and decisions to places outside Slack: webhooks, folders, Git repositories."""
