"""`moot mcp` as an editor starts it: a process, its streams, kill -9 in the middle of a debate."""

import json
import subprocess
import sys
from pathlib import Path

import mcp_types as types
import pytest
from mcp import StdioServerParameters
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from bot.mcp.stdio import read_line
from tests.command_line import moot

ROOT = Path(__file__).parents[3]
MOOT = ("-c", "from bot.cli import main; main()", "mcp")


def server(folder: Path, **variables: str) -> StdioServerParameters:
    environment = {"PYTHONPATH": str(ROOT), "MOOT_DATABASE": str(folder / "moot.db"), **variables}
    return StdioServerParameters(
        command=sys.executable, args=list(MOOT), env=environment, cwd=folder
    )


def test_without_the_extra_people_read_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)  # as `find_spec` sees what is not installed
    ended = moot("mcp", folder=tmp_path)
    assert ended.returncode == 4
    assert "`make extras`" in ended.stderr
    assert not ended.stdout


def fault_of(line: str) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    return caught.value


CALL = '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": %s}'


@pytest.mark.parametrize(
    ("line", "params"),
    [
        ("\ufeff" + CALL % '{"a": "b"}' + "\n", {"a": "b"}),
        (CALL % r'{"a": "x\ud83d", "b": "\ud83d\ude00"}', {"a": "x?", "b": "😀"}),
    ],
)
def test_a_byte_order_mark_and_half_a_character_leave_nobody_waiting(
    line: str, params: dict[str, str]
) -> None:
    read = read_line(fault_of(line))
    assert isinstance(read, SessionMessage)
    assert isinstance(read.message, types.JSONRPCRequest)
    assert (read.message.id, read.message.params) == (7, params)


@pytest.mark.parametrize(
    "line",
    [
        "no protocol",
        f"[{CALL % '{}'}]",
        CALL % ("[" * 5000 + "]" * 5000),
        '{"jsonrpc": "1.0", "id": 7}',
        '"' + CALL % "{}",
    ],
)
def test_a_line_that_is_no_message_is_answered(line: str) -> None:
    answer = read_line(fault_of(line))
    assert isinstance(answer, types.JSONRPCError)
    assert answer.error.code == types.PARSE_ERROR


def test_a_blank_line_is_nothing() -> None:
    assert read_line(fault_of("\r\n")) is None


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
