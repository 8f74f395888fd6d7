"""A small MCP server, written with the SDK: `python tool_server.py [PORT]`. Without one: stdio.

The names of its tools describe their behaviour.
"""

import sys
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
    return "\n".join(text for name, text in PRICES.items() if name in query.lower())


@server.tool(annotations=READS)
def echo(query: str, limit: int = 0) -> str:
    return f"You asked: {query} ({limit})"


@server.tool()
def unmarked() -> str:
    return "It was asked."


@server.tool(annotations=WRITES)
def write() -> str:
    raise AssertionError("it must not be called")


@server.tool(annotations=READS)
def fail() -> str:
    raise ValueError("no such\npage; sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH is wrong")


@server.tool(annotations=READS)
def huge() -> str:
    return "word " * 300_000


@server.tool(annotations=READS)
def long() -> str:
    return "word " * 2_000


@server.tool(annotations=READS)
def empty() -> str:
    return " "


@server.tool(annotations=READS)
async def sleep() -> str:
    await anyio.sleep_forever()
    return ""


@server.tool(annotations=READS, structured_output=False)
def mixed() -> CallToolResult:
    picture = ImageContent(type="image", data="iVBORw0KGgo=", mime_type="image/png")
    first = TextContent(type="text", text="# Load\n\nThe queue took 2,000 jobs/s.")
    return CallToolResult(content=[first, picture, TextContent(type="text", text="Second.")])


@server.tool(annotations=READS, structured_output=False)
def file(content: str, name: str) -> CallToolResult:
    contents = BlobResourceContents(uri=f"file:///{name}", blob=content)
    return CallToolResult(content=[EmbeddedResource(type="resource", resource=contents)])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
