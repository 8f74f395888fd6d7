"""What docs/mcp.md says about the server is what the server says about itself."""

import json
import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from bot.cli import app
from bot.mcp.arguments import LONGEST_WAIT
from bot.mcp.tools import TOOLS
from core.testing import ScriptedProvider
from tests.bot.mcp.at_work import editor
from tests.frame.files import read

TEXT = read("docs/mcp.md")
ROW = re.compile(r"^\| `(\w+)` \| .+ \| (yes|no) \|$", re.MULTILINE)


async def test_the_table_names_every_tool_and_says_which_change_something(tmp_path: Path) -> None:
    async with editor(tmp_path, ScriptedProvider()) as kim:
        tools = {tool.name: tool for tool in (await kim.client.list_tools()).tools}
    hints = {name: tool.annotations for name, tool in tools.items() if tool.annotations}
    changing = {name: "no" if hint.read_only_hint else "yes" for name, hint in hints.items()}
    assert ROW.findall(TEXT) == list(changing.items())
    assert list(TOOLS) == list(tools)
    assert [name for name, hint in hints.items() if hint.destructive_hint] == ["stop_debate"]
    for tool in tools.values():
        assert tool.description
        assert tool.output_schema
        assert tool.input_schema["additionalProperties"] is False
        for argument in tool.input_schema["properties"].values():
            for kind in argument.get("anyOf", [argument]):
                assert kind.get("type") not in {"integer", "number"} or "maximum" in kind, argument
    assert ", ".join(tools["start_debate"].input_schema["properties"]) in TEXT
    assert f"up to {LONGEST_WAIT} seconds" in TEXT


def test_every_snippet_and_command_in_it_starts_what_there_is() -> None:
    commands = re.findall(r"^\$ claude mcp add .* -- (moot .*)$", TEXT, re.MULTILINE)
    words = [shlex.split(command)[1:] for command in commands]
    for snippet in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL):
        config = json.loads(snippet)
        (server,) = (config.get("mcpServers") or config["servers"]).values()
        if "url" in server:
            assert server["url"].endswith("/mcp")
        else:
            assert server["command"] == "moot"
            words.append(server["args"])
    assert len(words) > len(commands) > 0
    for arguments in words:
        assert CliRunner().invoke(app, [*arguments, "--help"]).exit_code == 0
