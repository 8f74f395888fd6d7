"""The migrations of the bot's tables."""
