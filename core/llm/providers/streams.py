"""Reads any vendor's stream into one reply, and turns its failures into our errors."""

from collections.abc import AsyncIterable, Callable
from typing import Any, Never, Protocol

import httpx2

from core.llm.providers.vendor_errors import empty, fail, too_long, translate
from core.models import Usage

#: What SDKs raise besides their own errors: a bad body or chunk is a ValueError, and odd shapes
#: trip them as TypeError or AttributeError.
BROKEN = (httpx2.HTTPError, httpx2.StreamError, ValueError, TypeError, AttributeError)


#: Characters of a reply for each token asked for at most; a token of prose has about four.
_CHARACTERS_PER_TOKEN = 16
#: A reply may always be this long, however few tokens were asked for.
_ALWAYS_ALLOWED = 10_000


def most_characters(max_output_tokens: int) -> int:
    """The longest reply that is read, in characters; a server may ignore the token limit."""
    return max(_ALWAYS_ALLOWED, _CHARACTERS_PER_TOKEN * max_output_tokens)


class StreamReader(Protocol):
    """A reply while it arrives."""

    vendor: str
    #: Characters of text that came so far.
    length: int

    def take(self, event: Any) -> bool:
        """Add one event; True when the reply itself has begun.

        Raises:
            ProviderError: The event says that the reply failed.
        """
        ...

    def usage(self) -> Usage:
        """What was reported so far; its cost is None where the vendor does not name it."""
        ...

    def text(self) -> str:
        """The whole reply.

        Raises:
            ProviderError: It is not complete.
        """
        ...


async def read_text(
    reading: StreamReader, events: AsyncIterable[Any], began: Callable[[], None], *, most: int
) -> str:
    """The whole reply; says once when it begins.

    Args:
        reading: What the reply becomes.
        events: The stream.
        began: Called once, when the reply begins.
        most: Characters at most; with more the rest is not read.

    Raises:
        ProviderError: It is not complete, or empty, or far longer than was asked for.
    """
    begun = False
    async for event in events:
        if reading.take(event) and not begun:
            begun = True
            began()
        if reading.length > most:
            raise too_long(reading.vendor, most)
    text = reading.text()
    if len(text) > most:
        raise too_long(reading.vendor, most)
    if not text.strip():
        raise empty(reading.vendor)
    if not begun:
        began()
    return text


def give_up(reading: StreamReader, error: Exception) -> Never:
    """Raise what the error means, with what the vendor reported until then."""
    fail(translate(reading.vendor, error), reading.usage())
