"""The bot's tables: queued posts, deliveries, settings of channels and others."""
