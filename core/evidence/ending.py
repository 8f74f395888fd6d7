"""Ends what a thread computes on long text, once nobody waits for it any more (pure)."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event

_ended: ContextVar[Event | None] = ContextVar("ended", default=None)


class ComputationEnded(Exception):
    """Nobody waits for the result."""


@contextmanager
def can_be_ended() -> Generator[Event]:
    """Let what the block computes, also in a thread that it begins, end when the event is set."""
    event = Event()
    token = _ended.set(event)
    try:
        yield event
    finally:
        _ended.reset(token)


def check_ended() -> None:
    """Go on only while somebody waits for it; to be called every few milliseconds.

    Raises:
        ComputationEnded: Nobody does.
    """
    if (event := _ended.get()) and event.is_set():
        raise ComputationEnded
