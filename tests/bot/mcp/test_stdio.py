"""`moot mcp` as an editor starts it: a process, its streams, kill -9 in the middle of a debate."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from bot.mcp.stdio import read_line
from tests.bot.mcp.at_work import Editor
from tests.command_line import moot
from tests.frame.files import ROOT
from tests.vendor_replies import good_reply
from tests.vendors.server import Vendor

MOOT = ["-c", "from bot.cli import main; main()", "mcp"]
CALL = '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": %s}'


def server(folder: Path, **variables: str) -> StdioServerParameters:
    environment = {"PYTHONPATH": str(ROOT), "MOOT_DATABASE": str(folder / "moot.db"), **variables}
    return StdioServerParameters(command=sys.executable, args=MOOT, env=environment, cwd=folder)


def test_without_the_extra_people_read_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)  # as `find_spec` sees what is not installed
    ended = moot("mcp", folder=tmp_path)
    assert ended.returncode == 4
    assert "`make extras`" in ended.stderr
    assert not ended.stdout


@pytest.mark.parametrize(
    ("line", "params"),
    [
        ("\ufeff" + CALL % '{"a": "b"}' + "\n", {"a": "b"}),
        (CALL % r'{"a": "x\ud83d", "b": "\ud83d\ude00"}', {"a": "x?", "b": "😀"}),
        ("no protocol", types.PARSE_ERROR),
        (f"[{CALL % '{}'}]", types.PARSE_ERROR),
        (CALL % ("[" * 5000 + "]" * 5000), types.PARSE_ERROR),
        ('{"jsonrpc": "1.0", "id": 7}', types.PARSE_ERROR),
        ("\r\n", None),
    ],
)
def test_a_line_that_the_sdk_cannot_read_leaves_nobody_waiting(line: str, params: object) -> None:
    with pytest.raises(ValidationError) as caught:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    match read_line(caught.value):
        case SessionMessage(message=types.JSONRPCRequest(id=7) as request):
            assert request.params == params
        case types.JSONRPCError() as answer:
            assert answer.error.code == params
        case other:
            assert other is params is None


@pytest.mark.slow
def test_nothing_but_the_protocol_goes_to_standard_output(tmp_path: Path) -> None:
    """Nor does what is no protocol end it; and a project's own `.env` is not believed."""
    (tmp_path / ".env").write_text("MOOT_DATABASE=/nowhere/else.db\n", encoding="utf-8")
    version: dict[str, object] = {"protocolVersion": "2025-11-25", "capabilities": {}}
    hello = {**version, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "list_debates"}},
    ]
    typed = "\n".join(["", "\ufeff" + json.dumps(lines[0]), *map(json.dumps, lines[1:]), "[1]", ""])
    parameters = server(tmp_path, MOOT_LOG_LEVEL="debug")
    with subprocess.Popen(  # noqa: S603 - our own program
        [parameters.command, *parameters.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=parameters.env,
        cwd=tmp_path,
        encoding="utf-8",
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(typed)
        process.stdin.flush()
        messages = list[dict[str, object]]()
        # Whoever closes its end does not wait for the answer.
        while not {1, 2, 3} <= {message.get("id") for message in messages}:
            messages.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        messages += map(json.loads, process.stdout)
        assert process.wait() == 0
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    assert (tmp_path / "moot.db").exists()


@pytest.mark.slow
async def test_a_debate_goes_on_with_the_next_server_though_one_is_killed(tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("# Queue\n\nWe drop the old queue on Monday.\n")
    async with Vendor(good_reply) as vendor:
        keys = {"OPENAI_API_KEY": "sk-none-123456", "OPENAI_BASE_URL": f"{vendor.url}/v1"}
        vendor.hold(lambda _request: len(vendor.asked) > 1)  # one agent has spoken
        async with Client(server(tmp_path, **keys)) as client:
            kim = Editor(client)
            debate_id = await kim.starts("Ok?", sources=["plan.md"], clarify=False)
            await vendor.asked_for(2)
            lock = (tmp_path / "moot.db.lock").read_text(encoding="utf-8")
            os.kill(int(lock), signal.SIGKILL)
        vendor.let_go()
        async with Client(server(tmp_path, **keys)) as client:
            kim = Editor(client)
            ended = await kim.follows(debate_id)
            verdict = await kim.calls("get_verdict", debate_id=debate_id)
    assert (ended["state"], verdict["state"]) == ("concluded", "concluded")
    assert [source["title"] for source in verdict["sources"]] == ["plan.md"]
