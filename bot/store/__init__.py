"""What the Slack side keeps: posts on their way, deliveries seen, settings of channels."""
