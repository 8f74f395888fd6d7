"""Socket Mode: tickets, hello, envelopes and acknowledgements over WebSockets.

Source: https://docs.slack.dev/apis/events-api/using-socket-mode
"""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import WSMsgType, web

from slack_on_loopback.delivery import Acknowledgement, Envelope
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, as_object, parse_json, text_at

MOST_SOCKETS = 10
_HEARTBEAT_SECONDS = 30.0
DisconnectReason = Literal["warning", "refresh_requested", "link_disabled"]


@dataclass(eq=False, slots=True)
class Socket:
    """An open connection; a draining one gets no new payloads."""

    ws: web.WebSocketResponse
    transport: asyncio.Transport | None = None
    draining: bool = False


@dataclass(slots=True)
class SocketTransport:
    """All of an app's sockets; each envelope goes to one of them, in turn."""

    app_id: str
    changed: Callable[[], None]
    sockets: list[Socket] = field(default_factory=list[Socket])
    _tickets: set[str] = field(default_factory=set[str])
    _waiting: dict[str, asyncio.Future[Json]] = field(
        default_factory=dict[str, "asyncio.Future[Json]"]
    )
    _turn: int = 0

    def ready(self) -> bool:
        """Whether a socket is open."""
        return bool(self._open())

    def issue_ticket(self) -> str:
        """Return a ticket that opens one socket.

        Raises:
            SlackRefusal: too_many_websockets.
        """
        if len(self.sockets) >= MOST_SOCKETS:
            raise SlackRefusal("too_many_websockets")
        ticket = secrets.token_urlsafe(16)
        self._tickets.add(ticket)
        return ticket

    def redeem(self, ticket: str) -> bool:
        """Use a ticket; return False if it is invalid."""
        is_valid = ticket in self._tickets
        self._tickets.discard(ticket)
        return is_valid

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one connection from hello to its end."""
        ws = web.WebSocketResponse(heartbeat=_HEARTBEAT_SECONDS)
        await ws.prepare(request)
        socket = Socket(ws, request.transport)
        self.sockets.append(socket)
        try:
            hello = {
                "type": "hello",
                "num_connections": len(self.sockets),
                "debug_info": {
                    "host": "local-workspace",
                    "build_number": 1,
                    "approximate_connection_time": 18_060,
                },
                "connection_info": {"app_id": self.app_id},
            }
            await ws.send_json(hello)
            self.changed()
            async for message in ws:
                if message.type is not WSMsgType.TEXT:
                    continue
                acknowledged = as_object(parse_json(message.data)) or {}
                waiting = self._waiting.get(text_at(acknowledged, "envelope_id"))
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer_body(acknowledged.get("payload")))
        finally:
            self.sockets.remove(socket)
            self.changed()
        return ws

    async def send(self, envelope: Envelope, seconds: float) -> Acknowledgement:
        """Send one envelope over the next socket and wait for its acknowledgement."""
        if not (sockets := self._open()):
            return Acknowledgement(acked=False, reason="connection_failed")
        self._turn += 1
        envelope_id, is_event = secrets.token_hex(16), envelope.kind == "events_api"
        retries = {"retry_attempt": envelope.attempt, "retry_reason": envelope.reason}
        message = {
            "envelope_id": envelope_id,
            "type": envelope.kind,
            "payload": envelope.payload,
            "accepts_response_payload": not is_event,
            **(retries if is_event else {}),
        }
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[envelope_id] = answer
        try:
            await sockets[self._turn % len(sockets)].ws.send_json(message)
            body = await asyncio.wait_for(answer, seconds)
        except TimeoutError:
            return Acknowledgement(acked=False, reason="timeout")
        except (ConnectionError, RuntimeError):
            return Acknowledgement(acked=False, reason="connection_failed")
        finally:
            self._waiting.pop(envelope_id, None)
        return Acknowledgement(acked=True, body=body)

    async def dismiss(self, reason: DisconnectReason) -> list[Socket]:
        """Send `disconnect` to every open socket; it gets no new payloads."""
        leaving, host = self._open(), {"host": "local-workspace"}
        for socket in leaving:
            socket.draining = True
            message = {"type": "disconnect", "reason": reason, "debug_info": host}
            await socket.ws.send_json(message)
        self.changed()
        return leaving

    async def close_after(self, leaving: list[Socket], seconds: float) -> None:
        """Close sockets after `seconds`; most are closed before."""
        await asyncio.sleep(seconds)
        await self._close(leaving)

    async def close(self) -> None:
        await self._close(list(self.sockets))

    async def abort(self) -> None:
        """Cut every connection without a message, as a broken network does."""
        for socket in list(self.sockets):
            socket.draining = True
            if socket.transport is not None:
                socket.transport.abort()

    async def _close(self, sockets: list[Socket]) -> None:
        for socket in sockets:
            socket.draining = True
            await socket.ws.close()

    def _open(self) -> list[Socket]:
        return [socket for socket in self.sockets if not (socket.draining or socket.ws.closed)]


def answer_body(payload: object) -> Json:
    """Return an acknowledgement's payload; a plain string is a message."""
    if isinstance(payload, str):
        return {"text": payload} if payload else {}
    return as_object(payload) or {}
