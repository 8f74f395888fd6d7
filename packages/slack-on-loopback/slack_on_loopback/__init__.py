"""A small Slack on loopback, with Slack's own rules and a page in the browser."""
