"""A simulated vendor in a separate process, with a model's length and pace, for every protocol.

    python -m bench.vendor '{"seconds": 5}'

Answers real prompts in the requested form, over connections that stay open, as vendors do. A reply
is streamed token by token at an even pace after a silence. The times are absolute, so the server
catches up after a delay. A reply without streaming is sent at its end. A mark in a prompt
(`duration_mark`) multiplies the duration of its reply, so that agents can differ.
"""

import asyncio
import json
import random
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from tests.vendor_replies import good_reply
from tests.vendors.frames import frames, whole
from tests.vendors.script import Counts, VendorRequest
from tests.vendors.server import read_request

ROOT = Path(__file__).parents[1]
#: Characters of a text reply: 450 tokens, as models write.
REPLY_CHARACTERS, CHARACTERS_PER_TOKEN = 1800, 4


class Protocol(NamedTuple):
    provider: str
    #: Of the address.
    path: str
    usual: str
    slow: str


#: By name.
PROTOCOLS: Mapping[str, Protocol] = {
    "Responses": Protocol("openai", "/v1", "gpt-6.1-terra", "gpt-6.1-sol"),
    "Chat Completions": Protocol("openrouter", "/v1", "openai/gpt-6.1-terra", "openai/gpt-6.1-sol"),
    "Messages": Protocol("anthropic", "", "claude-sonnet-5-5", "claude-opus-5-5"),
    "compatible": Protocol("compatible", "/v1", "usual", "slow"),
}
_DURATION = re.compile(r"\[\[times ([\d.]+)\]\]")
_WORDS = (
    *("queue", "table", "commit", "replica", "partition", "offset", "worker", "schema", "index"),
    *("backup", "alert", "budget", "team", "night", "people", "month", "traffic", "outage"),
)


@dataclass(frozen=True, kw_only=True)
class ReplyPace:
    #: From the request to the end of its reply, for any length.
    seconds: float = 5.0
    #: Share of that before the first token.
    silence: float = 0.02


def duration_mark(times: float) -> str:
    """A reply to a prompt with this mark takes `times` as long; of several the last counts."""
    return f"[[times {times:g}]]"


def long_text(seed: str) -> str:
    """Return a text of usual length, different for each seed."""
    generator = random.Random(seed)  # noqa: S311 - filler words
    text = ""
    while len(text) < REPLY_CHARACTERS:
        text += " ".join(generator.choices(_WORDS, k=11)).capitalize() + ". "
    return text[:REPLY_CHARACTERS]


def reply_to(request: VendorRequest) -> str:
    """Return a long text, or the requested JSON; merged options are always two."""
    text = good_reply(request).text
    if not text.startswith("{"):
        return long_text(str(request.body))
    reply = json.loads(text)
    if "stands_for" in reply:
        others = [2] * (len(reply["stands_for"]) - 1)
        reply |= {"options": ["PostgreSQL", "Kafka"], "stands_for": [1, *others]}
    return json.dumps(reply)


def due_times(pieces: Sequence[bytes], first: float, ends: float) -> Sequence[float]:
    """Return the time of each piece: evenly from the first token at `first` to the end at `ends`.

    Pieces before the first token, such as `response.created`, are sent together with it.
    """
    before = next(index for index, piece in enumerate(pieces) if b'"delta"' in piece)
    each = (ends - first) / (len(pieces) - 1 - before)
    return [first + each * max(0, index - before) for index in range(len(pieces))]


class _Vendor:
    def __init__(self, pace: ReplyPace) -> None:
        self._pace = pace

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not reader.at_eof():
                request = await read_request(reader)
                times = _DURATION.findall(str(request.body)) or ["1"]
                await self._answer(request, writer, float(times[-1]))
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    async def _answer(
        self, request: VendorRequest, writer: asyncio.StreamWriter, times: float
    ) -> None:
        loop = asyncio.get_running_loop()
        text = reply_to(request)
        tokens = len(text) // CHARACTERS_PER_TOKEN or 1
        reply = replace(good_reply(request), text=text, pieces=tokens, counts=Counts(output=tokens))
        model = str(request.body.get("model", ""))
        ends = request.at + self._pace.seconds * times
        if request.body.get("stream") is False:
            await asyncio.sleep(max(0.0, ends - loop.time()))
            body = whole(request.path, reply, model)
            head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: r1"
            writer.write(f"{head}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()
            return
        pieces = frames(request.path, reply, model)
        first = request.at + self._pace.silence * (ends - request.at)
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked"
        piece_of_head = f"{head}\r\nx-request-id: r1\r\nrequest-id: r1\r\n\r\n".encode()
        for due, piece in zip(due_times(pieces, first, ends), pieces, strict=True):
            if (pause := due - loop.time()) > 0:
                await asyncio.sleep(pause)
            if writer.is_closing():
                raise ConnectionResetError
            writer.write(piece_of_head + b"%x\r\n%b\r\n" % (len(piece), piece))
            piece_of_head = b""
        writer.write(b"0\r\n\r\n")
        await writer.drain()


async def _serve(pace: ReplyPace) -> None:
    server = await asyncio.start_server(_Vendor(pace).connected, "127.0.0.1", 0, backlog=1000)
    async with server:
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await server.serve_forever()


@asynccontextmanager
async def a_process(*arguments: str, **options: Any) -> AsyncGenerator[Process]:
    """Start Python with these arguments; end it afterwards."""
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, **options)
    try:
        yield process
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def a_vendor(pace: ReplyPace) -> AsyncGenerator[str]:
    """Start a vendor; yield its address without a path."""
    arguments = ("-m", "bench.vendor", json.dumps(asdict(pace)))
    async with a_process(*arguments, cwd=ROOT, stdout=PIPE) as process:
        assert process.stdout is not None
        yield (await process.stdout.readline()).decode().strip()


if __name__ == "__main__":
    asyncio.run(_serve(ReplyPace(**json.loads(sys.argv[1]))))
