"""How Slack reaches the bot: over a WebSocket, or with signed HTTP requests."""
