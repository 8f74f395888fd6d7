"""Keeps the event loop free while a turn reads long sources."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from core.models import Debate

T = TypeVar("T")

#: Characters of a debate's sources from which on a thread reads them.
_LONG = 20_000


async def apart(debate: Debate, compute: Callable[[], T]) -> T:
    """The result of a pure computation that reads the debate's sources.

    Long sources take seconds: a thread reads them, and everybody else is served meanwhile.
    """
    if sum(len(source.text) for source in debate.sources) < _LONG:
        return compute()
    return await asyncio.to_thread(compute)
