"""A small Slack on loopback: Web API, Events API, Socket Mode and a page, with Slack's own rules."""
