"""Programs on top of `core`: the Slack bot, the command line, the MCP server and the demo."""
