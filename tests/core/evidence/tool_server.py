"""A small MCP server, written with the SDK: `python tool_server.py [PORT]`. Without one: stdio.

Its tools behave and misbehave as their names say.
"""

import sys
import time
from collections.abc import Mapping

import anyio
from mcp.server.mcpserver import MCPServer
from mcp_types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    TextContent,
    ToolAnnotations,
)

READS = ToolAnnotations(read_only_hint=True)
WRITES = ToolAnnotations(read_only_hint=False)
server = MCPServer("shelf")
PRICES: Mapping[str, str] = {"kafka": "The managed offer costs $1,840 per month."}


@server.tool(annotations=READS)
def search(query: str) -> str:
    """Look something up."""
    return "\n".join(text for name, text in PRICES.items() if name in query.lower())


@server.tool(annotations=READS)
def echo(query: str, limit: int = 0) -> str:
    """Say what was asked."""
    return f"You asked: {query} ({limit})"


@server.tool()
def unmarked() -> str:
    """Says nothing about what it changes."""
    return "It was asked."


@server.tool(annotations=WRITES)
def write() -> str:
    """Changes things, and says so."""
    raise AssertionError("it must not be called")


@server.tool(annotations=READS)
def fail() -> str:
    """Fails."""
    raise ValueError("no such\npage; sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH is wrong")


@server.tool(annotations=READS)
def huge() -> str:
    """Sends more than anybody takes."""
    return "word " * 300_000


@server.tool(annotations=READS)
def long() -> str:
    """Sends more than is kept."""
    return "word " * 2_000


@server.tool(annotations=READS)
def empty() -> str:
    """Sends nothing."""
    return " "


@server.tool(annotations=READS)
async def sleep() -> str:
    """Never answers."""
    await anyio.sleep_forever()
    return ""


@server.tool(annotations=READS)
def hang() -> str:
    """Never answers, and does not hear that it should end."""
    time.sleep(3600)
    return ""


@server.tool(annotations=READS, structured_output=False)
def mixed() -> CallToolResult:
    """Texts with a picture between them."""
    picture = ImageContent(type="image", data="iVBORw0KGgo=", mime_type="image/png")
    first = TextContent(type="text", text="# Load\n\nThe queue took 2,000 jobs/s.")
    return CallToolResult(content=[first, picture, TextContent(type="text", text="Second.")])


@server.tool(annotations=READS, structured_output=False)
def file(content: str, name: str) -> CallToolResult:
    """A file in base 64."""
    contents = BlobResourceContents(uri=f"file:///{name}", blob=content)
    return CallToolResult(content=[EmbeddedResource(type="resource", resource=contents)])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
