"""Debates for programs that speak MCP: editors and assistants start, follow and read them."""
