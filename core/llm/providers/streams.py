"""What all vendors' streams have in common: a reading that grows, and one way to fail."""

import asyncio
import importlib
from collections.abc import AsyncIterable, Callable
from typing import Any, Never, Protocol

import httpx2

from core.llm.providers.failures import empty, fail, translate
from core.models import Usage

#: What SDKs raise besides their own errors: a bad body or chunk is a ValueError, and odd shapes
#: trip them as TypeError or AttributeError.
BROKEN = (httpx2.HTTPError, httpx2.StreamError, ValueError, TypeError, AttributeError)


async def load(sdk: str) -> None:
    """Import an SDK without holding up everything else: that takes up to a second."""
    await asyncio.to_thread(importlib.import_module, sdk)


class Reading(Protocol):
    """A reply while it arrives."""

    vendor: str

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


async def read_text(reading: Reading, events: AsyncIterable[Any], began: Callable[[], None]) -> str:
    """The whole reply; says once when it begins.

    Raises:
        ProviderError: It is not complete, or empty.
    """
    begun = False
    async for event in events:
        if reading.take(event) and not begun:
            begun = True
            began()
    text = reading.text()
    if not text.strip():
        raise empty(reading.vendor)
    if not begun:
        began()
    return text


def give_up(reading: Reading, error: Exception) -> Never:
    """Raise what the error means, with what the vendor reported until then."""
    fail(translate(reading.vendor, error), reading.usage())
