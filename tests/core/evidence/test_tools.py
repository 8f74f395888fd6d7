"""Tools of MCP servers as sources, over stdio and HTTP: answers, limits and refusals."""

import asyncio
import base64
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from core.debate.evidence import SourceKind, SourceText
from core.debate.people import Person, Place
from core.errors import BadInput
from core.evidence.reading import EvidenceReader, FileReader
from core.evidence.tools import FetchTools, fill_placeholders, tool_references
from core.settings import EvidenceLimits, ToolServer
from tests.core.evidence.office import a_pdf
from tests.free_port import free_port

SERVER = Path(__file__).with_name("tool_server.py")
QUESTION = "Is Kafka or SQS better for our queue?"
HERE = Place(surface="slack", workspace="T1", channel="C0HERE")
ANN = Person(id="U1", name="Ann")
STDIO = (sys.executable, str(SERVER))


def a_server(
    tool: str, arguments: Mapping[str, object] | None = None, **fields: object
) -> ToolServer:
    named = {
        "name": tool,
        "arguments": arguments or {},
        "read_only": fields.pop("read_only", False),
    }
    whole = {"name": "shelf", "channels": ("*",), "seconds": 60, **fields, "tools": [named]}
    return ToolServer.model_validate(whole if "url" in whole else {"command": STDIO, **whole})


async def ask(
    server: ToolServer, place: Place = HERE, *, keys: Mapping[str, str] | None = None, **bounds: int
) -> SourceText:
    limits = EvidenceLimits.model_validate({"mcp_servers": (server,), **bounds})
    variables = keys or {}
    fetch = FetchTools(
        limits,
        key_in=lambda name: variables.get(name, ""),
        environment=lambda names: {name: key for name, key in variables.items() if name in names},
    )
    reader = EvidenceReader(FileReader(limits), {SourceKind.TOOL: fetch})
    (reference,) = tool_references((server,), QUESTION, HERE, ANN)
    return await reader.read(reference, place)


async def refusal(server: ToolServer, place: Place = HERE, **bounds: int) -> str:
    with pytest.raises(BadInput) as error:
        await ask(server, place, keys={}, **bounds)
    return str(error.value)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a shared server."""
    port = free_port()
    process = subprocess.Popen([*STDIO, str(port)], stderr=subprocess.DEVNULL)  # noqa: S603 - ours
    try:
        for _ in range(600):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


async def test_over_stdio_the_answer_is_a_source() -> None:
    text = await ask(a_server("search", {"query": "{question}"}))

    assert text.text == "The managed offer costs $1,840 per month."
    assert text.marks == (), "no part of several"
    assert len(text.sha256) == 64


async def test_over_http_the_answer_is_a_source_within_limits_of_size_and_time(
    url: str,
) -> None:
    text = await ask(a_server("search", {"query": "{question}"}, url=url))
    refused = [
        await refusal(a_server("huge", url=url), file_bytes=1_000_000),
        await refusal(a_server("sleep", url=url, seconds=1)),
        await refusal(a_server("search", url=f"http://127.0.0.1:{free_port()}/mcp")),
    ]

    assert text.text == "The managed offer costs $1,840 per month."
    assert refused == [
        "the server answers with more than can be taken",
        "the server does not answer in 1 s",
        "the server cannot be reached",
    ]


def test_arguments_contain_the_question_or_its_longer_words() -> None:
    arguments = {"q": ["{words}", {"whole": "({question})"}], "limit": 5, "deep": None}

    assert fill_placeholders(arguments, QUESTION) == {
        "q": ["Kafka SQS better queue", {"whole": f"({QUESTION})"}],
        "limit": 5,
        "deep": None,
    }
    # Nothing of a question is a placeholder itself.
    assert fill_placeholders("{words}", "{question} {words}") == "question words"


async def test_only_read_only_tools_are_called(url: str) -> None:
    silent = (
        "the server does not say that the tool only reads, and the settings do not vouch for it"
    )

    assert await refusal(a_server("unmarked", url=url)) == silent
    assert (await ask(a_server("unmarked", url=url, read_only=True))).text == "It was asked."
    # What a server says of its tool weighs more than who vouches for it.
    writes = await refusal(a_server("write", url=url, read_only=True))
    assert writes == "the server says that the tool changes things, so it is not called"


@pytest.mark.parametrize(
    ("tool", "answer"),
    [
        ("gone", "the server has no tool called gone"),
        ("fail", "the tool says: “Error executing tool fail”"),
        ("empty", "the tool answers with no text"),
    ],
)
async def test_a_missing_answer_has_a_reason(url: str, tool: str, answer: str) -> None:
    assert await refusal(a_server(tool, url=url)) == answer
    absent = a_server(tool, command=("/no/such/program", "--key=secret"))
    assert await refusal(absent) == "the program /no/such/program cannot be started"


async def test_an_answer_is_cut_to_its_limit(url: str) -> None:
    text = await ask(a_server("long", url=url), characters=1000)

    assert len(text.text) == 1000
    assert text.warnings == ("only the first 1,000 characters were read",)


async def test_parts_have_places_and_other_content_is_left_out(url: str) -> None:
    text = await ask(a_server("mixed", url=url))

    assert text.text.splitlines() == ["# Load", "", "The queue took 2,000 jobs/s.", "Second."]
    assert [(mark.line, mark.label) for mark in text.marks] == [(1, "part 1"), (4, "part 2")]
    assert text.warnings == ("1 part without text left out",)


async def test_a_file_is_read_as_files_are(url: str) -> None:
    content = base64.b64encode(a_pdf(["Cover", "It costs $1,840."])).decode()
    text = await ask(a_server("file", {"content": content, "name": "offer.pdf"}, url=url))

    assert [mark.label for mark in text.marks] == ["page 1", "page 2"]
    damaged = await refusal(a_server("file", {"content": "!", "name": "offer.pdf"}, url=url))
    assert damaged == "the tool answers with a file that is damaged"


async def test_no_channel_gets_a_tool_of_another_one() -> None:
    server = a_server("search", {"query": "kafka"}, channels=("C0HERE",))
    elsewhere = HERE.model_copy(update={"channel": "C0ELSE"})
    terminal = Place(surface="terminal")

    assert [len(tool_references((server,), QUESTION, at, ANN)) for at in (HERE, elsewhere)] == [
        1,
        0,
    ]
    assert tool_references((server,), QUESTION, terminal, ANN) == ()
    # Nor when a reference names it.
    for place in (elsewhere, terminal):
        assert await refusal(server, place) == "the settings do not list it for this channel"


async def test_a_program_gets_only_its_own_variables(tmp_path: Path) -> None:
    script = "import os, sys; open(sys.argv[1], 'w').write(repr(dict(os.environ)))"
    where = tmp_path / "seen"
    command = (sys.executable, "-c", script, str(where))
    server = a_server("search", command=command, variables=("ITS_TOKEN",))

    with pytest.raises(BadInput):
        await ask(server, keys={"ITS_TOKEN": "handed-on", "OUR_KEY": "kept-back"})

    content = where.read_text(encoding="utf-8")
    assert "handed-on" in content
    assert "kept-back" not in content
    assert "PYTEST" not in content


async def test_the_token_of_an_address_is_sent_and_a_missing_one_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heads = list[bytes]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
    server = a_server("search", url="http://tools.invalid/mcp", key_variable="WEB_KEY")
    async with listening:
        with pytest.raises(BadInput) as error:
            await ask(server, keys={"WEB_KEY": "only-for-it"})
        without = await refusal(server)

    assert b"authorization: bearer only-for-it" in heads[0].lower()
    assert "only-for-it" not in str(error.value)
    assert without == "WEB_KEY is not set"


#: A program that claims to be a server → what people are told.
LIARS = {
    "ends": ("raise SystemExit(1)", "the server ended before it answered"),
    "writes a line without end": (
        "import sys\nwhile True: sys.stdout.write('x' * 65536)",
        "the server does not answer in 1 s",
    ),
    "writes noise without end": (
        "while True: print('noise ' * 100)",
        "the server answers with more than can be taken",
    ),
    "answers everything with nonsense": (
        """
import json, sys
for line in sys.stdin:
    asked = json.loads(line).get("id")
    if asked is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": asked, "result": {"tools": 7}}), flush=True)
""",
        "the server does not speak MCP as it should",
    ),
    "refuses everything": (
        """
import json, sys
for line in sys.stdin:
    asked, words = json.loads(line).get("id"), "go\\naway " * 100
    error = {"code": -32603, "message": "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789 " + words}
    print(json.dumps({"jsonrpc": "2.0", "id": asked, "error": error}), flush=True)
""",
        "the server says: “[redacted] go away go away",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LIARS)
async def test_a_dead_or_invalid_server_is_reported(kind: str) -> None:
    script, text = LIARS[kind]
    seconds = 1 if "in 1 s" in text else 60
    server = a_server("search", command=(sys.executable, "-c", script), seconds=seconds)

    answer = await refusal(server, file_bytes=300_000)

    assert answer.startswith(text)
    assert len(answer) < 250
    assert "sk-proj" not in answer


@pytest.mark.slow
async def test_no_program_and_no_child_process_is_left(tmp_path: Path) -> None:
    """Neither hears the signal that asks it to end."""
    script = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()}\\n")
time.sleep(3600)
"""
    pids = tmp_path / "pids"
    server = a_server("search", command=(sys.executable, "-c", script, str(pids)), seconds=2)

    assert await refusal(server) == "the server does not answer in 2 s"

    started = [int(line) for line in pids.read_text(encoding="utf-8").split()]
    assert len(started) == 2
    for pid in started:
        for _ in range(600):  # whose parent is gone is buried by the system, a moment later
            if not is_running(pid):
                break
            await asyncio.sleep(0.05)
        assert not is_running(pid)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text(encoding="utf-8").split()[2] == "Z")


async def test_a_cancelled_call_leaves_no_program(tmp_path: Path) -> None:
    script = (
        "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(3600)"
    )
    pid = tmp_path / "pid"
    server = a_server("search", command=(sys.executable, "-c", script, str(pid)))
    asking = asyncio.create_task(ask(server))
    while not (pid.exists() and pid.read_text(encoding="utf-8")):  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.05)

    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking

    assert not is_running(int(pid.read_text(encoding="utf-8")))
