"""A vendor in a process of its own: replies of a model's length and pace, by any protocol.

    python -m bench.vendor '{"seconds": 5}'

Answers real prompts in the form each asks for, over connections that stay open, as vendors' do. A
reply is sent a token at a time, evenly after a silence, by the clock: a server that was held up
catches up, so that `seconds` is what a reply takes of its own. One that is asked for in one piece
is sent whole at its end. A prompt may say how many times longer its reply takes, or that none ever
comes (`in_own_time`); then the debate's agents can differ.
"""

import asyncio
import json
import random
import re
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

from core.request import ModelRequest
from tests.vendor_replies import good_reply
from tests.vendors.frames import frames, whole
from tests.vendors.script import Counts, VendorRequest
from tests.vendors.server import read_request

#: Characters of a reply that is a text: 450 tokens, as models write.
REPLY_CHARACTERS, CHARACTERS_PER_TOKEN = 1800, 4


class Protocol(NamedTuple):
    provider: str
    #: Of the address.
    path: str
    usual: str
    slow: str
    dead: str


#: By name.
PROTOCOLS: Mapping[str, Protocol] = {
    "Responses": Protocol("openai", "/v1", "gpt-6.1-terra", "gpt-6.1-sol", "gpt-6-luna"),
    "Chat Completions": Protocol(
        *("openrouter", "/v1"),
        *("openai/gpt-6.1-terra", "openai/gpt-6.1-sol", "openai/gpt-6-luna"),
    ),
    "Messages": Protocol(
        "anthropic", "", "claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"
    ),
    "compatible": Protocol("compatible", "/v1", "usual", "slow", "dead"),
}
_OWN_TIME = re.compile(r"\[\[times ([\d.]+)\]\]")
_WORDS = (
    *("queue", "table", "commit", "replica", "partition", "offset", "worker", "schema", "index"),
    *("backup", "alert", "budget", "team", "night", "people", "month", "traffic", "outage"),
)


@dataclass(frozen=True, kw_only=True)
class Manner:
    #: From the request to the end of its reply, however long the text is.
    seconds: float = 5.0
    #: Share of that before the first token.
    silence: float = 0.02


def in_own_time(request: ModelRequest, times: float) -> ModelRequest:
    """The request, saying that its reply takes so many times as long; 0: none ever comes.

    It stands last in the prompt, so it breaks no cache.
    """
    *parts, task = request.parts
    marked = replace(task, text=f"{task.text} [[times {times:g}]]")
    return replace(request, parts=(*parts, marked))


def long_text(seed: str) -> str:
    """A text of usual length, another one for each seed."""
    drawn = random.Random(seed)  # noqa: S311 - words of no meaning
    text = ""
    while len(text) < REPLY_CHARACTERS:
        text += " ".join(drawn.choices(_WORDS, k=11)).capitalize() + ". "
    return text[:REPLY_CHARACTERS]


def reply_to(request: VendorRequest) -> str:
    """What is answered: a long text, or the structure asked for with two options that differ."""
    text = good_reply(request).text
    if not text.startswith("{"):
        return long_text(str(request.body))
    reply = json.loads(text)
    if "stands_for" in reply:
        others = [2] * (len(reply["stands_for"]) - 1)
        reply |= {"options": ["PostgreSQL", "Kafka"], "stands_for": [1, *others]}
    return json.dumps(reply)


def due_times(pieces: Sequence[bytes], first: float, ends: float) -> Sequence[float]:
    """When each piece of a stream is sent: evenly, the first token at `first`, the last at `ends`.

    What stands before that token, as `response.created` does, vendors send with it.
    """
    before = next(place for place, piece in enumerate(pieces) if b'"delta"' in piece)
    each = (ends - first) / (len(pieces) - 1 - before)
    return [first + each * max(0, place - before) for place in range(len(pieces))]


class _Vendor:
    def __init__(self, manner: Manner) -> None:
        self._manner = manner

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not reader.at_eof():
                request = await read_request(reader)
                times = _OWN_TIME.findall(str(request.body)) or ["1"]
                if float(times[-1]) == 0:
                    await reader.read()  # nothing, until the client gives up
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
        ends = request.at + self._manner.seconds * times
        if request.body.get("stream") is False:
            await asyncio.sleep(max(0.0, ends - loop.time()))
            body = whole(request.path, reply, model)
            head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: r1"
            writer.write(f"{head}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()
            return
        pieces = frames(request.path, reply, model)
        first = request.at + self._manner.silence * (ends - request.at)
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


async def _serve(manner: Manner) -> None:
    server = await asyncio.start_server(_Vendor(manner).connected, "127.0.0.1", 0, backlog=1000)
    async with server:
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await server.serve_forever()


@asynccontextmanager
async def a_vendor(manner: Manner) -> AsyncGenerator[str]:
    """The address of a running vendor, without a path."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.vendor", json.dumps(asdict(manner))),
        cwd=Path(__file__).parents[1],
        stdout=PIPE,
    )
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


if __name__ == "__main__":
    asyncio.run(_serve(Manner(**json.loads(sys.argv[1]))))
