"""What docs/mcp.md says about the server is what the server says about itself."""

import json
import re
import shlex
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import Tool
from typer.testing import CliRunner

from bot.cli import app
from bot.mcp.arguments import LONGEST_WAIT
from bot.mcp.tools import TOOLS
from core.testing import ScriptedProvider
from tests.bot.mcp.at_work import editor

TEXT = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| (.+) \| (yes|no) \|$", re.MULTILINE)


async def offered(client: Client) -> dict[str, Tool]:
    return {tool.name: tool for tool in (await client.list_tools()).tools}


async def test_the_table_names_every_tool_and_says_which_change_something(tmp_path: Path) -> None:
    async with editor(tmp_path, ScriptedProvider()) as kim:
        tools = await offered(kim.client)
    rows = {name: changes == "yes" for name, _what, changes in ROW.findall(TEXT)}
    hints = {name: tool.annotations for name, tool in tools.items()}
    assert rows == {name: not hint.read_only_hint for name, hint in hints.items() if hint}
    assert [kind.name for kind in TOOLS] == list(rows)
    assert [name for name, hint in hints.items() if hint and hint.destructive_hint] == [
        "stop_debate"
    ]


async def test_every_tool_promises_what_it_returns(tmp_path: Path) -> None:
    async with editor(tmp_path, ScriptedProvider()) as kim:
        tools = await offered(kim.client)
    for tool in tools.values():
        assert tool.description
        assert tool.output_schema
        assert tool.input_schema["additionalProperties"] is False
        for argument in tool.input_schema["properties"].values():
            kinds = argument.get("anyOf", [argument])
            bounded = [
                "maximum" in kind for kind in kinds if kind.get("type") in {"integer", "number"}
            ]
            assert all(bounded), argument
    arguments = ", ".join(tools["start_debate"].input_schema["properties"])
    assert arguments in TEXT


def test_the_longest_wait_is_that_of_the_server() -> None:
    assert f"up to {LONGEST_WAIT} seconds" in TEXT


@pytest.mark.parametrize("snippet", re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL))
def test_every_snippet_starts_a_command_that_there_is(snippet: str) -> None:
    config = json.loads(snippet)
    (server,) = (config.get("mcpServers") or config["servers"]).values()
    if "url" in server:
        assert server["url"].endswith("/mcp")
        return
    assert server["command"] == "moot"
    runs(server["args"])


def test_the_commands_in_it_are_commands_that_there_are() -> None:
    commands = re.findall(r"^\$ claude mcp add (?:.*) -- (moot .*)$", TEXT, re.MULTILINE)
    assert commands
    for command in commands:
        runs(shlex.split(command)[1:])


def runs(words: list[str]) -> None:
    assert CliRunner().invoke(app, [*words, "--help"]).exit_code == 0
