"""Answers lines on standard input that are no message, which the SDK passes over in silence."""

import re
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

#: The id of a request whose line cannot be parsed.
_ID = re.compile(r'"id"\s{0,20}:\s{0,20}(?:(\d{1,15})|"([^"\\]{1,200})")')
#: Characters of a line in which its id is looked for.
_LOOKED_AT = 2000
#: An escaped backslash, a whole pair of UTF-16, and half of one, which no text can hold.
_ESCAPED = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_BATCH = "Batches are no part of this protocol: send one request a line."
_NO_MESSAGE = "This line is no JSON-RPC message."


class OddLines:
    """The messages of a client; a line that is none is mended or refused."""

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        """Take the SDK's streams; faults of lines are refused on the second."""
        self._incoming, self._outgoing = incoming, outgoing

    async def receive(self) -> SessionMessage:
        """The next message.

        Raises:
            anyio.EndOfStream: There is none.
        """
        while isinstance(item := await self._incoming.receive(), Exception):
            mended = read_line(item)
            if isinstance(mended, SessionMessage):
                return mended
            await self._outgoing.send(SessionMessage(mended))
        return item

    @property
    def last_context(self) -> Any:
        """The context in which the last message was sent, for the SDK."""
        return self._incoming.last_context

    async def aclose(self) -> None:
        """Close the SDK's stream."""
        await self._incoming.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


def read_line(fault: Exception) -> SessionMessage | JSONRPCError:
    """The message of a line that the SDK could not read, or the error to answer with."""
    given = fault.errors()[0]["input"] if isinstance(fault, ValidationError) else ""
    if isinstance(given, list):
        return _error(None, INVALID_REQUEST, _BATCH)
    line = given if isinstance(given, str) else ""
    mended = _ESCAPED.sub(
        lambda found: r"\ufffd" if found["half"] else found[0], line.lstrip("\ufeff")
    )
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(mended, by_name=False))
    except ValidationError:
        found = _ID.search(line[:_LOOKED_AT])
        number = int(found[1]) if found and found[1] else found[2] if found else None
        return _error(number, PARSE_ERROR, _NO_MESSAGE)


def _error(number: int | str | None, code: int, words: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=words))
