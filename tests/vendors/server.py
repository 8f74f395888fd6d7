"""A vendor's server on the loopback: real HTTP, scripted answers, a list of requests."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

from tests.vendors.frames import broken_frame, frames, overload_frame, whole
from tests.vendors.script import Fault, Reject, Say, VendorRequest

#: Returns the answer to a request.
Script = Callable[[VendorRequest], Say | Reject]


def always(answer: Say | Reject) -> Script:
    """The same answer to every request."""
    return lambda _asked: answer


def in_turn(*answers: Say | Reject) -> Script:
    """One answer after the other, then the last one again and again."""
    remaining = list(answers)
    return lambda _asked: remaining.pop(0) if len(remaining) > 1 else remaining[0]


_REQUEST_IDS = ("x-request-id: req_42", "request-id: req_42")


class Vendor:
    """A server with Messages, Responses, Chat Completions and Ollama's API."""

    def __init__(self, script: Script | None = None) -> None:
        """Without a script all replies are good."""
        self.script = script or always(Say())
        self.asked: list[VendorRequest] = []
        #: Context of all Ollama models in tokens; 0: not reported; None: the script answers.
        self.context_tokens: int | None = 0
        #: Replies being sent.
        self.busy = 0
        self._closing = asyncio.Event()
        self._is_held: Callable[[VendorRequest], bool] = _not_held
        #: Set when the condition for held requests changes.
        self._rearranged = asyncio.Event()
        self._arrival = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._ending: asyncio.Task[None] | None = None
        self.port = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The base URL, without a path."""
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.come_back()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        self.let_go()
        await self._stop_listening()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1)
        for writer in self._writers:  # no client reads the pending bytes
            writer.transport.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def hold(self, which: Callable[[VendorRequest], bool]) -> None:
        """Hold the answers to these requests, and release all others."""
        self._is_held = which
        self._rearranged.set()
        self._rearranged = asyncio.Event()

    def let_go(self) -> None:
        """Release all held requests."""
        self.hold(_not_held)

    def go_away(self) -> None:
        """Refuse connections and break open ones, until `come_back`."""
        self._ending = asyncio.create_task(self._stop_listening())
        for writer in self._writers:
            writer.transport.abort()

    async def come_back(self) -> None:
        """Listen again at the same address."""
        if self._ending:
            await self._ending
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop_listening(self) -> None:
        """Stop after accepted sockets became connections, or asyncio would leave these open."""
        if self._server is None:
            return
        for listening in self._server.sockets:
            asyncio.get_running_loop().remove_reader(listening.fileno())
        for _ in range(3):  # one step accepts, the next one connects
            await asyncio.sleep(0)
        self._server.close()

    async def asked_for(self, times: int) -> None:
        """Wait until so many requests have arrived."""
        async with self._arrival:
            await self._arrival.wait_for(lambda: len(self.asked) >= times)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the only request of a connection."""
        task = asyncio.current_task()
        if task:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._writers.add(writer)
        try:
            await self._answer(await read_request(reader), writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client cancelled
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()  # else it could outlive the test's loop
            self._writers.discard(writer)

    async def _answer(self, request: VendorRequest, writer: asyncio.StreamWriter) -> None:
        """Send the answer of the script."""
        if request.path == "/api/show" and self.context_tokens is not None:
            # Ollama's description of a model, which does not count as a request.
            facts = {"model_info": {"llama.context_length": self.context_tokens}}
            body = json.dumps(facts if self.context_tokens else {"error": "no such model"})
            await _reject(writer, Reject(status=200 if self.context_tokens else 404, body=body))
            return
        async with self._arrival:
            self.asked.append(request)
            self._arrival.notify_all()
        while self._is_held(request):
            await self._rearranged.wait()
        answer = self.script(request)
        if isinstance(answer, Reject):
            await _reject(writer, answer)
            return
        # By default Ollama streams.
        asked_for = request.body.get("stream", request.path == "/api/chat")
        is_stream = asked_for if answer.streamed is None else answer.streamed
        send = self._stream if is_stream else self._send_whole
        self.busy += 1
        try:
            await send(writer, request, answer)
        finally:
            self.busy -= 1

    async def _stream(self, writer: asyncio.StreamWriter, request: VendorRequest, say: Say) -> None:
        """Stream a reply up to its fault."""
        await self._pause(say.wait)
        kind = "application/x-ndjson" if request.path == "/api/chat" else "text/event-stream"
        lines = ["HTTP/1.1 200 OK", f"content-type: {kind}", "transfer-encoding: chunked"]
        lines += [*_REQUEST_IDS, "connection: close", "", ""]
        writer.write("\r\n".join(lines).encode())
        await writer.drain()
        pieces = frames(request.path, say, str(request.body.get("model", "")))
        if say.fault is Fault.DRIP:
            for byte in b"".join(pieces):
                await _chunk(writer, bytes([byte]))
                await self._pause(say.pace or 1.0)
            await _chunk(writer, b"")
            return
        whole = say.fault is Fault.NONE
        for piece in pieces if whole else pieces[: max(1, len(pieces) // 2)]:
            await _chunk(writer, piece)
            await self._pause(say.pace)
        match say.fault:
            case Fault.CUT:
                writer.transport.abort()
                return
            case Fault.STALL:
                await self._closing.wait()
                return
            case Fault.GARBAGE:
                await _chunk(writer, broken_frame(request.path))
            case Fault.OVERLOAD:
                await _chunk(writer, overload_frame(request.path))
            case Fault.NOT_UTF8:
                await _chunk(writer, b'data: "\xff\xfe\xc3("\n\n')
            case Fault.NONE | Fault.EARLY:
                pass
        await _chunk(writer, b"")

    async def _send_whole(
        self, writer: asyncio.StreamWriter, request: VendorRequest, say: Say
    ) -> None:
        """Send a reply in one piece, or a part of it if it has a fault."""
        await self._pause(say.wait + say.pace * say.pieces)
        body = whole(request.path, say, str(request.body.get("model", "")))
        lines = ["HTTP/1.1 200 OK", "content-type: application/json; charset=utf-8"]
        lines += [*_REQUEST_IDS, f"content-length: {len(body)}", "connection: close", "", ""]
        writer.write("\r\n".join(lines).encode())
        match say.fault:
            case Fault.DRIP:
                for byte in body:
                    writer.write(bytes([byte]))
                    await writer.drain()
                    await self._pause(say.pace or 1.0)
            case Fault.CUT:
                writer.write(body[: len(body) // 2])
                await writer.drain()
                writer.transport.abort()
            case Fault.STALL:
                writer.write(body[: len(body) // 2])
                await self._closing.wait()
            case _:
                writer.write(body)
                await writer.drain()

    async def _pause(self, seconds: float) -> None:
        """Wait, but not beyond the end of the server."""
        if seconds:
            waiting = asyncio.ensure_future(self._closing.wait())
            await asyncio.wait({waiting}, timeout=seconds)
            waiting.cancel()


def _not_held(request: VendorRequest) -> bool:
    del request
    return False


async def read_request(reader: asyncio.StreamReader) -> VendorRequest:
    """One HTTP request; IncompleteReadError: the connection was closed."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    target = urlsplit(first.split()[1])
    return VendorRequest(
        path=target.path,
        query=target.query,
        headers=headers,
        body=json.loads(body) if body else {},
        at=asyncio.get_running_loop().time(),
    )


async def _reject(writer: asyncio.StreamWriter, answer: Reject) -> None:
    """Send an error response."""
    error = {"type": answer.code or None, "code": answer.code or None, "message": answer.message}
    body = json.dumps({"type": "error", "error": error}) if answer.body is None else answer.body
    content = body.encode()
    lines = [f"HTTP/1.1 {answer.status} Scripted", "content-type: application/json"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    lines += [f"content-length: {len(content)}", "connection: close", "", ""]
    writer.write("\r\n".join(lines).encode() + content)
    await writer.drain()


async def _chunk(writer: asyncio.StreamWriter, piece: bytes) -> None:
    """One piece of a stream; an empty one ends it."""
    writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    await writer.drain()
