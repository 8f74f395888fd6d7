"""An MCP server: editors and assistants start, follow and read debates."""
